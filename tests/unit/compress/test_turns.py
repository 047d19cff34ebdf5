"""A turn is folded into the few memories worth keeping."""

from dataclasses import replace

import pytest

from claude_mem_lite.compress.rules.turns import fold
from claude_mem_lite.models import Draft, Event, SymbolChange, Turn
from tests.unit.compress.build import (
    AUTH,
    PYTEST_FAILED,
    PYTEST_PASSED,
    bash,
    bash_failed,
    call,
    edit,
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


def kinds(folded: Turn) -> list[str]:
    return [draft.kind for draft in fold(folded).drafts]


def test_a_failing_test_that_passes_after_an_edit_is_one_bugfix_with_cause_and_fix() -> None:
    draft = only(
        turn(
            "The login test fails, please fix it",
            bash_failed("pytest tests/ -q", PYTEST_FAILED),
            read("src/auth.py"),
            FIX,
            bash("pytest tests/ -q", PYTEST_PASSED),
            closing="Fixed. The cause was a unit mix-up: `is_valid` compared seconds with milliseconds.",
        )
    )
    assert draft.kind == "bugfix"
    assert draft.title == "Fix Session.is_valid to make test_fresh_is_valid pass"
    assert "Failing test: tests/test_session.py::test_fresh_is_valid: AssertionError: assert False" in draft.facts
    assert "is_valid compared seconds with milliseconds" in draft.summary
    assert "Fixed by editing Session.is_valid in src/auth.py" in draft.summary
    assert "14 passed" in draft.summary
    assert draft.files == ("src/auth.py",)
    assert draft.symbols == (SymbolChange("src/auth.py", "Session.is_valid", "modified"),)


def test_a_bug_shown_by_a_new_test_and_then_fixed_is_one_memory() -> None:
    draft = only(
        turn(
            "Old tokens still work. Find out why and fix it, with a test.",
            write("tests/test_session.py", "def test_fresh_is_valid():\n    ...\n"),
            bash_failed("pytest tests", PYTEST_FAILED),
            FIX,
            bash("pytest tests", PYTEST_PASSED),
            closing="Old tokens no longer pass the login page.\n\n"
            "**Cause:** `is_valid` compared seconds with milliseconds of the clock.\n\n"
            "**Fix:** I added `expires_at()` to `src/auth.py`, which counts in seconds.",
        )
    )
    assert (draft.kind, draft.title) == ("bugfix", "Old tokens no longer pass the login page")
    assert draft.summary.startswith(
        "Cause: is_valid compared seconds with milliseconds of the clock."
        " Added expires_at() to src/auth.py, which counts in seconds."
    )
    assert any("test_fresh_is_valid" in fact for fact in draft.facts)
    assert draft.files == ("tests/test_session.py", "src/auth.py")


def test_no_title_holds_half_an_assertion() -> None:
    long = PYTEST_FAILED.replace("assert False", f"assert [{'Sale(day, cents=2190), ' * 6}] == [Sale(day, cents=1300)]")
    failing = only(turn("run the tests", bash_failed("pytest tests", long)))
    fixed = only(turn("go on", bash_failed("pytest", long), FIX, bash("pytest", PYTEST_PASSED)))
    assert failing.title == "pytest tests fails: tests/test_session.py::test_fresh_is_valid"
    assert fixed.title == "Fix Session.is_valid to make test_fresh_is_valid pass"


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


def test_a_fix_is_named_by_its_commit() -> None:
    draft = only(
        turn(
            "fix the login test",
            bash_failed("pytest", PYTEST_FAILED),
            FIX,
            bash("pytest", PYTEST_PASSED),
            bash(
                'git commit -am "fix(auth): compare seconds with seconds"',
                "[main 1a2b3c4] fix(auth): compare seconds with seconds",
            ),
        )
    )
    assert draft.title == "Compare seconds with seconds (auth)"
    assert "Commit 1a2b3c4 on main: fix(auth): compare seconds with seconds" in draft.facts


def test_a_missing_package_that_was_installed_is_a_bugfix_by_command() -> None:
    draft = only(
        turn(
            "run the tests",
            bash_failed("pytest -q", "E   ModuleNotFoundError: No module named 'respx'\n"),
            bash("pip install respx", "Successfully installed respx-0.21"),
            bash("pytest -q", PYTEST_PASSED),
        )
    )
    assert draft.kind == "bugfix"
    assert "No module named 'respx'" in draft.title
    assert "Fixed by running pip install respx" in draft.summary


def test_a_test_that_still_fails_at_the_end_is_a_failure() -> None:
    draft = only(turn("run the tests", bash_failed("pytest -q tests", PYTEST_FAILED), closing="One test fails."))
    assert draft.kind == "failure"
    assert draft.title == "pytest tests fails: tests/test_session.py::test_fresh_is_valid"
    assert "1 failed, 13 passed" in draft.summary


def test_a_build_that_fails_is_a_failure_with_its_first_error() -> None:
    output = "> shop@1.0.0 build\n> tsc -p .\n\nsrc/index.ts(4,7): error TS2322: Type 'string' is wrong.\n"
    draft = only(turn("build it", bash_failed("npm run build", output, code=2)))
    assert draft.kind == "failure"
    assert "error TS2322" in draft.title
    assert "exit code 2" in draft.summary


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


def test_a_lint_error_of_the_turns_own_making_is_told_with_its_work() -> None:
    draft = only(
        turn(
            "add a load function",
            OTHER,
            bash_failed("ruff check .", "src/auth.py:1:1: F401 `time` imported but unused"),
            FIX,
            bash("ruff check .", "All checks passed!"),
            closing="I added the load function to src/auth.py.",
        )
    )
    assert draft.kind == "feature"
    assert "$ ruff check .: src/auth.py:1:1: F401 `time` imported but unused, then All checks passed!" in draft.detail


def test_a_test_broken_on_the_way_is_a_bugfix_beside_the_work() -> None:
    folded = turn(
        "read files with pathlib",
        OTHER,
        bash_failed("pytest", PYTEST_FAILED),
        FIX,
        bash("pytest", PYTEST_PASSED),
        closing="I replaced open() with pathlib in `load`.",
    )
    assert kinds(folded) == ["bugfix", "refactor"]


def test_many_edits_of_one_file_are_one_memory() -> None:
    draft = only(
        turn("tidy up auth.py and use pathlib", FIX, OTHER, FIX, closing="Moved file reading to pathlib in auth.py.")
    )
    assert draft.files == ("src/auth.py",)
    assert draft.title == "Move file reading to pathlib in auth.py"
    assert draft.kind == "refactor"


def test_the_prompt_is_the_reason_why() -> None:
    draft = only(turn("Sessions end too early, users complain. Compare in seconds.", FIX, closing="Done."))
    assert "Asked: Sessions end too early, users complain." in draft.summary


@pytest.mark.parametrize(
    "prompt",
    [
        "Compare in seconds.",
        "Can you compare in seconds?",
        "is_valid should compare in seconds, as the clock does.",
        "Good. Don't change anything else today.",
    ],
)
def test_a_prompt_without_a_reason_that_is_not_told_is_left_out(prompt: str) -> None:
    draft = only(turn(prompt, FIX, closing="I changed `is_valid` to compare in seconds, as the clock does."))
    assert "Asked" not in draft.summary


def test_of_a_long_prompt_one_sentence_is_the_reason() -> None:
    prompt = f"Sessions end too early, users complain{' a lot about it' * 20}. Their tickets pile up at the desk."
    draft = only(turn(prompt, FIX, closing="Done."))
    asked = draft.summary[draft.summary.index("Asked: ") + 7 :]
    assert asked.startswith("Sessions end too early")
    assert len(asked) <= 120


def test_what_was_private_leaves_no_mark() -> None:
    draft = only(turn("Sessions end too early, users complain. [private]", FIX, closing="Done."))
    assert "private" not in f"{draft}"


def test_a_prompt_that_says_nothing_is_no_reason() -> None:
    draft = only(turn("yes", FIX, closing="I changed `is_valid` to compare in seconds, as the clock does."))
    assert "Asked" not in draft.summary
    assert draft.title == "Change is_valid to compare in seconds, as the clock does"


def test_work_nobody_described_is_named_by_what_changed() -> None:
    assert only(turn("yes", FIX, closing="Done.")).title == "Change Session.is_valid in src/auth.py"


def test_a_new_file_asked_for_is_a_feature() -> None:
    draft = only(
        turn(
            "add a database layer",
            write("src/db.py", "def connect():\n    ...\n"),
            closing="I created `src/db.py` with a `connect` helper for SQLite.",
        )
    )
    assert (draft.kind, draft.title) == ("feature", "Create src/db.py with a `connect` helper for SQLite")
    assert draft.symbols == (SymbolChange("src/db.py", "connect", "new"),)


@pytest.mark.parametrize(
    ("prompt", "closing", "kind"),
    [
        ("rename load to read", "Renamed `load` to `read` in auth.py.", "refactor"),
        ("fix the crash in is_valid", "Fixed the crash in `is_valid` for old tokens.", "bugfix"),
        ("update the README with the new flag", "Updated the README with the new flag.", "change"),
        ("add a --json flag to list", "Added a --json flag to the list command.", "feature"),
        ("add tests for load", "Added three tests for `load` to test_auth.py.", "change"),
    ],
)
def test_the_kind_follows_what_was_done(prompt: str, closing: str, kind: str) -> None:
    assert kinds(turn(prompt, FIX, closing=closing)) == [kind]


def test_each_commit_of_a_turn_is_a_memory_with_its_own_files() -> None:
    digest = fold(
        turn(
            "do both",
            FIX,
            bash(
                'git commit -am "fix: compare seconds with seconds"', "[main 1111111] fix: compare seconds with seconds"
            ),
            write("src/db.py", "x = 1\n"),
            bash('git commit -am "feat: add a database module"', "[main 2222222] feat: add a database module"),
            closing="Both are committed.",
        )
    )
    assert [(draft.kind, draft.title, draft.files) for draft in digest.drafts] == [
        ("bugfix", "Compare seconds with seconds", ("src/auth.py",)),
        ("feature", "Add a database module", ("src/db.py",)),
    ]


def test_a_commit_alone_is_kept_with_its_message() -> None:
    draft = only(
        turn(
            "commit this",
            bash(
                'git commit -am "Cache exchange rates for an hour" -m "They rarely change."',
                "[main 1a2b3c4] Cache exchange rates for an hour",
            ),
        )
    )
    assert draft.title == "Cache exchange rates for an hour"
    assert draft.summary.startswith("They rarely change.")
    assert draft.origin == "command"


def test_a_commit_in_another_folder_is_not_this_projects() -> None:
    event = bash('cd /tmp/x && git commit -m "Add the first thing"', "[main 1a2b3c4] Add the first thing")
    assert fold(turn("try it", event)).drafts == ()


def test_a_decision_in_the_closing_message_is_kept_with_its_why() -> None:
    digest = fold(
        turn(
            "add a database layer",
            write("src/db.py", "x = 1\n"),
            closing="I created src/db.py.\n\n"
            "Decision: SQLite instead of PostgreSQL, because the tool must run without a server.",
        )
    )
    decision = next(draft for draft in digest.drafts if draft.kind == "decision")
    assert decision.title.startswith("SQLite instead of PostgreSQL")
    assert "because the tool must run without a server" in decision.summary


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (
            "I decided to keep UTC in the database and to convert only in reports, because webhooks send UTC and"
            " because local times are ambiguous for an hour every autumn.",
            "Keep UTC in the database and convert only in reports",
        ),
        ("We decided not to cache exchange rates at all.", "Do not cache exchange rates at all"),
        (
            "We chose SQLite over PostgreSQL for the first release.",
            "Choose SQLite over PostgreSQL for the first release",
        ),
    ],
)
def test_a_decision_is_named_as_an_instruction(said: str, title: str) -> None:
    digest = fold(turn("store local time?", FIX, closing=f"Committed.\n\n{said}"))
    assert [draft.title for draft in digest.drafts if draft.kind == "decision"] == [title]


