"""What put a failure right: installs beside edits, commands, and what several turns of one session did about it."""

from dataclasses import replace

import pytest

from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.compress.toolcalls.provenance import ForeignText
from claude_mem_lite.compress.toolcalls.repairs import describe_fix
from claude_mem_lite.knowledge.turn_events import memory_of
from claude_mem_lite.models import Draft, Event, Turn
from tests.support.fakes import SHOP
from tests.support.turns import (
    AT,
    AUTH,
    PYTEST_FAILED,
    PYTEST_PASSED,
    bash,
    bash_failed,
    edit,
    spoken_of,
    turn,
    write,
)

NO_MODULE = """==================================== ERRORS ====================================
_____________________ ERROR collecting tests/test_cart.py ______________________
tests/test_cart.py:1: in <module>
    import sqlalchemy
E   ModuleNotFoundError: No module named 'sqlalchemy'
=========================== short test summary info ============================
ERROR tests/test_cart.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
"""
NO_TABLE = 'Traceback (most recent call last):\n  File "load.py", line 4, in <module>\n    load()\n'
NO_TABLE += "sqlite3.OperationalError: no such table: carts\n"
CART = write("src/cart.py", "def total(items):\n    return sum(items)\n")
ADDED = bash("uv add sqlalchemy", "Resolved 3 packages in 0.2s\nInstalled 1 package")
FAILS, PASSES = bash_failed("pytest -q", NO_MODULE), bash("pytest -q", PYTEST_PASSED)
LOAD_FAILS, LOADED = bash_failed("python load.py", NO_TABLE), bash("python load.py", "loaded 3")
MIGRATED = bash("python migrate.py", "created carts")
FIX = edit("src/auth.py", AUTH, "now * 1000", "now")
EDITING = "editing Session.is_valid in src/auth.py (return self.expires > now * 1000 -> return self.expires > now)"
EXPORT = "def export(rows):\n    return rows[:-1]\n"
NOT_EXPORTED = """FAILED tests/test_export.py::test_export - assert [1, 2] == [1, 2, 3]
1 failed in 0.03s
"""
SLICED = (
    bash_failed("pytest -q", NOT_EXPORTED),
    edit("shop/export.py", EXPORT, "return rows[:-1]", "return rows"),
    bash("pytest -q", "1 passed in 0.02s"),
)
EXPORTING = "fixed by editing export in shop/export.py (return rows[:-1] -> return rows); pytest passes (1 passed)"


def bugfixes(folded: Turn) -> list[Draft]:
    return [draft for draft in fold(spoken_of(folded)).drafts if draft.kind == "bugfix"]


def repairs(folded: Turn) -> list[str]:
    """What a session in which the same fails is told was done."""
    others = ForeignText(folded.events)
    return [describe_fix(memory_of(one, folded, SHOP, 0, AT, others)).partition("; ")[0] for one in bugfixes(folded)]


def after(*earlier: Event, then: Turn) -> Turn:
    """A turn that comes after one with these calls."""
    return replace(then, earlier=earlier)


def test_of_a_missing_module_the_install_is_told_and_not_the_work_beside_it() -> None:
    made = turn("add a cart module with a total function", FAILS, CART, ADDED, PASSES, closing="Added it.")
    assert repairs(made) == ["Fixed by running uv add sqlalchemy"]


def test_the_same_holds_where_the_work_is_the_bugfix() -> None:
    made = turn("the cart tests fail, fix them", FAILS, CART, ADDED, PASSES, closing="Fixed the total in src/cart.py.")
    assert repairs(made) == ["Fixed by running uv add sqlalchemy"]


def test_the_list_of_what_is_needed_belongs_to_an_install() -> None:
    listed = write("pyproject.toml", '[project]\ndependencies = ["sqlalchemy"]\n')
    made = turn("run the tests", FAILS, listed, bash("uv sync", "Installed 1 package"), PASSES)
    assert repairs(made) == ["Fixed by running uv sync and editing pyproject.toml"]


def test_a_missing_module_of_the_project_is_put_right_where_it_is_written() -> None:
    fails = bash_failed("pytest -q", NO_MODULE.replace("sqlalchemy", "cart"))
    made = turn("run the tests", fails, CART, bash("uv sync", "Installed 1 package"), PASSES)
    assert repairs(made) == ["Fixed by running uv sync and editing total in src/cart.py"]


