"""Arms of the user's experiment: which sessions get no context, decided by a hash of the session id.

The hash has a fixed salt, so anybody can repeat the decision from the id and the share."""

import hashlib

from claude_mem_lite.store.experiment.arms import Arm

CONTROL: Arm = "control"
TREATED: Arm = "treated"
_SALT = b"claude-mem-lite experiment 1\n"
_POSITIONS = 2**64


def position(session: str) -> float:
    """Return the position of a session between 0 and 1, the same on every machine."""
    digest = hashlib.sha256(_SALT + session.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) / _POSITIONS


def arm_of(session: str, share: float) -> Arm:
    """Return the arm of a session: control for the given share of all ids."""
    return CONTROL if position(session) < share else TREATED
