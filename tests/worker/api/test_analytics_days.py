"""Tests of `worker/api/analytics.py` and `store/statistics.py`: counts day by day, from the API in this process."""

from dataclasses import replace
from datetime import datetime, timedelta

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Location
from claude_mem_lite.paths import Home
from claude_mem_lite.providers import Usage
from claude_mem_lite.store import model_calls, receipts
from tests.support.fakes import NOW, SHOP, Store
from tests.support.running import Json
from tests.worker.api.test_feed_api import receipt
from tests.worker.in_process import asked

BARN = Location("example.org/me/barn", "barn", "/nowhere/barn")
EMPTY = {
    **dict.fromkeys(("memories", "sessions", "given", "tokens_given", "used", "ignored", "unknown"), 0),
    **dict.fromkeys(("tokens_in", "tokens_out", "cost_usd"), 0),
    "savings": {"given_tokens": 0, "said_tokens": 0},
}


def filled(store: Store) -> None:
    for days, place, session in ((0, SHOP, "s-today"), (2, SHOP, "s-before"), (2, BARN, "s-barn")):
        at = NOW - timedelta(days=days)
        store.turn(f"turn-{session}", "x" * 700, "", session=session, place=place, at=at)
        store.remember(f"Made in {session}", session=session, place=place, created_at=at)
        called(store, session, at)
    found = store.db.execute("select id from memories where session = 's-before'").fetchone()
    with atomic(store.db):
        receipts.add(store.db, replace(receipt("s-today", found["id"], "used"), created_at=NOW))
        receipts.add(store.db, replace(receipt("s-other", "elsewhere", "ignored"), created_at=NOW, moment="prompt"))
        receipts.add(store.db, replace(receipt("s-lost", found["id"], None), created_at=NOW, given_at=None))


def called(store: Store, session: str, at: datetime) -> None:
    with atomic(store.db):
        call = model_calls.begin(store.db, "", session, "anthropic/haiku", "turn", Usage(), at)
        model_calls.end(store.db, call, "told", Usage(2_000, 300, 0.5), 1.0)
        model_calls.begin(store.db, "", session, "anthropic/haiku", "turn", Usage(9_000, 9_000, 9.0), at)


def days(home: Home, **query: Json) -> list[Json]:
    with Store(home.memory_db) as store:
        filled(store)
    with asked(home, lambda: NOW) as api:
        found: list[Json] = api.get("/api/days", **query)["days"]
        # Calls that nobody will hear the answer of are counted at the most they may have taken, once a worker starts.
        return [{**day, "cost_usd": round(day["cost_usd"] % 9, 3)} for day in found]


def test_each_day_has_its_row_the_oldest_first(home: Home) -> None:
    found = days(home, days=4)
    assert [day.pop("day") for day in found] == ["2026-02-26", "2026-02-27", "2026-02-28", "2026-03-01"]
    assert found[0] == found[2] == EMPTY
    assert (found[1]["memories"], found[1]["sessions"], found[1]["given"]) == (2, 2, 0)
    today = found[3]
    assert (today["memories"], today["sessions"]) == (1, 1)
    assert (today["given"], today["tokens_given"], today["used"], today["ignored"]) == (2, 40, 1, 1)
    assert today["cost_usd"] == 0.5
    # What the start of today retold was said in a session of 700 characters.
    assert today["savings"] == {"given_tokens": 20, "said_tokens": 200}


def test_days_of_a_project_are_its_own(home: Home) -> None:
    found = days(home, days=3, project=BARN.project)
    assert [day["memories"] for day in found] == [1, 0, 0]
    assert [day["sessions"] for day in found] == [1, 0, 0]
    assert [day["given"] for day in found] == [0, 0, 0]
    assert [day["cost_usd"] for day in found] == [0.5, 0, 0]


def test_a_month_is_told_unless_another_number_is_asked_for(home: Home) -> None:
    assert len(days(home)) == 30


def test_days_that_nothing_is_kept_for_are_refused(home: Home) -> None:
    with asked(home, lambda: NOW) as api:
        assert api.client.get("/api/days", params={"days": 181}).status_code == 422
