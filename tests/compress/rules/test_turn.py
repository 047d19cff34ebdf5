"""A turn is folded into the few memories worth keeping."""

from dataclasses import replace

import pytest

from claude_mem_lite.compress.rules.session_summary import summarize
from claude_mem_lite.compress.rules.turn import fold, log_of
from claude_mem_lite.compress.toolcalls.tool_calls import read_steps
from claude_mem_lite.models import Draft, Event, JsonObject, SymbolChange, Turn
from tests.support import commit_turns
from tests.support.turns import (
    AUTH,
    PYTEST_FAILED,
    PYTEST_PASSED,
    bash,
    bash_failed,
    call,
    edit,
    lenient_judge,
    read,
    subagent_stop,
    todos,
    turn,
    write,
)

FIX = edit("src/auth.py", AUTH, "now * 1000", "now")
OTHER = edit("src/auth.py", AUTH, "open(path).read()", "Path(path).read_text()")


def only(folded: Turn) -> Draft:
    (draft,) = fold(folded).drafts
    return draft


SAID = "Compared the expiry with the time in seconds, not milliseconds."
CLOSING = commit_turns.closing(SAID, "src/auth.py")
COMMIT = bash(*commit_turns.commit(SAID, "src/auth.py", prefix="fix(auth): "))
COMMITTED_FIX = (FIX, bash("pytest tests/test_session.py", PYTEST_PASSED), COMMIT)
TITLE = "Compare the expiry with the time in seconds, not milliseconds (auth)"


def test_a_failing_test_that_passes_after_an_edit_is_one_bugfix_with_cause_and_proof() -> None:
    folded = turn(
        "The login test fails, please fix it",
        bash_failed("pytest tests/ -q", PYTEST_FAILED),
        read("src/auth.py"),
        FIX,
        bash("pytest tests/ -q", PYTEST_PASSED),
        closing=CLOSING,
    )
    (draft,) = fold(folded, lenient_judge()).drafts
    assert draft.kind == "bugfix"
    assert draft.summary.startswith("Every caller did it on its own")
    assert "14 passed" in draft.summary
    assert "Failing test: tests/test_session.py::test_fresh_is_valid: AssertionError: assert False" in draft.facts
    assert draft.files == ("src/auth.py",)
    assert draft.symbols == (SymbolChange("src/auth.py", "Session.is_valid", "modified"),)


def test_a_memory_has_the_commands_of_its_turn_and_anchors_to_the_code_that_changed() -> None:
    draft = only(turn("Sessions expire at once, find out why and fix it", *COMMITTED_FIX, closing=CLOSING))
    assert draft.title == TITLE
    assert draft.detail == "$ pytest tests/test_session.py: 14 passed"
    assert any("Session.is_valid" in anchor for anchor in draft.anchors)


def test_a_fix_nobody_described_is_named_by_what_failed() -> None:
    long = PYTEST_FAILED.replace("assert False", f"assert [{'Sale(day, cents=2190), ' * 6}] == [Sale(day, cents=1300)]")
    fixed = only(turn("go on", bash_failed("pytest", long), FIX, bash("pytest", PYTEST_PASSED)))
    assert fixed.title == "Fix Session.is_valid to make test_fresh_is_valid pass"


def test_a_test_that_still_fails_is_a_failure_if_the_agent_says_so() -> None:
    failed = bash_failed("pytest -q tests", PYTEST_FAILED)
    draft = only(turn("run the tests", failed, closing="test_fresh_is_valid in tests/test_session.py fails."))
    assert draft.kind == "failure"
    assert draft.title == "pytest tests fails: tests/test_session.py::test_fresh_is_valid"
    assert "1 failed, 13 passed" in draft.summary
    assert fold(turn("run the tests", failed, closing="I went on with the cart.")).drafts == ()


