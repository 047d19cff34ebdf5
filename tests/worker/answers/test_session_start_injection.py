"""Tests of `worker/answers/session_start.py` and `worker/context_renderer.py`: content of the start context, rendered
files, and the moment at which an injection counts."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_mem_lite.paths import Home
from claude_mem_lite.worker.services import Services
from tests.support.running import SILENT, Json, Machine, hung, leave, payload, query, spool_name, turn, wait_until


@pytest.fixture
def told(machine: Machine, project: str) -> Machine:
    """A worker that knows of one session in the project."""
    machine.start_worker()
    work(machine, "earlier", project, "Teach the basket to count")
    return machine


def test_a_new_session_is_told_of_the_earlier_ones(told: Machine, project: str) -> None:
    for source in ("startup", "clear", "fork"):
        context = start(told, f"new-{source}", project, source)
        assert "Teach the basket to count" in context
        assert context.startswith("<claude-mem-lite>\n")
        assert context.endswith("\n</claude-mem-lite>")
        assert project not in context


def test_a_session_elsewhere_is_told_nothing(told: Machine, tmp_path: Path) -> None:
    assert told.hook("SessionStart", payload("SessionStart", "new", str(tmp_path), source="startup")) == SILENT


def test_a_session_is_not_told_of_itself(told: Machine, project: str) -> None:
    assert told.hook("SessionStart", payload("SessionStart", "earlier", project, source="startup")) == SILENT


def test_after_compaction_a_session_is_told_of_its_own_work(told: Machine, project: str) -> None:
    assert "Teach the basket to count" in start(told, "earlier", project, "compact")


def test_a_resumed_session_is_told_only_what_is_new(told: Machine, project: str) -> None:
    start(told, "mine", project, "startup")
    wait_until(lambda: given_at(told, "mine") is not None, "the context to count as given")
    assert told.hook("SessionStart", payload("SessionStart", "mine", project, source="resume")) == SILENT
    work(told, "other", project, "Paint the basket green")
    news = start(told, "mine", project, "resume")
    assert "Paint the basket green" in news
    assert "Teach the basket to count" not in news


def test_a_resumed_session_that_never_had_context_is_told_everything(told: Machine, project: str) -> None:
    assert "Teach the basket to count" in start(told, "mine", project, "resume")


def test_a_context_that_was_not_printed_does_not_count_as_given(told: Machine, project: str) -> None:
    name = leave(told.home, payload("SessionStart", "mine", project, source="startup"), name=now_name())
    answer = told.ask("POST", "/hook/SessionStart", headers={"X-Spool": name, "Content-Length": "0"})
    assert "Teach the basket to count" in answer.body["hookSpecificOutput"]["additionalContext"]
    told.drain()
    assert receipts(told) == [(name, "mine", "startup", None)]
    assert told.get("/api/health")["last_context_at"] is None

    told.ask("POST", "/hook/printed", headers={"X-Spool": name, "Content-Length": "0"})
    wait_until(lambda: given_at(told, "mine") is not None, "the context to count as given")
    assert told.get("/api/health")["last_context_at"] == given_at(told, "mine")


def test_a_printed_context_leaves_a_receipt_with_what_was_in_it(told: Machine, project: str) -> None:
    start(told, "mine", project, "startup")
    wait_until(lambda: given_at(told, "mine") is not None, "the context to count as given")
    ((layers, tokens, budget),) = query(told.home.memory_db, "select layers, tokens, budget from receipts")
    assert json.loads(layers) == list(dict.fromkeys(layer for _, layer in given_items(told)))
    assert "earlier" in [source for source, _ in given_items(told)]
    assert 0 < tokens <= budget == 2000


def test_the_last_turn_of_the_session_before_is_in_the_context_although_it_ended_a_moment_ago(
    told: Machine, project: str
) -> None:
    for given in turn("just now", "Wrap the basket in paper", cwd=project):
        assert told.hook(given["hook_event_name"], given) == SILENT
    assert "Wrap the basket in paper" in start(told, "new", project, "startup")


def test_a_hung_worker_is_replaced_by_what_it_rendered_and_that_counts_as_given(told: Machine, project: str) -> None:
    with hung(told):
        context = start(told, "mine", project, "startup")
        assert "Teach the basket to count" in context
        assert datetime.now(UTC).strftime("%Y-%m-%d") in context
        assert "ago]" not in context
    told.drain()
    ((name, session, moment, given),) = [one for one in receipts(told) if one[3]]
    assert (session, moment) == ("mine", "startup")
    assert given is not None
    assert name in [row.name for row in told.rows() if row.event == "SessionStart"]
    ((layers, tokens, budget),) = query(
        told.home.memory_db, "select layers, tokens, budget from receipts where given_at is not null"
    )
    assert json.loads(layers) == list(dict.fromkeys(layer for _, layer in given_items(told)))
    assert "earlier" in [source for source, _ in given_items(told)]
    assert 0 < tokens <= budget == 2000


def test_a_resumed_session_is_told_what_was_not_yet_in_the_rendered_context_it_began_with(
    told: Machine, project: str
) -> None:
    with hung(told):
        for given in turn("other", "Paint the basket green", cwd=project):
            leave(told.home, {**given}, name=now_name(given["hook_event_name"]))
        assert "Paint the basket green" not in start(told, "mine", project, "startup")
    told.drain()
    news = start(told, "mine", project, "resume")
    assert "Paint the basket green" in news
    assert "Teach the basket to count" not in news


def test_a_session_that_was_compacted_may_be_given_everything_again(told: Machine, project: str) -> None:
    start(told, "mine", project, "startup")
    wait_until(lambda: given_at(told, "mine") is not None, "the context to count as given")
    told.hook("PreCompact", payload("PreCompact", "mine", project, trigger="auto"))
    told.drain()
    assert "Teach the basket to count" in start(told, "mine", project, "resume")


def test_an_answer_that_comes_too_late_leaves_no_receipt(told: Machine, project: str) -> None:
    late = spool_name("SessionStart", int((datetime.now(UTC).timestamp() - 3) * 1e9))
    leave(told.home, payload("SessionStart", "mine", project, source="startup"), name=late)
    assert told.ask("POST", "/hook/SessionStart", headers={"X-Spool": late, "Content-Length": "0"}).status == 503
    told.drain()
    assert receipts(told) == []


def test_a_context_that_the_hook_prints_by_itself_is_known_before_its_note_is_taken_in(
    told: Machine, project: str
) -> None:
    told.post("/api/memories", {"kind": "decision", "text": "Use the quokka tokenizer for totals", "cwd": project})
    told.drain()
    assert "quokka" in rendered(told, project)
    late = spool_name("SessionStart", int((datetime.now(UTC).timestamp() - 1.6) * 1e9))
    leave(told.home, payload("SessionStart", "mine", project, source="startup"), name=late)
    assert told.ask("POST", "/hook/SessionStart", headers={"X-Spool": late, "Content-Length": "0"}).status == 503
    question = "Why do we use the quokka tokenizer for totals?"
    answers = {}
    for session in ("mine", "other"):
        name = leave(
            told.home, payload("UserPromptSubmit", session, project, prompt=question), name=now_name("UserPromptSubmit")
        )
        headers = {"X-Spool": name, "Content-Length": "0"}
        answers[session] = told.ask("POST", "/hook/UserPromptSubmit", headers=headers).body
    assert "quokka" in json.dumps(answers["other"])
    assert answers["mine"] is None


def test_a_late_answer_for_an_excluded_folder_makes_the_hook_print_nothing(told: Machine, project: str) -> None:
    told.home.config.write_text(f'exclude = ["{project}"]\n')
    told.drain()
    late = spool_name("SessionStart", int((datetime.now(UTC).timestamp() - 3) * 1e9))
    leave(told.home, payload("SessionStart", "mine", project, source="startup"), name=late)
    assert told.ask("POST", "/hook/SessionStart", headers={"X-Spool": late, "Content-Length": "0"}).status == 204


def test_what_is_rendered_ahead_follows_every_turn_and_every_command(told: Machine, project: str) -> None:
    assert "Teach the basket to count" in rendered(told, project)
    work(told, "later", project, "Paint the basket green")
    assert "Paint the basket green" in rendered(told, project)
    kept = told.post("/api/memories", {"kind": "gotcha", "text": "Baskets are zebraic", "cwd": project})
    told.drain()
    assert "zebraic" in rendered(told, project)
    assert told.post("/api/forget", {"ids": [kept["id"]]}) == {"forgotten": [kept["id"]]}
    assert not told.home.rendered_for(project).exists() or "zebraic" not in rendered(told, project)
    told.drain()
    assert "zebraic" not in rendered(told, project)


def test_a_command_that_is_refused_leaves_the_rendered_contexts(told: Machine, project: str) -> None:
    before = rendered(told, project)
    assert told.ask("POST", "/api/forget", {"ids": ["0000000000"]}).status == 404
    told.drain()
    assert rendered(told, project) == before


def test_a_worker_that_is_stopped_after_a_command_leaves_a_rendered_context(
    loop: Services, home: Home, project: str
) -> None:
    told = loop.commands.put({"command": "remember", "kind": "gotcha", "text": "Baskets are zebraic", "cwd": project})
    told.add_done_callback(lambda _: loop.shutdown.stop())  # in the job thread, before any context is rendered
    wait_until(lambda: home.rendered_for(project).exists(), "a rendered context")
    assert "zebraic" in home.rendered_for(project).read_text()


def test_nothing_is_kept_ready_for_a_folder_that_is_gone(told: Machine, project: str) -> None:
    assert rendered(told, project)
    Path(project).rename(f"{project}-moved")
    work(told, "later", project, "Paint the basket green")
    assert not told.home.rendered_for(project).exists()


def work(machine: Machine, session: str, cwd: str, prompt: str) -> None:
    """A whole turn of a session, ended and stored."""
    for given in turn(session, prompt, cwd=cwd):
        leave(machine.home, {**given}, name=now_name(given["hook_event_name"]))
    machine.drain()


def now_name(event: str = "SessionStart") -> str:
    time_ns = int(datetime.now(UTC).timestamp() * 1e9)
    return spool_name(event, time_ns)


def start(machine: Machine, session: str, cwd: str, source: str) -> str:
    """The context that a starting session is given through the real hook."""
    ran = machine.hook("SessionStart", payload("SessionStart", session, cwd, source=source))
    assert (ran.status, ran.err) == (0, b"")
    told: Json = json.loads(ran.out)
    assert told["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    return str(told["hookSpecificOutput"]["additionalContext"])


def rendered(machine: Machine, folder: str) -> str:
    """What a hook would print for a folder without a worker."""
    first, _, receipt, reply = machine.home.rendered_for(folder).read_text("utf-8").split("\n", 3)
    assert first == folder
    assert json.loads(receipt)["tokens"] > 0
    return str(json.loads(reply)["hookSpecificOutput"]["additionalContext"])


def receipts(machine: Machine) -> list[tuple[str, str, str, str | None]]:
    rows = query(machine.home.memory_db, "select spool_name, session, moment, given_at from receipts")
    return [(name, session, moment, given) for name, session, moment, given in rows]


def given_items(machine: Machine) -> list[tuple[str, str]]:
    """The sources and layers of what is recorded as given, in the order of the text."""
    rows = query(machine.home.memory_db, "select source, layer from receipt_items order by receipt, position")
    return [(source, layer) for source, layer in rows]


def given_at(machine: Machine, session: str) -> str | None:
    return max((given for _, one, _, given in receipts(machine) if one == session and given), default=None)