def test_what_the_user_chose_when_asked_is_a_decision() -> None:
    event = call(
        "AskUserQuestion",
        {"questions": []},
        {"answers": {"Which database should the shop use?": "SQLite (Recommended)"}},
    )
    draft = only(turn("set up storage", event))
    assert (draft.kind, draft.origin) == ("decision", "user")
    assert draft.title == "Choose SQLite: which database should the shop use"


def test_how_to_go_on_is_no_decision() -> None:
    event = call("AskUserQuestion", {}, {"answers": {"Plan ready. What would you like to do next?": "Start work"}})
    assert fold(turn("plan it", event)).drafts == ()


def test_an_answer_that_explains_is_a_discovery() -> None:
    draft = only(
        turn(
            "why is the import so slow?",
            bash("python -X importtime -c 'import shop'", "1200 us"),
            closing="The import is slow because `shop/__init__.py` loads pandas, which takes 1.1 s."
            " Only the reports need it.\n\nWant me to move it?",
        )
    )
    assert draft.kind == "discovery"
    assert draft.title == "The import is slow because shop/__init__.py loads pandas, which takes 1.1 s"
    assert draft.summary == "Only the reports need it."


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


def test_installed_packages_are_a_change_when_that_was_all() -> None:
    draft = only(turn("we need httpx", bash("pip install httpx", "Successfully installed httpx-0.27.0")))
    assert (draft.kind, draft.title) == ("change", "Install httpx with pip")
    assert "httpx-0.27.0" in draft.summary


