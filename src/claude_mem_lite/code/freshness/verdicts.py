"""Whether what memories tell of still stands in the working tree, by their code anchors.

Called before memories are given, by the worker's look in the background and by `doctor --stale`. Reads only, within
the checkout only, and no longer than it may."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from claude_mem_lite.code.freshness.anchor_check import AnchorFound, Tie, check_anchors
from claude_mem_lite.code.freshness.anchored_files import Effort
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.syntax.anchors import CodeAnchor, read_anchor
from claude_mem_lite.code.syntax.values import PRESENT
from claude_mem_lite.models import SAVED_BY_AGENT, Memory
from claude_mem_lite.store.renames import Rename

Verdict = Literal["fresh", "changed", "gone", "unknown"]
_Told = tuple[CodeAnchor, AnchorFound]


@dataclass(frozen=True, slots=True)
class Freshness:
    """Whether the code a memory tells of is as it was then, and if not, what became of it."""

    verdict: Verdict
    """`unknown`: there was no time to look."""
    reasons: tuple[str, ...] = ()
    is_settled: bool = field(default=True, compare=False)
    """Whether it stays so while the files it is tied to stay as they are, see `AnchorFound`."""
    renamed: tuple[Rename, ...] = field(default=(), compare=False)
    """What its functions are called now, of those that have another name."""
    is_in_doubt: bool = field(default=False, compare=False)
    """Of what is unknown: that something is missing, and there was no time to search for it."""


def judge(
    cache: CodeCache,
    root: str,
    memories: Sequence[Memory],
    effort: Effort,
    made_here: Collection[str] = (),
) -> dict[str, Freshness]:
    """What became of the code that each of these memories tells of, by their ids.

    `made_here` are the ids of those that were made in this
    very checkout, on the branch it is on: of these, files that nobody touched since need no reading. In another
    checkout a file may be older without ever having had the change."""
    told = _told(cache, root, memories, effort, made_here)
    return {memory.id: _verdict(memory, told[memory.id]) for memory in memories}


def is_mostly_here(cache: CodeCache, root: str, memories: Sequence[Memory], deadline: float) -> bool | None:
    """Whether most of the code that these memories tell of stands here as they left it; None: nothing tells.

    That a file or function is there which was there before, too, says nothing."""
    every = (anchor for memory in memories for anchor in _anchors(memory))
    anchors = [anchor for anchor in every if anchor.before != (PRESENT if anchor.name else anchor.after)]
    told = check_anchors(cache, root, list(map(Tie, anchors)), Effort(deadline, keeps_time=True))
    known = [one for one in told if one.state != "unknown"]
    return sum(one.state == "same" for one in known) * 2 > len(known) if known else None


def is_anchored(memory: Memory) -> bool:
    """Whether anything ties a memory to code."""
    return any(read_anchor(anchor) for anchor in memory.anchors)


def _told(
    cache: CodeCache,
    root: str,
    memories: Sequence[Memory],
    effort: Effort,
    made_here: Collection[str],
) -> dict[str, list[_Told]]:
    """How it stands with the anchors of each memory."""
    anchors = [(memory, anchor) for memory in memories for anchor in _anchors(memory)]
    # Not `last_seen_at`: an edit of the memory moves that, and says nothing about the code.
    left_at = {memory.id: memory.created_at for memory in memories if memory.id in made_here}
    ties = [
        Tie(anchor, memory.commit, left_at.get(memory.id), memory.created_at, memory.id) for memory, anchor in anchors
    ]
    told: dict[str, list[_Told]] = {memory.id: [] for memory in memories}
    for (memory, anchor), one in zip(anchors, check_anchors(cache, root, ties, effort), strict=True):
        told[memory.id].append((anchor, one))
    return told


def _anchors(memory: Memory) -> list[CodeAnchor]:
    """The code anchors of a memory: of each symbol the last, and a whole file only where no symbol of it says more."""
    found = {(one.file, one.name): one for text in memory.anchors if (one := read_anchor(text))}
    by_symbol = {file for file, name in found if name}
    return [one for one in found.values() if one.name or one.file not in by_symbol]


def _verdict(memory: Memory, tied: Sequence[_Told]) -> Freshness:
    told = [one for _, one in tied]
    reasons = tuple(dict.fromkeys(one.reason for one in told if one.reason))
    states = {one.state for one in told}
    is_settled = all(one.is_settled for one in told)
    renamed = tuple(Rename(anchor.file, anchor.name, one.name_now) for anchor, one in tied if one.name_now)
    if states <= {"same"}:
        return Freshness("fresh", reasons, is_settled, renamed)
    if "unknown" in states and "changed" not in states:
        is_in_doubt = any(one.state == "unknown" and one.reason for one in told)
        return Freshness("unknown", reasons, is_settled, renamed, is_in_doubt)
    is_gone = states <= {"undone", "gone"}
    # What the user said or holds on to, and what was asked to be remembered, is not taken away by what happens to code.
    is_held = memory.pinned or memory.origin == "user" or memory.made_by == SAVED_BY_AGENT
    return Freshness("gone" if is_gone and not is_held else "changed", reasons, is_settled, renamed)
