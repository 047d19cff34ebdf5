"""What is not where it was, and what that proves: moved to another file, out of sight, or not to be read just now."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite.code.freshness.anchored_files import CheckLimits
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.relocation import RelocationSearch
from claude_mem_lite.code.freshness.verdicts import Freshness, judge
from claude_mem_lite.code.git.repository import open_repository
from claude_mem_lite.code.syntax.changes import ABSENT
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.models import Memory
from tests.e2e.repositories import git
from tests.support.code_anchors import LOAD, LOAD_SAFELY, SAVE, tied_to_file, work_on
from tests.support.fakes import NOW


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "notes.txt").write_text("Something that is always there.\n")
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[CodeCache]:
    # By its clock no file was changed just now: such a file would be read again each time.
    made = CodeCache(tmp_path / "code.db", lambda: time.time_ns() + 1_000_000_000)
    yield made
    made.release()


def telling(root: Path, anchors: tuple[str, ...], **more: object) -> Memory:
    """A memory that tells of this code."""
    repository = open_repository(str(root))
    values: dict[str, object] = {
        "id": "m1",
        "kind": "bugfix",
        "title": "Load safely",
        "summary": "So that it cannot fail.",
        "created_at": NOW,
        "last_seen_at": NOW,
        "scope": "project:shop",
        "project": "shop",
        "anchors": anchors,
        "commit": repository.head()[1] if repository else "",
        **more,
    }
    return Memory(**values)  # type: ignore[arg-type]


def look(cache: CodeCache, root: Path, memory: Memory) -> Freshness:
    relocation = RelocationSearch(str(root), open_repository(str(root)))
    return judge(cache, str(root), [memory], CheckLimits(Deadline.after(60), relocation=relocation))[memory.id]


def commit_all(root: Path) -> None:
    if not (root / ".git").exists():
        git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "--message=Work")


# Moved to another file.


@pytest.mark.parametrize("has_git", [False, True])
@pytest.mark.parametrize("target", ["src/other.py", "lib/deep/other.py", "src/new.py"])
def test_a_function_that_was_moved_to_another_file_is_followed(
    cache: CodeCache, root: Path, target: str, has_git: bool
) -> None:
    work_on(root, "src/files.py", SAVE + LOAD)
    anchors = work_on(root, "src/files.py", SAVE + LOAD_SAFELY)
    for file in ("src/other.py", "lib/deep/other.py"):
        work_on(root, file, "import os\n")
    if has_git:
        commit_all(root)
    memory = telling(root, anchors)

    work_on(root, "src/files.py", SAVE)
    work_on(root, target, f"import os\n\n\n{LOAD_SAFELY}")

    told = look(cache, root, memory)
    assert told == Freshness("fresh", (f"src/files.py::load moved to {target}",))
    assert not told.is_settled, "what becomes of the other file must be looked at as well"


def test_a_method_that_became_a_function_elsewhere_is_followed(cache: CodeCache, root: Path) -> None:
    method = "class File:\n    def size(self):\n        return self.end - self.start\n"
    anchors = [one for one in work_on(root, "src/files.py", method) if one.endswith("File.size")]
    memory = telling(root, tuple(anchors))
    work_on(root, "src/files.py", "")
    work_on(root, "src/sizes.py", "class Piece:\n    def size(self):\n        return self.end - self.start\n")
    assert look(cache, root, memory) == Freshness("fresh", ("src/files.py::File.size moved to src/sizes.py",))


def test_the_functions_of_a_deleted_file_are_followed_to_where_they_went(cache: CodeCache, root: Path) -> None:
    work_on(root, "lib/deep/other.py", SAVE)
    anchors = work_on(root, "src/files.py", LOAD)
    commit_all(root)
    memory = telling(root, anchors)
    git(root, "rm", "--quiet", "src/files.py")
    work_on(root, "lib/deep/other.py", SAVE + LOAD)
    commit_all(root)
    assert look(cache, root, memory) == Freshness("fresh", ("src/files.py::load moved to lib/deep/other.py",))


def test_what_was_moved_and_renamed_at_once_is_doubtful(cache: CodeCache, root: Path) -> None:
    memory = telling(root, work_on(root, "src/files.py", LOAD))
    work_on(root, "src/files.py", "")
    work_on(root, "src/other.py", LOAD.replace("load", "read_text"))
    told = look(cache, root, memory)
    assert told == Freshness("changed", ("src/files.py::load may be src/other.py::read_text now",))


def test_one_that_says_the_same_and_was_there_before_is_not_where_a_function_went(cache: CodeCache, root: Path) -> None:
    work_on(root, "src/other.py", LOAD)
    anchors = work_on(root, "src/files.py", LOAD)
    later = telling(root, anchors, created_at=datetime.now(UTC) + timedelta(hours=1))
    work_on(root, "src/files.py", "")
    assert look(cache, root, later).verdict == "gone"


def test_nor_is_one_that_is_the_same_as_at_the_commit(cache: CodeCache, root: Path) -> None:
    work_on(root, "src/other.py", LOAD)
    anchors = work_on(root, "src/files.py", LOAD)
    commit_all(root)
    memory = telling(root, anchors)
    work_on(root, "src/files.py", "")
    assert look(cache, root, memory).verdict == "gone"


def test_while_not_all_files_could_be_searched_nothing_is_gone(cache: CodeCache, root: Path) -> None:
    memory = telling(root, work_on(root, "src/files.py", LOAD))
    work_on(root, "src/files.py", "")
    for at in range(1_001):
        (root / "src" / f"{at}.py").write_text("")
    told = look(cache, root, memory)
    assert told == Freshness("changed", ("src/files.py::load is gone, or moved",))
    assert not told.is_settled


def test_a_renamed_function_that_still_speaks_of_its_old_name_is_followed(cache: CodeCache, root: Path) -> None:
    loading = LOAD.replace(":\n    with", ':\n    """Here we load a file."""\n    with', 1)
    memory = telling(root, work_on(root, "src/files.py", SAVE + loading))
    work_on(root, "src/files.py", SAVE + loading.replace("def load", "def read_text") + "\n\nload = read_text\n")
    assert look(cache, root, memory) == Freshness("fresh", ("src/files.py::load was renamed to read_text",))


# Not to be read just now.


@pytest.mark.parametrize(
    "text",
    [
        f'"""Never closed.\n\n\n{LOAD}\n\ndef save():\n    """Save it."""\n'.encode(),
        f"# <private>\n{LOAD}".encode(),
        f"<private>{LOAD}</private>".encode(),
        LOAD.encode("utf-16"),
        f"def (:\n{SAVE}".encode(),
    ],
)
def test_in_a_file_that_cannot_be_read_as_a_whole_nothing_is_gone(cache: CodeCache, root: Path, text: bytes) -> None:
    memory = telling(root, work_on(root, "src/files.py", LOAD))
    (root / "src" / "files.py").write_bytes(text)
    assert look(cache, root, memory).verdict == "changed"


