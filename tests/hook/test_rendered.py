"""What a session start prints when no worker answers in time."""

import json
from collections.abc import Callable

import pytest

from claude_mem_lite.paths import Home
from tests.hook.conftest import Answer, Hooks, Worker, reply, silent

FOLDER = "/projects/größe"
TOLD = '{"built_at": "2026-01-02T03:04:05+00:00", "tokens": 7}'
RENDERED = '{"hookSpecificOutput": {"additionalContext": "é"}}\n'


def start(source: str = "startup", cwd: str = FOLDER) -> bytes:
    return json.dumps({"hook_event_name": "SessionStart", "cwd": cwd, "source": source}).encode()


def render(home: Home, first_line: str = FOLDER, content: str = RENDERED) -> None:
    home.make()
    home.rendered_for(FOLDER).write_text(f"{first_line}\n{TOLD}\n{content}")


@pytest.mark.parametrize("source", ["startup", "clear", "compact", "fork"])
def test_the_context_rendered_for_the_folder_is_printed(hooks: Hooks, home: Home, source: str) -> None:
    render(home)
    assert hooks.run("SessionStart", payload=start(source)) == RENDERED.encode()


def test_a_note_in_the_spool_tells_which_start_was_given_it(hooks: Hooks, home: Home) -> None:
    render(home)
    hooks.run("SessionStart", payload=start())
    first, note = hooks.kept()
    assert note.name.endswith("-Rendered")
    wanted = {"hook_event_name": "Rendered", "start": first.name, "context": json.loads(TOLD)}
    assert json.loads(note.read_bytes()) == wanted


def test_a_worker_that_does_not_answer_in_time_is_replaced_by_it(
    hooks: Hooks, home: Home, listen: Callable[[Answer], Worker]
) -> None:
    render(home)
    worker = listen(silent)
    assert hooks.run("SessionStart", payload=start()) == RENDERED.encode()
    worker.stop()
    assert worker.lines == ["POST /hook/SessionStart HTTP/1.1"]
    assert len(hooks.kept()) == 2


@pytest.mark.parametrize("status", ["204 No Content", "500 Internal Server Error"])
def test_a_worker_that_has_nothing_to_say_is_believed(
    hooks: Hooks, home: Home, listen: Callable[[Answer], Worker], status: str
) -> None:
    render(home)
    listen(reply(status, b""))
    assert hooks.run("SessionStart", payload=start()) == b""
    assert len(hooks.kept()) == 1


def test_a_resumed_session_is_given_nothing(hooks: Hooks, home: Home) -> None:
    render(home)
    assert hooks.run("SessionStart", payload=start("resume")) == b""
    assert len(hooks.kept()) == 1


@pytest.mark.parametrize("first_line", ["/projects/other", FOLDER + "x", ""])
def test_a_file_that_belongs_to_another_folder_is_not_printed(hooks: Hooks, home: Home, first_line: str) -> None:
    render(home, first_line)
    assert hooks.run("SessionStart", payload=start()) == b""
    assert len(hooks.kept()) == 1


@pytest.mark.parametrize("content", ["", '{"half": ', "[]", "plain"])
def test_only_one_json_object_is_printed(hooks: Hooks, home: Home, content: str) -> None:
    render(home, content=content)
    assert hooks.run("SessionStart", payload=start()) == b""


@pytest.mark.parametrize("payload", [b"", b"{}", b"[]", b'{"cwd": 1}', b'{"cwd": "\\ud800"}', b"[" * 100_000])
def test_a_payload_that_names_no_folder_prints_nothing(hooks: Hooks, home: Home, payload: bytes) -> None:
    render(home)
    assert hooks.run("SessionStart", payload=payload) == b""


def test_other_events_print_nothing(hooks: Hooks, home: Home) -> None:
    render(home)
    assert hooks.run("UserPromptSubmit", payload=start()) == b""
