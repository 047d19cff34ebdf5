"""Tests of `client/base.py`, `client/reads.py`, `client/writes.py`, `client/client.py` and `client/lazy_responses.py`
through `Client`, against a worker whose answers the test sets."""

import fcntl
import os
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite.client import base
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.queries import Wanted, Where
from claude_mem_lite.client.worker_process import ensure_worker, stop_worker, worker_interpreter
from claude_mem_lite.errors import Ambiguous, NotFound, WorkerRefused, WorkerUnavailable
from claude_mem_lite.paths import Home
from claude_mem_lite.responses.analytics import Day
from tests.support.fake_worker import FakeWorker, fake_worker

HERE = Where("/some/folder")


@pytest.fixture
def listener(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """Somebody on the worker's socket who does nothing by itself."""
    monkeypatch.chdir(home.root)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(home.socket.name)
        listener.listen()
        yield listener


@pytest.fixture
def worker(home: Home) -> Iterator[FakeWorker]:
    with fake_worker(home) as worker:
        yield worker


def test_health_tells_who_answers(home: Home, worker: FakeWorker) -> None:
    health = Client(home).health()
    assert (health.pid, health.status) == (4711, "ok")


def test_no_socket_means_no_worker(home: Home) -> None:
    with pytest.raises(WorkerUnavailable, match="no worker answers"):
        Client(home).health()


def test_a_socket_that_a_dead_worker_left_means_no_worker(home: Home, listener: socket.socket) -> None:
    listener.close()
    with pytest.raises(WorkerUnavailable, match="no worker answers"):
        Client(home).health()


def test_a_worker_that_hangs_up_means_no_worker(home: Home, listener: socket.socket) -> None:
    thread = threading.Thread(target=lambda: listener.accept()[0].close())
    thread.start()
    with pytest.raises(WorkerUnavailable):
        Client(home).health()
    thread.join()


def test_a_worker_that_says_nothing_is_given_up_on(home: Home, listener: socket.socket) -> None:
    with pytest.raises(WorkerUnavailable, match=r"did not answer within 0\.05 s"):
        Client(home).health(timeout_s=0.05)


def test_a_path_too_long_for_a_socket_address_is_reached(tmp_path: Path) -> None:
    home = Home(tmp_path / ("a" * 90) / ("b" * 90))
    before = Path.cwd()
    with fake_worker(home):
        assert len(os.fsencode(home.socket)) > base.MAX_SOCKET_PATH_LENGTH
        assert Client(home).health().pid == 4711
    assert Path.cwd() == before


def test_a_long_path_without_a_worker_means_no_worker(tmp_path: Path) -> None:
    before = Path.cwd()
    with pytest.raises(WorkerUnavailable):
        Client(Home(tmp_path / ("a" * 90) / ("b" * 90))).health()
    assert Path.cwd() == before


def test_a_refusal_carries_message_and_next_step(home: Home, worker: FakeWorker) -> None:
    worker.refuse("POST /api/queue/retry", 503, "busy", "the worker is busy", "try again")
    with pytest.raises(WorkerRefused) as caught:
        Client(home).retry(None)
    assert (caught.value.message, caught.value.next_step) == ("the worker is busy", "try again")


def test_an_unknown_memory_is_not_found(home: Home, worker: FakeWorker) -> None:
    with pytest.raises(NotFound):
        Client(home).memory("k7f3a9")


def test_a_prefix_that_fits_two_memories_is_ambiguous(home: Home, worker: FakeWorker) -> None:
    worker.refuse("GET /api/memories/k7f3", 409, "ambiguous", "k7f3 fits 2 memories")
    with pytest.raises(Ambiguous, match="fits 2"):
        Client(home).memory("k7f3")


@pytest.mark.parametrize("content", [b"<html>", b"[]", b"", b"\xff"])
def test_an_answer_that_is_no_json_object_is_refused(home: Home, worker: FakeWorker, content: bytes) -> None:
    worker.answer("GET /api/health", content)
    with pytest.raises(WorkerRefused):
        Client(home).health()


@pytest.mark.parametrize("body", [{}, {"memories": None}, {"memories": [1]}])
def test_an_answer_without_what_was_asked_for_is_refused(home: Home, worker: FakeWorker, body: dict[str, None]) -> None:
    worker.answer("GET /api/memories", body)
    with pytest.raises(WorkerRefused, match="memories"):
        Client(home).memories(HERE)


def test_an_error_without_the_agreed_shape_still_tells_the_status(home: Home, worker: FakeWorker) -> None:
    worker.answer("GET /api/queue/stats", {"detail": "Internal Server Error"}, 500)
    with pytest.raises(WorkerRefused, match="500"):
        Client(home).queue_counts()


def test_something_that_speaks_no_http_is_refused(home: Home, listener: socket.socket) -> None:
    def answer() -> None:
        connection = listener.accept()[0]
        connection.recv(65536)
        connection.sendall(b"220 mail ready\r\n\r\n")
        connection.close()

    thread = threading.Thread(target=answer)
    thread.start()
    with pytest.raises(WorkerRefused, match="HTTP"):
        Client(home).health()
    thread.join()


def test_a_worker_that_dies_in_the_middle_of_its_answer_is_away(home: Home, listener: socket.socket) -> None:
    def answer() -> None:
        connection = listener.accept()[0]
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{")
        connection.close()

    thread = threading.Thread(target=answer)
    thread.start()
    with pytest.raises(WorkerUnavailable):
        Client(home).health()
    thread.join()


def test_search_sends_every_filter(home: Home, worker: FakeWorker) -> None:
    worker.answer("GET /api/search", {"hits": []})
    wanted = Wanted(
        kinds=["rule", "note"], scope="project", file="a b.py", branch="main", since="2026-01-01", statuses=["retired"]
    )
    Client(home).search("a & b", HERE, wanted, limit=3)
    assert worker.last("/api/search").query == (
        ("query", "a & b"),
        ("cwd", "/some/folder"),
        ("all_projects", "false"),
        ("kind", "rule"),
        ("kind", "note"),
        ("scope", "project"),
        ("file", "a b.py"),
        ("branch", "main"),
        ("since", "2026-01-01"),
        ("status", "retired"),
        ("limit", "3"),
    )


def test_an_id_with_odd_characters_stays_one_part_of_the_path(home: Home, worker: FakeWorker) -> None:
    with pytest.raises(NotFound):
        Client(home).memory("a/../b?c#d")
    assert worker.seen[-1].path == "/api/memories/a%2F..%2Fb%3Fc%23d"


def test_text_with_broken_characters_is_sent_all_the_same(home: Home, worker: FakeWorker) -> None:
    worker.answer("GET /api/search", {"hits": []})
    assert not Client(home).search("caf\udce9", HERE)


def test_stop_waits_until_the_worker_is_gone(home: Home) -> None:
    with fake_worker(home):
        assert stop_worker(Client(home)) is True
        assert not home.socket.exists()


def test_stop_without_a_worker_says_so(home: Home) -> None:
    assert stop_worker(Client(home)) is False


def test_a_worker_that_answers_is_not_started_again(home: Home, worker: FakeWorker) -> None:
    ensure_worker(home)
    assert not home.worker_log.exists()


def test_a_worker_that_cannot_start_is_told_with_its_log(home: Home, tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho it went wrong >&2\nexit 3\n")
    broken.chmod(0o755)
    home.worker_python.symlink_to(broken)
    with pytest.raises(WorkerUnavailable, match=r"worker\.log"):
        ensure_worker(home, wait_s=1)
    assert home.worker_log.read_text() == "it went wrong\n"
    assert home.worker_log.stat().st_mode & 0o777 == 0o600


def test_a_worker_that_is_slow_to_answer_is_not_called_one_that_did_not_start(home: Home) -> None:
    home.worker_python.symlink_to(shutil.which("true") or "/bin/true")
    with home.worker_lock.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(WorkerUnavailable, match=r"did not answer within 0\.2 s; run this again in a moment"):
            ensure_worker(home, wait_s=0.2)


def test_the_worker_gets_its_home_and_nothing_an_agent_left_for_its_children(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "python"
    told.write_text('#!/bin/sh\necho "$@"\nenv | grep ^CLAUDE | sort\n')
    told.chmod(0o755)
    home.worker_python.symlink_to(told)
    monkeypatch.setenv("CLAUDE_CODE_MESSAGING_TOKEN", "secret")
    monkeypatch.setenv("CLAUDE_MEM_LITE_BUDGET", "500")
    with pytest.raises(WorkerUnavailable):
        ensure_worker(home, wait_s=1)
    assert home.worker_log.read_text().splitlines() == [
        "-I -m claude_mem_lite.worker",
        "CLAUDE_MEM_LITE_BUDGET=500",
        f"CLAUDE_MEM_LITE_HOME={home.root}",
    ]


def test_a_link_to_a_python_that_is_gone_is_not_used(home: Home, tmp_path: Path) -> None:
    home.worker_python.symlink_to(tmp_path / "gone")
    assert worker_interpreter(home) != str(tmp_path / "gone")


def test_the_link_of_the_worker_is_read_but_not_resolved(home: Home, tmp_path: Path) -> None:
    venv_python = tmp_path / "venv-python"
    venv_python.symlink_to("/bin/sh")
    home.worker_python.symlink_to(venv_python)
    assert worker_interpreter(home) == str(venv_python)


def test_the_page_asks_for_what_it_shows(home: Home, worker: FakeWorker) -> None:
    client = Client(home)
    worker.answer("GET /api/changes", {"memory": 7, "inbox": {}})
    assert client.changes().memory == 7
    worker.answer("GET /api/projects", {"projects": [{"id": "p"}]})
    assert [project.raw for project in client.projects()] == [{"id": "p"}]
    worker.answer("GET /api/feed", {"memories": [], "next": None})
    client.feed(Wanted(kinds=("rule",), statuses=("active",)), project="p", origins=("web",), before="B", limit=5)
    wanted = {
        ("limit", "5"),
        ("origin", "web"),
        ("kind", "rule"),
        ("status", "active"),
        ("project", "p"),
        ("before", "B"),
    }
    assert set(worker.last("/api/feed").query) == wanted
    worker.answer("GET /api/memories/a%2Fb/story", {"given_total": 3})
    assert client.history("a/b").given_total == 3
    worker.answer("GET /api/days", {"days": [{"day": "2026-03-01"}]})
    assert client.days(7, project="p") == (Day("2026-03-01"),)
    assert worker.last("/api/days").query == (("days", "7"), ("project", "p"))


def test_a_project_can_stand_for_a_folder(home: Home, worker: FakeWorker) -> None:
    client = Client(home)
    worker.answer("GET /api/context", {"context": ""})
    client.context("", None, project="p")
    assert ("project", "p") in worker.last("/api/context").query
    worker.answer("GET /api/prompt-context", {"context": ""})
    client.prompt_context("", "Why?", project="p")
    assert ("project", "p") in worker.last("/api/prompt-context").query
    worker.answer("GET /api/memories", {"memories": []})
    client.memories(Where("", project="p"))
    assert ("project", "p") in worker.last("/api/memories").query