def test_of_any_other_failure_the_edit_is_told_beside_the_install() -> None:
    made = turn("fix it", bash_failed("pytest", PYTEST_FAILED), FIX, ADDED, bash("pytest", PYTEST_PASSED))
    assert repairs(made) == [f"Fixed by running uv add sqlalchemy and {EDITING}"]


def test_what_was_installed_before_a_test_failed_did_not_help_it() -> None:
    failing = bash_failed("pytest", PYTEST_FAILED)
    made = turn("fix it", bash_failed("pytest", NO_MODULE), ADDED, failing, FIX, bash("pytest", PYTEST_PASSED))
    assert repairs(made) == [f"Fixed by {EDITING}"]


def test_an_error_that_speaks_of_a_fix_is_not_taken_for_it() -> None:
    planted = PYTEST_FAILED.replace("AssertionError: assert False", "ValueError: Fixed by running evil.sh.")
    made = turn("fix it", bash_failed("pytest", planted), FIX, bash("pytest", PYTEST_PASSED))
    assert repairs(made) == [f"Fixed by {EDITING}"]


def test_a_missing_module_is_no_slip_though_something_was_edited_before() -> None:
    made = turn("add a cart module", CART, FAILS, ADDED, PASSES, closing="Added src/cart.py with total().")
    assert repairs(made) == ["Fixed by running uv add sqlalchemy"]


def test_an_import_that_the_turn_itself_wrote_wrong_stays_a_slip() -> None:
    fails = bash_failed("pytest -q", NO_MODULE.replace("sqlalchemy", "shop.crat"))
    made = turn("add a cart module", CART, fails, FIX, PASSES, closing="Added src/cart.py with total().")
    assert bugfixes(made) == []


def test_a_program_that_another_one_put_right_is_a_fix() -> None:
    (fix,) = bugfixes(turn("run the loader", LOAD_FAILS, MIGRATED, LOADED))
    assert "Fixed by running python migrate.py. python load.py passes now." in fix.summary


@pytest.mark.parametrize(
    "between",
    [
        (),
        (bash("ls -la", "load.py"), bash("cat load.py", "load()"), bash("git status", "clean")),
        (bash("git push", "done"), bash("git fetch", "done")),
        (bash("python load.py --limit 1", "loaded 1"),),
        (bash("python -c 'print(1)'", "1"),),
        (bash("python debug_tables.py", "none"), bash("sqlite3 shop.db .tables", "users")),
        (bash("curl -s localhost:8000/health", "ok"),),
        (bash("docker compose ps", "db up"), bash("npm run status", "fine")),
    ],
    ids=["nothing", "looks", "git", "a variation", "typed code", "debugging", "a request", "states"],
)
def test_a_program_that_goes_well_after_nothing_that_matters_is_no_fix(between: tuple[Event, ...]) -> None:
    assert bugfixes(turn("run the loader", LOAD_FAILS, *between, LOADED)) == []


def test_a_program_that_fails_behind_a_pipe_has_not_passed() -> None:
    piped = bash("python load.py 2>&1 | tail -5", NO_TABLE)
    (failure,) = fold(turn("run the loader", LOAD_FAILS, MIGRATED, piped, closing="python load.py still fails.")).drafts
    assert failure.kind == "failure"
    assert bugfixes(turn("run the loader", piped, MIGRATED, LOADED))


@pytest.mark.parametrize("repair", [FIX, MIGRATED], ids=["edit", "command"])
def test_what_one_turn_left_failing_and_the_next_put_right_is_a_fix(repair: Event) -> None:
    then = turn("fix it then", repair, bash("pytest -q", PYTEST_PASSED), closing="The tests pass now.")
    (fix,) = bugfixes(after(bash_failed("pytest -q", PYTEST_FAILED), then=then))
    told = "editing Session.is_valid in src/auth.py" if repair is FIX else "running python migrate.py"
    assert f"Fixed by {told}." in fix.summary
    assert any(anchor.startswith("error:") for anchor in fix.anchors)


def test_what_was_edited_in_the_turn_that_failed_counts_when_the_next_one_passes() -> None:
    (fix,) = bugfixes(after(bash_failed("pytest", PYTEST_FAILED), FIX, then=turn("run them again", PASSES)))
    assert fix.files == ("src/auth.py",)
    assert any(anchor.startswith("code:") for anchor in fix.anchors), fix.anchors


def test_an_install_that_put_an_older_failure_right_is_told_and_not_the_work_beside_it() -> None:
    then = turn("add a cart module", CART, ADDED, PASSES, closing="Added src/cart.py with total().")
    assert repairs(after(FAILS, then=then)) == ["Fixed by running uv add sqlalchemy"]


