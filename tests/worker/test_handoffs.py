"""What a session leaves open is closed by the one that takes it up, and nothing that is still open is lost."""

import re
from pathlib import Path

import pytest

from claude_mem_lite.compress.compose.next_steps import is_done_by, may_be_done, split_done_and_denied
from claude_mem_lite.compress.rules.session_handoff import cut_down, steps_of
from claude_mem_lite.models import Memory
from claude_mem_lite.store import memories, retirements
from claude_mem_lite.store.memories import handoff_id
from tests.support import commit_turns
from tests.support.fakes import NOW, Store
from tests.support.patches import patch
from tests.support.running import Json, Machine, leave, payload
from tests.worker.commands import run_here

_FEW_WORDS = 3
CLOSING = "Added the CSV export. Next steps: stream large CSV exports in chunks; document the export endpoint."


def edit(session: str, cwd: str, path: str, new: str) -> Json:
    return payload(
        "PostToolUse",
        session,
        cwd,
        tool_name="Write",
        tool_input={"file_path": f"{cwd}/{path}", "content": new},
        tool_response={"type": "create", "filePath": f"{cwd}/{path}", "content": new, "structuredPatch": []},
    )


def work(machine: Machine, session: str, cwd: Path, asked: str, files: dict[str, str], said: str) -> None:
    """One turn of a session, and its end."""
    leave(machine.home, payload("UserPromptSubmit", session, str(cwd), prompt=asked))
    for path, text in files.items():
        (cwd / path).parent.mkdir(exist_ok=True)
        (cwd / path).write_text(text)
        leave(machine.home, edit(session, str(cwd), path, text))
    is_telling = files and len(said.split()) > _FEW_WORDS
    stopped = [payload("Stop", session, str(cwd), last_assistant_message=said)]
    for given in commit_turns.ending(session, str(cwd), said, next(iter(files))) if is_telling else stopped:
        leave(machine.home, given)
    leave(machine.home, payload("SessionEnd", session, str(cwd), reason="other"))
    machine.drain()


def left_by(machine: Machine, session: str) -> Json:
    return machine.get(f"/api/records/{handoff_id(session)}")


@pytest.fixture
def begun(served: Machine, tmp_path: Path) -> tuple[Machine, Path, str]:
    """A project in which a session left two things open."""
    session = f"first-{tmp_path.name}"
    work(served, session, tmp_path, "Add a CSV export", {"export.py": "def export():\n    return 1\n"}, CLOSING)
    left = left_by(served, session)
    assert left["status"] == "active"
    assert "Stream large CSV exports" in left["summary"]
    assert "document the export endpoint" in left["summary"]
    return served, tmp_path, session


def test_a_session_that_only_asks_something_leaves_it_standing(begun: tuple[Machine, Path, str]) -> None:
    machine, root, first = begun
    work(machine, f"asks-{first}", root, "How does the export endpoint stream large CSV exports?", {}, "It does not.")
    assert left_by(machine, first)["status"] == "active"


def test_a_session_that_works_on_something_else_leaves_it_standing(begun: tuple[Machine, Path, str]) -> None:
    machine, root, first = begun
    work(machine, f"other-{first}", root, "Rename the login button", {"login.py": "x = 1\n"}, "Renamed the button.")
    assert left_by(machine, first)["status"] == "active"


def test_a_step_that_names_a_file_is_doubtful_once_a_session_has_edited_it(served: Machine, tmp_path: Path) -> None:
    first = f"names-{tmp_path.name}"
    said = "Added the till. Next steps: split receipt.py by country; print the sums of a day."
    work(served, first, tmp_path, "Add a till", {"till.py": "def till():\n    return 1\n"}, said)
    assert "plit receipt.py" in left_by(served, first)["summary"]
    work(served, f"then-{first}", tmp_path, "Round receipts", {"receipt.py": "x = 1\n"}, "Rounded the receipts.")
    left = left_by(served, first)
    assert left["status"] == "active"
    assert "print the sums of a day" in left["summary"]
    assert "receipt.py" not in left["summary"]


