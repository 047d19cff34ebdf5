"""Entry of the team protocol: one change of one memory, in the log of the device that made it."""

import hashlib
import re
from datetime import datetime

from claude_mem_lite.store import team as tables
from claude_mem_lite.timestamps import time_to_text
from claude_mem_lite.values import frozen

VERSION = 1
"""Version of the protocol that this package writes, and the highest version that it can apply."""
Op = tables.Op
MAX_REV = 2**63 - 1
MAX_NAME_LENGTH = 40
_DIGITS = 32
_NAME = re.compile(rf"[a-z0-9_-]{{1,{MAX_NAME_LENGTH}}}")


@frozen
class Entry:
    """One change of one memory. `body` is the exact text that was sent: JSON, sealed text, or None."""

    project: str
    """Key of the project, see `project_key`."""
    device: str
    seq: int
    """Number in the log of this device and project, from 1. The number of a refused entry stays empty."""
    uid: str
    """Identity of the memory, see `uid_of`."""
    rev: int
    op: Op
    body: str | None
    hash: str
    author: str
    at: datetime
    version: int = VERSION

    def order(self) -> tuple[int, str]:
        """Return the key of the order among entries of one uid: the greatest wins."""
        return self.rev, self.device

    def is_sound(self) -> bool:
        """Return whether the body is the one that was sent. A body that a deletion removed counts as sound."""
        return self.body is None or self.hash == hash_of(self.body)


def hash_of(body: str | None) -> str:
    """Return the hash of a body exactly as sent."""
    return hashlib.sha256((body or "").encode()).hexdigest()


def uid_of(author: str, memory: str, created_at: datetime) -> str:
    """Return the identity of a memory in the team. The same memory has the same uid after a database is rebuilt."""
    digest = hashlib.sha256(f"{memory}\x00{time_to_text(created_at)}".encode()).hexdigest()
    return f"{author}:{digest[:_DIGITS]}"


def is_name(name: str) -> bool:
    """Return whether a text can be the name of a member: nothing that a terminal or an agent obeys."""
    return _NAME.fullmatch(name) is not None


def author_of(uid: str) -> str:
    """Return the member that a uid belongs to."""
    return uid.partition(":")[0]


def project_key(remote: str) -> str:
    """Return the key of a project in a team that is not sealed, from its normalised remote."""
    return hashlib.sha256(remote.encode()).hexdigest()[:_DIGITS]