def test_the_web_gives_at_most_one_discovery_of_its_own_origin() -> None:
    page = "The `timeout` setting takes seconds. Its default is 20. Values under 1 are rejected with an error. " * 2
    events = [
        call("WebFetch", {"url": f"https://docs.test/{n}", "prompt": "How is the timeout set?"}, {"result": page})
        for n in range(3)
    ]
    draft = only(turn("look up the timeout", *events))
    assert (draft.kind, draft.origin) == ("discovery", "web")
    assert draft.title == "Web: How is the timeout set"
    assert "Source: https://docs.test/0" in draft.facts


def test_a_foreign_tool_that_changed_something_is_kept_as_such() -> None:
    event = call(
        "mcp__tracker__create_issue", {"title": "Cart total is wrong for refunds"}, [{"type": "text", "text": "ok"}]
    )
    draft = only(turn("file a bug", event))
    assert (draft.origin, draft.title) == ("mcp", "Create issue: Cart total is wrong for refunds")


def test_a_foreign_tool_that_only_reads_is_skipped() -> None:
    digest = fold(
        turn("look", call("mcp__tracker__get_issue", {"id": "SHOP-1"}, [{"type": "text", "text": "x" * 500}]))
    )
    assert digest.drafts == ()


def test_an_unknown_tool_is_skipped_unless_it_failed() -> None:
    assert fold(turn("go", call("Telescope", {"query": "stars"}, "many"))).drafts == ()
    failed = only(turn("go", call("Telescope", {"query": "stars"}, error="Error: the lens is not connected")))
    assert failed.kind == "failure"


