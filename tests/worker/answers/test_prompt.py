"""What a prompt is given, and when that counts as given."""

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.running import SILENT, Machine, leave, payload, spool_name, turn, wait_until
from tests.worker.trigger_events import (
    ask,
    hooked,
    hooked_in_time,
    items,
    now_name,
    prompted,
    receipts,
    remember,
    wait_until_given,
)

DECISION = "Keep the shopping carts in SQLite, because one file is easy to back up"
ABOUT_IT = "where do we keep the shopping carts, and why SQLite?"
PLAIN = "Rename the invoice template to receipt.html"


@pytest.fixture
def told(machine: Machine, project: str) -> Machine:
    """A worker that knows of one decision in the project, and of little else."""
    machine.start_worker()
    remember(machine, project, "decision", DECISION)
    return machine


def test_a_prompt_about_an_old_decision_gets_it(told: Machine, project: str) -> None:
    assert hooked(told, "UserPromptSubmit", prompted("s-1", project, PLAIN)) == ""
    context = hooked_in_time(told, "UserPromptSubmit", prompted("s-2", project, ABOUT_IT))
    assert "Keep the shopping carts in SQLite" in context
    assert context.startswith("<claude-mem-lite>\n--- memory (1 item, for reference) ---\n[decision] ")
    assert context.endswith("\n--- end memory ---\n</claude-mem-lite>")


def test_an_unrelated_prompt_gets_nothing_and_leaves_no_receipt(told: Machine, project: str) -> None:
    prompts = ("hello", "continue", "thanks!", "yes", PLAIN, "", "what is the capital of France?")
    assert [prompt for number, prompt in enumerate(prompts) if ask(told, f"s-{number}", project, prompt)] == []
    told.drain()
    assert receipts(told) == []


def test_nothing_is_given_twice_in_a_session(told: Machine, project: str) -> None:
    assert DECISION[:30] in ask(told, "s-1", project, ABOUT_IT)
    assert ask(told, "s-1", project, ABOUT_IT) == ""
    wait_until_given(told, 1)
    assert ask(told, "s-1", project, ABOUT_IT) == ""
    assert DECISION[:30] in ask(told, "s-2", project, ABOUT_IT)


def test_what_was_given_is_known_to_the_next_worker(told: Machine, project: str) -> None:
    assert DECISION[:30] in ask(told, "s-1", project, ABOUT_IT)
    wait_until_given(told, 1)
    told.stop_worker()
    told.start_worker()
    assert ask(told, "s-1", project, ABOUT_IT) == ""


def test_what_the_start_gave_is_not_given_again(told: Machine, project: str) -> None:
    start = told.hook("SessionStart", payload("SessionStart", "s-1", project, source="startup"))
    assert DECISION[:30] in json.loads(start.out)["hookSpecificOutput"]["additionalContext"]
    assert ask(told, "s-1", project, ABOUT_IT) == ""


def test_after_a_compaction_it_may_be_given_again(told: Machine, project: str) -> None:
    assert DECISION[:30] in ask(told, "s-1", project, ABOUT_IT)
    wait_until_given(told, 1)
    told.hook("PreCompact", payload("PreCompact", "s-1", project, trigger="auto"))
    told.drain()
    assert DECISION[:30] in ask(told, "s-1", project, ABOUT_IT)


def test_a_session_is_told_of_its_own_work_only_after_it_has_forgotten_it(machine: Machine, project: str) -> None:
    machine.start_worker()
    said = "From now on always keep the shopping carts in SQLite, never in Redis."
    for given in turn("s-1", said, cwd=project):
        leave(machine.home, {**given}, name=now_name(given["hook_event_name"]))
    machine.drain()
    assert ask(machine, "s-1", project, ABOUT_IT) == ""
    assert "SQLite" in ask(machine, "s-2", project, ABOUT_IT)
    machine.hook("PreCompact", payload("PreCompact", "s-1", project, trigger="manual"))
    machine.drain()
    assert "SQLite" in ask(machine, "s-1", project, ABOUT_IT)


def test_what_a_prompt_is_given_does_not_hide_news_from_a_session_that_resumes(told: Machine, project: str) -> None:
    told.hook("SessionStart", payload("SessionStart", "s-1", project, source="startup"))
    wait_until_given(told, 1)
    remember(told, project, "decision", "Keep the invoices in Postgres beside the ledger, joined every night")
    for given in turn("other", "Paint the basket green", cwd=project):
        leave(told.home, {**given}, name=now_name(given["hook_event_name"]))
    told.drain()
    assert "Postgres" in ask(
        told, "s-1", project, "why are invoices in Postgres beside the ledger, joined every night?"
    )
    wait_until_given(told, 2)
    resumed = told.hook("SessionStart", payload("SessionStart", "s-1", project, source="resume"))
    assert b"Paint the basket green" in resumed.out


def test_a_receipt_says_for_which_moment_and_source_it_was(told: Machine, project: str) -> None:
    context = ask(told, "s-1", project, ABOUT_IT)
    wait_until_given(told, 1)
    (kept,) = receipts(told)
    assert (kept.session, kept.moment, kept.budget) == ("s-1", "prompt", 2000)
    assert 0 < kept.tokens <= len(context)
    ((source, layer),) = items(told)
    assert layer == "decision"
    assert f"#{source}" in context


