"""Policy of sharing: which memories may leave this device. Pure; the outbox and the preview ask it for every memory.

The policy fails closed: a memory goes only if every rule allows it, and an unknown kind or origin stays here."""

from typing import Literal

from claude_mem_lite.compress.lessons.lesson import GENERAL
from claude_mem_lite.models import Kind, Memory, Origin, is_request, is_users_wording, without_request
from claude_mem_lite.store.retirements import Cause
from claude_mem_lite.store.team import Choice, Share
from claude_mem_lite.text import STOPWORDS, words_of
from claude_mem_lite.values import frozen

Code = Literal[
    "not_shared",
    "excluded",
    "kept",
    "private",
    "scope",
    "kind",
    "by_hand",
    "origin",
    "team",
    "received",
    "quarantined",
    "stale",
    "retired",
    "no_cause",
    "handoffs",
    "remark",
    "prompt",
    "secret",
]
BodyStatus = Literal["active", "retired"]
PRIVATE = "private"
"""Tag of memories that never leave this device."""
DEFAULT_KINDS: tuple[Kind, ...] = (
    "decision",
    "bugfix",
    "gotcha",
    "convention",
    "rule",
    "anti_pattern",
    "architecture",
    "handoff",
)
NEVER_KINDS: tuple[Kind, ...] = ("preference", "correction", "failure")
"""Kinds that describe a person or a machine: not even the user's choice shares them."""
_ORIGINS: tuple[Origin, ...] = ("user", "assistant", "code")
_LOCAL_CAUSES: tuple[Cause, ...] = ("code", "branch")
_MIN_NEW_WORDS = 2
_SENTENCES: dict[Code, str] = {
    "not_shared": "its project is not shared: `claude-mem-lite team share FOLDER`",
    "excluded": "a folder of the project is excluded from memory",
    "kept": "it is kept back, by you or by a merge of projects; `claude-mem-lite share ID` sends it",
    "private": "it has the tag `private`",
    "scope": "it holds beyond the project",
    "kind": "preferences, corrections and failures are never shared",
    "by_hand": "its kind is shared only by hand: `claude-mem-lite share ID`",
    "origin": "its text comes from a page, a tool, a command or an import",
    "team": "it comes from the team",
    "received": "it is your version of a teammate's memory, shared only by hand",
    "quarantined": "it is in quarantine",
    "stale": "the code or the branch of this checkout retired it",
    "retired": "it was retired or replaced before it was shared",
    "no_cause": "it names neither the cause nor the fix",
    "handoffs": "open work of this project is not shared: `claude-mem-lite team share FOLDER --handoffs`",
    "remark": "it quotes a remark that you made once in a prompt: `claude-mem-lite share ID` sends it",
    "prompt": "it repeats a prompt",
    "secret": "it may contain a secret or a private passage",
}
_LEFT_ALONE: tuple[Code, ...] = ("not_shared", "excluded", "team", "stale")
"""Reasons that change nothing about a memory that was sent before."""


@frozen
class SharingVerdict:
    """Decision about one memory."""

    code: Code | None = None
    """Reason why the memory stays here; None if it may go."""
    status: BodyStatus = "active"
    """Status of the memory in the team, if it may go."""

    @property
    def may_go(self) -> bool:
        return self.code is None

    @property
    def reason(self) -> str:
        """Return the reason as a sentence; '' if the memory may go."""
        return sentence_of(self.code) if self.code else ""

    @property
    def takes_back(self) -> bool:
        """Return whether a memory that was sent before must be deleted from the team."""
        return self.code is not None and self.code not in _LEFT_ALONE


def sentence_of(code: Code) -> str:
    """Return the sentence of a reason."""
    return _SENTENCES[code]


def decide(
    memory: Memory,
    choice: Choice | None,
    share: Share | None,
    cause: Cause | None,
    *,
    is_sent: bool = False,
    is_excluded: bool = False,
    is_version: bool = False,
) -> SharingVerdict:
    """Decide whether a memory may leave. `cause` is that of its retirement, `is_sent` is true if the team has the
    memory, `is_version` if it is the user's version of a teammate's memory."""
    code = (
        _never(memory, choice, share, is_excluded=is_excluded)
        or _by_status(memory, cause, is_sent=is_sent)
        or _by_kind(memory, choice, share, is_version=is_version)
    )
    if code is not None:
        return SharingVerdict(code)
    return SharingVerdict(status="active" if memory.status == "active" else "retired")


def _never(memory: Memory, choice: Choice | None, share: Share | None, *, is_excluded: bool) -> Code | None:
    """Return the reason why not even the user's choice shares a memory."""
    if choice == "keep":
        return "kept"
    if any(tag.strip().casefold() == PRIVATE for tag in memory.tags):
        return "private"
    if share is None:
        return "not_shared"
    if is_excluded:
        return "excluded"
    if memory.origin == "team":
        return "team"
    if memory.scope != f"project:{share.project}":
        return "scope"
    if memory.kind in NEVER_KINDS:
        return "kind"
    if memory.origin not in _ORIGINS:
        return "origin"
    return "prompt" if is_request(memory.title) else None


def _by_status(memory: Memory, cause: Cause | None, *, is_sent: bool) -> Code | None:
    if memory.status == "active":
        return None
    if memory.status not in ("retired", "superseded"):
        return "quarantined"
    if memory.status == "retired" and cause in _LOCAL_CAUSES:
        return "stale"
    return None if is_sent else "retired"


def _by_kind(memory: Memory, choice: Choice | None, share: Share | None, *, is_version: bool) -> Code | None:
    """Return the reason why a memory is not shared without the user's choice."""
    if choice == "share":
        return None
    if is_version:
        return "received"
    if memory.kind not in DEFAULT_KINDS:
        return "by_hand"
    if memory.kind == "handoff" and not (share is not None and share.handoffs):
        return "handoffs"
    if _is_remark(memory):
        return "remark"
    return "no_cause" if memory.kind == "bugfix" and not _says_why(memory) else None


def _is_remark(memory: Memory) -> bool:
    """Return whether rules found a memory in the words of a prompt, and the user neither stated it as permanent, nor
    said it again, nor pinned it. Such a sentence is mostly about the work of that moment."""
    is_quote = memory.origin == "user" and memory.made_by != "user" and is_users_wording(memory.made_by)
    return is_quote and not memory.pinned and memory.confidence < GENERAL


def _says_why(memory: Memory) -> bool:
    """Return whether the summary of a fix says more than its title."""
    new = set(words_of(without_request(memory.summary))) - set(words_of(memory.title)) - STOPWORDS
    return len(new) >= _MIN_NEW_WORDS
