"""Dates on the pages: in the time of this machine, wherever that is, and at the ends of the calendar too."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from starlette.testclient import TestClient

from claude_mem_lite.ui.templating import ago, moment, short_moment, when
from tests.support.running import Json, Machine

FIRST, LAST = "0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59+00:00"


@pytest.fixture(params=["Asia/Tokyo", "America/New_York", "UTC"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(scope="module")
def dated(served: Machine) -> list[Json]:
    """What somebody dated as far away as can be written."""
    told = [
        {"kind": "note", "id": f"dated{number}", "title": f"Dated {number}", "created_at": at, "last_seen_at": at}
        for number, at in enumerate((FIRST, LAST))
    ]
    lines = [{"memory": one} for one in told]
    imported = {"project": "/srv/zoo", "at": "2026-03-01T12:00:00+00:00", "lines": lines, "trust": True}
    assert served.post("/api/import/memories", imported)["imported"] == 2
    return told


def test_a_moment_is_told_in_the_time_of_this_machine(zone: str) -> None:
    hours = {"Asia/Tokyo": "21:00:00+09:00", "America/New_York": "07:00:00-05:00", "UTC": "12:00:00+00:00"}
    assert moment("2026-03-01T12:00:00+00:00") == f"2026-03-01 {hours[zone]}"


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ("2026-03-04T09:05:00+00:00", "today 09:05"),
        ("2026-03-03T09:05:00+00:00", "yesterday 09:05"),
        ("2026-03-01T09:05:00+00:00", "1 Mar 09:05"),
        ("2025-12-31T09:05:00+00:00", "2025-12-31 09:05"),
    ],
)
@pytest.mark.parametrize("zone", ["UTC"], indirect=True)
def test_a_day_is_named_as_people_name_it(zone: str, at: str, told: str) -> None:
    assert short_moment(at, datetime(2026, 3, 4, 18, tzinfo=UTC)) == told


def test_which_day_it_was_depends_on_where_the_machine_is(zone: str) -> None:
    days = {"Asia/Tokyo": "today 00:30", "America/New_York": "yesterday 10:30", "UTC": "yesterday 15:30"}
    assert short_moment("2026-03-03T15:30:00+00:00", datetime(2026, 3, 4, 6, tzinfo=UTC)) == days[zone]


def test_the_whole_moment_shows_on_hover() -> None:
    at = "2026-03-01T12:00:00+00:00"
    for shown in (when(at), ago(at)):
        assert shown.startswith(f'<time datetime="{at}" title="{moment(at)}">')


@pytest.mark.parametrize("path", ["/", "/search?query=dated", "/memories/dated0", "/memories/dated1"])
def test_a_date_at_the_end_of_the_calendar_breaks_no_page(
    page: TestClient, dated: list[Json], zone: str, path: str
) -> None:
    answer = page.get(f"/part{path}")
    assert answer.status_code == 200, answer.text
    assert "Dated" in answer.text


def test_where_it_is_no_date_here_it_is_told_as_it_was_written(page: TestClient, dated: list[Json], zone: str) -> None:
    if zone == "Asia/Tokyo":
        assert "9999-12-31 23:59+00:00" in page.get("/part/memories/dated1").text
    elif zone == "America/New_York":
        assert "0001-01-01 00:00+00:00" in page.get("/part/memories/dated0").text
    else:
        assert 'title="9999-12-31 23:59:59+00:00">9999-12-31 23:59</time>' in page.get("/part/memories/dated1").text
