"""Git folder, HEAD and branches of a checkout: loose refs, packed refs and HEAD's logs.

The logs also have deleted branches: the last commit, and the time of the last work. Reftables are not read: a
repository with reftables shows no branches."""

import os
from contextlib import suppress
from dataclasses import field, replace
from functools import lru_cache
from pathlib import Path

from claude_mem_lite.code.git.safe_files import OBJECT_ID, REF, list_folder, open_file, read_tail, read_text
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.values import frozen

_MAX_REFS = 20_000
_MAX_FOLDERS = 5_000
_PACKED_BYTES = 32 * 1024 * 1024
_MAX_LINE_LENGTH = 512
_BLOCK_BYTES = 1024 * 1024
_MAX_PACKED_KEPT = 4
_BRANCH_LEADS = (b" refs/heads/", b" refs/remotes/")
_TAIL_BYTES = 256 * 1024
_MAX_WORKTREES = 64
_LINE = lazy(r"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t]*? (\d{1,12}) [-+]\d{4}\t(.*)")
_MOVED = lazy(r"checkout: moving from (\S+) to (\S+)")
_RENAMED = lazy(r"Branch: renamed refs/heads/(\S+) to refs/heads/(\S+)")
_LEFT = lazy(r"(?:checkout: moving from |Branch: renamed refs/heads/)(\S+) to ")
_REBASE_BEGUN = lazy(r"rebase(?: -i)?(?: \(start\))?: checkout ")
_REBASE_ENDED = lazy(r"rebase.*: (?:returning to refs/heads/(\S+)|updating HEAD)")
_MADE = lazy(r"(?:commit|cherry-pick|revert|am)\b|.*: Merge made by")


def read_refs(common: Path, lead: str) -> dict[str, str]:
    """Return refs with a prefix, as `refs/heads`, by the rest of the name, each with its commit."""
    found = packed_refs(common, f"{lead}/")
    found.update(_loose_refs(common, lead))
    return {name.removeprefix(f"{lead}/"): commit for name, commit in found.items()}


def packed_refs(common: Path, lead: str) -> dict[str, str]:
    """Return the local and remote branches in `packed-refs` with a prefix of the full name."""
    opened = open_file(common, "packed-refs")
    if opened is None:
        return {}
    try:
        state = os.fstat(opened)
        # Called for every event: a forge may store a ref for each of 200,000 pull requests.
        branches = _packed_branches(_Packed(opened, common, state.st_ino, state.st_mtime_ns, state.st_size))
    finally:
        os.close(opened)
    return {name: commit for name, commit in branches.items() if name.startswith(lead)}


@frozen
class _Packed:
    """Cache key: a `packed-refs` file in the state of its opening."""

    opened: int = field(compare=False)
    common: Path
    inode: int
    changed_ns: int
    size: int


@lru_cache(maxsize=_MAX_PACKED_KEPT)
def _packed_branches(packed: _Packed) -> dict[str, str]:
    found: dict[str, str] = {}
    at, rest = 0, b""
    with suppress(OSError):
        while at < _PACKED_BYTES and (block := os.pread(packed.opened, _BLOCK_BYTES, at)):
            at += len(block)
            lines, _, rest = (rest + block).rpartition(b"\n")
            _add_branches(found, lines)
            rest = rest[:_MAX_LINE_LENGTH]
        _add_branches(found, rest)
    return found


def _add_branches(found: dict[str, str], lines: bytes) -> None:
    """Add the branches in a block of whole lines. Other refs are skipped without a loop over the lines."""
    for lead in _BRANCH_LEADS:
        at = lines.find(lead)
        while at >= 0 and len(found) < _MAX_REFS:
            start = lines.rfind(b"\n", 0, at) + 1
            end = lines.find(b"\n", at)
            commit, _, name = lines[start : end if end >= 0 else None].partition(b" ")
            _add(found, name.decode("utf-8", "replace").strip(), commit.decode("ascii", "replace"))
            at = lines.find(lead, end) if end >= 0 else -1


def symbolic_ref(folder: Path, name: str) -> str:
    """Return the full name of a symbolic ref's target; '' if the ref is ordinary or missing."""
    target = read_text(folder, name).strip()
    ref = target.removeprefix("ref:").strip()
    return ref if target.startswith("ref:") and REF.fullmatch(ref) else ""


def _loose_refs(common: Path, lead: str) -> dict[str, str]:
    found: dict[str, str] = {}
    folders = [lead]
    for folder in folders:  # grows on the way
        for name, is_folder in list_folder(common, folder, _MAX_REFS):
            ref = f"{folder}/{name}"
            if is_folder and len(folders) < _MAX_FOLDERS:
                folders.append(ref)
            elif not is_folder and len(found) < _MAX_REFS and not name.endswith(".lock"):
                _add(found, ref, read_text(common, ref, _MAX_LINE_LENGTH).strip())
    return found


def _add(found: dict[str, str], ref: str, commit: str) -> None:
    if REF.fullmatch(ref) and OBJECT_ID.fullmatch(commit):
        found[ref] = commit


@frozen
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


def find_checkout(folder: Path) -> tuple[Path, Path] | None:
    """Return the root of the checkout around a folder, and the git folder. The search goes upwards."""
    for root in (folder, *folder.parents):
        git_folder = git_folder_of(root)
        if git_folder is not None:
            return root, git_folder
    return None


def git_folder_of(root: Path) -> Path | None:
    """Return the git folder of a checkout with exactly this root, or None if the folder is no checkout root."""
    entry = root / ".git"
    if entry.is_dir() and (entry / "HEAD").is_file():
        return entry
    if entry.is_file():
        target = read_text(root, ".git").partition("gitdir:")[2].strip()
        git_folder = Path(os.path.normpath(root / target)) if target else None
        if git_folder is not None and git_folder.is_dir():
            return git_folder
    return None


def common_folder(git_folder: Path) -> Path:
    """Return the git folder shared by all worktrees."""
    shared = read_text(git_folder, "commondir").strip()
    return Path(os.path.realpath(git_folder / shared)) if shared else Path(os.path.realpath(git_folder))


def folder_identity(common: Path) -> str:
    """Return a value to recognise a git folder by, stable across every rewrite of the history; '' if none is available.

    The value tells a git folder from a later replacement at the same path. git writes `description` when it creates the
    folder, and never again. An inode number alone gets reused, and copies preserve the time alone. The device number
    may change with a reboot, so the value leaves it out."""
    opened = open_file(common, "description")
    if opened is None:
        return ""
    try:
        found = os.fstat(opened)
    finally:
        os.close(opened)
    return f"{found.st_ino}-{found.st_mtime_ns}"


def read_head(git_folder: Path, common: Path) -> tuple[str, str]:
    """Return the branch ('' when detached) and the commit ('' when unborn). Malformed content counts as ('', '')."""
    head = read_text(git_folder, "HEAD").strip()
    if OBJECT_ID.fullmatch(head):
        return "", head
    ref = head.removeprefix("ref:").strip()
    if not head.startswith("ref:") or not REF.fullmatch(ref):
        return "", ""
    loose = (read_text(folder, ref).strip() for folder in (git_folder, common))
    commit = next((value for value in loose if OBJECT_ID.fullmatch(value)), "")
    return ref.removeprefix("refs/heads/"), commit or packed_refs(common, ref).get(ref, "")
