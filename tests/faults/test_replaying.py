"""Tests of `worker/recovery/replay.py`: after a loss, events are replayed in the order in which they were finished, not
in the order in which they arrived."""

from claude_mem_lite.paths import Home
from tests.faults.losses import spoil_header, worked
from tests.support.running import leave, payload, query

RULE = "Always run the ledger tests with make ledger-test, never with pytest."
STATE = "select id, pinned, times_seen, session from memories order by id"


def test_a_command_about_a_memory_of_a_turn_that_came_later_and_ended_first_finds_it_again(home: Home) -> None:
    with worked(home) as loop:
        leave(home, payload("UserPromptSubmit", "s-long", prompt=RULE))
        for event, more in (("UserPromptSubmit", {"prompt": RULE}), ("Stop", {"last_assistant_message": "Noted."})):
            leave(home, payload(event, "s-short", **more))
        assert loop.passes.wait_until_idle(30)
        ((id_,),) = query(home.memory_db, "select id from memories")
        loop.commands.put({"command": "pin", "id": id_, "pinned": True}).result(30)
        leave(home, payload("Stop", "s-long", last_assistant_message="Noted, too."))
        assert loop.passes.wait_until_idle(30)
    before = query(home.memory_db, STATE)
    assert before == [(id_, 1, 2, "s-short")]
    spoil_header(home.memory_db)
    with worked(home):
        pass
    assert query(home.memory_db, STATE) == before