def test_a_sub_agents_report_is_a_discovery() -> None:
    report = (
        "The cart module keeps its items in memory and writes them only at checkout. "
        "Prices are integers in cents everywhere except in the importer, which uses floats. "
        + "The importer therefore rounds twice, once on reading and once on storing each item. "
        * 4
    )
    event = call(
        "Task", {"description": "Explore the cart", "prompt": "…"}, {"content": [{"type": "text", "text": report}]}
    )
    draft = only(turn("how do carts work?", event, subagent_stop(report)))
    assert draft.kind == "discovery"
    assert draft.title == "The cart module keeps its items in memory and writes them only at checkout"
    assert "Explore the cart" in draft.summary


def test_a_short_report_of_a_sub_agent_is_kept_when_it_tells_something() -> None:
    report = "Prices are integers in cents everywhere except in the importer. It uses floats and rounds twice."
    draft = only(turn("how do carts work?", subagent_stop(report)))
    assert draft.title == "Prices are integers in cents everywhere except in the importer"
    assert draft.summary == "It uses floats and rounds twice."


@pytest.mark.parametrize("report", ["Done.", "I read all of the files that you named and have nothing to add to it."])
def test_a_report_that_tells_nothing_is_not_kept(report: str) -> None:
    assert fold(turn("how do carts work?", subagent_stop(report))).drafts == ()


