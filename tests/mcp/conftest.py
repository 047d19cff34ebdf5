"""A home with a worker, a project with memories of every sort, and an agent in it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.models import Location, Memory, SessionSummary
from tests.mcp.agent import Agent
from tests.support.fakes import Store
from tests.support.running import Machine, open_machine


class Shop:
    """A project whose memories are planted before its worker starts."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.machine = machine
        self.folder = folder
        folder.mkdir()
        (folder / "main.py").write_text("print('shop')\n")
        self.place: Location = find_location(str(folder))
        self.ids: dict[str, str] = {}
        self._numbers = 0

    def plant(self, title: str, *, place: Location | None = None, days: float = 1, **more: object) -> Memory:
        """A memory that was made some days ago."""
        self._numbers += 1
        at = datetime.now(UTC) - timedelta(days=days)
        more = {"kind": "decision", "created_at": at, "last_seen_at": at, "session": "before", **more}
        with Store(self.machine.home.memory_db) as store:
            return store.remember(title, place=place or self.place, turn=f"turn-{self._numbers}", **more)

    def past_session(self, headline: str, request: str = "") -> None:
        at = datetime.now(UTC) - timedelta(days=1)
        with Store(self.machine.home.memory_db) as store:
            store.session(
                "before", SessionSummary(headline=headline, request=request or headline), place=self.place, at=at
            )

    def agent(self, session: str = "now", *, finds_worker: bool = True) -> Agent:
        return Agent(self.machine, self.folder, session, finds_worker=finds_worker)


@pytest.fixture
def machine() -> Iterator[Machine]:
    with open_machine() as made:
        yield made


@pytest.fixture
def shop(machine: Machine) -> Shop:
    return Shop(machine, machine.home.root.parent / "shop")