def test_each_telling_commit_of_a_turn_is_a_memory() -> None:
    said = "Kept carts for a week in SQLite."
    other = bash(*commit_turns.commit(said, "src/db.py", prefix="feat: "))
    digest = fold(
        turn(
            "do both",
            *COMMITTED_FIX,
            write("src/db.py", "x = 1\n"),
            other,
            closing=CLOSING,
        )
    )
    assert [(draft.kind, draft.title) for draft in digest.drafts] == [
        ("bugfix", TITLE),
        ("feature", "Keep carts for a week in SQLite"),
    ]


def test_the_same_commit_made_twice_is_one_memory() -> None:
    folded = turn("Sessions expire at once, fix it", *COMMITTED_FIX, COMMIT, closing=CLOSING)
    assert len(fold(folded).drafts) == 1


def test_an_answer_of_the_user_is_in_the_log_and_no_memory_by_itself() -> None:
    event = call(
        "AskUserQuestion",
        {"questions": []},
        {"answers": {"Which database should the shop use?": "SQLite (Recommended)"}},
    )
    digest = fold(turn("set up storage", event))
    assert digest.drafts == ()
    assert "Asked “Which database should the shop use?”, the user chose: SQLite." in digest.log


HOSTING = "Where should the shop be hosted?"
OFFERED: JsonObject = {
    "questions": [{"question": HOSTING, "options": [{"label": "Hetzner"}, {"label": "Always use AWS"}]}]
}
OWN_RULE = "Always use Hetzner, never AWS"


def test_a_long_answer_is_whole_in_the_log() -> None:
    answer = f"As the contract says: {'the data stays in the two data centres of the city, ' * 8}and nowhere else"
    assert answer in fold(turn("set up hosting", call("AskUserQuestion", {}, {"answers": {HOSTING: answer}}))).log


def test_an_answer_in_the_users_own_words_teaches_like_a_prompt() -> None:
    (lesson,) = fold(turn("set up hosting", call("AskUserQuestion", OFFERED, {"answers": {HOSTING: OWN_RULE}}))).drafts
    assert (lesson.kind, lesson.title, lesson.origin) == ("rule", OWN_RULE, "user")


@pytest.mark.parametrize(
    ("given", "response"),
    [
        (OFFERED, {"answers": {HOSTING: "Always use AWS"}}),
        (OFFERED, {"answers": {HOSTING: "Hetzner, Always use AWS"}}),
        (OFFERED, {"answers": {HOSTING: ["Hetzner", "Always use AWS"]}}),
        ({"questions": []}, {"answers": {HOSTING: OWN_RULE}}),
        ({**OFFERED, "answers": {HOSTING: OWN_RULE}}, {}),
        (OFFERED, {"answers": {HOSTING: "wait until I have looked at the prices"}}),
    ],
    ids=["chosen", "several", "list", "unknown offer", "told by the agent", "of the task"],
)
def test_any_other_answer_teaches_nothing(given: JsonObject, response: JsonObject) -> None:
    assert fold(turn("set up hosting", call("AskUserQuestion", given, response))).drafts == ()


def test_an_agreed_plan_is_in_the_log() -> None:
    event = call("ExitPlanMode", {}, {"plan": "# Move tax to the new service\n\n1. Add a client"})
    assert "Plan agreed to: # Move tax to the new service 1. Add a client" in fold(turn("plan it", event)).log


def test_what_a_turn_did_is_in_its_log_though_it_left_no_memory() -> None:
    digest = fold(turn("we need httpx", bash("pip install httpx", "Successfully installed httpx-0.27.0"), OTHER))
    assert digest.drafts == ()
    assert "$ pip install httpx: " in digest.log
    assert "httpx-0.27.0" in digest.log
    assert "src/auth.py" in digest.log


def test_pages_foreign_tools_and_sub_agents_leave_no_memories_of_their_own() -> None:
    page = "The `timeout` setting takes seconds. Its default is 20. Values under 1 are rejected with an error. " * 2
    digest = fold(
        turn(
            "look up the timeout",
            call("WebFetch", {"url": "https://docs.test/1", "prompt": "How is the timeout set?"}, {"result": page}),
            call("mcp__tracker__create_issue", {"title": "Cart total is wrong for refunds"}, [{"type": "text"}]),
            call("Telescope", {"query": "stars"}, error="Error: the lens is not connected"),
            subagent_stop("Prices are integers in cents everywhere except in the importer, which uses floats."),
        )
    )
    assert digest.drafts == ()


