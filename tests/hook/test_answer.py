"""The one request to the worker, and what of its answer is printed."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from claude_mem_lite.paths import Home
from claude_mem_lite.worker.answers.tool_use import FILE_TOOLS
from tests.hook.conftest import GUARD_S, LAUNCHER, PYTHON, Answer, Hooks, Request, Worker, reply, silent, until

Listen = Callable[[Answer], Worker]
ANSWERED = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure")
UNANSWERED = ("PreCompact", "SubagentStop", "Stop", "StopFailure", "SessionEnd", "NeverHeardOf")
BODY = '{"hookSpecificOutput": {"additionalContext": "é\\n"}}\n'.encode()


def raw(answer: bytes) -> Answer:
    """Send these bytes for an answer and close the connection."""

    def send(connection: socket.socket, request: Request) -> None:
        connection.sendall(answer)
        connection.shutdown(socket.SHUT_RDWR)

    return send


@pytest.mark.parametrize("event", ANSWERED)
def test_the_answer_is_printed_exactly(patient: Hooks, listen: Listen, event: str) -> None:
    listen(reply("200 OK", BODY))
    assert patient.run(event) == BODY


TOOL_CALL = b'{"tool_name": "%b", "tool_response": {"stdout": "%b"}}'


@pytest.mark.parametrize("tool", FILE_TOOLS)
def test_the_answer_to_a_call_that_opened_a_file_is_printed(patient: Hooks, listen: Listen, tool: str) -> None:
    listen(reply("200 OK", BODY))
    assert patient.run("PostToolUse", payload=TOOL_CALL % (tool.encode(), b"")) == BODY


@pytest.mark.parametrize("told", [b"1 failed, 2 passed", b"ERROR: no such table", b"thread panicked", b"not ok 1"])
def test_the_answer_to_a_command_that_may_have_failed_is_printed(patient: Hooks, listen: Listen, told: bytes) -> None:
    listen(reply("200 OK", BODY))
    assert patient.run("PostToolUse", payload=TOOL_CALL % (b"Bash", told)) == BODY


@pytest.mark.parametrize("tool", [b"Bash", b"Grep", b"mcp__tracker__get"])
def test_nobody_waits_where_there_is_nothing_to_tell(hooks: Hooks, listen: Listen, tool: bytes) -> None:
    worker = listen(reply("200 OK", BODY))
    assert hooks.run("PostToolUse", payload=TOOL_CALL % (tool, b"3 passed")) == b""
    until(lambda: worker.lines == ["POST /hook/PostToolUse HTTP/1.1"])


def test_for_calls_of_other_agents_it_waits_whatever_they_call_their_tools(patient: Hooks, listen: Listen) -> None:
    listen(reply("200 OK", BODY))
    assert patient.run("PostToolUse", "gemini", payload=TOOL_CALL % (b"read_file", b"")) == BODY


def test_a_large_answer_in_many_parts_is_printed_whole(patient: Hooks, listen: Listen) -> None:
    body = b"x" * 300_000

    def send(connection: socket.socket, request: Request) -> None:
        if "printed" not in request.line:
            for part in (b"HTTP/1.1 200 OK\r\ncontent-le", b"ngth: 300000\r\n\r", b"\n" + body[:10], body[10:]):
                connection.sendall(part)

    listen(send)
    assert patient.run("SessionStart") == body


def test_the_request_names_the_event_and_the_kept_file(patient: Hooks, listen: Listen) -> None:
    worker = listen(reply("204 No Content", b""))
    patient.run("PostToolUse", payload=b"payload")
    (file,) = patient.kept()
    (request,) = worker.requests
    assert request.line == "POST /hook/PostToolUse HTTP/1.1"
    assert request.headers == {
        "Host": "localhost",
        "X-Spool": file.name,
        "Content-Type": "application/json",
        "Content-Length": "0",
    }


def test_the_payload_is_kept_before_the_worker_is_told(patient: Hooks, home: Home, listen: Listen) -> None:
    seen: list[bytes] = []

    def look(connection: socket.socket, request: Request) -> None:
        seen.append((home.spool_new / request.headers["X-Spool"]).read_bytes())
        connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    listen(look)
    patient.run("PostToolUse", payload=b"payload")
    assert seen == [b"payload"]


def test_a_printed_answer_is_confirmed_on_the_same_connection(patient: Hooks, listen: Listen) -> None:
    worker = listen(reply("200 OK", BODY))
    patient.run("UserPromptSubmit")
    worker.stop()
    first, second = worker.requests
    assert second.line == "POST /hook/printed HTTP/1.1"
    assert second.headers["X-Spool"] == first.headers["X-Spool"]
    assert second.connection == first.connection


BAD_ANSWERS = {
    "no content": b"HTTP/1.1 204 No Content\r\n\r\n",
    "an error": b"HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\n{}",
    "a partial body": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
    "no length": b"HTTP/1.1 200 OK\r\n\r\n{}",
    "an odd length": b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}",
    "an endless length": b"HTTP/1.1 200 OK\r\nContent-Length: %b\r\n\r\n{}" % (b"9" * 5000),
    "half a head": b"HTTP/1.1 200 OK\r\nContent-Len",
    "another protocol": b"220 mail ready\r\n\r\n{}",
    "noise": b"\0\xff\r\n\r\n\r\n",
    "nothing": b"",
}


@pytest.mark.parametrize("answer", BAD_ANSWERS.values(), ids=BAD_ANSWERS.keys())
def test_anything_but_a_whole_200_prints_nothing_and_confirms_nothing(
    hooks: Hooks, listen: Listen, answer: bytes
) -> None:
    worker = listen(raw(answer))
    assert hooks.run("PostToolUse") == b""
    worker.stop()
    assert worker.lines == ["POST /hook/PostToolUse HTTP/1.1"]


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PostToolUse", "PostToolUseFailure"])
def test_a_worker_that_never_answers_is_left_at_the_deadline(hooks: Hooks, listen: Listen, event: str) -> None:
    worker = listen(silent)
    assert hooks.run(event) == b""
    worker.stop()
    assert (worker.closed, len(hooks.kept())) == (1, 1)


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PostToolUse", "PostToolUseFailure"])
def test_a_hung_worker_that_takes_connections_and_nothing_else_is_left_at_the_deadline(
    hooks: Hooks, home: Home, event: str
) -> None:
    home.make()
    with socket.socket(socket.AF_UNIX) as listener:  # the system takes them for it, up to the length of its queue
        listener.bind(str(home.socket))
        listener.listen(16)
        assert hooks.run(event) == b""
        connection, _ = listener.accept()
        with connection:
            assert connection.recv(65536).startswith(b"POST /hook/%b " % event.encode())
            assert connection.recv(65536) == b""
    assert len(hooks.kept()) == 1


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PostToolUse", "PostToolUseFailure"])
def test_a_worker_that_died_is_not_waited_for(hooks: Hooks, home: Home, event: str) -> None:
    home.make()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home.socket))
    assert hooks.run(event) == b""
    assert len(hooks.kept()) == 1


def test_a_worker_that_drips_is_cut_off_at_the_deadline(hooks: Hooks, listen: Listen) -> None:
    cut: list[bool] = []

    def drip(connection: socket.socket, request: Request) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
        try:
            for _ in range(1_000_000_000):
                connection.sendall(b"x")
        except OSError:
            cut.append(True)

    worker = listen(drip)
    assert hooks.run("PostToolUse") == b""
    worker.stop()
    assert cut == [True]


def test_events_that_want_no_answer_do_not_wait_for_one(hooks: Hooks, home: Home) -> None:
    home.make()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home.socket))
        listener.listen(16)
        for event in UNANSWERED:
            assert hooks.run(event) == b""
        lines = []
        for _ in UNANSWERED:
            connection, _ = listener.accept()
            with connection:
                lines.append(connection.recv(65536).split(b" HTTP")[0].decode())
    assert lines == [f"POST /hook/{event}" for event in UNANSWERED]


@pytest.mark.parametrize("event", UNANSWERED)
def test_an_answer_that_nobody_wants_is_not_printed(hooks: Hooks, listen: Listen, event: str) -> None:
    worker = listen(reply("200 OK", BODY))
    assert hooks.run(event) == b""
    worker.stop()
    assert worker.lines == [f"POST /hook/{event} HTTP/1.1"]


@pytest.mark.parametrize("event", ["Stop", "PostToolUse", "SessionStart"])
def test_a_worker_whose_queue_is_full_is_not_waited_for_beyond_the_deadline(
    hooks: Hooks, home: Home, event: str
) -> None:
    home.make()
    home.worker_python.symlink_to("/bin/true")
    waiting = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home.socket))
        listener.listen(0)
        try:
            while True:
                waiting.append(socket.socket(socket.AF_UNIX))
                waiting[-1].settimeout(0)
                waiting[-1].connect(str(home.socket))
        except OSError:
            pass
        assert hooks.run(event) == b""
    for connection in waiting:
        connection.close()
    assert len(hooks.kept()) == 1
    assert sys.platform != "linux" or not home.start_lock.exists()


def test_a_place_in_the_queue_that_becomes_free_in_time_is_taken(patient: Hooks, home: Home) -> None:
    home.make()
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as other:
        listener.bind(str(home.socket))
        listener.listen(0)
        other.connect(str(home.socket))
        hook = patient.start("SessionStart")
        assert hook.stdin
        hook.stdin.close()
        until(lambda: bool(patient.kept()))
        listener.accept()[0].close()
        connection, _ = listener.accept()
        with connection:
            assert connection.recv(65536).startswith(b"POST /hook/SessionStart ")
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            hook.stdin = None
            assert hook.communicate(timeout=GUARD_S) == (b"{}", b"")


def test_a_socket_that_is_a_plain_file_does_no_harm(hooks: Hooks, home: Home) -> None:
    home.make()
    home.socket.write_bytes(b"")
    assert hooks.run("SessionStart") == b""
    assert len(hooks.kept()) == 1


def test_a_home_whose_path_is_too_long_for_a_socket_is_reached(
    patient: Hooks, home: Home, user: Path, listen: Listen
) -> None:
    listen(reply("200 OK", BODY))
    long = user.joinpath(*["d" * 50] * 4)
    long.parent.mkdir(parents=True)
    home.root.rename(long)
    assert patient.run("PostToolUse", CLAUDE_MEM_LITE_HOME=str(long)) == BODY
    long.rename(home.root)


def test_nothing_is_confirmed_when_nobody_reads_the_answer(hooks: Hooks, listen: Listen) -> None:
    worker = listen(reply("200 OK", BODY))
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        hooks.command("PostToolUse"),
        input=b"{}",
        stdout=writing,
        stderr=subprocess.PIPE,
        env=hooks.environment(),
        timeout=GUARD_S,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
    worker.stop()
    assert worker.lines == ["POST /hook/PostToolUse HTTP/1.1"]


def test_nothing_is_confirmed_when_stdout_is_closed(hooks: Hooks, listen: Listen) -> None:
    worker = listen(reply("200 OK", BODY))
    line = f"exec '{PYTHON}' -I -S '{LAUNCHER}' PostToolUse >&- </dev/null"
    subprocess.run(["sh", "-c", line], env=hooks.environment(), timeout=GUARD_S, check=True)
    worker.stop()
    assert worker.lines == ["POST /hook/PostToolUse HTTP/1.1"]
    assert [file.read_bytes() for file in hooks.kept()] == [b""]


def test_an_answer_larger_than_a_pipe_that_does_not_block_is_printed_whole(patient: Hooks, listen: Listen) -> None:
    listen(reply("200 OK", b"x" * 500_000))
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with subprocess.Popen(
        patient.command("SessionStart"), stdin=subprocess.DEVNULL, stdout=writing, env=patient.environment()
    ):
        os.close(writing)
        with open(reading, "rb") as out:
            assert out.read() == b"x" * 500_000


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_polite_signal_does_not_stop_what_has_begun(patient: Hooks, listen: Listen, number: int) -> None:
    def interrupt(connection: socket.socket, request: Request) -> None:
        if "printed" not in request.line:
            os.kill(int(request.headers["X-Spool"].split("-")[1]), number)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    listen(interrupt)
    assert patient.run("SessionStart") == b"{}"