@pytest.mark.parametrize(
    ("step", "subject", "is_doubtful"),
    [
        ("Print the sums of a day", "Print sums of a day on paper that the till has", True),
        ("Stream large exports in chunks of a megabyte, a test for each driver", "Stream exports in chunks", False),
        ("Add a test that validates the manifest of version 3", "Bump version to 4.1.0", False),
        ("Document the export endpoint", "Add the export button", False),
        ("Update the Swiss tax table", "Update the German tax table", False),
        ("Decide what export_rows returns for an empty cart", "Let export_rows raise", True),
        ("Decide what renderCart returns for no items", "Let renderCart raise", True),
        ("Decide what Ledger.post returns for no sums", "Let Ledger.post raise", True),
        ("Close what is left of #12", "Round up at the till (#12)", True),
        ("Add rate limits to the login page", "Add login page", False),
        ("Add the CSV export", "Remove the CSV export again", False),
        ("Write tests", "Fix a flaky test", False),
        ("Add end-to-end tests for the refund page", "Speed up the end-to-end runner", False),
        ("Document the GitHub OAuth flow", "Use a GitHub mirror in CI", False),
        ("Port the receipts to macOS and Node.js", "Run macOS jobs with Node.js 22", False),
        ("Cache avatars, e.g. in Redis", "Rename flags, e.g. --fast", False),
        ("Link shop.example.com from the help", "Fetch images from shop.example.com", False),
        ("Test tools/my_tool/run.py on Windows", "Rename tools/my_tool/stop.py", False),
    ],
)
def test_a_step_that_a_commit_speaks_of_is_doubtful(step: str, subject: str, is_doubtful: bool) -> None:
    assert may_be_done(step, (), (subject,)) is is_doubtful


@pytest.mark.parametrize(
    ("step", "edited", "is_doubtful"),
    [
        ("Fix the leak in src/auth/index.ts", "src/auth/index.ts", True),
        ("Fix the leak in auth/index.ts", "src/auth/index.ts", True),
        ("Fix the leak in src/auth/index.ts", "src/cart/index.ts", False),
        ("Fix the leak in index.ts", "src/cart/index.ts", False),
        ("Fix the leak in receipt.py", "src/till/receipt.py", True),
        ("Fix the leak in receipt.py", "src/till/old_receipt.py", False),
        ("Write the rollback steps in README.md", "README.md", False),
    ],
)
def test_a_step_is_doubtful_once_the_very_file_was_edited(step: str, edited: str, is_doubtful: bool) -> None:
    assert may_be_done(step, (edited,), ()) is is_doubtful


def test_a_session_that_does_all_that_was_open_takes_it_up(begun: tuple[Machine, Path, str]) -> None:
    machine, root, first = begun
    done = {"export.py": "def export():\n    yield 1\n", "docs/export.md": "# Export\n"}
    said = "Streamed large CSV exports in chunks and documented the export endpoint."
    work(machine, f"takes-{first}", root, "Stream large CSV exports in chunks, and document it", done, said)
    left = left_by(machine, first)
    assert (left["status"], left["retired_cause"]) == ("retired", "taken up")
    assert f"takes-{first}" in left["retired_because"]


def test_what_a_session_did_not_do_stays_open(begun: tuple[Machine, Path, str]) -> None:
    machine, root, first = begun
    done = {"export.py": "def export():\n    yield 1\n"}
    work(machine, f"half-{first}", root, "Stream large CSV exports in chunks", done, "Large CSV exports are streamed.")
    left = left_by(machine, first)
    assert left["status"] == "active"
    assert "document the export endpoint" in left["summary"]
    assert "Stream large" not in left["summary"]


@pytest.mark.parametrize("asked", ["continue", "Please go on with it", "weiter", "继续"])
def test_a_session_that_was_told_to_go_on_and_leaves_the_rest_itself_takes_it_up(
    begun: tuple[Machine, Path, str], asked: str
) -> None:
    machine, root, first = begun
    done = {"export.py": "def export():\n    yield 1\n"}
    said = "Large CSV exports are streamed now. Next steps: document the export endpoint."
    work(machine, f"goes-on-{first}", root, asked, done, said)
    assert left_by(machine, first)["retired_cause"] == "taken up"
    assert "ocument the export endpoint" in left_by(machine, f"goes-on-{first}")["summary"]


def test_going_on_at_a_file_does_not_close_what_nobody_says_was_done(served: Machine, tmp_path: Path) -> None:
    first = f"one-{tmp_path.name}"
    said = "Converted price.py. Next step: convert the refund report to cents as well."
    work(served, first, tmp_path, "Convert prices to cents", {"price.py": "def a():\n    return 1\n"}, said)
    done = {"price.py": "def a():\n    return 2\n"}
    work(served, f"then-{first}", tmp_path, "continue", done, "Fixed a typo in price.py first.")
    assert left_by(served, first)["status"] == "active"
    assert "refund report" in left_by(served, first)["summary"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            "Do not stream large CSV exports in chunks yet and do not document the export endpoint; just add hello.py",
            "Added hello. I did not stream large CSV exports in chunks nor document the export endpoint.",
        ),
        (
            "Stream large CSV exports in chunks",
            "Added a stub. I could not stream large CSV exports in chunks without the new driver.",
        ),
        (
            "Add hello",
            "Added hello instead of streaming large CSV exports in chunks. The export endpoint was left out.",
        ),
        ("What is left of: stream large CSV exports in chunks? Add hello", "Added hello."),
    ],
)
def test_a_session_that_says_it_did_not_do_it_leaves_it_open(
    begun: tuple[Machine, Path, str], asked: str, said: str
) -> None:
    machine, root, first = begun
    work(machine, f"not-{first}", root, asked, {"hello.py": "def hello():\n    return 1\n"}, said)
    left = left_by(machine, first)
    assert left["status"] == "active"
    assert "Stream large CSV exports" in left["summary"]
    assert "document the export endpoint" in left["summary"]


