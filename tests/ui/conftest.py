"""The page's server in this process, on a home that a real worker serves."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from claude_mem_lite.client.client import Client
from claude_mem_lite.ui.server import make_app
from tests.support.running import Machine, open_machine

PORT = 4711
TOKEN = "a-token-that-nobody-guesses-0123456789"


@pytest.fixture(scope="module")
def served() -> Iterator[Machine]:
    """A home with a worker that the tests of one module share."""
    with open_machine() as made:
        made.start_worker()
        yield made


@pytest.fixture
def page(served: Machine) -> TestClient:
    return browser_of(served)


def browser_of(machine: Machine, folder: str = "") -> TestClient:
    """A browser's requests, with the token and the name of one open page, which was started in a folder."""
    app = make_app(Client(machine.home), TOKEN, PORT, folder=folder)
    headers = {"authorization": f"Bearer {TOKEN}"}
    return TestClient(app, base_url=f"http://127.0.0.1:{PORT}", headers=headers)