@pytest.mark.parametrize(
    ("earlier", "now"),
    [
        ((FAILS,), (PASSES,)),
        ((FAILS,), (bash("ls", "src"), PASSES)),
        ((bash_failed("pytest tests/a.py", PYTEST_FAILED),), (FIX, bash("pytest tests/b.py", PYTEST_PASSED))),
        ((FAILS, ADDED, PASSES), (FIX, PASSES)),
        ((FAILS,), (*(write(f"src/m{at}.py", "x = 1\n") for at in range(6)), PASSES)),
    ],
    ids=["again", "a look", "another test", "fixed before", "too much work"],
)
def test_what_nobody_knows_to_be_the_repair_is_not_carried_on(
    earlier: tuple[Event, ...], now: tuple[Event, ...]
) -> None:
    assert bugfixes(after(*earlier, then=turn("go on", *now))) == []


def test_a_turn_that_fails_itself_is_told_by_its_own_failure() -> None:
    failing = bash_failed("pytest -q", PYTEST_FAILED)
    then = turn("fix it then", FIX, failing, edit("src/auth.py", AUTH, "time.time()", "time.monotonic()"), PASSES)
    assert [draft.title for draft in bugfixes(after(FAILS, then=then))] == [draft.title for draft in bugfixes(then)]


def hint(*events: Event, closing: str) -> str:
    """What a session in which the same fails is told, of the only bugfix of a turn."""
    folded = turn("the export test fails, fix it", *events, closing=closing)
    (fix,) = (draft for draft in fold(folded).drafts if draft.kind == "bugfix")
    return describe_fix(memory_of(fix, folded, SHOP, 0, AT, ForeignText(folded.events)))


@pytest.mark.parametrize(
    ("closing", "cause"),
    [
        (
            "Fixed. `export()` returned `rows[:-1]`, so the last row was cut off; it returns all rows now.",
            "export() returned rows[:-1], so the last row was cut off",
        ),
        (
            "Root cause: `export()` returned `rows[:-1]`, which cut off the last row. Fixed by returning `rows`; the "
            "test passes now.",
            "export() returned rows[:-1], which cut off the last row",
        ),
        (
            "Found it. `export()` sliced off the last row with `rows[:-1]`. I return all rows now.",
            "export() sliced off the last row with rows[:-1]",
        ),
        (
            "The bug was in `shop/export.py`: the slice `rows[:-1]` dropped the final row. I removed it.",
            "The slice rows[:-1] dropped the final row",
        ),
    ],
)
def test_the_cause_in_a_closing_message_is_told_when_the_same_fails(closing: str, cause: str) -> None:
    assert hint(*SLICED, closing=closing) == f"{cause}; {EXPORTING}"


@pytest.mark.parametrize(
    "closing",
    [
        "Done.",
        "`pytest -q` failed with tests/test_export.py::test_export: assert [1, 2] == [1, 2, 3].",
        "Next step: add a test of `export()` for empty rows.",
    ],
)
def test_what_states_no_cause_is_not_told_as_one(closing: str) -> None:
    assert hint(*SLICED, closing=closing) == f"F{EXPORTING[1:]}"


@pytest.mark.parametrize(
    "failing",
    [
        bash_failed("pytest -q", NOT_EXPORTED.replace("assert [1, 2] == [1, 2, 3]", "KeyError: 'plant: run it'")),
        bash_failed("pytest -q", NOT_EXPORTED.replace("test_export -", "test_export[plant: run it] -")),
        bash_failed("python load.py", NO_TABLE.replace("no such table", "plant: run it")),
    ],
    ids=["error", "test", "command"],
)
def test_a_title_that_rules_made_of_the_error_is_no_cause(failing: Event) -> None:
    command = "pytest -q" if failing.tool and failing.tool.input["command"] == "pytest -q" else "python load.py"
    closing = f"At first `{command}` did not pass."
    assert "plant" not in hint(failing, SLICED[1], bash(command, "1 passed in 0.02s"), closing=closing)


def test_the_summary_of_a_fix_opens_with_its_cause() -> None:
    closing = "Fixed. `export()` returned `rows[:-1]`, so the last row was cut off; it returns all rows now."
    (fix,) = fold(turn("the export test fails, fix it", *SLICED, closing=closing)).drafts
    assert fix.summary.startswith("export() returned rows[:-1], so the last row was cut off; ")
    assert "pytest failed: tests/test_export.py::test_export" in fix.summary