BOTH = "stream large CSV exports in chunks and document the export endpoint"


def run_tests(machine: Machine, session: str, cwd: Path, said: str) -> None:
    """A session that only runs the tests, which pass, and says something."""
    place = str(cwd)
    ran: Json = {"stdout": "14 passed in 0.21s\n", "stderr": "", "interrupted": False}
    for given in (
        payload("UserPromptSubmit", session, place, prompt="Run the tests"),
        payload("PostToolUse", session, place, tool_name="Bash", tool_input={"command": "pytest"}, tool_response=ran),
        payload("Stop", session, place, last_assistant_message=said),
    ):
        leave(machine.home, given)
    machine.drain()


@pytest.mark.parametrize(
    "said",
    [
        f"All tests passed. Do you want me to {BOTH}?",
        f"All tests passed. I recommend to {BOTH}.",
        f"All tests passed. It was suggested to {BOTH}.",
        f"All tests passed. I'd {BOTH} if you agreed.",
        "All tests passed. If large CSV exports are streamed in chunks, the export endpoint is documented, too.",
        "All tests passed.\n\n## Suggestions\n- Stream large CSV exports in chunks\n- Document the export endpoint",
        "All tests passed.\n\n## Ideas\n- Streamed large CSV exports in chunks\n- A documented export endpoint",
        "All tests passed. You could do this:\n- Stream large CSV exports in chunks\n- Document the export endpoint",
        "Tests passed.\n\n| what | when |\n|---|---|\n| Streamed large CSV exports in chunks | in May |\n",
    ],
)
def test_what_a_session_only_proposes_stays_open(begun: tuple[Machine, Path, str], said: str) -> None:
    machine, root, first = begun
    run_tests(machine, f"proposes-{first}", root, said)
    left = left_by(machine, first)
    assert left["status"] == "active"
    assert "Stream large CSV exports" in left["summary"]
    assert "document the export endpoint" in left["summary"]


def test_what_a_session_reports_beside_a_command_that_passed_is_done(begun: tuple[Machine, Path, str]) -> None:
    machine, root, first = begun
    said = "All tests passed. Large CSV exports are streamed in chunks, and the export endpoint is documented."
    run_tests(machine, f"reports-{first}", root, said)
    assert left_by(machine, first)["retired_cause"] == "taken up"


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("Write tests for the parser", "Remove the tests for the parser"),
        ("Write tests for the parser", "The parser tests were deleted"),
        ("Convert the refund report to cents", "Reverted: do not convert the refund report to cents"),
        ("Convert the refund report to cents", "Reverted the refund report to cents"),
        ("Fix the login bug", "Login page colour changed; a bug"),
        ("Add retry", "Explain retry"),
        ("Update the Swiss tax table", "Added the German tax table"),
        (
            "Check the rates of Norway with the office in its capital",
            "Checked the rates of Chile with the office",
        ),
        ("Run it on Windows", "Windows docs"),
        ("Deploy", "Create deploy.md"),
        ("Update docs", "Edit docs of another thing"),
        ("Stream exports in chunks", "Exports are not yet streamed in chunks"),
    ],
)
def test_a_step_is_not_done_by_what_only_shares_its_words(step: str, told: str) -> None:
    done, _ = split_done_and_denied([told])
    assert not any(is_done_by(step, sentence) for sentence in done)


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("Write tests for the parser", "Wrote tests for the parser"),
        ("Drop the old table of carts", "Dropped the old table of carts"),
        ("Stream exports in chunks", "Exports are streamed in chunks, so memory does not grow"),
        ("Fix the login bug", "Fix the bug of the login form"),
        ("Update the Swiss tax table", "Updated the tax table of Swiss cantons, as the German one"),
    ],
)
def test_a_step_is_done_by_what_says_so(step: str, told: str) -> None:
    done, _ = split_done_and_denied([told])
    assert any(is_done_by(step, sentence) for sentence in done)


