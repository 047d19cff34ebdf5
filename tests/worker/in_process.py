"""The worker's HTTP without a socket: its application over a job loop in this process."""

from collections.abc import Iterator
from contextlib import contextmanager

from claude_mem_lite.paths import Home
from claude_mem_lite.timestamps import Clock
from claude_mem_lite.worker.api.app import App
from claude_mem_lite.worker.services import Services
from tests.support.app_client import AppClient
from tests.support.fakes import FakeEmbedder
from tests.support.running import Json, running_loop


class Asked:
    """Whom to ask; what is refused fails the test."""

    def __init__(self, client: AppClient, loop: Services) -> None:
        self.client = client
        self.loop = loop

    def get(self, path: str, **query: Json) -> Json:
        answer = self.client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Json) -> Json:
        answer = self.client.post(path, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()


@contextmanager
def asked(home: Home, clock: Clock) -> Iterator[Asked]:
    with running_loop(home, clock, embedder=FakeEmbedder()) as loop:
        yield Asked(AppClient(App(loop, loop.shutdown.stop).respond), loop)