# Out of sight.


@pytest.mark.parametrize("more", [(), ("--sparse-index",)])
def test_what_a_sparse_checkout_leaves_out_is_not_gone(cache: CodeCache, root: Path, more: tuple[str, ...]) -> None:
    work_on(root, "docs/tool.py", SAVE)
    memory = telling(root, work_on(root, "src/files.py", LOAD))
    commit_all(root)
    git(root, "sparse-checkout", "set", *more, "docs")
    assert not (root / "src").exists()
    assert look(cache, root, memory) == Freshness("changed", ("src/files.py is not in the working tree",))


def test_a_file_that_git_still_has_is_not_gone_until_its_deletion_is_staged(cache: CodeCache, root: Path) -> None:
    anchors = work_on(root, "src/files.py", LOAD)
    commit_all(root)
    memory = telling(root, anchors)
    (root / "src" / "files.py").unlink()
    assert look(cache, root, memory).verdict == "changed"
    git(root, "add", "--all")
    told = look(cache, root, memory)
    assert told == Freshness("gone", ("src/files.py is gone",))
    assert told.is_settled


def test_a_deletion_is_known_from_the_history_though_the_folder_went_with_the_file(
    cache: CodeCache, root: Path
) -> None:
    commit_all(root)
    memory = telling(root, work_on(root, "lib/files.py", LOAD))
    commit_all(root)
    git(root, "rm", "--quiet", "lib/files.py")
    commit_all(root)
    assert not (root / "lib").exists()
    told = look(cache, root, memory)
    assert told == Freshness("gone", ("lib/files.py is gone",))
    assert told.is_settled