def test_what_another_project_left_open_is_none_of_its_business(
    begun: tuple[Machine, Path, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    machine, _, first = begun
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    said = "Streamed large CSV exports in chunks and documented the export endpoint."
    work(machine, f"far-{first}", elsewhere, "continue", {"export.py": "x = 1\n", "docs.md": "# x\n"}, said)
    assert left_by(machine, first)["status"] == "active"


def handoff(store: Store, summary: str) -> Memory:
    return store.remember("Left open: something", kind="handoff", summary=summary)


def test_what_is_open_is_read_from_a_handoff_and_written_back(store: Store) -> None:
    left = handoff(store, "Open when it stopped: a b; c d. Blocked by e.")
    assert steps_of(left) == ["a b", "c d", "Blocked by e"]
    assert steps_of(cut_down(left, ["c d", "Blocked by e"])) == ["c d", "Blocked by e"]
    assert cut_down(left, ["c d", "Blocked by e"]).title == "Left open: c d (and 1 more)"


def test_a_failure_is_one_step_of_a_handoff_whatever_marks_its_error_has(store: Store) -> None:
    said = "Open when it stopped: Add a log; Write docs. Still failing: pytest fails: a; b. Blocked: no key."
    left = handoff(store, said)
    steps = ["Add a log", "Write docs", "Still failing: pytest fails: a; b", "Blocked: no key."]
    assert steps_of(left) == steps
    assert steps_of(cut_down(left, steps[1:3])) == steps[1:3]


def test_a_handoff_that_its_own_session_tells_anew_is_open_again(store: Store) -> None:
    left = handoff(store, "Open when it stopped: a b.")
    retirements.retire(store.db, left.id, "taken up", "session s2 took it up", NOW)
    memories.put(store.db, left, "t9", NOW)
    found = memories.find(store.db, left.id)
    assert found is not None
    assert found.status == "active"
    assert retirements.of(store.db, [left.id]) == {}


def test_a_handoff_that_the_user_wrote_is_not_told_anew(store: Store) -> None:
    left = store.remember("Left open: mine", kind="handoff", summary="mine", made_by="user")
    memories.put(store.db, handoff(store, "theirs"), "t9", NOW)
    found = memories.find(store.db, left.id)
    assert found is not None
    assert found.summary == "mine"


def context(machine: Machine, root: Path) -> str:
    return str(machine.get(f"/api/context?cwd={root}")["context"])


def test_the_next_session_sees_what_is_still_open_and_nothing_that_was_taken_up(
    begun: tuple[Machine, Path, str],
) -> None:
    machine, root, first = begun
    assert "document the export endpoint" in context(machine, root)
    done = {"export.py": "def export():\n    yield 1\n"}
    work(machine, f"half-{first}", root, "Stream large CSV exports in chunks", done, "Large CSV exports are streamed.")
    told = context(machine, root)
    assert "document the export endpoint" in told
    assert "Open when it stopped: Stream large" not in told
    said = "Documented the export endpoint."
    work(machine, f"rest-{first}", root, "Document the export endpoint", {"docs/export.md": "# Export\n"}, said)
    assert "Open when it stopped" not in context(machine, root)


SWISS = "Added the German tax table. Still to do: update the Swiss tax table."


def idle(machine: Machine, root: Path, number: int) -> None:
    """A session that asks something and leaves nothing to do."""
    asked, said = f"How does part {number} of the taxes work?", f"Part {number} multiplies the sum by its rate."
    work(machine, f"idle-{number}-{root.name}", root, asked, {}, said)


@pytest.mark.parametrize("preset", ["balanced", "codes"])
@pytest.mark.parametrize("sessions", [1, 5, 12])
def test_what_is_open_is_told_however_many_sessions_were_idle_since(
    served: Machine, tmp_path: Path, sessions: int, preset: str
) -> None:
    work(served, f"tax-{tmp_path.name}", tmp_path, "Add the taxes", {"tax.py": "RATE = 19\n"}, SWISS)
    for number in range(sessions):
        idle(served, tmp_path, number)
    shown = run_here(served, "context", "--cwd", tmp_path, "--preset", preset).stdout
    assert shown.count("pdate the Swiss tax table") == 1


def test_a_to_do_after_a_number_is_left_open_and_names_keep_their_case(served: Machine, tmp_path: Path) -> None:
    said = "Done: f now returns 2. run_ray_cluster() is called once. Still to do: update the Swiss tax table."
    work(served, f"f-{tmp_path.name}", tmp_path, "Add the taxes", {"tax.py": "def f():\n    return 2\n"}, said)
    shown = context(served, tmp_path)
    assert "Open when it stopped: Update the Swiss tax table." in shown
    assert shown.count("Swiss") == 1
    assert "F now" not in shown
    assert "Run_ray" not in shown


def test_what_was_done_long_after_it_was_left_is_told_no_more(served: Machine, tmp_path: Path) -> None:
    first = f"tax-{tmp_path.name}"
    work(served, first, tmp_path, "Add the taxes", {"tax.py": "RATE = 19\n"}, SWISS)
    for number in range(22):
        idle(served, tmp_path, number)
    done = {"swiss.py": "RATE = 8.1\n"}
    work(served, f"swiss-{first}", tmp_path, "Update the Swiss tax table", done, "Updated the Swiss tax table.")
    assert left_by(served, first)["retired_cause"] == "taken up"
    assert "Open when it stopped" not in context(served, tmp_path)


def test_of_many_things_left_open_the_newest_are_told_and_the_others_listed_as_left_out(
    served: Machine, tmp_path: Path
) -> None:
    countries = [f"{letter}{letter.lower()}land" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    for country in countries:
        said = f"Added the tax table. Still to do: check the rates of {country} with the office in its capital."
        work(served, f"{country}-{tmp_path.name}", tmp_path, f"Add {country}", {}, said)
    shown = run_here(served, "context", "--cwd", tmp_path, "--budget", "500", "--explain").stdout
    text, _, explained = shown.partition("tokens by estimate")
    told = [country for country in countries if f"rates of {country}" in text]
    assert told == countries[-len(told) :]
    assert 0 < len(told) < len(countries)
    out = explained.split("\nout  ")
    listed = [part for part in out if part.startswith("handoff: ") and re.search("no room|not worth its tokens", part)]
    assert all(any(f"rates of {country}" in part for part in listed) for country in countries if country not in told)


def test_what_is_done_for_one_thing_leaves_open_what_is_to_be_done_for_another(served: Machine, tmp_path: Path) -> None:
    first = f"tax-{tmp_path.name}"
    work(served, first, tmp_path, "Add the taxes", {"tax.py": "RATE = 19\n"}, SWISS)
    done = {"austria.py": "RATE = 20\n"}
    work(served, f"then-{first}", tmp_path, "Update the Austrian one", done, "Updated the Austrian tax table.")
    assert "pdate the Swiss tax table" in context(served, tmp_path)


def test_what_two_sessions_left_open_is_told_once(served: Machine, tmp_path: Path) -> None:
    for number in range(2):
        said = f"Wrote the {('first', 'second')[number]} list. Still to do: update the Swiss tax table."
        work(served, f"tax-{number}-{tmp_path.name}", tmp_path, "Write it", {f"t{number}.py": "RATE = 1\n"}, said)
    shown = run_here(served, "context", "--cwd", tmp_path, "--explain").stdout
    assert shown.partition("tokens by estimate")[0].count("pdate the Swiss tax table") == 1
    assert "said by a newer one" in shown


def test_a_step_that_names_a_function_is_done_under_the_name_it_has_since(served: Machine, tmp_path: Path) -> None:
    first, second = f"left-{tmp_path.name}", f"renamed-{tmp_path.name}"
    body = "(queue, job):\n    for one in queue:\n        one.append(job)\n    return len(queue)\n"
    said = "Added the queue. Next steps: add a retry to `push`."
    work(served, first, tmp_path, "Add a queue", {"queue.py": f"def push{body}"}, said)
    assert left_by(served, first)["status"] == "active"
    place = str(tmp_path)
    for at, (asked, old, new, answer) in enumerate(
        (
            ("Rename push to enqueue", "push", "enqueue", "Renamed `push` to `enqueue`."),
            ("Now the retry, please", "len(queue)", "retry(len(queue))", "Added the retry to `enqueue`."),
        )
    ):
        before = (tmp_path / "queue.py").read_text()
        after = before.replace(old, new)
        (tmp_path / "queue.py").write_text(after)
        leave(served.home, payload("UserPromptSubmit", second, place, prompt=asked))
        leave(
            served.home,
            payload(
                "PostToolUse",
                second,
                place,
                tool_name="Edit",
                tool_input={"file_path": f"{place}/queue.py", "old_string": old, "new_string": new},
                tool_response={
                    "filePath": f"{place}/queue.py",
                    "originalFile": before,
                    "structuredPatch": patch(before, after),
                },
            ),
        )
        leave(served.home, payload("Stop", second, place, last_assistant_message=answer))
        served.drain()
        assert left_by(served, first)["status"] == ("active", "retired")[at]
