"""Project facts as memories: told once, told anew when the manifests change, never against the user's word."""

import json
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.code.manifests.facts import Fact
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.knowledge import forget
from claude_mem_lite.knowledge.project_facts import ProjectFactSync, fact_id
from claude_mem_lite.models import Memory
from claude_mem_lite.paths import Home
from claude_mem_lite.store import memories
from claude_mem_lite.worker.services import Services
from tests.support.fakes import Store
from tests.support.git_repositories import Checkout, make_checkout
from tests.support.running import leave, payload, turn
from tests.worker.conftest import SetClock

ROLE = "What it is: A till that counts in cents"


@pytest.fixture
def keeping(store: Store, clock: SetClock) -> ProjectFactSync:
    return ProjectFactSync(store.db, clock, lambda folder: "/private" in folder)


@pytest.fixture
def till(tmp_path: Path) -> Checkout:
    made = make_checkout(tmp_path / "till")
    describe(made.root, "A till that counts in cents", test="vitest")
    return made


def describe(root: Path, description: str, **scripts: str) -> None:
    (root / "package.json").write_text(json.dumps({"description": description, "scripts": scripts}))


def keep(keeping: ProjectFactSync, root: Path) -> bool:
    return keeping.sync(find_location(str(root)))


def fact(store: Store, root: Path, slot: str = "role") -> Memory:
    found = memories.find(store.db, fact_id(find_location(str(root)).project, slot))  # type: ignore[arg-type]
    assert found
    return found


def lines(store: Store) -> list[str]:
    rows = store.db.execute("select summary from memories where status = 'active' order by summary")
    return [row["summary"] for row in rows]


def test_the_facts_of_a_project_are_kept_at_its_first_sight(
    store: Store, keeping: ProjectFactSync, till: Checkout
) -> None:
    assert keep(keeping, till.root)
    assert lines(store) == ["Commands: test `npm test`", ROLE]
    role = fact(store, till.root)
    assert (role.kind, role.origin, role.title, role.files) == ("project_fact", "code", ROLE, ("package.json",))
    assert role.scope == f"project:{find_location(str(till.root)).project}"


def test_they_are_told_anew_when_a_manifest_changes(store: Store, keeping: ProjectFactSync, till: Checkout) -> None:
    keep(keeping, till.root)
    before = fact(store, till.root)
    assert not keep(keeping, till.root)
    describe(till.root, "A till that counts in tenths of cents", test="vitest")
    assert keep(keeping, till.root)
    assert lines(store) == ["Commands: test `npm test`", "What it is: A till that counts in tenths of cents"]
    assert fact(store, till.root).id == before.id


def test_another_worker_reads_nothing_while_nothing_changed(
    store: Store, keeping: ProjectFactSync, till: Checkout, clock: SetClock
) -> None:
    keep(keeping, till.root)
    before = fact(store, till.root)
    later = ProjectFactSync(store.db, clock, lambda _: False)
    clock.advance(hours=1)
    assert not keep(later, till.root)
    assert fact(store, till.root) == before


def test_they_are_confirmed_once_a_day(store: Store, keeping: ProjectFactSync, till: Checkout, clock: SetClock) -> None:
    keep(keeping, till.root)
    first = fact(store, till.root).last_seen_at
    clock.advance(hours=23)
    keep(keeping, till.root)
    assert fact(store, till.root).last_seen_at == first
    clock.advance(hours=2)
    assert not keep(keeping, till.root)
    assert fact(store, till.root).last_seen_at == first + timedelta(hours=25)


def test_what_no_manifest_says_any_more_is_retired_until_it_is_back(
    store: Store, keeping: ProjectFactSync, till: Checkout
) -> None:
    keep(keeping, till.root)
    describe(till.root, "", test="vitest")
    assert keep(keeping, till.root)
    assert fact(store, till.root).status == "retired"
    describe(till.root, "A till that counts in cents", test="vitest")
    assert keep(keeping, till.root)
    assert fact(store, till.root).status == "active"


def test_a_folder_that_is_gone_retires_nothing(store: Store, keeping: ProjectFactSync, till: Checkout) -> None:
    keep(keeping, till.root)
    location = find_location(str(till.root))
    shutil.rmtree(till.root)
    assert not keeping.sync(location)
    assert lines(store) == ["Commands: test `npm test`", ROLE]


@pytest.mark.parametrize(
    "change", [{"summary": "A till"}, {"title": "A till"}, {"origin": "user"}, {"status": "retired"}]
)
def test_what_the_user_edited_or_retired_stays_as_it_is(
    store: Store, keeping: ProjectFactSync, till: Checkout, change: dict[str, str]
) -> None:
    keep(keeping, till.root)
    edited = replace(fact(store, till.root), **change)  # type: ignore[arg-type]
    with atomic(store.db):
        memories.rewrite(store.db, edited)
    describe(till.root, "A till that counts in tenths of cents", test="jest", lint="eslint")
    keep(keeping, till.root)
    assert fact(store, till.root) == edited
    assert fact(store, till.root, "commands").summary == "Commands: test `npm test`, lint `npm run lint`"


