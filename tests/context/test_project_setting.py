"""Setting of a folder before any layer runs: main language, task and query."""

import subprocess
from pathlib import Path

import pytest

from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.code.git.repository import open_repository
from claude_mem_lite.context.project_setting import detect, main_language
from claude_mem_lite.models import SessionSummary
from tests.support.fakes import Store
from tests.support.git_repositories import Checkout, make_checkout, many_files


@pytest.fixture
def shop(tmp_path: Path) -> Checkout:
    made = make_checkout(tmp_path / "shop")
    made.commit("lib/basket.rb", "class Basket; end\n")
    return made


def language(root: Path) -> str:
    repository = open_repository(str(root))
    return main_language(str(root), repository.entries() if repository else None)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["Cargo.toml"], "rust"),
        (["go.mod", "web/a.ts"], "go"),
        (["pyproject.toml", "package.json", "a.py", "b.py", "c.js"], "python"),
        (["pyproject.toml", "package.json", "a.py", "web/b.ts", "web/c.tsx"], "typescript"),
        (["package.json", "src/a.ts", "src/b.ts", "jest.config.js"], "typescript"),
        (["package.json", "index.js"], "javascript"),
        (["CMakeLists.txt", "a.c", "b.c", "b.h"], "c"),
        (["CMakeLists.txt"], "c++"),
        (["build.gradle.kts", "src/A.kt"], "kotlin"),
        (["src/a.py", "src/b.py", "tools/c.rb"], "python"),
        (["notes.txt"], ""),
    ],
)
def test_the_main_language_is_told_by_manifests_and_then_by_the_index(
    tmp_path: Path, files: list[str], expected: str
) -> None:
    made = make_checkout(tmp_path / "made")
    for name in files:
        made.write(name, "x\n")
    made.git("add", "-A")
    assert language(made.root) == expected


def test_without_git_the_names_in_the_root_tell_it(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name in ("a.go", "src/b.go", "src/c.py"):
        (tmp_path / name).write_text("x")
    assert language(tmp_path) == "go"
    assert language(tmp_path / "missing") == ""


def test_an_index_of_100_000_files_is_looked_into_without_reading_their_names_one_by_one(shop: Checkout) -> None:
    many_files(shop, "services/pages", 100_000)
    shop.write("lib/basket.rb", "class Basket; def count; end; end\n")
    repository = open_repository(str(shop.root))
    assert repository
    entries = repository.entries()
    assert entries.count == 100_001
    counted = entries.endings()
    assert 5_000 < counted["py"] < 100_000  # a part of it, all over it
    assert main_language(str(shop.root), entries) == "python"
    assert entries.find(["lib/basket.rb", "services/pages/77777.py"]).entries.keys() == {
        "lib/basket.rb",
        "services/pages/77777.py",
    }


def test_the_setting_of_a_place_is_told_from_its_last_session_and_its_files(shop: Checkout, store: Store) -> None:
    shop.begin("feature/basket-totals")
    shop.write("lib/basket.rb", "class Basket; def total; end; end\n")
    shop.write("lib/till.rb", "class Till; end\n")
    place = find_location(str(shop.root))
    summary = SessionSummary(
        headline="Count the basket in cents",
        request="Why is the total wrong?",
        next_steps=("Round the tax",),
        files_edited=("lib/basket.rb", "lib/till.rb"),
    )
    store.turn("t1", "the total is wrong, fix the error", "done", session="s1", place=place)
    store.session("s1", summary, place=place)
    found = detect(store.db, place)
    assert (found.language, found.task) == ("ruby", "debugging")
    assert found.query == (
        "Count the basket in cents Round the tax Why is the total wrong? feature basket totals till.rb basket.rb"
    )


def test_the_session_that_asks_and_other_projects_tell_nothing(shop: Checkout, store: Store) -> None:
    place = find_location(str(shop.root))
    store.turn("t1", "fix the crash", "done", session="s1", place=place)
    store.session("s1", SessionSummary(headline="Mend the till", request="fix the crash"), place=place)
    store.turn("t2", "write the README", "done", session="s2")
    store.session("s2", SessionSummary(headline="Write docs"))
    found = detect(store.db, place, without_session="s1")
    assert (found.task, found.query) == (None, "")
    assert detect(store.db, place).task == "debugging"


def test_a_query_stays_short_and_leaves_out_branches_that_say_nothing(shop: Checkout, store: Store) -> None:
    place = find_location(str(shop.root))
    summary = SessionSummary(headline="Count " + "very much " * 60, files_edited=("lib/basket.rb",))
    store.session("s1", summary, place=place)
    query = detect(store.db, place).query
    assert len(query) <= 300
    assert "main" not in query


def test_a_folder_that_is_gone_or_nowhere_has_an_empty_setting(store: Store, tmp_path: Path) -> None:
    for folder in (str(tmp_path / "gone"), "nowhere"):
        found = detect(store.db, find_location(folder))
        assert (found.language, found.task, found.query) == ("", None, "")


def test_nothing_is_run_that_a_repository_names(shop: Checkout, store: Store, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    for key in ("core.fsmonitor", "core.pager", "filter.x.clean"):
        shop.git("config", key, f"touch {mark}")
    shop.write(".gitattributes", "* filter=x\n")
    store.session(
        "s1", SessionSummary(headline="x", files_edited=(".gitattributes",)), place=find_location(str(shop.root))
    )
    assert detect(store.db, find_location(str(shop.root))).query.endswith(" .gitattributes")
    assert not mark.exists()
    subprocess.run(["git", "-C", shop.root, "status"], check=True, capture_output=True)
    assert mark.exists()  # git itself would have run it
