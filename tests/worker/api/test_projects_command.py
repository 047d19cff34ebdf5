"""Tests of `worker/project_commands.py` and `cli/projects.py`: list, merge, rename, move and undo, and a project
named instead of a folder."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import open_for_reading
from tests.support.running import Json, Machine, open_machine, payload, short_folder, turn
from tests.worker.commands import run_here

# What differs after a change was made and undone: the record of it, and the order of what is derived.
_BESIDES = ("project_changes", "progress", "sketches", "unindexed", "sqlite_sequence")


@pytest.fixture
def machine() -> Iterator[Machine]:
    with open_machine() as made:
        made.start_worker()
        yield made


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as made:
        yield made.resolve()


def test_projects_are_listed_with_what_they_hold_and_where_they_are(machine: Machine, folder: Path) -> None:
    work(machine, folder / "shop", "Sort the cart")
    remember(machine, folder / "shop", "Carts are sorted by colour")
    work(machine, folder / "blog", "Write a post")
    (blog, shop) = listed(machine)
    assert (blog["name"], shop["name"]) == ("blog", "shop")
    assert shop["sessions"] == 1
    assert shop["memories"] == 1
    assert shop["folders"] == [str(folder / "shop")]
    assert shop["remotes"] == []
    told = run_here(machine, "projects").stdout
    assert "shop\t1\t1\t" in told
    assert str(folder / "shop") in told


def test_a_project_that_holds_nothing_is_not_offered(machine: Machine, folder: Path) -> None:
    work(machine, folder / "shop", "Sort the cart")
    work(machine, folder / "blog", "Write a post")
    machine.post("/api/forget", {"project": "blog"})
    (folder / "empty").mkdir()
    machine.hook("UserPromptSubmit", payload("UserPromptSubmit", "shop-session", str(folder / "empty"), prompt="More"))
    machine.hook("Stop", payload("Stop", "shop-session", str(folder / "empty"), last_assistant_message="Done more."))
    machine.drain()
    assert [one["name"] for one in listed(machine)] == ["shop"]


@pytest.mark.parametrize(
    "command",
    [
        ("merge", "blog", "shop"),
        ("rename", "shop", "webshop"),
        ("move", "{folder}/blog", "{folder}/moved"),
        ("move", "{folder}/blog", "{folder}/shop"),
        ("move", "{folder}", "{folder}-elsewhere"),
    ],
)
def test_undoing_a_change_restores_every_table(machine: Machine, folder: Path, command: tuple[str, ...]) -> None:
    for name in ("shop", "blog"):
        work(machine, folder / name, f"Sort the list of the {name}")
        remember(machine, folder / name, f"The {name} is sorted by colour")
    before, found_before = tables(machine), titles(machine, "sorted by colour", folder / "blog")
    run_here(machine, "projects", *(one.format(folder=folder) for one in command))
    machine.drain()
    assert tables(machine) != before

    told = run_here(machine, "projects", "undo").stdout
    machine.drain()

    assert "Undone" in told
    assert tables(machine) == before
    assert titles(machine, "sorted by colour", folder / "blog") == found_before


def test_a_merged_project_is_found_from_its_folder_by_words_and_by_meaning(machine: Machine, folder: Path) -> None:
    work(machine, folder / "shop", "Sort the cart")
    remember(machine, folder / "blog", "Posts are numbered per author")
    assert titles(machine, "numbered posts", folder / "shop") == []
    told = run_here(machine, "projects", "merge", "blog", "shop").stdout
    assert "blog was merged into shop. `claude-mem-lite projects undo" in told
    assert titles(machine, "numbered posts", folder / "shop") == ["Posts are numbered per author"]
    assert titles(machine, "numbered posts", folder / "blog") == ["Posts are numbered per author"]
    assert "numbered per author" in context(machine, folder / "shop")
    assert [one["name"] for one in listed(machine)] == ["shop"]


def test_a_folder_moved_by_hand_is_found_after_projects_move(machine: Machine, folder: Path) -> None:
    work(machine, folder / "notes", "Sort the notes")
    remember(machine, folder / "notes", "Notes are numbered per day")
    (folder / "notes").rename(folder / "moved")
    remember(machine, folder / "moved", "Notes end with a tag")
    run_here(machine, "projects", "move", folder / "notes", folder / "moved")
    assert sorted(titles(machine, "notes", folder / "moved")) == ["Notes are numbered per day", "Notes end with a tag"]
    assert "numbered per day" in context(machine, folder / "moved")
    (project,) = listed(machine)
    assert project["folders"] == [str(folder / "moved"), str(folder / "notes")]


def test_a_merge_is_told_by_the_names_of_projects(machine: Machine, folder: Path) -> None:
    for name in ("shop", "plain"):
        remember(machine, folder / name, f"The {name} is sorted by colour")
    run_here(machine, "projects", "rename", "shop", "store")
    assert run_here(machine, "projects", "merge", "plain", "store").stdout.startswith("plain was merged into store.")
    assert "plain was merged into store" in run_here(machine, "projects", "--changes").stdout
    assert run_here(machine, "projects", "undo").stdout == "Undone: plain was merged into store.\n"


def test_a_merge_of_two_projects_of_one_name_is_told_by_their_ids(machine: Machine, folder: Path) -> None:
    for parent in ("a", "b"):
        (folder / parent).mkdir()
        remember(machine, folder / parent / "shop", "Sorted by colour")
    old, new = folder / "a" / "shop", folder / "b" / "shop"
    told = run_here(machine, "projects", "merge", old, new).stdout
    assert told.startswith(f"shop ({old}) was merged into shop ({new}).")


def test_a_merge_that_another_one_built_upon_is_undone_after_it(machine: Machine, folder: Path) -> None:
    for name in ("a-shop", "b-shop", "c-shop"):
        remember(machine, folder / name, f"The {name} is sorted by colour")
    first = json.loads(run_here(machine, "projects", "merge", "a-shop", "b-shop", "--json").stdout)["id"]
    second = json.loads(run_here(machine, "projects", "merge", "b-shop", "c-shop", "--json").stdout)["id"]
    refused = run_here(machine, "projects", "undo", first, status=1).stderr
    assert f"projects undo {second}" in refused
    run_here(machine, "projects", "undo", second)
    run_here(machine, "projects", "undo", first)
    assert {one["name"] for one in listed(machine)} == {"a-shop", "b-shop", "c-shop"}


def test_what_is_merged_comes_back_merged_from_the_inbox_when_the_database_is_lost(
    machine: Machine, folder: Path
) -> None:
    for name in ("shop", "blog"):
        work(machine, folder / name, f"Sort the list of the {name}")
        remember(machine, folder / name, f"The {name} is sorted by colour")
    run_here(machine, "projects", "merge", "blog", "shop")
    run_here(machine, "projects", "rename", "shop", "webshop")
    machine.drain()
    before = listed(machine)
    machine.stop_worker()
    for path in (*machine.home.root.glob("memory.db*"), *machine.home.backups.glob("memory-*")):
        path.unlink()
    machine.start_worker()
    machine.drain()
    (project,) = listed(machine)
    assert {key: project[key] for key in ("id", "name", "sessions")} == {
        key: before[0][key] for key in ("id", "name", "sessions")
    }
    assert len(titles(machine, "sorted by colour", folder / "blog")) == 2


def test_a_merged_project_has_its_facts_once_and_both_have_theirs_when_that_is_undone(
    machine: Machine, folder: Path
) -> None:
    for name in ("shop", "blog"):
        (folder / name).mkdir()
        (folder / name / "Makefile").write_text("test:\n\tpytest\n")
        start(machine, folder / name)
    assert (facts(machine, "shop"), facts(machine, "blog")) == (1, 1)
    run_here(machine, "projects", "merge", "blog", "shop")
    start(machine, folder / "shop")
    assert facts(machine, "shop") == 1
    run_here(machine, "projects", "undo")
    for name in ("shop", "blog"):
        start(machine, folder / name)
    assert (facts(machine, "shop"), facts(machine, "blog")) == (1, 1)


def test_a_forgotten_project_leaves_no_trace_of_its_folder(machine: Machine, folder: Path) -> None:
    work(machine, folder / "shop", "Sort the cart")
    work(machine, folder / "secret-blog", "Write a post")
    run_here(machine, "projects", "move", folder / "secret-blog", folder / "secret-moved")
    run_here(machine, "projects", "rename", "secret-blog", "secret-name")
    machine.post("/api/forget", {"project": "secret-name"})
    machine.drain()
    with closing(open_for_reading(machine.home.memory_db)) as db:
        left = "\n".join(db.iterdump())
    assert f"{folder}/secret" not in left
    assert "secret-name" not in left
    assert not [row for row in machine.rows() if "rename_project" in row.payload or "move_project" in row.payload]


def test_what_was_forgotten_before_a_merge_stays_forgotten_after_it(machine: Machine, folder: Path) -> None:
    work(machine, folder / "shop", "Sort the cart")
    work(machine, folder / "blog", "Write a post")
    remember(machine, folder / "blog", "Posts are numbered per author and year")
    (lines,) = [
        line for line in run_here(machine, "export", "--project", "blog").stdout.splitlines() if "per author" in line
    ]
    machine.post("/api/forget", {"ids": [json.loads(lines)["id"]]})
    run_here(machine, "projects", "merge", "blog", "shop")
    again = folder / "again.jsonl"
    again.write_text(json.dumps({**json.loads(lines), "id": "another1234"}) + "\n")
    told = run_here(machine, "import", "jsonl", again, "--trust").stdout
    assert "forgotten" in told
    assert titles(machine, "numbered posts", folder / "shop") == []


def test_an_export_of_before_a_merge_is_imported_into_the_project_of_now(machine: Machine, folder: Path) -> None:
    work(machine, folder / "shop", "Sort the cart")
    work(machine, folder / "blog", "Write a post")
    old = folder / "old.jsonl"
    line = {"kind": "decision", "title": "Posts are numbered", "project": str(folder / "blog")}
    old.write_text(json.dumps({**line, "scope": f"project:{folder / 'blog'}"}) + "\n")
    run_here(machine, "projects", "merge", "blog", "shop")
    run_here(machine, "import", "jsonl", old)
    assert titles(machine, "numbered posts", folder / "shop") == ["Posts are numbered"]


@pytest.mark.parametrize("named", ["shop", "SHOP", "/elsewhere/of/another/shop"])
def test_the_sessions_of_a_folder_that_is_not_here_are_asked_for_by_name(machine: Machine, named: str) -> None:
    gone = "/elsewhere/of/another/shop"
    for one in turn("s-1", "Sort the cart by colour", cwd=gone):
        machine.hook(one["hook_event_name"], one)
    machine.post("/api/memories", {"kind": "decision", "text": "Sort the cart by colour alone", "cwd": gone})
    machine.drain()
    for command in (("context",), ("list",), ("sessions",), ("search", "cart"), ("export",)):
        assert "Sort the cart" in run_here(machine, *command, "--project", named).stdout, command
    assert "Sort the cart" in run_here(machine, "context", "--cwd", gone).stdout


def test_a_new_name_stands_wherever_a_project_is_shown(machine: Machine, folder: Path) -> None:
    work(machine, folder / "shop", "Sort the cart")
    remember(machine, folder / "shop", "Carts are sorted by colour")
    start(machine, folder / "shop")
    run_here(machine, "projects", "rename", "shop", "store")
    (memory, *_) = json.loads(run_here(machine, "list", "--kind", "decision", "--all-projects", "--json").stdout)
    (receipt, *_) = json.loads(run_here(machine, "receipts", "--all-projects", "--json").stdout)
    shown = {
        "list": run_here(machine, "list", "--all-projects").stdout,
        "search": run_here(machine, "search", "colour", "--all-projects").stdout,
        "sessions": run_here(machine, "sessions", "--all-projects").stdout,
        "receipts": run_here(machine, "receipts", "--all-projects").stdout,
        "show": run_here(machine, "show", memory["id"]).stdout,
        "receipt": run_here(machine, "receipts", receipt["id"]).stdout,
        "export": run_here(machine, "export", "--format", "markdown").stdout,
    }
    assert [name for name, told in shown.items() if "store" not in told] == []
    assert "## store" in shown["export"]


def test_projects_that_share_a_name_are_told_apart_by_their_ids(machine: Machine, folder: Path) -> None:
    for name in ("shop", "plain"):
        remember(machine, folder / name, f"The {name} is sorted by colour")
    run_here(machine, "projects", "rename", "shop", "plain")
    told = run_here(machine, "list", "--all-projects").stdout
    assert str(folder / "shop") in told
    assert str(folder / "plain") in told


@pytest.mark.parametrize(
    "written",
    [
        "https://gitlab.com/other/store.git",
        "git@gitlab.com:other/store.git",
        "ssh://git@gitlab.com:22/other/store",
        "gitlab.com/other/store",
    ],
)
def test_a_project_is_named_by_its_remote_as_git_prints_it(machine: Machine, folder: Path, written: str) -> None:
    (folder / "shop" / ".git").mkdir(parents=True)
    (folder / "shop" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "shop" / ".git" / "config").write_text(
        '[remote "origin"]\n\turl = git@gitlab.com:other/store.git\n', encoding="utf-8"
    )
    remember(machine, folder / "shop", "Carts are sorted by colour")
    assert "sorted by colour" in run_here(machine, "list", "--project", written).stdout
    run_here(machine, "projects", "rename", written, "webshop")
    assert [one["name"] for one in listed(machine)] == ["webshop"]


def test_a_session_is_named_by_the_id_that_search_shows(machine: Machine, folder: Path) -> None:
    work(machine, folder / "shop", "Sort the cart by colour")
    start(machine, folder / "shop")
    hits = json.loads(run_here(machine, "search", "cart colour", "--all-projects", "--json").stdout)
    (shown,) = [hit["id"] for hit in hits if hit["kind"] == "session"]
    run_here(machine, "receipts", "--session", shown)
    run_here(machine, "forget", "--session", shown, "--yes")
    assert machine.files_with("Sort the cart by colour") == []


def test_an_empty_name_is_refused_in_plain_words(machine: Machine, folder: Path) -> None:
    remember(machine, folder / "shop", "Carts are sorted by colour")
    assert "'' is no name; use up to" in run_here(machine, "projects", "rename", "shop", "", status=1).stderr
    assert "there is no project ''" in run_here(machine, "projects", "rename", "", "store", status=1).stderr
    assert "there is no project ''" in run_here(machine, "projects", "merge", "shop", "", status=1).stderr


def test_a_name_that_another_project_has_is_given_with_a_warning(machine: Machine, folder: Path) -> None:
    for name in ("shop", "plain"):
        remember(machine, folder / name, f"The {name} is sorted by colour")
    done = run_here(machine, "projects", "rename", "shop", "Plain")
    assert "shop was renamed to Plain." in done.stdout
    assert "Another project is called Plain too: name them by their folders or ids." in done.stderr
    assert run_here(machine, "projects", "rename", folder / "shop", "store").stderr == ""


def test_a_name_that_no_project_has_is_told_with_those_there_are(machine: Machine, folder: Path) -> None:
    work(machine, folder / "shop", "Sort the cart")
    refused = run_here(machine, "list", "--project", "shap", status=1).stderr
    assert "there is no project shap" in refused
    assert "shop" in refused


def test_a_name_that_two_projects_have_is_told_with_their_ids_and_how_to_merge_them(
    machine: Machine, folder: Path
) -> None:
    older, newer = folder / "shop", folder / "stall"
    work(machine, older, "Sort the cart")
    work(machine, newer, "Sort the cart")
    run_here(machine, "projects", "rename", "stall", "shop")
    refused = run_here(machine, "context", "--project", "shop", status=1).stderr
    assert f"{newer}, {older}" in refused
    merge = f"projects merge {older} {newer}"
    assert f"or make them one: `claude-mem-lite {merge}`" in refused
    run_here(machine, *merge.split())
    run_here(machine, "context", "--project", "shop")


def test_a_folder_and_a_project_at_once_are_refused(machine: Machine) -> None:
    refused = run_here(machine, "list", "--project", "shop", "--cwd", ".", status=2).stderr
    assert "--cwd and --project exclude each other" in refused


def work(machine: Machine, folder: Path, asked: str) -> None:
    folder.mkdir(exist_ok=True)
    for one in turn(f"{folder.name}-session", asked, cwd=str(folder)):
        machine.hook(one["hook_event_name"], one)
    machine.drain()


def start(machine: Machine, folder: Path) -> None:
    machine.hook("SessionStart", payload("SessionStart", f"{folder.name}-start", str(folder), source="startup"))
    machine.drain()


def facts(machine: Machine, name: str) -> int:
    """How many facts of a project are told."""
    found = json.loads(run_here(machine, "list", "--project", name, "--kind", "project_fact", "--json").stdout)
    return len(found)


def remember(machine: Machine, folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    machine.post("/api/memories", {"kind": "decision", "text": text, "cwd": str(folder)})
    machine.drain()


def titles(machine: Machine, query: str, folder: Path) -> list[str]:
    """What a search in a folder finds of what the user stated."""
    hits = json.loads(run_here(machine, "search", query, "--kind", "decision", "--cwd", folder, "--json").stdout)
    return sorted(hit["title"] for hit in hits)


def context(machine: Machine, folder: Path) -> str:
    return run_here(machine, "context", "--cwd", folder).stdout


def listed(machine: Machine) -> list[Json]:
    found = machine.get("/api/projects")["projects"]
    assert found == json.loads(run_here(machine, "projects", "--json").stdout)
    return list(found)


def tables(machine: Machine) -> dict[str, list[str]]:
    """Every row of memory.db that a change of projects could leave otherwise, derived marks of the indexes included."""
    with closing(open_for_reading(machine.home.memory_db)) as db:
        names = [row["name"] for row in db.execute("select name from sqlite_master where type = 'table'")]
        kept = [name for name in names if name not in _BESIDES and "_fts_" not in name]
        return {name: sorted(map(str, map(tuple, db.execute(f"select * from {name}")))) for name in kept} | {
            "sketches": _sketches(db)
        }


def _sketches(db: sqlite3.Connection) -> list[str]:
    return sorted(str(tuple(row)) for row in db.execute("select document, sketch from sketches"))