def test_a_discovery_goes_on_where_its_title_stops() -> None:
    draft = only(
        turn(
            "is the report the only place?",
            read("src/export.py"),
            closing="There is one more place: `export_csv` in `src/export.py` also takes `placed_at.date()`, so the"
            " monthly file for accounting is wrong in the same way. I changed nothing.\n\n"
            "Next step: use `local_day()`.",
        )
    )
    assert draft.title == "export_csv in src/export.py also takes placed_at.date()"
    assert draft.summary == "So the monthly file for accounting is wrong in the same way."


def test_what_commands_came_to_is_kept_to_be_found() -> None:
    draft = only(
        turn(
            "update the release notes",
            edit("NOTES.md", "old notes\n", "old notes", "new notes"),
            bash("git status", "clean"),
            bash("./release.sh 1.4", "tagging\npublished shop 1.4 to the registry"),
            bash("pytest", PYTEST_PASSED),
            closing="Done.",
        )
    )
    assert draft.detail.splitlines() == [
        "$ ./release.sh 1.4: published shop 1.4 to the registry",
        "$ pytest: 14 passed",
    ]


def test_renamed_files_are_work() -> None:
    draft = only(turn("rename clean.py to cleanup.py", bash("git mv src/clean.py src/cleanup.py")))
    assert (draft.kind, draft.files) == ("refactor", ("src/cleanup.py",))


def test_plans_and_trials_of_the_agent_are_no_work() -> None:
    plan = call("Write", {"file_path": "/home/dev/.claude/plans/x.md", "content": "a plan"}, {"type": "create"})
    trial = call("Write", {"file_path": "/tmp/try.py", "content": "print(1)"}, {"type": "create"})
    assert fold(turn("plan", plan, trial, todos(("a", "pending")))).drafts == ()


def test_secrets_of_the_terminal_and_our_own_block_do_not_come_back() -> None:
    closing = "<claude-mem-lite>old memory</claude-mem-lite>\x1b[1mI added a cart to src/shop.py.\x1b[0m"
    draft = only(turn("add a cart", FIX, closing=closing))
    assert draft.title == "Add a cart to src/shop.py"
    assert "old memory" not in f"{draft}"


def test_a_reasoned_decision_about_it_is_kept_with_the_sentence_that_says_what_it_is() -> None:
    drafts = fold(
        turn(
            "Add a greeting",
            write("greet.py", "def greet(name):\n    return name\n"),
            closing="Added greet() in greet.py. I decided to keep it free of dependencies because startup loads it.",
        )
    ).drafts
    (decision,) = [draft for draft in drafts if draft.kind == "decision"]
    assert decision.title == "Keep it free of dependencies because startup loads it"
    assert "greet() in greet.py" in decision.summary


def test_a_decision_about_it_without_a_reason_tells_nothing_and_is_left_out() -> None:
    folded = turn("Go on", write("greet.py", "x = 1\n"), closing="Looked at the file. I decided to keep it.")
    assert "decision" not in kinds(folded)


def named(events: list[Event]) -> list[Event]:
    return [replace(event, name=f"e{at}") for at, event in enumerate(events)]


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
    assert digest.skipped == ("e0", "e1", "e4", "e6", "e7")


def test_a_command_whose_turn_leaves_no_memory_is_skipped() -> None:
    events = named([bash("./release.sh 1.4", "published shop 1.4")])
    assert fold(turn("thanks", *events, closing="You're welcome!")).skipped == ("e0",)


ERESOLVE = 'npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE could not resolve\nnpm ERR! peer react@"^17" from zz@1.0.0\n'


def test_an_install_that_went_well_with_another_flag_is_a_fix() -> None:
    (draft,) = fold(
        turn(
            "Install the packages",
            bash_failed("npm install", ERESOLVE),
            bash("npm install --legacy-peer-deps", "added 3 packages"),
        )
    ).drafts
    assert draft.kind == "bugfix"
    assert "Fixed by running npm install --legacy-peer-deps." in draft.summary
    assert draft.anchors


def test_another_package_that_can_be_installed_is_no_fix() -> None:
    folded = turn("Install it", bash_failed("npm install zz", ERESOLVE), bash("npm install yy -D", "added 1 package"))
    assert [draft for draft in fold(folded).drafts if draft.kind == "bugfix"] == []
