"""What a model tells is settled like what rules tell, and undoes nothing that was settled before."""

import json
import sqlite3
from contextlib import closing

from claude_mem_lite.paths import Home
from claude_mem_lite.store.memories import handoff_id
from claude_mem_lite.worker.services import Services
from tests.support.fakes import FakeProvider
from tests.support.running import query
from tests.worker.conftest import SetClock
from tests.worker.model_turns import answer, long_turn, rest, wait_for_question, work


def deciding(title: str, **session: object) -> str:
    """A model finds that something was decided."""
    memory = {"kind": "decision", "title": title, "summary": f"{title}, as agreed.", "files": []}
    return json.dumps({"memories": [memory], "session": {"headline": title, **session}})


def statuses(home: Home, kind: str = "decision") -> dict[str, str]:
    return dict(query(home.memory_db, f"select title, status from memories where kind = '{kind}'"))


def test_a_decision_that_a_model_tells_replaces_the_older(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [deciding("Use Redis for the basket store"), deciding("Use Postgres for the basket store")]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    work(home, model_loop, long_turn("s-2", "Weigh the items"))
    rest(home, model_loop, clock)
    assert statuses(home) == {
        "Use Redis for the basket store": "superseded",
        "Use Postgres for the basket store": "active",
    }


def changed_while_a_model_is_asked(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock, change: dict[str, str]
) -> str:
    """The id of a memory that the user changed after a model was asked about its turn and before it answered."""
    provider.answers = [answer("Count every item of the basket")]
    provider.hold()
    work(home, model_loop, long_turn("s-1", "Count the items"))
    wait_for_question(provider, model_loop)
    ((id_,),) = query(home.memory_db, "select id from memories where kind <> 'handoff'")
    model_loop.commands.put({**change, "id": id_, "cwd": "/"}).result(30)
    provider.release()
    rest(home, model_loop, clock)
    return str(id_)


def test_what_the_user_edited_is_not_told_anew(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    edit = {"command": "edit", "text": "Items count themselves"}
    id_ = changed_while_a_model_is_asked(home, model_loop, provider, clock, edit)
    told = query(home.memory_db, f"select summary, origin, made_by from memories where id = '{id_}'")
    assert told == [("Items count themselves", "user", "user")]


def test_what_the_user_retired_stays_retired(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    retire = {"command": "retire", "reason": ""}
    id_ = changed_while_a_model_is_asked(home, model_loop, provider, clock, retire)
    assert query(home.memory_db, f"select status from memories where id = '{id_}'") == [("retired",)]


def test_what_replaced_something_keeps_its_id_when_a_model_tells_the_turn_anew(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    model_loop.commands.put({"command": "remember", "kind": "note", "text": "An older memory", "cwd": "/app"}).result(
        30
    )
    provider.answers = [answer("Count every item of the basket")]
    provider.hold()
    work(home, model_loop, long_turn("s-1", "Count the items"))
    wait_for_question(provider, model_loop)
    ((id_, title),) = query(home.memory_db, "select id, title from memories where session = 's-1'")
    with closing(sqlite3.connect(home.memory_db)) as db:
        db.execute("update memories set status = 'superseded', superseded_by = ? where kind = 'note'", (id_,))
        db.commit()
    provider.release()
    rest(home, model_loop, clock)
    assert query(home.memory_db, f"select title from memories where id = '{id_}'") == [(title,)]


def test_a_handoff_that_was_settled_is_not_opened_again_by_other_words(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [answer("Count every item of the basket", next_steps=["Weigh the basket"])]
    provider.hold()
    turn = long_turn("s-1", "Count the items")
    turn[-1]["last_assistant_message"] += " Next steps: weigh the basket."
    work(home, model_loop, turn)
    wait_for_question(provider, model_loop)
    model_loop.commands.put({"command": "retire", "id": handoff_id("s-1"), "reason": "", "cwd": "/"}).result(30)
    provider.release()
    rest(home, model_loop, clock)
    assert set(statuses(home, "handoff").values()) == {"retired"}