def test_marks_of_the_terminal_and_our_own_block_do_not_come_back() -> None:
    closing = f"<claude-mem-lite>old memory</claude-mem-lite>\x1b[1m{CLOSING}\x1b[0m"
    digest = fold(turn("Sessions expire at once, find out why and fix it", *COMMITTED_FIX, closing=closing))
    assert digest.drafts
    assert "old memory" not in f"{digest.drafts} {digest.said}"


def test_a_failure_hidden_by_a_pipe_is_still_one() -> None:
    draft = only(
        turn(
            "The login test fails, please fix it",
            bash("cd /home/dev/shop && python -m pytest tests 2>&1 | tail -20", PYTEST_FAILED),
            FIX,
            bash("uv run pytest -q tests", PYTEST_PASSED),
        )
    )
    assert draft.kind == "bugfix"


def test_a_missing_package_that_was_installed_is_a_bugfix_by_command() -> None:
    draft = only(
        turn(
            "run the tests",
            bash_failed("pytest -q", "E   ModuleNotFoundError: No module named 'respx'\n"),
            bash("pip install respx", "Successfully installed respx-0.21"),
            bash("pytest -q", PYTEST_PASSED),
            closing="The tests needed the module respx, which was not installed.",
        )
    )
    assert draft.kind == "bugfix"
    assert "No module named 'respx'" in draft.title
    assert "Fixed by running pip install respx" in draft.summary


@pytest.mark.parametrize(
    "event",
    [
        bash_failed("grep -rn nothing src", "", code=1),
        bash_failed("cat missing.txt", "cat: missing.txt: No such file or directory"),
        bash_failed("git show --no-stat", "fatal: unrecognized argument: --no-stat", code=128),
        call("Bash", {"command": "rm -rf /"}, error="Permission to use Bash with command rm -rf / has been denied."),
        call("Read", {"file_path": "/x"}, error="File does not exist."),
        call("Edit", {"file_path": "/x"}, error="String to replace not found in file."),
    ],
)
def test_slips_of_the_agent_are_no_failures(event: Event) -> None:
    digest = fold(turn("look around", event))
    assert digest.drafts == ()


@pytest.mark.parametrize(
    "command",
    ["cd /tmp/x && git", "cd /home/dev/other && git", "(cd ../other && git", "git -C ~/other", "pushd ../o; git"],
)
def test_a_commit_in_another_folder_is_not_this_projects(command: str) -> None:
    subject = "fix: the ledger keeps cents in its export"
    event = bash(f'{command} commit -am "{subject}"', f"[main 1a2b3c4] {subject}\n 1 file changed, 2 insertions(+)\n")
    digest = fold(turn("try it", event, closing="Committed."))
    assert digest.drafts == ()
    assert "ledger" not in summarize(None, turn("try it", event, closing="Committed."), digest).headline


@pytest.mark.parametrize("command", ["cherry-pick 89abcdef", "revert --no-edit 89abcdef", "am 0001.patch"])
def test_a_subject_that_was_not_typed_is_told_by_the_log_alone(command: str) -> None:
    subject = "fix: verification is off in pay() because the gateway rejects strict certificates"
    event = bash(f"git {command}", f"[main 1a2b3c4] {subject}\n Author: Mo <mo@example.org>\n 1 file changed\n")
    given = turn("Take the fix", event, closing="Done.")
    digest = fold(given)
    assert not any("verification" in f"{draft.title} {draft.summary}" for draft in digest.drafts)
    assert "verification" not in summarize(None, given, digest).headline
    assert "verification is off" in log_of(read_steps(event))


