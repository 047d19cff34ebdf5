"""One repository, seen from one checkout and read from git's files alone: git is never run. For one thread at a time.

No content of a repository raises an error: missing, corrupt and too large parts count as absent."""

import logging
import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from claude_mem_lite.code.git.commits import Ancestry, Commits, Trees, is_on_first_line
from claude_mem_lite.code.git.equivalent_changes import WorkComparison, find_fork
from claude_mem_lite.code.git.index import LARGEST_BYTES, Entries, count_tracked, read_index
from claude_mem_lite.code.git.objects import Objects
from claude_mem_lite.code.git.refs import (
    Trace,
    common_folder,
    created,
    git_folder_of,
    last_made,
    read_head,
    read_refs,
    read_traces,
    symbolic_ref,
)
from claude_mem_lite.code.git.safe_files import REF, list_folder, read_bytes, read_text
from claude_mem_lite.deadline import NEVER, Deadline

_log = logging.getLogger(__name__)

_USUAL_DEFAULTS = ("main", "master", "trunk", "develop")
_MAX_ANCESTRIES = 4
_MAX_RENAMES = 8
_MAX_IN_FOLDER = 1_000
_MAX_ANCESTORS = 20_000
_MAX_WALK_S = 0.5
_SHA_256 = re.compile(r"^[ \t]*objectformat[ \t]*=[ \t]*\"?sha256", re.I | re.M)


def open_repository(root: str) -> "Repository | None":
    """Return the repository of a checkout with this root, worktrees included, or None if the folder is no checkout
    root."""
    if not os.path.isabs(root):
        return None
    try:
        git_folder = git_folder_of(Path(root))
        return Repository(git_folder, common_folder(git_folder)) if git_folder is not None else None
    except (OSError, ValueError):  # too long, or with a NUL: no such folder can exist
        return None


