"""A failure, what helped, and what the next session is told when it fails again: through hooks and a real worker."""

import json
from pathlib import Path

import pytest

from claude_mem_lite.paths import Home
from claude_mem_lite.worker.services import Services
from tests.support.fakes import FakeProvider
from tests.support.running import Json, Machine, leave, payload, query, running_loop
from tests.worker.conftest import SetClock
from tests.worker.model_turns import rest, work
from tests.worker.trigger_events import answered, hooked, items, now_name, receipts, wait_until_given

NO_MODULE = """==================================== ERRORS ====================================
_____________________ ERROR collecting tests/test_cart.py ______________________
tests/test_cart.py:1: in <module>
    import sqlalchemy
E   ModuleNotFoundError: No module named 'sqlalchemy'
=========================== short test summary info ============================
ERROR tests/test_cart.py
=============================== 1 error in 0.12s ===============================
"""
NO_TABLE = """FAILED tests/test_load.py::test_load - sqlite3.OperationalError: no such table: carts
1 failed in 0.03s
"""
PASSED = "3 passed in 0.12s"
TESTS = "pytest -q"
PIPED = "pytest -q 2>&1 | tail -20"


def ran(command: str, printed: str = "") -> Json:
    response = {"stdout": printed, "stderr": "", "interrupted": False}
    return {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": response}


def failed(command: str, printed: str) -> Json:
    return {"tool_name": "Bash", "tool_input": {"command": command}, "error": f"Exit code 1\n{printed}"}


def wrote(file: str, content: str) -> Json:
    response: Json = {
        "type": "create",
        "filePath": file,
        "content": content,
        "structuredPatch": [],
        "originalFile": None,
    }
    return {"tool_name": "Write", "tool_input": {"file_path": file, "content": content}, "tool_response": response}


def turn(session: str, cwd: str, prompt: str, *calls: Json, closing: str = "Done.") -> list[Json]:
    """The events of a turn with these calls."""
    kinds = ["PostToolUseFailure" if "error" in call else "PostToolUse" for call in calls]
    return [
        payload("UserPromptSubmit", session, cwd, prompt=prompt),
        *(payload(kind, session, cwd, **call) for kind, call in zip(kinds, calls, strict=True)),
        payload("Stop", session, cwd, last_assistant_message=closing),
    ]


def lived(machine: Machine, *turns: list[Json]) -> None:
    """Turns that the worker has worked on."""
    for events in turns:
        for given in events:
            leave(machine.home, given, name=now_name(given["hook_event_name"]))
        machine.drain()


def told(machine: Machine, session: str, cwd: str, printed: str) -> str:
    """What a failing test run is told."""
    return answered(
        machine, "PostToolUseFailure", payload("PostToolUseFailure", session, cwd, **failed(TESTS, printed))
    )


@pytest.fixture
def project(tmp_path: Path) -> str:
    folder = tmp_path / "shop"
    folder.mkdir()
    return str(folder)


@pytest.fixture
def up(machine: Machine) -> Machine:
    machine.start_worker()
    return machine


@pytest.mark.parametrize("is_written_first", [True, False], ids=["before", "between"])
def test_an_edit_beside_an_install_is_not_told_as_the_fix(up: Machine, project: str, is_written_first: bool) -> None:
    cart, fails = wrote(f"{project}/src/cart.py", "def total(items):\n    return 1\n"), failed(TESTS, NO_MODULE)
    first = (cart, fails) if is_written_first else (fails, cart)
    steps = (*first, ran("uv add sqlalchemy", "Installed 1 package"), ran(TESTS, PASSED))
    lived(
        up,
        turn(
            "s-1",
            project,
            "add a cart module with a total function",
            *steps,
            closing="Added the cart, which needs the module sqlalchemy.",
        ),
    )
    context = told(up, "s-2", project, NO_MODULE)
    assert "Fixed by running uv add sqlalchemy; pytest passes (3 passed) (" in context
    assert "cart.py" not in context


@pytest.mark.parametrize("is_edit", [True, False], ids=["edit", "command"])
def test_a_fix_that_took_two_turns_is_told(up: Machine, project: str, is_edit: bool) -> None:
    table = wrote(f"{project}/schema.py", "def make(db):\n    db.execute('create table carts(id)')\n")
    lived(
        up,
        turn("s-1", project, "run the tests", failed(TESTS, NO_TABLE), closing="It fails: no such table: carts."),
        turn("s-1", project, "fix it then", table if is_edit else ran("python migrate.py"), ran(TESTS, PASSED)),
    )
    wanted = "Fixed by editing make in schema.py" if is_edit else "Fixed by running python migrate.py"
    (Path(project) / "schema.py").write_text("def make(db):\n    db.execute('create table carts(id)')\n")
    assert wanted in told(up, "s-2", project, NO_TABLE)


BROKEN = (
    "FAILED lib/shop/tests/test_cart.py::test_total - AssertionError: expected 3 francs\n1 failed, 40 passed in 2.1s"
)


@pytest.mark.parametrize(
    ("then", "passing"),
    [
        ("./pre-commit --fix", "pytest lib/zephyr/tests"),
        ("python migrate.py", "pytest lib/zephyr/tests"),
        ("python migrate.py", "pytest lib --deselect lib/shop/tests/test_cart.py"),
        ("python migrate.py", "cd /srv/other && pytest lib/shop/tests"),
        ("git stash", "pytest lib/shop/tests"),
        ("./pre-commit --fix", "pytest lib/shop/tests"),
    ],
)
@pytest.mark.parametrize("turns", [1, 2])
def test_a_failure_that_nobody_fixed_is_told_as_fixed_to_nobody(
    up: Machine, project: str, then: str, passing: str, turns: int
) -> None:
    failing = failed("pytest lib/shop/tests", BROKEN)
    work = (wrote(f"{project}/zephyr.md", "# Zephyr\n"), ran(then, "ok"), ran(passing, "192 passed in 3.4s"))
    closing = "One failure in lib/shop is pre-existing; the suite of zephyr passes."
    first = [turn("s-1", project, "run the tests", failing)] if turns == 2 else []
    calls = work if turns == 2 else (failing, *work)
    lived(up, *first, turn("s-1", project, "go on with zephyr", *calls, closing=closing))
    again = payload("PostToolUseFailure", "s-2", project, **failed("pytest lib/shop/tests", BROKEN))
    assert answered(up, "PostToolUseFailure", again) == ""
    assert query(up.home.memory_db, "select title from memories where summary like '%passes now%'") == []


@pytest.mark.parametrize("passing", ["pytest lib/shop/tests", "pytest lib -q"])
def test_a_run_that_holds_the_failing_test_shows_that_it_is_fixed(up: Machine, project: str, passing: str) -> None:
    text = "def total(items):\n    return 3\n"
    (Path(project) / "cart.py").write_text(text)
    steps = (
        failed("pytest lib/shop/tests", BROKEN),
        wrote(f"{project}/cart.py", text),
        ran(passing, "99 passed in 3s"),
    )
    lived(up, turn("s-1", project, "fix the cart", *steps))
    again = payload("PostToolUseFailure", "s-2", project, **failed("pytest lib/shop/tests", BROKEN))
    assert "Fixed by editing total in cart.py" in answered(up, "PostToolUseFailure", again)


def test_a_turn_of_another_session_puts_nothing_right(up: Machine, project: str) -> None:
    lived(
        up,
        turn("s-1", project, "run the tests", failed(TESTS, NO_TABLE)),
        turn("s-2", project, "go on", ran("python migrate.py"), ran(TESTS, PASSED)),
    )
    assert told(up, "s-3", project, NO_TABLE) == ""


def test_a_failure_that_a_pipe_hides_is_told_the_fix_once(up: Machine, project: str) -> None:
    steps = (ran(PIPED, NO_TABLE), ran("python migrate.py"), ran("pytest -q 2>&1 | tail -5", PASSED))
    lived(up, turn("s-1", project, "run the tests", *steps))
    context = hooked(up, "PostToolUse", payload("PostToolUse", "s-2", project, **ran(PIPED, NO_TABLE)))
    assert "Fixed by running python migrate.py" in context
    wait_until_given(up, 1)
    (kept,) = receipts(up)
    assert (kept.session, kept.moment, kept.budget) == ("s-2", "failure", 300)
    assert [layer for _, layer in items(up)] == ["fix"]
    again = payload("PostToolUse", "s-2", project, **ran(PIPED, NO_TABLE))
    assert answered(up, "PostToolUse", again) == ""
    assert told(up, "s-2", project, NO_TABLE) == ""


def test_who_only_reads_of_a_failure_is_told_nothing(up: Machine, project: str) -> None:
    lived(
        up, turn("s-1", project, "run the tests", failed(TESTS, NO_TABLE), ran("python migrate.py"), ran(TESTS, PASSED))
    )
    cases = (
        (PIPED, "3 passed, 0 failed in 0.12s"),
        ("cat last-run.log | tail -20", NO_TABLE),
        ("grep -rn 'no such table' . | head", NO_TABLE),
        ("git show HEAD | tail -20", NO_TABLE),
    )
    for session, case in enumerate(cases):
        read = payload("PostToolUse", f"reads-{session}", project, **ran(*case))
        assert answered(up, "PostToolUse", read) == "", case
        assert told(up, f"reads-{session}", project, NO_TABLE) != "", case


def test_a_secret_in_a_hidden_failure_is_no_reason_not_to_know_it(up: Machine, project: str) -> None:
    printed = "RuntimeError: cannot log in at the registry with password=hunter2-Zx81qPw77Lm"
    piped = "python deploy.py 2>&1 | tail -3"
    deployed = (ran(piped, printed), ran("python renew.py"), ran("python deploy.py", "ok"))
    lived(up, turn("s-1", project, "deploy", *deployed, closing="python deploy.py cannot log in at the registry."))
    context = answered(up, "PostToolUse", payload("PostToolUse", "s-2", project, **ran(piped, printed)))
    assert "Fixed by running python renew.py" in context


SPANNING = (
    turn("s-1", "/app", "run the tests", failed(TESTS, NO_TABLE), closing="It fails: no such table: carts."),
    turn("s-1", "/app", "fix it then", wrote("/app/schema.py", "def make(db):\n    return 1\n"), ran(TESTS, PASSED)),
)
FIXES = "select id, title, summary, facts, files, anchors from memories where kind = 'bugfix'"


def test_a_fix_that_took_two_turns_is_the_same_when_all_is_done_again(home: Home, clock: SetClock) -> None:
    with running_loop(home, clock) as loop:
        work(home, loop, *SPANNING)
        stored = query(home.memory_db, FIXES)
    assert len(stored) == 1
    assert "error:" in stored[0][-1]
    home.memory_db.unlink()
    with running_loop(home, clock) as loop:
        assert loop.passes.wait_until_idle(30)
    assert query(home.memory_db, FIXES) == stored


@pytest.mark.parametrize(("turns", "fixes"), [(2, 1), (3, 0)])
def test_a_failure_is_carried_on_for_a_few_turns(home: Home, clock: SetClock, turns: int, fixes: int) -> None:
    failing, mending = SPANNING
    others = [turn("s-1", "/app", f"look at part {number}", ran("ls", "src")) for number in range(turns)]
    with running_loop(home, clock) as loop:
        work(home, loop, failing, *others, mending)
    assert sum("error:" in row[-1] for row in query(home.memory_db, FIXES)) == fixes


def test_a_model_that_tells_of_the_turn_leaves_what_the_fix_is_known_by(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    memory = {"kind": "bugfix", "title": "Create the table carts", "summary": "It was missing.", "files": ["schema.py"]}
    provider.answers = [json.dumps({"memories": [memory], "session": {"headline": "Carts"}})]
    printed = "\n".join(f"tests/test_load.py::test_{number} PASSED" for number in range(150)) + f"\n{PASSED}"
    first, second = SPANNING
    long = [
        payload("PostToolUse", "s-1", "/app", **ran(TESTS, printed)) if "pytest" in str(one) else one for one in second
    ]
    work(home, model_loop, first, long)
    rest(home, model_loop, clock)
    ((_, title, *_, anchors),) = query(home.memory_db, FIXES)
    assert title == "Create the table carts"
    assert "error:" in anchors


def test_the_stated_cause_and_the_replaced_line_are_told_when_the_same_fails(up: Machine, project: str) -> None:
    old, new = "    return rows[:-1]", "    return rows"
    patch = [
        {
            "oldStart": 1,
            "oldLines": 2,
            "newStart": 1,
            "newLines": 2,
            "lines": [" def export(rows):", f"-{old}", f"+{new}"],
        }
    ]
    file = f"{project}/export.py"
    edited: Json = {
        "tool_name": "Edit",
        "tool_input": {"file_path": file, "old_string": old, "new_string": new},
        "tool_response": {
            "filePath": file,
            "oldString": old,
            "newString": new,
            "originalFile": f"def export(rows):\n{old}\n",
            "structuredPatch": patch,
        },
    }
    fails = "FAILED tests/test_export.py::test_export - assert [1, 2] == [1, 2, 3]\n1 failed in 0.03s\n"
    closing = "Found it. `export()` sliced off the last row with `rows[:-1]`. I return all rows now."
    steps = (failed(TESTS, fails), edited, ran(TESTS, PASSED))
    lived(up, turn("s-1", project, "the export test fails, fix it", *steps, closing=closing))
    assert (
        "export() sliced off the last row with rows[:-1]; fixed by editing export in export.py "
        "(return rows[:-1] -> return rows); pytest passes (3 passed)"
    ) in told(up, "s-2", project, fails)
