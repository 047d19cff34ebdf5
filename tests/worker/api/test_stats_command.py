"""`stats` and `receipts --summary` through hooks and worker: what is stored, given, used and spent."""

import json
import re
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_mem_lite.context.render import estimate_tokens
from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.models import Receipt, ReceiptItem
from claude_mem_lite.paths import Home
from claude_mem_lite.store import receipts
from claude_mem_lite.worker.services import Services
from tests.support.fakes import FakeProvider
from tests.support.running import Json, Machine, leave, payload, query, turn, wait_until
from tests.worker.commands import run_here
from tests.worker.conftest import SetClock
from tests.worker.model_turns import answer, long_turn, rest, work

EARLIER = "ea511e40-0000-4000-8000-000000000001"
MINE = "3113e000-0000-4000-8000-000000000002"


@pytest.fixture
def over(machine: Machine, project: str) -> Machine:
    """A worker that has seen a session that was given something and is over."""
    machine.start_worker()
    for given in turn(EARLIER, "Teach the flamingo ledger to count", cwd=project):
        leave(machine.home, given)
    machine.drain()
    machine.post("/api/memories", {"kind": "gotcha", "text": "The quokka sleeps at noon", "cwd": project})
    machine.hook("SessionStart", payload("SessionStart", MINE, project, source="startup"))
    wait_until(lambda: any(one["given_at"] for one in listed(machine)), "the context to count as given")
    for one in turn(MINE, f"Does the flamingo ledger count twice, as {EARLIER} says?", cwd=project):
        machine.hook(one["hook_event_name"], one)
    machine.hook("SessionEnd", payload("SessionEnd", MINE, project, reason="exit"))
    machine.drain()
    return machine


def test_stats_count_what_is_stored_given_and_used(over: Machine, project: str) -> None:
    told = over.get("/api/stats")
    assert told["days"] == 30
    assert told["memories"]["by_kind"]["gotcha"] == 1
    assert sum(told["memories"]["by_status"].values()) == over.get("/api/health")["memories"]
    (here,) = told["memories"]["by_project"]
    assert (here["project"], here["sessions"]) == (project, 2)
    given = next(one for one in told["given"] if one["moment"] == "startup")
    (receipt,) = [one for one in listed(over) if one["moment"] == "startup"]
    assert (given["made"], given["reached"], given["tokens"]) == (1, 1, receipt["tokens"])
    outcomes = [item["outcome"] for item in receipt["items"]]
    assert (given["used"], given["ignored"]) == (outcomes.count("used"), outcomes.count("ignored"))
    assert given["used"] > 0 < given["ignored"]
    assert given["hit_rate"] == round(given["used"] / len(outcomes), 3)
    by_source = {one["source"]: one for one in told["sources"] if one["moment"] == "startup"}
    assert by_source["project"]["hit_rate"] == 0
    assert sum(one["items"] for one in by_source.values()) == len(outcomes)
    assert told["silent"] == {"items": []}
    assert told["model"] == {"calls": 0, "tokens": 0, "cost_usd": 0, "by_outcome": {}, "estimates": []}
    assert told["savings"]["given_tokens"] == receipt["tokens"]
    assert told["savings"]["said_tokens"] > 0


def test_days_that_no_receipt_is_kept_for_are_refused(machine: Machine) -> None:
    machine.start_worker()
    assert [machine.ask("GET", f"/api/stats?days={days}").status for days in ("0", "181", "x")] == [422] * 3


def test_what_fell_silent_is_listed_but_not_what_the_user_stated(over: Machine, project: str) -> None:
    stated = over.post("/api/memories", {"kind": "rule", "text": "Write sums in cents", "cwd": project})["id"]
    over.stop_worker()
    # One session had use for the earlier one.
    write_ignored(over, project, "startup", "sessions", [EARLIER] * 28)
    write_ignored(over, project, "startup", "project", [stated] * 60)
    over.start_worker()
    silent = over.get("/api/stats")["silent"]
    assert [one["id"] for one in silent["items"]] == [EARLIER]
    shown = run_here(over, "stats", cwd=project).stdout
    assert "(1 used, 28 ignored, 0 unknown)" in shown


def write_ignored(machine: Machine, project: str, moment: str, layer: str, sources: list[str]) -> None:
    """Receipts of sessions that had no use for what they were given."""
    at = datetime.now(UTC)
    with closing(open_for_writing(machine.home.memory_db)) as db, atomic(db):
        for number, source in enumerate(sources):
            item = ReceiptItem(source, layer, "said", 20, outcome="ignored")
            name = f"{moment}-{layer}-{number}"
            receipts.add(db, Receipt(name, name, project, moment, (item,), (), (), 20, 2000, 1.0, at, at))


def test_the_commands_show_it(over: Machine, project: str) -> None:
    told = json.loads(run_here(over, "stats", "--json", "--days", "7", cwd=project).stdout)
    assert told["days"] == 7
    shown = run_here(over, "stats", cwd=project).stdout
    assert shown.startswith("memories: ")
    assert "\ntrigger\tsource\tgiven\ttokens\tused\tignored\tunknown\tused at least\nstartup\tall\t1 of 1\t" in shown
    assert re.search(
        r"session starts got [\d,]+ tokens in all; the sessions that they summarize have [\d,]+ tokens in", shown
    )
    assert "model: not asked" in shown
    rates = json.loads(run_here(over, "receipts", "--summary", "--json", cwd=project).stdout)
    assert rates["sources"] == told["sources"]
    assert run_here(over, "receipts", "--summary", cwd=project).stdout.startswith("trigger\tsource\tgiven\t")
    assert run_here(over, "receipts", "--summary", cwd=str(Path(project).parent)).stdout == "nothing was given\n"


def test_the_estimate_of_what_is_sent_is_kept_beside_what_the_model_counted(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [answer("Count every item")]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    ((estimated, counted),) = query(home.memory_db, "select estimated_in, tokens_in from model_calls")
    assert counted == provider.usage.tokens_in
    assert estimate_tokens(provider.asked[0]) <= estimated < 2 * estimate_tokens(provider.asked[0]) + 2_000


def listed(machine: Machine) -> list[Json]:
    found: list[Json] = machine.get("/api/receipts?all_projects=true")["receipts"]
    return found
