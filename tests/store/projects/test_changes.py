"""Tests of `store/projects/changes.py`, `store/projects/change_log.py`, `store/projects/rows.py` and
`store/projects/rows.py`: a merge moves every row of a project, whatever the table, and undo restores the rows."""

from dataclasses import replace
from datetime import timedelta

import pytest

from claude_mem_lite.code.syntax.changes import CodeChange
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Location, Receipt, Turn
from claude_mem_lite.store import branches, guards, lesson_candidates, receipts, symbol_changes, team
from claude_mem_lite.store.guards import StoredGuard
from claude_mem_lite.store.projects import changes, marks
from claude_mem_lite.store.projects.changes import SplitPlan
from claude_mem_lite.team.entry import project_key
from tests.support.fakes import NOW, SHOP, Store

BLOG = Location(project="example.org/me/blog", name="blog", root="/nowhere/blog", branch="main", commit="def")
# They keep the names of before for undoing a change, or keys of projects in the team.
RECORDS = {"project_change_rows", "team_log", "team_cursors", "team_heads", "team_history"}
# A split leaves them with the project.
WHOLE = ("branches", "team_shares")


def test_a_merge_leaves_no_row_of_the_project_in_any_table_until_it_is_undone(store: Store) -> None:
    for location in (SHOP, BLOG):
        fill(store, location)
    before = rows_of(store, BLOG)
    assert [table for table, rows in before.items() if not rows] == [], "have fill() store a row in each table"

    with atomic(store.db):
        changes.merge(store.db, "merge-1", BLOG.project, SHOP.project, NOW)
    assert [table for table, rows in rows_of(store, BLOG).items() if rows] == []
    assert {row["scope"] for row in store.db.execute("select scope from memories")} == {f"project:{SHOP.project}"}

    with atomic(store.db):
        changes.undo(store.db, "merge-1", NOW)
    assert rows_of(store, BLOG) == before


def test_a_split_moves_every_row_of_what_was_recorded_in_a_folder_until_it_is_undone(store: Store) -> None:
    fill(store, SHOP)
    fill(store, replace(BLOG, project=SHOP.project, path=BLOG.root))
    before = dump(store)
    split = SplitPlan(SHOP.project, BLOG.project, "blog", BLOG.root, BLOG.root, "", "", ())

    with atomic(store.db):
        changes.split(store.db, "split-1", split, NOW)
    moved = {table: len(rows) for table, rows in rows_of(store, BLOG).items() if table not in WHOLE}
    assert all(moved.values()), moved
    left = store.db.execute("select count(*) from sessions where project = ?", (SHOP.project,)).fetchone()
    assert left[0] == 1

    with atomic(store.db):
        changes.undo(store.db, "split-1", NOW)
    assert rows_of(store, BLOG) == {table: [] for table in (*moved, *WHOLE)}
    assert dump(store) == before


def fill(store: Store, location: Location) -> None:
    """Store something of a project in every table that has a project."""
    name, at = location.name, NOW - timedelta(hours=2)
    store.turn(f"{name}-turn", "Sort the list", "Sorted it by colour.", session=f"{name}-session", place=location)
    memory = store.remember(f"Lists of the {name} are sorted by colour", place=location, session=f"{name}-session")
    turn = Turn(f"{name}-turn", f"{name}-session", location.project, "Sort the list", ())
    made = Receipt(f"{name}-start", f"{name}-session", location.project, "startup", (), (), (), 1, 2000, 1.0, at, at)
    with atomic(store.db):
        marks.put_mark(store.db, "path", location.root, location.project, at)
        symbol_changes.add(
            store.db, turn.key, turn, location.branch, [CodeChange("list.py", "order", "function", "new")], at
        )
        receipts.add(store.db, made)
        said = f"I prefer lists of the {name} sorted by colour"
        lesson_candidates.put(
            store.db, lesson_candidates.make(location.project, f"{name}-session", turn.key, said, 0.5, at)
        )
        branches.put(store.db, location.project, [branches.Branch(f"{name}-colours", "abc", ahead=True, seen_at=at)])
        guards.put(store.db, guard_of(name, location.project, memory.id))
        remote = f"example.org/me/{name}"
        team.share(store.db, team.Share(location.project, remote, project_key(remote), handoffs=False, shared_at=at))


def guard_of(name: str, project: str, memory: str) -> StoredGuard:
    """A guard that was made from a memory."""
    at = NOW.isoformat()
    example = ("Bash", "sort", "Bash", "echo sort")
    return StoredGuard(name, project, "{}", "", "", "auto", "proposed", *example, memory, at, "", at, "")


def dump(store: Store) -> dict[str, list[str]]:
    return rows_of(store, SHOP) | {
        "projects": sorted(str(tuple(row)) for row in store.db.execute("select * from projects"))
    }


def rows_of(store: Store, location: Location) -> dict[str, list[str]]:
    """The rows of a project in each table of the database that has a column for it."""
    tables = store.db.execute("""
        select tables.name from sqlite_master as tables join pragma_table_info(tables.name) as columns
        where tables.type = 'table' and columns.name = 'project'""").fetchall()
    return {
        table: sorted(
            str(tuple(row)) for row in store.db.execute(f"select * from {table} where project = ?", (location.project,))
        )
        for (table,) in tables
        if table not in RECORDS
    }


@pytest.mark.parametrize(("source", "target"), [("shop", "blog"), ("blog", "shop")])
def test_a_merge_with_a_shared_project_keeps_the_memories_of_the_other_project_back(
    store: Store, source: str, target: str
) -> None:
    places = {"shop": SHOP, "blog": BLOG}
    with atomic(store.db):
        team.share(store.db, team.Share(SHOP.project, "example.org/me/shop", "k", False, NOW))
    shared = store.remember("Use pnpm for the shop", place=SHOP)
    private = store.remember("Notes about salaries live in the drawer", place=BLOG)
    with atomic(store.db):
        changes.merge(store.db, "c1", places[source].project, places[target].project, NOW)
    assert (team.choice_of(store.db, shared.id), team.choice_of(store.db, private.id)) == (None, "keep")
