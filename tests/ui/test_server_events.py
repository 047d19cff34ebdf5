"""The stream of an open page: what it is told when something changes, and when no worker is there."""

from starlette.testclient import TestClient

from tests.support.running import Machine, wait_until
from tests.ui.event_stream import reading


def names(heard: list[str]) -> list[str]:
    """The names of the events so far; what only says that the stream is alive has none."""
    return [one.partition("\n")[0].removeprefix("event: ") for one in heard if one.startswith("event: ")]


def test_a_change_and_a_worker_that_went_away_and_came_back_are_told(served: Machine, page: TestClient) -> None:
    with reading(page.app) as heard:
        wait_until(lambda: bool(names(heard)), "what there is was told")
        served.post("/api/memories", {"kind": "note", "text": "Otters hold hands", "cwd": "/"})
        wait_until(lambda: len(names(heard)) > 1, "the change was told")
        assert set(names(heard)) == {"changed"}
        served.stop_worker()
        wait_until(lambda: names(heard)[-1] == "away", "that the worker is gone was told")
        served.start_worker()
        wait_until(lambda: names(heard)[-1] == "changed", "that it is back was told")
