"""Tests of `code/freshness/verdicts.py` and `code/freshness/anchor_check.py`: state of the code that memories are
anchored to."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite.code.freshness.anchored_files import CheckLimits
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.relocation import RelocationSearch
from claude_mem_lite.code.freshness.verdicts import Freshness, is_mostly_here, judge
from claude_mem_lite.code.git.repository import Repository, open_repository
from claude_mem_lite.code.syntax.changes import ABSENT, PRESENT
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.models import Memory
from tests.e2e.repositories import git
from tests.support.code_anchors import LOAD, LOAD_SAFELY, SAVE, tied_to_file, work_on
from tests.support.fakes import NOW

FRESH = Freshness("fresh")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "src").mkdir()
    for name in ("README.md", "src/notes.txt"):
        (folder / name).write_text("Something that is always there.\n")
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[CodeCache]:
    made = CodeCache(tmp_path / "code.db")
    yield made
    made.release()


def telling(anchors: tuple[str, ...], **more: object) -> Memory:
    """A memory that tells of this code, made a while ago."""
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
        **more,
    }
    return Memory(**values)  # type: ignore[arg-type]


def look(cache: CodeCache, root: Path, memory: Memory, repository: Repository | None = None) -> Freshness:
    return judge(cache, str(root), [memory], far(root, repository))[memory.id]


def far(root: Path, repository: Repository | None = None, in_s: float = 60) -> CheckLimits:
    """All the time there is, and all that can be looked into."""
    return CheckLimits(Deadline.after(in_s), relocation=RelocationSearch(str(root), repository))


def commit_all(root: Path) -> str:
    """Commit everything; returns the commit."""
    if not (root / ".git").exists():
        git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=Work")
    return opened(root).head()[1]


def opened(root: Path) -> Repository:
    repository = open_repository(str(root))
    assert repository is not None
    return repository


def test_code_as_it_was_left_is_fresh(cache: CodeCache, root: Path) -> None:
    memory = telling(work_on(root, "src/files.py", LOAD))
    assert look(cache, root, memory) == FRESH


def test_what_happens_elsewhere_in_the_file_changes_nothing(cache: CodeCache, root: Path) -> None:
    memory = telling(work_on(root, "src/files.py", LOAD))
    work_on(root, "src/files.py", f"import os\n\n# Comments are no code.\n\n{SAVE}\n\n{LOAD}")
    assert look(cache, root, memory) == FRESH


def test_a_function_that_was_changed_makes_what_tells_of_it_doubtful(cache: CodeCache, root: Path) -> None:
    memory = telling(work_on(root, "src/files.py", LOAD))
    work_on(root, "src/files.py", LOAD_SAFELY)
    assert look(cache, root, memory) == Freshness("changed", ("src/files.py::load changed",))


def test_a_change_that_was_undone_is_gone(cache: CodeCache, root: Path) -> None:
    work_on(root, "src/files.py", LOAD)
    memory = telling(work_on(root, "src/files.py", LOAD_SAFELY))
    work_on(root, "src/files.py", LOAD)
    assert look(cache, root, memory) == Freshness("gone", ("src/files.py::load is again as it was before",))


def test_a_new_function_that_was_removed_again_is_gone(cache: CodeCache, root: Path) -> None:
    work_on(root, "src/files.py", SAVE)
    memory = telling(work_on(root, "src/files.py", SAVE + LOAD))
    work_on(root, "src/files.py", SAVE)
    assert look(cache, root, memory) == Freshness("gone", ("src/files.py::load is gone",))


def test_a_changed_function_that_was_deleted_is_gone(cache: CodeCache, root: Path) -> None:
    work_on(root, "src/files.py", SAVE + LOAD)
    memory = telling(work_on(root, "src/files.py", SAVE + LOAD_SAFELY))
    work_on(root, "src/files.py", SAVE)
    assert look(cache, root, memory) == Freshness("gone", ("src/files.py::load is gone",))


def test_the_memory_of_a_deletion_holds_while_nothing_is_there(cache: CodeCache, root: Path) -> None:
    work_on(root, "src/files.py", SAVE + LOAD)
    memory = telling(work_on(root, "src/files.py", SAVE))
    assert look(cache, root, memory) == FRESH
    (root / "src" / "files.py").unlink()
    assert look(cache, root, memory) == FRESH


def test_what_was_deleted_and_is_back_makes_the_deletion_untrue(cache: CodeCache, root: Path) -> None:
    work_on(root, "src/files.py", SAVE + LOAD)
    memory = telling(work_on(root, "src/files.py", SAVE))
    work_on(root, "src/files.py", SAVE + LOAD)
    assert look(cache, root, memory) == Freshness("gone", ("src/files.py::load is there again",))
    work_on(root, "src/files.py", SAVE + LOAD_SAFELY)
    assert look(cache, root, memory) == Freshness("changed", ("src/files.py::load is there again",))


def test_some_of_it_gone_is_a_change_and_not_the_end(cache: CodeCache, root: Path) -> None:
    memory = telling(work_on(root, "src/files.py", SAVE + LOAD))
    work_on(root, "src/files.py", SAVE)
    assert look(cache, root, memory) == Freshness("changed", ("src/files.py::load is gone",))


def test_a_function_that_was_renamed_is_followed(cache: CodeCache, root: Path) -> None:
    memory = telling(work_on(root, "src/files.py", LOAD))
    work_on(root, "src/files.py", SAVE + LOAD.replace("load", "read_text"))
    assert look(cache, root, memory) == Freshness("fresh", ("src/files.py::load was renamed to read_text",))


def test_a_method_is_followed_when_its_class_is_renamed(cache: CodeCache, root: Path) -> None:
    methods = "    def open(self):\n        return 1\n\n    def close(self):\n        return 1\n"
    anchors = work_on(root, "src/files.py", f"class File:\n{methods}")
    memory = telling(tuple(anchor for anchor in anchors if anchor.endswith("File.close")))
    work_on(root, "src/files.py", f"class Document:\n{methods}")
    told = look(cache, root, memory)
    assert told == Freshness("fresh", ("src/files.py::File.close was renamed to Document.close",))


def test_a_body_that_several_others_have_is_no_sign_of_a_renaming(cache: CodeCache, root: Path) -> None:
    work_on(root, "src/files.py", "")
    memory = telling(work_on(root, "src/files.py", "def load():\n    pass\n"))
    work_on(root, "src/files.py", "def one():\n    pass\n\n\ndef other():\n    pass\n")
    assert look(cache, root, memory).verdict == "gone"


def test_the_memory_of_a_renaming_is_doubtful_once_the_name_is_another(cache: CodeCache, root: Path) -> None:
    work_on(root, "src/files.py", LOAD)
    memory = telling(work_on(root, "src/files.py", LOAD.replace("load", "read_text")))
    assert look(cache, root, memory) == FRESH
    work_on(root, "src/files.py", LOAD)
    assert look(cache, root, memory).verdict == "changed"


def test_a_missing_file_is_gone_without_git(cache: CodeCache, root: Path) -> None:
    memory = telling(work_on(root, "src/files.py", LOAD))
    (root / "src" / "files.py").unlink()
    told = look(cache, root, memory)
    assert told == Freshness("gone", ("src/files.py is gone",))
    assert not told.is_settled, "nothing shows why"


def test_a_file_that_was_moved_is_followed_by_what_it_held(cache: CodeCache, root: Path) -> None:
    anchors = work_on(root, "src/files.py", LOAD)
    memory = telling(anchors, commit=commit_all(root))
    git(root, "mv", "src/files.py", "reading.py")
    told = look(cache, root, memory, opened(root))
    assert told == Freshness("fresh", ("src/files.py moved to reading.py",))


def test_a_file_that_was_moved_and_changed_is_followed_by_its_name(cache: CodeCache, root: Path) -> None:
    work_on(root, "src/files.py", SAVE)
    before = commit_all(root)
    memory = telling(work_on(root, "src/files.py", SAVE + LOAD), commit=before)
    (root / "lib").mkdir()
    git(root, "mv", "src/files.py", "lib/files.py")
    commit_all(root)
    told = look(cache, root, memory, opened(root))
    assert told == Freshness("fresh", ("src/files.py moved to lib/files.py",))


def test_a_file_is_followed_to_another_name_by_what_it_held_before_it_was_moved(cache: CodeCache, root: Path) -> None:
    work_on(root, "src/files.py", SAVE)
    before = commit_all(root)
    memory = telling(work_on(root, "src/files.py", SAVE + LOAD), commit=before)
    commit_all(root)
    git(root, "mv", "src/files.py", "src/reading.py")
    commit_all(root)
    told = look(cache, root, memory, opened(root))
    assert told == Freshness("fresh", ("src/files.py moved to src/reading.py",))


def test_a_file_that_was_given_another_name_and_changed_at_once_is_followed_by_what_it_defines(
    cache: CodeCache, root: Path
) -> None:
    work_on(root, "src/other.py", SAVE)
    before = commit_all(root)
    memory = telling(work_on(root, "src/files.py", LOAD), commit=before)
    commit_all(root)
    git(root, "mv", "src/files.py", "src/reading.py")
    work_on(root, "src/reading.py", f"import os\n\n\n{SAVE}\n\n{LOAD}")
    commit_all(root)
    told = look(cache, root, memory, opened(root))
    assert told == Freshness("fresh", ("src/files.py moved to src/reading.py",))


def test_a_file_that_was_moved_and_is_not_known_to_git_yet_is_followed_too(cache: CodeCache, root: Path) -> None:
    memory = telling(work_on(root, "src/files.py", LOAD), commit=commit_all(root))
    (root / "src" / "files.py").rename(root / "src" / "reading.py")
    told = look(cache, root, memory, opened(root))
    assert told == Freshness("fresh", ("src/files.py moved to src/reading.py",))


def test_what_was_changed_where_it_was_moved_to_is_doubtful(cache: CodeCache, root: Path) -> None:
    anchors = work_on(root, "src/files.py", LOAD)
    memory = telling(anchors, commit=commit_all(root))
    git(root, "mv", "src/files.py", "reading.py")
    work_on(root, "reading.py", LOAD_SAFELY)
    told = look(cache, root, memory, opened(root))
    assert told == Freshness("changed", ("src/files.py moved to reading.py; src/files.py::load changed",))


def test_a_twin_that_was_there_all_along_is_not_where_a_file_went(cache: CodeCache, root: Path) -> None:
    work_on(root, "copies/files.py", LOAD)
    anchors = work_on(root, "src/files.py", LOAD)
    memory = telling(anchors, commit=commit_all(root))
    git(root, "rm", "--quiet", "src/files.py")
    assert look(cache, root, memory, opened(root)) == Freshness("gone", ("src/files.py is gone",))


def test_a_file_of_an_unread_language_is_judged_by_its_being_there(cache: CodeCache, root: Path) -> None:
    (root / "notes.txt").write_text("one")
    memory = telling(tied_to_file("notes.txt", before=ABSENT))
    assert look(cache, root, memory) == FRESH
    (root / "notes.txt").write_text("two")
    assert look(cache, root, memory) == FRESH
    (root / "notes.txt").unlink()
    assert look(cache, root, memory) == Freshness("gone", ("notes.txt is gone",))


def test_a_deleted_file_that_is_back_makes_the_deletion_untrue(cache: CodeCache, root: Path) -> None:
    memory = telling(tied_to_file("notes.txt", before=PRESENT, after=ABSENT))
    assert look(cache, root, memory) == FRESH
    (root / "notes.txt").write_text("one")
    assert look(cache, root, memory) == Freshness("gone", ("notes.txt is there again",))


def test_the_file_says_nothing_where_its_symbols_do(cache: CodeCache, root: Path) -> None:
    work_on(root, "src/files.py", SAVE)
    symbols = work_on(root, "src/files.py", SAVE + LOAD)
    memory = telling((*tied_to_file("src/files.py"), *symbols))
    work_on(root, "src/files.py", SAVE)
    assert look(cache, root, memory).verdict == "gone"


def test_a_file_too_large_to_read_is_judged_by_its_being_there(cache: CodeCache, root: Path) -> None:
    memory = telling(work_on(root, "src/files.py", LOAD))
    (root / "src" / "files.py").write_text("#" * 2_000_000)
    assert look(cache, root, memory) == FRESH


def test_of_one_symbol_the_last_anchor_counts(cache: CodeCache, root: Path) -> None:
    first = work_on(root, "src/files.py", LOAD)
    second = work_on(root, "src/files.py", LOAD_SAFELY)
    assert look(cache, root, telling((*first, *second))) == FRESH


@pytest.mark.parametrize("anchors", [(), ("error:abc",), ("code:nonsense",)])
def test_what_nothing_ties_to_code_is_fresh(cache: CodeCache, root: Path, anchors: tuple[str, ...]) -> None:
    assert look(cache, root, telling(anchors)) == FRESH


@pytest.mark.parametrize("held", [{"pinned": True}, {"origin": "user"}])
def test_what_the_user_said_or_pinned_is_never_gone(cache: CodeCache, root: Path, held: dict[str, object]) -> None:
    memory = telling(work_on(root, "src/files.py", LOAD), **held)
    (root / "src" / "files.py").unlink()
    assert look(cache, root, memory) == Freshness("changed", ("src/files.py is gone",))


def test_of_what_was_made_here_an_untouched_file_is_not_read(cache: CodeCache, root: Path) -> None:
    anchors = work_on(root, "src/files.py", LOAD)
    work_on(root, "src/files.py", LOAD_SAFELY)  # within the turn that the memory tells of
    later = datetime.now(UTC) + timedelta(hours=1)
    memory = telling(anchors, created_at=later)
    here = judge(cache, str(root), [memory], far(root), made_here={memory.id})
    relocation = judge(cache, str(root), [memory], far(root))
    assert (here[memory.id].verdict, relocation[memory.id].verdict) == ("fresh", "changed")


def test_a_file_put_back_with_its_old_time_was_touched_nevertheless(cache: CodeCache, root: Path) -> None:
    memory = telling(work_on(root, "src/files.py", LOAD), created_at=datetime.now(UTC))
    work_on(root, "src/files.py", LOAD_SAFELY)
    os.utime(root / "src" / "files.py", (0, 0))
    told = judge(cache, str(root), [memory], far(root), made_here={memory.id})
    assert told[memory.id].verdict == "changed"


def test_a_missing_file_is_missing_whatever_was_made_here(cache: CodeCache, root: Path) -> None:
    memory = telling(work_on(root, "src/files.py", LOAD), created_at=datetime.now(UTC) + timedelta(hours=1))
    (root / "src" / "files.py").unlink()
    told = judge(cache, str(root), [memory], far(root), made_here={memory.id})
    assert told[memory.id].verdict == "gone"


def test_when_time_is_up_nothing_is_claimed(cache: CodeCache, root: Path) -> None:
    memory = telling(work_on(root, "src/files.py", LOAD))
    work_on(root, "src/files.py", LOAD_SAFELY)
    assert judge(cache, str(root), [memory], far(root, in_s=-1)) == {memory.id: Freshness("unknown")}


@pytest.mark.parametrize("state", ["missing", "empty"])
def test_a_checkout_that_is_not_there_says_nothing_about_its_files(
    cache: CodeCache, root: Path, tmp_path: Path, state: str
) -> None:
    memory = telling(work_on(root, "src/files.py", LOAD))
    other = tmp_path / "unmounted"
    if state == "empty":
        other.mkdir()
    assert look(cache, other, memory) == Freshness("unknown")


@pytest.mark.parametrize(
    "path", ["../secret.py", "/etc/passwd", "src/../../secret.py", "a//b", "./a", "a\0b", "a/", "\ud800"]
)
def test_a_path_that_leads_out_of_the_checkout_is_not_looked_at(cache: CodeCache, root: Path, path: str) -> None:
    (root.parent / "secret.py").write_text(LOAD_SAFELY)
    for name in ("", "::load"):
        assert look(cache, root, telling((f"code:aaaa:bbbb:{path}{name}",))) == FRESH


def test_no_link_is_followed(cache: CodeCache, root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "files.py").write_text(LOAD_SAFELY)
    (root / "folder").symlink_to(outside)
    (root / "file.py").symlink_to(outside / "files.py")
    for path in ("folder/files.py", "folder/missing.py", "file.py"):
        assert look(cache, root, telling((f"code:aaaa:bbbb:{path}::load",))) == FRESH


def test_many_memories_of_many_files_are_told_apart(cache: CodeCache, root: Path) -> None:
    kept = [telling(work_on(root, f"src/kept_{at}.py", LOAD), id=f"kept-{at}") for at in range(20)]
    lost = [telling(work_on(root, f"src/lost_{at}.py", SAVE), id=f"lost-{at}") for at in range(20)]
    for at in range(20):
        (root / "src" / f"lost_{at}.py").unlink()
    told = judge(cache, str(root), [*kept, *lost], far(root))
    assert {told[memory.id].verdict for memory in kept} == {"fresh"}
    assert {told[memory.id].verdict for memory in lost} == {"gone"}


def test_what_was_found_changed_is_so_though_the_rest_could_not_be_looked_at(cache: CodeCache, root: Path) -> None:
    anchors = work_on(root, "src/files.py", LOAD)
    work_on(root, "src/files.py", LOAD_SAFELY)
    memory = telling((*anchors, *(f"code:a:b:src/later_{at:05}.py::f" for at in range(2_000))))
    assert look(cache, root, memory).verdict == "changed"
    unknown = telling((f"code:{ABSENT}:b:src/files.py::save", *memory.anchors[1:]))
    assert look(cache, root, unknown).verdict == "unknown"


def test_only_so_many_files_are_looked_at_at_once(cache: CodeCache, root: Path) -> None:
    memories = [telling((f"code:a:b:src/{at:05}.py::f",), id=str(at)) for at in range(2_001)]
    told = judge(cache, str(root), memories, far(root))
    assert [one.verdict for one in told.values()] == ["gone"] * 2_000 + ["unknown"]


def test_work_is_here_when_most_of_its_code_is(cache: CodeCache, root: Path) -> None:
    def is_here(*memories: Memory, in_s: float = 60) -> bool | None:
        return is_mostly_here(cache, str(root), memories, Deadline.after(in_s))

    memory = telling(work_on(root, "src/files.py", SAVE + LOAD))
    other = telling(work_on(root, "src/other.py", LOAD), id="m2")
    assert is_here(memory, other)
    work_on(root, "src/files.py", SAVE)
    assert is_here(memory, other)
    assert not is_here(memory)
    assert is_here(memory, other, in_s=-1) is None


def test_a_file_that_was_there_before_the_work_says_nothing_about_it(cache: CodeCache, root: Path) -> None:
    changed, added = telling(tied_to_file("README.md")), telling(tied_to_file("README.md", before=ABSENT), id="m2")
    deadline = Deadline.after(60)
    assert is_mostly_here(cache, str(root), [changed], deadline) is None
    assert is_mostly_here(cache, str(root), [telling(())], deadline) is None
    assert is_mostly_here(cache, str(root), [changed, added], deadline)
