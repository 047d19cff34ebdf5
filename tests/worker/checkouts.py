"""Work in checkouts that is remembered and looked at, for the tests of the look."""

from pathlib import Path
from typing import Any

from claude_mem_lite.code.freshness.scanner import StalenessScanner
from claude_mem_lite.code.freshness.time_budget import CpuBudget
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Event, Memory
from claude_mem_lite.store import memories, sessions
from tests.e2e.repositories import git
from tests.support.code_anchors import LOAD, work_on
from tests.support.fakes import NOW, Store


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "--message=Work")


def remember(store: Store, root: Path, anchors: tuple[str, ...], title: str = "Load safely", **more: object) -> Memory:
    """A memory of work in a checkout, on the branch it is on, in a session there."""
    location = find_location(str(root))
    session = f"session in {root.name}"
    with atomic(store.db):
        sessions.touch(store.db, Event(f"{session}-start", "SessionStart", session, NOW, str(root)), location)
    values: dict[str, Any] = {"branch": location.branch, "commit": location.commit, "session": session, **more}
    return store.remember(title, place=location, anchors=anchors, **values)


def look(looking: StalenessScanner, root: Path) -> set[str]:
    """Have a checkout looked at to the end; returns the projects whose context changed."""
    looking.request_scan(find_location(str(root)))
    changed: set[str] = set()
    while looking.is_busy():
        changed |= looking.step().changed
    return changed


def status(store: Store, memory: Memory) -> str:
    return memories.get(store.db, memory.id).status


def on_branch(store: Store, root: Path, branch: str, title: str = "Load safely", **more: object) -> Memory:
    """Work on a new branch, committed."""
    git(root, "switch", "--quiet", "--create", branch)
    memory = remember(store, root, work_on(root, f"{branch.replace('/', '_')}.py", LOAD), title, **more)
    commit(root)
    return memory


def soon() -> CpuBudget:
    """More time than a look takes."""
    return CpuBudget(60, 60)