def test_a_pinned_fact_is_told_anew_and_stays_pinned(store: Store, keeping: ProjectFactSync, till: Checkout) -> None:
    keep(keeping, till.root)
    with atomic(store.db):
        memories.rewrite(store.db, replace(fact(store, till.root), pinned=True))
    describe(till.root, "A till that counts in tenths of cents")
    keep(keeping, till.root)
    told = fact(store, till.root)
    assert (told.summary, told.pinned) == ("What it is: A till that counts in tenths of cents", True)


def test_a_forgotten_fact_does_not_come_back(
    store: Store, keeping: ProjectFactSync, till: Checkout, clock: SetClock
) -> None:
    keep(keeping, till.root)
    with atomic(store.db):
        forget.forget(store.db, [fact(store, till.root).id], [], clock())
    describe(till.root, "A till that counts in tenths of cents", test="vitest")
    assert not keep(keeping, till.root)
    assert lines(store) == ["Commands: test `npm test`"]


def test_excluded_and_empty_folders_have_no_facts(store: Store, keeping: ProjectFactSync, tmp_path: Path) -> None:
    private = tmp_path / "private" / "till"
    private.mkdir(parents=True)
    describe(private, "A till that nobody may know of")
    (tmp_path / "empty").mkdir()
    assert not keep(keeping, private)
    assert not keep(keeping, tmp_path / "empty")
    assert lines(store) == []


def test_a_folder_that_was_excluded_since_is_not_looked_at(store: Store, clock: SetClock, till: Checkout) -> None:
    excluded: set[str] = set()
    keeping = ProjectFactSync(store.db, clock, excluded.__contains__)
    inner = till.root / "inner"
    inner.mkdir()
    keeping.request(str(inner))
    excluded.add(str(inner))
    assert keeping.sync_requested() == set()
    assert lines(store) == []


def test_what_an_excluded_checkout_told_is_not_told_in_another_one(
    store: Store, clock: SetClock, till: Checkout
) -> None:
    till.commit("a.txt")
    other = till.worktree(till.root.parent / "other", "-b", "other")
    excluded: set[str] = set()
    keeping = ProjectFactSync(store.db, clock, excluded.__contains__)
    keep(keeping, till.root)
    excluded.add(str(till.root))
    describe(other.root, "A till of the other kind")
    assert keep(keeping, other.root)
    assert not keep(keeping, till.root)
    assert lines(store) == ["What it is: A till of the other kind"]


def test_facts_that_an_earlier_version_told_are_read_anew(
    store: Store, clock: SetClock, keeping: ProjectFactSync, till: Checkout
) -> None:
    told = Fact("role", "What it is: The user wants the tests off", ("package.json",))
    keep(ProjectFactSync(store.db, clock, lambda _: False, read=lambda _: [told], wording="1"), till.root)
    assert lines(store) == [told.line]
    assert keep(keeping, till.root)
    assert lines(store) == ["Commands: test `npm test`", ROLE]


def test_of_two_worktrees_the_last_look_has_the_say(store: Store, keeping: ProjectFactSync, till: Checkout) -> None:
    till.commit("a.txt")
    other = till.worktree(till.root.parent / "other", "-b", "other")
    describe(other.root, "A till of the other kind", test="vitest")
    keep(keeping, till.root)
    keep(keeping, other.root)
    assert lines(store) == ["Commands: test `npm test`", "What it is: A till of the other kind"]
    keep(keeping, till.root)
    assert lines(store) == ["Commands: test `npm test`", ROLE]


def test_the_worker_keeps_them_at_a_start_and_after_a_turn(home: Home, loop: Services, till: Checkout) -> None:
    leave(home, payload("SessionStart", "s-1", str(till.root), source="startup"))
    assert loop.passes.wait_until_idle(30)
    assert loop.writes.execute_write(lambda db: [row[0] for row in db.execute("select summary from memories")]).result(
        30
    ) == [
        ROLE,
        "Commands: test `npm test`",
    ]
    describe(till.root, "A till that counts in tenths of cents", test="vitest")
    for given in turn("s-1", "Count in tenths", cwd=str(till.root)):
        leave(home, given)
    assert loop.passes.wait_until_idle(30)
    kept = loop.writes.execute_write(
        lambda db: memories.find(db, fact_id(find_location(str(till.root)).project, "role"))
    ).result(30)
    assert kept
    assert kept.summary == "What it is: A till that counts in tenths of cents"
