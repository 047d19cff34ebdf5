"""What a session start prints when no worker answers in time."""

import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from claude_mem_lite.hook.kernel import folder_identity
from claude_mem_lite.paths import Home
from tests.hook.conftest import Answer, Hooks, Request, Worker, reply, silent

TOLD = '{"built_at": "2026-01-02T03:04:05+00:00", "tokens": 7}'
RENDERED = '{"hookSpecificOutput": {"additionalContext": "é"}}\n'


@pytest.fixture
def folder(user: Path) -> Path:
    made = user / "größe"
    made.mkdir()
    return made


def start(folder: Path, source: str = "startup") -> bytes:
    return json.dumps({"hook_event_name": "SessionStart", "cwd": str(folder), "source": source}).encode()


def render(home: Home, folder: Path, first_line: str = "", content: str = RENDERED) -> None:
    home.make()
    identity = folder_identity(os.fsencode(folder)).decode()
    home.rendered_for(str(folder)).write_text(f"{first_line or folder}\n{identity}\n{TOLD}\n{content}")


def make_repository(folder: Path, name: str) -> None:
    """The file that git writes once, when it makes a repository: of another one at another time."""
    made = folder / ".git"
    made.mkdir(parents=True)
    (made / "description").write_text(name)
    os.utime(made / "description", ns=(len(name), len(name)))


@pytest.mark.parametrize("source", ["startup", "clear", "compact", "fork"])
def test_the_context_rendered_for_the_folder_is_printed(hooks: Hooks, home: Home, folder: Path, source: str) -> None:
    render(home, folder)
    assert hooks.run("SessionStart", payload=start(folder, source)) == RENDERED.encode()


def test_a_note_in_the_spool_tells_which_start_was_given_it(hooks: Hooks, home: Home, folder: Path) -> None:
    render(home, folder)
    hooks.run("SessionStart", payload=start(folder))
    first, note = hooks.kept()
    assert note.name.endswith("-Rendered")
    wanted = {"hook_event_name": "Rendered", "start": first.name, "context": json.loads(TOLD)}
    assert json.loads(note.read_bytes()) == wanted


def test_a_worker_that_does_not_answer_in_time_is_replaced_by_it(
    hooks: Hooks, home: Home, folder: Path, listen: Callable[[Answer], Worker]
) -> None:
    render(home, folder)
    worker = listen(silent)
    assert hooks.run("SessionStart", payload=start(folder)) == RENDERED.encode()
    worker.stop()
    assert worker.lines == ["POST /hook/SessionStart HTTP/1.1"]
    assert len(hooks.kept()) == 2


def test_a_worker_that_says_it_has_no_answer_in_time_is_replaced_by_it(
    hooks: Hooks, home: Home, folder: Path, listen: Callable[[Answer], Worker]
) -> None:
    render(home, folder)
    listen(reply("503 Service Unavailable", b""))
    assert hooks.run("SessionStart", payload=start(folder)) == RENDERED.encode()
    assert len(hooks.kept()) == 2


@pytest.mark.parametrize("begun", [b"HTTP/1.1 200 OK\r\nContent-Le", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"])
def test_a_worker_that_dies_while_it_answers_is_replaced_by_it(
    hooks: Hooks, home: Home, folder: Path, listen: Callable[[Answer], Worker], begun: bytes
) -> None:
    render(home, folder)

    def answer(connection: socket.socket, _: Request) -> None:
        connection.sendall(begun)
        connection.shutdown(socket.SHUT_RDWR)

    listen(answer)
    assert hooks.run("SessionStart", payload=start(folder)) == RENDERED.encode()
    assert len(hooks.kept()) == 2


@pytest.mark.parametrize("status", ["204 No Content", "500 Internal Server Error"])
def test_a_worker_that_has_nothing_to_say_is_believed(
    patient: Hooks, home: Home, folder: Path, listen: Callable[[Answer], Worker], status: str
) -> None:
    render(home, folder)
    listen(reply(status, b""))
    assert patient.run("SessionStart", payload=start(folder)) == b""
    assert len(patient.kept()) == 1


def test_a_resumed_session_is_given_nothing(hooks: Hooks, home: Home, folder: Path) -> None:
    render(home, folder)
    assert hooks.run("SessionStart", payload=start(folder, "resume")) == b""
    assert len(hooks.kept()) == 1


@pytest.mark.parametrize("first_line", ["/projects/other", "/größe", " "])
def test_a_file_that_belongs_to_another_folder_is_not_printed(
    hooks: Hooks, home: Home, folder: Path, first_line: str
) -> None:
    render(home, folder, first_line)
    assert hooks.run("SessionStart", payload=start(folder)) == b""
    assert len(hooks.kept()) == 1


@pytest.mark.parametrize("inside", [".", "clients/berlin"])
def test_another_repository_in_the_place_of_the_folder_is_told_nothing(
    hooks: Hooks, home: Home, folder: Path, inside: str
) -> None:
    stood_in = folder / inside
    make_repository(folder, "shop")
    stood_in.mkdir(parents=True, exist_ok=True)
    render(home, stood_in)
    assert hooks.run("SessionStart", payload=start(stood_in)) == RENDERED.encode()
    shutil.rmtree(folder)
    make_repository(folder, "other")
    stood_in.mkdir(parents=True, exist_ok=True)
    assert hooks.run("SessionStart", payload=start(stood_in)) == b""


def test_another_folder_in_the_place_of_one_that_is_no_repository_is_told_nothing(
    hooks: Hooks, home: Home, folder: Path
) -> None:
    render(home, folder)
    folder.rename(folder.with_name("moved"))
    folder.mkdir()
    assert hooks.run("SessionStart", payload=start(folder)) == b""


def test_what_an_earlier_version_rendered_is_not_printed(hooks: Hooks, home: Home, folder: Path) -> None:
    home.make()
    home.rendered_for(str(folder)).write_text(f"{folder}\n{TOLD}\n{RENDERED}")
    assert hooks.run("SessionStart", payload=start(folder)) == b""


@pytest.mark.parametrize("content", ["", '{"half": ', "[]", "plain"])
def test_only_one_json_object_is_printed(hooks: Hooks, home: Home, folder: Path, content: str) -> None:
    render(home, folder, content=content)
    assert hooks.run("SessionStart", payload=start(folder)) == b""


@pytest.mark.parametrize("payload", [b"", b"{}", b"[]", b'{"cwd": 1}', b'{"cwd": "\\ud800"}', b"[" * 100_000])
def test_a_payload_that_names_no_folder_prints_nothing(hooks: Hooks, home: Home, folder: Path, payload: bytes) -> None:
    render(home, folder)
    assert hooks.run("SessionStart", payload=payload) == b""


def test_other_events_print_nothing(hooks: Hooks, home: Home, folder: Path) -> None:
    render(home, folder)
    assert hooks.run("UserPromptSubmit", payload=start(folder)) == b""