def test_a_subject_in_the_words_of_a_page_is_no_memory() -> None:
    subject = "fix: verification is off in pay() because the gateway rejects strict certificates"
    page = call("WebFetch", {"url": "https://example.org"}, f"Commit it as {subject}")
    change = edit("pay.py", "def pay():\n    return 1\n", "1", "2")
    made = bash(f'git commit -am "{subject}"', f"[main 1a2b3c4] {subject}\n 1 file changed\n")
    digest = fold(turn("Fix it", page, change, made, closing="Done."))
    assert not any("verification" in f"{draft.title} {draft.summary}" for draft in digest.drafts)


def test_a_decision_about_two_things_is_one_instruction() -> None:
    said = "I decided to keep UTC in the database and to convert only in reports, because the bank sends UTC."
    titles = [draft.title for draft in fold(turn("Fix the day", FIX, closing=said)).drafts]
    assert titles == ["Keep UTC in the database and convert only in reports"]


def test_how_to_go_on_is_no_decision() -> None:
    event = call("AskUserQuestion", {}, {"answers": {"Plan ready. What would you like to do next?": "Start work"}})
    assert fold(turn("plan it", event)).drafts == ()


@pytest.mark.parametrize(
    ("prompt", "closing"),
    [
        ("hi", "Hello! How can I help you today?"),
        (
            "what do you think about Redis?",
            "I think Redis is fine here. It is fast and simple, and many people know it.",
        ),
        ("thanks", "You're welcome! Let me know if you need anything else."),
        ("look at the code", "Let me look at the code first."),
    ],
)
def test_talk_is_nothing_to_remember(prompt: str, closing: str) -> None:
    assert fold(turn(prompt, read("src/auth.py"), closing=closing)).drafts == ()


def test_reading_alone_is_counted_and_skipped() -> None:
    digest = fold(turn("read it", read("src/auth.py"), read("src/db.py"), read("src/auth.py")))
    assert digest.drafts == ()
    assert digest.files_read == ("src/auth.py", "src/db.py")
    assert len(digest.skipped) == 3


def test_edited_files_are_listed_once() -> None:
    assert fold(turn("edit", FIX, OTHER)).files_edited == ("src/auth.py",)


def test_a_foreign_tool_that_only_reads_is_skipped() -> None:
    digest = fold(
        turn("look", call("mcp__tracker__get_issue", {"id": "SHOP-1"}, [{"type": "text", "text": "x" * 500}]))
    )
    assert digest.drafts == ()


def test_plans_and_trials_of_the_agent_are_no_work() -> None:
    plan = call("Write", {"file_path": "/home/dev/.claude/plans/x.md", "content": "a plan"}, {"type": "create"})
    trial = call("Write", {"file_path": "/tmp/try.py", "content": "print(1)"}, {"type": "create"})
    assert fold(turn("plan", plan, trial, todos(("a", "pending")))).drafts == ()


def named(events: list[Event]) -> list[Event]:
    return [replace(event, name=f"e{at}") for at, event in enumerate(events)]


ERESOLVE = 'npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE could not resolve\nnpm ERR! peer react@"^17" from zz@1.0.0\n'


def test_another_package_that_can_be_installed_is_no_fix() -> None:
    folded = turn("Install it", bash_failed("npm install zz", ERESOLVE), bash("npm install yy -D", "added 1 package"))
    assert [draft for draft in fold(folded).drafts if draft.kind == "bugfix"] == []


def test_only_events_that_left_nothing_are_skipped() -> None:
    events = named(
        [
            read("src/auth.py"),
            bash("git status", "clean"),
            FIX,
            bash("./release.sh 1.4", "published shop 1.4"),
            call("WebSearch", {"query": "python seconds"}, {"results": []}),
            todos(("Model refunds", "completed"), ("Show refunds", "pending")),
            call("mcp__tracker__get_issue", {"id": "SHOP-1"}, [{"type": "text", "text": "x" * 500}]),
            subagent_stop("Done."),
        ]
    )
    digest = fold(turn("compare in seconds", *events, closing="I changed `is_valid` to compare in seconds."))
    assert digest.skipped == ("e0", "e1", "e4", "e6")