@pytest.mark.parametrize("has_git", [False, True])
@pytest.mark.parametrize("left", ["nothing", "an empty folder"])
def test_without_its_folder_a_file_is_out_of_sight(cache: CodeCache, root: Path, has_git: bool, left: str) -> None:
    if has_git:
        commit_all(root)  # without the file, as with that of a submodule
    memory = telling(root, work_on(root, "mounted/files.py", LOAD))
    (root / "mounted").rename(root.parent / "unmounted")
    if left == "an empty folder":
        (root / "mounted").mkdir()
    assert look(cache, root, memory).verdict == "changed"


def test_a_clone_that_never_had_a_file_cannot_tell_that_it_is_gone_for_good(
    cache: CodeCache, root: Path, tmp_path: Path
) -> None:
    commit_all(root)
    older = tmp_path / "older"
    git(tmp_path, "clone", "--quiet", str(root), str(older))
    memory = telling(root, tied_to_file("src/files.py", before=ABSENT))
    assert not look(cache, older, memory).is_settled


# In time.


def test_a_file_too_large_for_the_time_is_left_to_a_later_look(cache: CodeCache, root: Path) -> None:
    memory = telling(root, work_on(root, "src/files.py", LOAD))
    (root / "src" / "files.py").write_text(f'''{LOAD_SAFELY}\n\nTEXT = """{"So it goes on. " * 55_000}"""\n''')

    def verdict(*, keeps_time: bool) -> str:
        limits = CheckLimits(Deadline.after(0.5), keeps_time=keeps_time)
        return judge(cache, str(root), [memory], limits)[memory.id].verdict

    assert verdict(keeps_time=True) == "unknown"
    assert verdict(keeps_time=False) == "changed"
    assert verdict(keeps_time=True) == "changed", "what was read once need not be read again"


def look_in_time(cache: CodeCache, root: Path, memory: Memory, *, keeps_time: bool = True, in_s: float) -> Freshness:
    relocation = RelocationSearch(str(root), open_repository(str(root)), s_per_file=50.0)
    limits = CheckLimits(Deadline.after(in_s), keeps_time=keeps_time, relocation=relocation)
    return judge(cache, str(root), [memory], limits)[memory.id]


def test_whoever_waits_begins_no_search_for_a_file_that_would_take_too_long(cache: CodeCache, root: Path) -> None:
    memory = telling(root, work_on(root, "src/files.py", LOAD))
    commit_all(root)
    git(root, "mv", "src/files.py", "src/loading.py")
    moved = Freshness("fresh", ("src/files.py moved to src/loading.py",))
    missing = Freshness("unknown", ("src/files.py is not where it was",))
    assert look_in_time(cache, root, memory, in_s=60) == missing
    assert look_in_time(cache, root, memory, in_s=6000) == moved, "whoever can wait for longer is told"
    assert look_in_time(cache, root, memory, in_s=60, keeps_time=False) == moved, "as is the look in the background"


def test_whoever_waits_is_told_where_a_function_went_once_that_is_known(cache: CodeCache, root: Path) -> None:
    memory = telling(root, work_on(root, "src/files.py", LOAD))
    commit_all(root)
    work_on(root, "src/loading.py", LOAD)
    work_on(root, "src/files.py", SAVE)
    commit_all(root)
    doubtful = Freshness("changed", ("src/files.py::load is gone, or moved",))
    moved = Freshness("fresh", ("src/files.py::load moved to src/loading.py",))
    assert look_in_time(cache, root, memory, in_s=60) == doubtful
    assert look_in_time(cache, root, memory, in_s=60, keeps_time=False) == moved
    assert look_in_time(cache, root, memory, in_s=60) == moved


def test_a_function_that_stood_elsewhere_all_along_is_not_where_another_went(cache: CodeCache, root: Path) -> None:
    work_on(root, "src/copy.py", LOAD)
    cache.read(str(root), ["src/copy.py"])
    later = datetime.now(UTC) + timedelta(days=1)
    memory = telling(root, work_on(root, "src/files.py", LOAD), created_at=later)
    commit_all(root)
    work_on(root, "src/files.py", SAVE)
    assert look_in_time(cache, root, memory, in_s=60) == Freshness("changed", ("src/files.py::load is gone, or moved",))