def test_an_answer_that_was_not_printed_does_not_count(told: Machine, project: str) -> None:
    name = leave(told.home, prompted("s-1", project, ABOUT_IT), name=now_name("UserPromptSubmit", ahead_s=1))
    answer = told.ask("POST", "/hook/UserPromptSubmit", headers={"X-Spool": name, "Content-Length": "0"})
    assert DECISION[:30] in answer.body["hookSpecificOutput"]["additionalContext"]
    told.drain()
    assert [one.given_at for one in receipts(told)] == [None]
    told.stop_worker()
    told.start_worker()
    assert DECISION[:30] in ask(told, "s-1", project, ABOUT_IT)


def test_an_answer_that_comes_too_late_is_not_made(told: Machine, project: str) -> None:
    late = spool_name("UserPromptSubmit", int((datetime.now(UTC).timestamp() - 1) * 1e9))
    leave(told.home, payload("UserPromptSubmit", "s-1", project, prompt=ABOUT_IT), name=late)
    assert told.ask("POST", "/hook/UserPromptSubmit", headers={"X-Spool": late, "Content-Length": "0"}).status == 204
    told.drain()
    assert receipts(told) == []


def test_prompts_that_come_side_by_side_are_given_it_once(told: Machine, project: str) -> None:
    with ThreadPoolExecutor(6) as pool:
        contexts = list(pool.map(lambda _: ask(told, "s-1", project, ABOUT_IT), range(6)))
    assert sum(1 for context in contexts if context) == 1


@pytest.mark.parametrize(
    "config",
    ['exclude = ["{project}"]', "prompt_budget_tokens = 0", "budget_tokens = ", "prompt_budget_tokens = 20"],
    ids=["excluded", "switched off", "broken configuration", "no room for anything"],
)
def test_silence_where_silence_is_wanted_from_the_next_prompt_on(told: Machine, project: str, config: str) -> None:
    told.home.config.write_text(config.replace("{project}", project))
    assert ask(told, "s-1", project, ABOUT_IT) == ""
    told.home.config.unlink()
    assert DECISION[:30] in ask(told, "s-1", project, ABOUT_IT)


def test_the_off_switch_silences_it(told: Machine, project: str) -> None:
    told.home.off_switch.touch()
    assert hooked(told, "UserPromptSubmit", prompted("s-1", project, ABOUT_IT)) == ""


def test_what_a_background_task_reports_is_no_prompt(told: Machine, project: str) -> None:
    assert ask(told, "s-1", project, f"<task-notification>{ABOUT_IT}</task-notification>") == ""


def test_a_budget_that_is_nearly_used_up_gives_one_line_each_then_nothing(told: Machine, project: str) -> None:
    about = "Keep the invoices in Postgres beside the ledger, because both are joined every night."
    more = "The accountants read them with a tool of their own, which was bought long ago and speaks nothing else. "
    more += "They were asked twice whether they could do without it, and would not hear of that before next year."
    remember(told, project, "decision", f"{about} {more}")
    asked = "why do we keep the invoices in Postgres, beside the ledger, joined every night?"
    assert "next year" in ask(told, "s-1", project, asked)

    told.home.config.write_text("prompt_budget_tokens = 140\n")
    first = ask(told, "s-2", project, asked)
    assert "next year" not in first
    assert "[decision] Keep the invoices in Postgres" in first
    assert "claude-mem-lite show ID" in first
    assert ask(told, "s-2", project, ABOUT_IT) == ""
    wait_until_given(told, 2)
    assert ask(told, "s-2", project, ABOUT_IT) == ""


def test_a_prompt_of_another_project_gets_nothing(told: Machine, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert ask(told, "s-1", str(elsewhere), ABOUT_IT) == ""


def test_the_log_explains_by_ids_and_scores_when_it_is_asked_to(told: Machine, project: str) -> None:
    told.home.config.write_text("debug = true\n")
    ask(told, "s-1", project, ABOUT_IT)
    ask(told, "s-1", project, "hello")
    told.drain()
    lines = [line for line in told.log_lines() if line["what"] == "answer explained"]
    assert [len(line["weighed"]) for line in lines] == [1, 0]
    assert lines[0]["weighed"][0]["score"] > 1
    assert "too little" in lines[1]["why_silent"]
    assert "carts" not in json.dumps(lines)


@pytest.mark.parametrize("state", ["hung", "dead"])
def test_a_worker_that_cannot_answer_costs_the_prompt_nothing_but_the_answer(
    told: Machine, project: str, state: str
) -> None:
    pid = told.worker_pid()
    if state == "dead":
        told.kill_worker()
        assert hooked(told, "UserPromptSubmit", prompted("s-1", project, ABOUT_IT)) == ""
        wait_until(told.answers, "the worker that the hook has started")
    else:
        os.kill(pid, signal.SIGSTOP)
        try:
            assert hooked(told, "UserPromptSubmit", prompted("s-1", project, ABOUT_IT)) == ""
        finally:
            os.kill(pid, signal.SIGCONT)
    told.drain()
    assert told.row_count("event = 'UserPromptSubmit'") == 1
    assert not any(one.given_at for one in receipts(told))


def test_a_payload_that_is_none_gets_nothing(told: Machine) -> None:
    for raw in (b"", b"{", b"[]", b'{"prompt": 3}', b"\xff\xfe", b'{"hook_event_name": "Stop"}'):
        assert told.hook("UserPromptSubmit", raw=raw) == SILENT, raw
        assert told.answers()
