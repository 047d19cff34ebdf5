"""Facts about branches from HEAD's logs, deleted branches included: the last commit, and the time of the last work."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from claude_mem_lite.code.git.refs import symbolic_ref
from claude_mem_lite.code.git.safe_files import list_folder, read_tail

_TAIL_BYTES = 256 * 1024
_MAX_WORKTREES = 64
_LINE = re.compile(r"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t]*? (\d{1,12}) [-+]\d{4}\t(.*)")
_MOVED = re.compile(r"checkout: moving from (\S+) to (\S+)")
_RENAMED = re.compile(r"Branch: renamed refs/heads/(\S+) to refs/heads/(\S+)")
_LEFT = re.compile(r"(?:checkout: moving from |Branch: renamed refs/heads/)(\S+) to ")
_REBASE_BEGUN = re.compile(r"rebase(?: -i)?(?: \(start\))?: checkout ")
_REBASE_ENDED = re.compile(r"rebase.*: (?:returning to refs/heads/(\S+)|updating HEAD)")
_MADE = re.compile(r"(?:commit|cherry-pick|revert|am)\b|.*: Merge made by")


@dataclass(frozen=True, slots=True)
class Trace:
    """Facts about a branch from the logs of its checkouts."""

    left_at: str = ""
    """Last known commit."""
    seen: int = 0
    """Time of `left_at`, in seconds since 1970."""
    made: int = 0
    """Time of the last commit made on the branch; 0 if none is known."""
    renamed_to: str = ""


def read_traces(common: Path) -> dict[str, Trace]:
    """Return the traces of branches in the logs of HEAD, in the main checkout and in all worktrees."""
    traces: dict[str, Trace] = {}
    _follow(traces, common, "")
    for name, is_folder in list_folder(common, "worktrees", _MAX_WORKTREES):
        if is_folder:
            _follow(traces, common, f"worktrees/{name}/")
    return traces


def _follow(traces: dict[str, Trace], common: Path, checkout: str) -> None:
    """Record each branch named by the log of one checkout's HEAD."""
    lines, _ = _lines(common, f"{checkout}logs/HEAD")
    left = (_LEFT.match(message) for *_, message in lines)
    first = next((match[1] for match in left if match), None)
    branch = rebased = first or symbolic_ref(common, f"{checkout}HEAD").removeprefix("refs/heads/")
    for old, new, when, message in lines:
        if moved := _MOVED.match(message):
            _note(traces, moved[1], old, when)
            branch = moved[2]
        elif renamed := _RENAMED.match(message):
            branch = renamed[2]
            traces[renamed[1]] = replace(traces.get(renamed[1], Trace()), renamed_to=branch)
        elif _REBASE_BEGUN.match(message):
            branch, rebased = "", branch
        elif returned := _REBASE_ENDED.match(message):
            branch = returned[1] or branch or rebased
        if branch:
            _note(traces, branch, new, when, made=bool(_MADE.match(message)))


def last_made(common: Path, branch: str) -> int | None:
    """Return the time of the last commit made on a branch, by the branch's log. 0: none since the creation; None:
    unknown."""
    lines, is_whole = _lines(common, f"logs/refs/heads/{branch}")
    made = [when for _, _, when, message in lines if _MADE.match(message)]
    if made:
        return max(made)
    return 0 if lines and is_whole and not lines[0][0].strip("0") else None


def created(common: Path, branch: str) -> int | None:
    """Return the time of a branch's creation under its name, by the branch's log, or None if the log lacks the
    beginning."""
    lines, is_whole = _lines(common, f"logs/refs/heads/{branch}")
    return lines[0][2] if lines and is_whole and not lines[0][0].strip("0") else None


def _note(traces: dict[str, Trace], branch: str, commit: str, when: int, *, made: bool = False) -> None:
    known = traces.get(branch, Trace())
    if when >= known.seen and commit.strip("0"):
        known = replace(known, left_at=commit, seen=when, renamed_to="")
    traces[branch] = replace(known, made=max(known.made, when)) if made else known


def _lines(common: Path, log: str) -> tuple[list[tuple[str, str, int, str]], bool]:
    """Return the lines of a log, oldest first, as (old commit, new commit, time, message), and True if the log is
    complete."""
    tail, is_whole = read_tail(common, log, _TAIL_BYTES)
    found = (_LINE.fullmatch(line) for line in tail.decode("utf-8", "replace").split("\n"))
    return [(line[1], line[2], int(line[3]), line[4]) for line in found if line], is_whole
