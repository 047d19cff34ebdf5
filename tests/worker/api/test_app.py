"""The worker's application as a whole: routes that are not there, and the API that is imported when it is asked."""

import os
import select
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite.paths import Home
from claude_mem_lite.worker.api.app import App
from claude_mem_lite.worker.services import Services
from claude_mem_lite.worker.shutdown import Package
from tests.support.app_client import AppClient
from tests.support.fakes import FakeEmbedder
from tests.support.running import WAIT_S, Json, Machine, running_loop
from tests.worker.conftest import SetClock


@pytest.fixture
def package_file(tmp_path: Path) -> Path:
    file = tmp_path / "__init__.py"
    file.write_text("")
    return file


@pytest.fixture
def loop(home: Home, clock: SetClock, package_file: Path) -> Iterator[Services]:
    with running_loop(home, clock, embedder=FakeEmbedder(), package=Package(package_file)) as running:
        yield running


@pytest.fixture
def stopped() -> list[bool]:
    """How often the process was told to end."""
    return []


@pytest.fixture
def client(loop: Services, stopped: list[bool]) -> AppClient:
    return AppClient(App(loop, lambda: stopped.append(True)).respond)


def _error(told: Json) -> tuple[str, str]:
    return told["error"]["code"], told["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/health", 200),
        ("HEAD", "/api/health", 405),
        ("GET", "/", 404),
        ("GET", "/api", 404),
        ("GET", "/api/nothing", 404),
        ("GET", "/elsewhere", 404),
        ("GET", "/hook/Stop", 405),
        ("DELETE", "/api/health", 405),
    ],
)
def test_what_is_not_there_is_refused_in_the_one_shape_of_errors(
    client: AppClient, method: str, path: str, status: int
) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    if status != 200 and method != "HEAD":
        assert answer.json()["error"]["code"] == "http"


def test_an_id_may_hold_anything(client: AppClient) -> None:
    answer = client.get("/api/memories/a%0Ab")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


def test_an_api_that_cannot_be_imported_is_tried_again(client: AppClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ImportError("half of it was read")

    with monkeypatch.context() as broken:
        broken.setattr("claude_mem_lite.worker.api.routes.make_router", fail)
        answer = client.get("/api/health")
        assert (answer.status_code, *_error(answer.json())) == (500, "internal", "the worker failed: ImportError")
    assert client.get("/api/health").status_code == 200


def test_no_api_of_another_version_is_imported(client: AppClient, stopped: list[bool], package_file: Path) -> None:
    package_file.unlink()
    refused = (400, "refused", "another version is being installed")
    answer = client.get("/api/health")
    assert ((answer.status_code, *_error(answer.json())), stopped) == (refused, []), "nobody else could come up yet"

    package_file.write_text("new")
    os.utime(package_file, (1, 1))
    answer = client.get("/api/health")
    assert ((answer.status_code, *_error(answer.json())), stopped) == (refused, [True])


def test_what_was_imported_is_asked_whatever_is_installed_since(
    client: AppClient, stopped: list[bool], package_file: Path
) -> None:
    assert client.get("/api/health").status_code == 200
    package_file.unlink()
    assert (client.get("/api/health").status_code, stopped) == (200, [])


def test_nobody_is_answered_before_all_was_said(machine: Machine) -> None:
    """Who still writes when the answer is there finds the connection closed, and may not get to read it."""
    process = machine.start_worker()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.settimeout(WAIT_S)
        asking.connect(str(machine.home.socket))
        asking.sendall(b"POST /api/stop HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n")
        assert machine.answers()
        assert select.select([asking], [], [], 0)[0] == []
        asking.sendall(b"{}")
        assert asking.recv(64).startswith(b"HTTP/1.1 200")
    assert process.wait(WAIT_S) == 0