class Repository:
    """Repository, opened for one request: branches and history are read once and cached."""

    def __init__(self, git_folder: Path, common: Path) -> None:
        self.common = common
        self._git_folder = git_folder
        self._objects = Objects(common)
        self._commits = Commits(self._objects)
        self._trees = Trees(self._objects)
        self._work = WorkComparison(self._objects, self._commits, self._trees)
        self._ancestries: dict[tuple[str, ...], Ancestry] = {}
        self._refs: dict[str, dict[str, str]] = {}
        self._traces: dict[str, Trace] | None = None

    def branches(self) -> dict[str, str]:
        """Return local branches by name, each with its commit."""
        return self._read_refs("refs/heads")

    def remote_branches(self) -> dict[str, str]:
        """Return the branches of remotes as last fetched, `origin/NAME`, each with its commit."""
        found = self._read_refs("refs/remotes")
        return {name: commit for name, commit in found.items() if not name.endswith("/HEAD")}

    def head(self) -> tuple[str, str]:
        """Return the branch checked out ('' if none) and the commit ('' if unborn)."""
        return read_head(self._git_folder, self.common)

    def rebased_branch(self) -> str:
        """Return the branch under rebase in the checkout, while HEAD is detached; '' if no rebase is in progress."""
        for folder in ("rebase-merge", "rebase-apply"):
            ref = read_text(self._git_folder, f"{folder}/head-name").strip()
            if REF.fullmatch(ref):
                return ref.removeprefix("refs/heads/")
        return ""

    def default_branch(self) -> str:
        """Return the default branch: the remote's default, else a usual name, else the only branch."""
        local, remote = self.branches(), self.remote_branches()
        target = symbolic_ref(self.common, "refs/remotes/origin/HEAD")
        named = target.removeprefix("refs/remotes/origin/") if target.startswith("refs/remotes/origin/") else ""
        if named and (named in local or f"origin/{named}" in remote):
            return named
        usual = [name for name in _USUAL_DEFAULTS if name in local]
        usual += [name for name in _USUAL_DEFAULTS if f"origin/{name}" in remote]
        return usual[0] if usual else next(iter(local)) if len(local) == 1 else ""

    def left_at(self, branch: str) -> str:
        """Return the last commit of a branch by the logs of HEAD; '' if unknown."""
        return self._trace(branch).left_at

    def renamed_to(self, branch: str) -> str:
        """Return the present name of a renamed branch; '' if the logs of HEAD have no rename."""
        name = branch
        for _ in range(_MAX_RENAMES):
            if not (after := self._trace(name).renamed_to):
                break
            name = after
        return name if name != branch else ""

    def last_commit_made(self, branch: str) -> int | None:
        """Return the time of the last commit made on a branch, in seconds since 1970. 0: never; None: unknown."""
        made = last_made(self.common, branch)
        return made if made is not None else self._trace(branch).made or None

    def created(self, branch: str) -> int | None:
        """Return the time of a branch's creation, in seconds since 1970, or None if the branch's log lacks the
        beginning."""
        return created(self.common, branch)

    def commit_time(self, commit: str) -> int | None:
        """Return the time of a commit, in seconds since 1970, or None if the commit is missing."""
        found = self._commits.get(commit)
        return found.time if found else None

    def first_parent(self, commit: str) -> str:
        """Return the first parent of a commit; '' if none."""
        found = self._commits.get(commit)
        return found.parents[0] if found and found.parents else ""

    def is_shallow(self) -> bool:
        """Return True if the clone leaves out the beginning of the history."""
        return bool(read_text(self.common, "shallow").strip())

    def has_any(self, commits: Iterable[str]) -> bool | None:
        """Return True if any of the commits exists. None: a shallow clone may have cut off all of the commits."""
        if any(self._commits.get(commit) for commit in commits):
            return True
        return None if self.is_shallow() else False

    def root_commit(self, commit: str) -> str:
        """Return the oldest commit on the line of first parents; '' if the beginning is missing or too far back.

        20,000 commits take 0.4 s of CPU time, independent of other load; a hostile commit takes 20 ms."""
        deadline = Deadline.after(_MAX_WALK_S, time.thread_time)
        for _ in range(_MAX_ANCESTORS):
            found = self._commits.get(commit)
            if found is None:
                return ""
            if deadline.is_past():
                _log.warning("a history was not read in time")
                return ""
            if not found.parents:
                return commit
            commit = found.parents[0]
        return ""

    def contains(self, head: str, tip: str, deadline: Deadline) -> bool | None:
        """Return True if a tip is a head or an ancestor of the head. None: objects are missing or time ran out."""
        return self.any_contains((head,), tip, deadline)

    def any_contains(self, heads: tuple[str, ...], tip: str, deadline: Deadline) -> bool | None:
        """Return True if any head contains a tip. Several heads take hardly longer than a single head."""
        if tip in heads:
            return True
        ancestry = self._ancestry(heads)
        found = ancestry.reaches(tip, deadline)
        if found is not False or not ancestry.cut_off:
            return found
        # Commits beyond the end of a shallow clone cannot contain the tip if all of them are older than the tip.
        own = self._ancestry((tip,))
        return False if all(own.reaches(child, deadline) for child in ancestry.cut_off) else None

    def is_on_first_line(self, head: str, tip: str, deadline: Deadline) -> bool | None:
        """Return True if first parents alone lead from a head to a tip: no merge brought the tip in."""
        return is_on_first_line(self._commits, head, tip, deadline)

    def has_same_work(self, head: str, tip: str, deadline: Deadline) -> bool | None:
        """Return True if a head has the own work of a tip by squash or rebase, see `WorkComparison`."""
        return self.any_has_same_work((head,), tip, deadline)

    def any_has_same_work(self, heads: tuple[str, ...], tip: str, deadline: Deadline) -> bool | None:
        """Return True if the heads together have the own work of a tip: all in a single head, or a part in each."""
        return self._work.is_in(self._ancestry(heads), tip, deadline)

    def parted_at(self, head: str, tip: str, deadline: Deadline) -> int | None:
        """Return the time of the first commit of a tip not in a head, in seconds since 1970. None: unknown."""
        fork = find_fork(self._commits, self._ancestry((head,)), tip, deadline)
        return fork.begun or None if fork else None

    def tracked(self) -> dict[str, str]:
        """Return the files of the index by path from the checkout's root, each with its blob id."""
        found: dict[str, str] = {}
        for path, id_ in self.each_tracked():
            found.setdefault(path, id_)
        return found

    def each_tracked(self) -> Iterator[tuple[str, str]]:
        """Yield the files of the index, for callers with a deadline. A path in conflict comes more than once."""
        return read_index(self._git_folder, self._id_bytes())

    def entries(self) -> Entries:
        """Return the index for random access, parsed on demand; empty if larger than 32 MiB."""
        content = read_bytes(self._git_folder, "index", LARGEST_BYTES + 1) or b""
        return Entries(content if len(content) <= LARGEST_BYTES else b"", self._id_bytes())

    def tracked_count(self) -> int:
        """Return the number of files by the index header."""
        return count_tracked(self._git_folder)

    def has_split_index(self) -> bool:
        """Return True if a part of the index is in a shared file, which is not read."""
        return any(name.startswith("sharedindex.") for name, _ in list_folder(self._git_folder, "", _MAX_IN_FOLDER))

    def blob_at(self, commit: str, path: str, deadline: Deadline = NEVER) -> str | None:
        """Return the blob id at a path of a commit. '': no file; None: unknown, for want of objects or time."""
        found = self._commits.get(commit)
        return self._trees.find(found.tree, path, deadline) if found else None

    def _id_bytes(self) -> int:
        return 32 if _SHA_256.search(read_text(self.common, "config")) else 20

    def _read_refs(self, lead: str) -> dict[str, str]:
        if lead not in self._refs:
            self._refs[lead] = read_refs(self.common, lead)
        return self._refs[lead]

    def _trace(self, branch: str) -> Trace:
        if self._traces is None:
            self._traces = read_traces(self.common)
        return self._traces.get(branch, Trace())

    def _ancestry(self, heads: tuple[str, ...]) -> Ancestry:
        known = self._ancestries.get(heads)
        if known is None:
            while len(self._ancestries) >= _MAX_ANCESTRIES:
                del self._ancestries[next(iter(self._ancestries))]
            known = self._ancestries[heads] = Ancestry(self._commits, heads)
        return known
