"""Reason codes of the team protocol. Every failure has a code, a sentence and a next step."""

from typing import Literal

from claude_mem_lite.errors import MemoryLiteError

Reason = Literal[
    "unreachable",
    "login",
    "insecure",
    "not_set_up",
    "other_team",
    "newer_schema",
    "no_grant",
    "wrong_key",
    "no_key",
    "read_only",
    "full",
    "rejected",
    "bad_hash",
    "bad_body",
    "newer_version",
    "cloned",
]
_TEXTS: dict[Reason, tuple[str, str]] = {
    "unreachable": (
        "the team's database cannot be reached",
        "check network and address; synchronisation goes on by itself",
    ),
    "login": (
        "the team's database refused the login",
        "get a new invitation, then `claude-mem-lite team join`",
    ),
    "insecure": (
        "the connection to the team's database is not protected by verified TLS",
        "use sslmode=verify-full, with sslrootcert=FILE for an authority of your own",
    ),
    "not_set_up": ("the database has no team", "whoever may create tables runs `claude-mem-lite team init`"),
    "other_team": (
        "the database is that of another team than the one this home has joined",
        "check the address, or leave the team first: `claude-mem-lite team leave`",
    ),
    "newer_schema": ("the team's database was set up by a newer version", "upgrade claude-mem-lite"),
    "no_grant": (
        "this member may not use the project",
        "ask the administrator for `claude-mem-lite team invite NAME --project PROJECT`",
    ),
    "wrong_key": ("the team key is not the key of this team", "run `claude-mem-lite team key` with the right key"),
    "no_key": ("the team is sealed and this device has no key", "run `claude-mem-lite team key` with the team's key"),
    "read_only": ("the team's database accepts no writes", "use the address of the primary server"),
    "full": ("the disk of the team's database is full", "free space there; synchronisation goes on by itself"),
    "rejected": ("the team's database refused an entry", "`claude-mem-lite team repair` tries again"),
    "bad_hash": ("a received entry is damaged", "`claude-mem-lite team repair` fetches it again"),
    "bad_body": ("a received entry cannot be read", "upgrade claude-mem-lite, then `claude-mem-lite team repair`"),
    "newer_version": (
        "a received entry was written by a newer version",
        "upgrade claude-mem-lite, then `claude-mem-lite team repair`",
    ),
    "cloned": ("another home used this device's id, so this home has a new one", "nothing has to be done"),
}


class TeamError(MemoryLiteError):
    """Failure of a team operation, with its reason code. The text never holds an address or a password."""

    def __init__(self, code: Reason, detail: str = "", next_step: str = "") -> None:
        message, usual_step = _TEXTS[code]
        super().__init__(f"{message} ({detail})" if detail else message, next_step or usual_step)
        self.code: Reason = code


def next_step_of(code: str) -> str:
    """Return the next step for a stored reason code; '' for one that this version does not know."""
    return next((next_step for known, (_, next_step) in _TEXTS.items() if known == code), "")
