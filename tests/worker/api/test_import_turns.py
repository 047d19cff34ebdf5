"""What the worker makes of turns that are imported: what it knows, what it leaves out, what it stores."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite.config import Config
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.importers.session_digests import SessionDigests
from claude_mem_lite.importers.transcript_turns import TranscriptTurn
from claude_mem_lite.importers.transcripts import find_transcripts, read_transcript
from claude_mem_lite.inbox.past_arrival import past_arrival
from claude_mem_lite.worker.api.import_turns import PastRow
from tests.support import commit_turns
from tests.support.past_sessions import LONG_AGO, Json, PastSession, fixed_bug
from tests.support.running import Machine, dump, leave, payload, query, spool_name

LATER = LONG_AGO + timedelta(days=30)
NEVER = "/home/dev/diary"
NOT_PAUSED: Json = {"off": [], "excluded_then": []}


def turns_of(session: PastSession, folder: Path) -> list[TranscriptTurn]:
    path = session.write(folder)
    return [turn for transcript in find_transcripts([path]) for turn in read_transcript(transcript, LATER)]


def store(machine: Machine, turns: Sequence[TranscriptTurn]) -> Json:
    return machine.post("/api/import", {"turns": [turn.as_json() for turn in turns]})


def known(machine: Machine, turns: Sequence[TranscriptTurn]) -> Json:
    return machine.post("/api/import/known", {"turns": [turn.mark() for turn in turns]})


def is_known(machine: Machine, session: PastSession, folder: Path) -> bool:
    (turn,) = turns_of(session, folder)
    return turn.name in known(machine, [turn])["known"]


def session_of(machine: Machine, id_: str) -> Json:
    found = machine.get("/api/sessions?all_projects=true&limit=1000")["sessions"]
    return next((one for one in found if one["id"] == id_), None)


def see_live(machine: Machine, session: str, at: datetime, **more: Json) -> None:
    """A turn as hooks leave it."""
    time_ns = int(at.timestamp()) * 10**9
    for offset, given in enumerate(
        [
            payload("UserPromptSubmit", session, prompt="seen by a hook", **more),
            payload("Stop", session, last_assistant_message="Done.", **more),
        ]
    ):
        leave(machine.home, given, name=spool_name(given["hook_event_name"], time_ns + offset))


def test_a_turn_whose_session_end_was_lost_with_the_inbox_is_not_known(served: Machine, tmp_path: Path) -> None:
    """The end of a session is stored by itself, after its last turn: an inbox may be lost in between."""
    (turn,) = turns_of(fixed_bug("i-endless", 4711), tmp_path)
    store(served, [replace(turn, events=turn.events[:-1])])
    assert known(served, [turn])["known"] == []
    memories = served.get("/api/memories?all_projects=true&limit=1000")["memories"]
    store(served, [turn])
    assert known(served, [turn])["known"] == [turn.name]
    assert session_of(served, "i-endless")["status"] == "completed"
    assert served.get("/api/memories?all_projects=true&limit=1000")["memories"] == memories


# Storing.


def test_a_turn_becomes_what_it_would_have_become_live(served: Machine, tmp_path: Path) -> None:
    told = store(served, turns_of(fixed_bug("i-live"), tmp_path))

    found = served.get("/api/memories?all_projects=true")["memories"]
    made = [one for one in found if one["session"] == "i-live"]
    assert told == {"turns": 1, "memories": len(made), "ended": 0, "unsure_lessons": 0}
    assert [one["kind"] for one in made] == ["bugfix"]
    assert {one["branch"] for one in made} == {"main"}
    assert made[0]["created_at"].startswith("2026-03-02T09:00")
    session = session_of(served, "i-live")
    assert (session["status"], session["branch"], session["turns"]) == ("completed", "main", 1)
    assert session["started_at"].startswith("2026-03-02T09:00")
    assert session["summary"]["headline"]


def test_a_session_that_was_broken_off_is_interrupted(served: Machine, tmp_path: Path) -> None:
    store(served, turns_of(fixed_bug("i-broken").prompt("and the tax?").runs("ls", "a"), tmp_path))
    session = session_of(served, "i-broken")
    assert (session["status"], session["turns"]) == ("interrupted", 2)


def test_a_session_that_ended_in_an_error_of_the_api_has_failed(served: Machine, tmp_path: Path) -> None:
    session = PastSession("i-failed").prompt("go").says("API Error: 500", isApiErrorMessage=True, error="server_error")
    store(served, turns_of(session, tmp_path))
    assert session_of(served, "i-failed")["status"] == "failed"


def test_storing_the_same_turn_again_changes_nothing(served: Machine, tmp_path: Path) -> None:
    turns = turns_of(fixed_bug("i-twice"), tmp_path)
    store(served, turns)
    once, rows = dump(served.view.memory_db), served.row_count()
    assert store(served, turns) == {"turns": 1, "memories": 0, "ended": 0, "unsure_lessons": 0}
    assert dump(served.view.memory_db) == once
    assert served.row_count() == rows


def test_rows_that_the_command_has_read_are_stored_as_the_worker_would_read_the_events(
    served: Machine, tmp_path: Path
) -> None:
    (turn,) = turns_of(fixed_bug("i-rows", 4712), tmp_path)
    assert served.post("/api/import", {"turns": [turn.as_rows()]})["turns"] == 1
    arrivals = [past_arrival(event.name, event.payload, lambda _: False) for event in turn.events]
    expected = [(arrival.name, arrival.payload) for arrival in arrivals if arrival]
    assert [(row.name, row.payload) for row in served.rows() if row.session == "i-rows"] == expected


def test_the_command_makes_the_digest_that_the_worker_would_make(served: Machine, tmp_path: Path) -> None:
    session = PastSession("i-ahead").prompt("which files?").runs("ls", "cart.py").says("One file, cart.py.")
    for name in ("server", "build"):
        session.prompt(f"<task-notification>\nA {name} ended.\n</task-notification>").runs("ls", "tax.py").says("Seen.")
    turns = turns_of(session.prompt("and the tax?").says("It is 19 %."), tmp_path)
    digests = SessionDigests(Config(), LATER)
    digested: list[Json] = [{**turn.as_rows(), "made_digest": digests.digest(turn.arrivals())} for turn in turns]
    for turn in digested:
        turn["made_digest"]["digest"]["log"] = "made by the command"
    served.post("/api/import", {"turns": digested})
    logs = query(served.home.memory_db, "select log from prompts where session = 'i-ahead' and reply <> ''")
    assert logs == [("made by the command",)] * 4


def test_a_digest_of_another_turn_is_not_taken(served: Machine, tmp_path: Path) -> None:
    (turn,) = turns_of(fixed_bug("i-wrong", 4714), tmp_path)
    made = SessionDigests(Config(), LATER).digest(turn.arrivals())
    assert made is not None
    wrong = {**made, "key": "0" * 32, "digest": {"drafts": []}}
    assert served.post("/api/import", {"turns": [{**turn.as_rows(), "made_digest": wrong}]})["memories"] == 1


def test_private_spans_and_secrets_are_gone_before_anything_is_kept(served: Machine, tmp_path: Path) -> None:
    token = "ghp_" + "a8Kd93jfLq02MzXc7VbN5tYpRw61HsGeUoIi"
    session = PastSession("i-private").prompt("rotate <private>zanzibarium</private> please")
    session.runs("deploy", f"token {token} accepted, <Private>quokkafish").says("Rotated.")
    store(served, turns_of(session, tmp_path))
    for word in ("zanzibarium", "quokkafish", token):
        assert served.files_with(word) == []
    assert any("rotate [private] please" in row.payload for row in served.rows() if row.session == "i-private")


def test_context_that_was_given_earlier_is_not_taken_for_work(served: Machine, tmp_path: Path) -> None:
    block = "<claude-mem-lite>\n- [2h ago] wombatgarden\n</claude-mem-lite>"
    session = PastSession("i-given").prompt(f"{block}\nwhat did we do?").runs("claude-mem-lite context", block)
    session.line("attachment", attachment={"type": "hook_additional_context", "content": [block]})
    store(served, turns_of(session.says(f"You had this: {block} Nothing else."), tmp_path))
    assert session_of(served, "i-given")["summary"]["request"] == "what did we do?"
    assert served.files_with("wombatgarden") == []


def test_the_off_switch_is_about_hooks_only(machine: Machine, tmp_path: Path) -> None:
    machine.home.off_switch.touch()
    machine.start_worker()
    assert store(machine, turns_of(fixed_bug("s1"), tmp_path))["turns"] == 1


def test_only_events_of_the_past_can_be_imported(served: Machine) -> None:
    for name in (spool_name("Stop"), "nonsense"):
        given = {"turns": [{"session": "s", "name": name, "events": [{"name": name, "payload": {}}]}]}
        assert served.ask("POST", "/api/import", given).status == 400


# Knowing.


def test_a_turn_is_known_once_it_is_stored(served: Machine, tmp_path: Path) -> None:
    turns = turns_of(fixed_bug("i-known"), tmp_path)
    assert known(served, turns) == {"known": [], "excluded": [], **NOT_PAUSED}
    store(served, turns)
    assert known(served, turns) == {"known": [turns[0].name], "excluded": [], **NOT_PAUSED}


def test_a_turn_that_another_session_repeats_is_known(served: Machine, tmp_path: Path) -> None:
    first = fixed_bug("i-first")
    store(served, turns_of(first, tmp_path))
    fork = PastSession("i-fork", lines=[{**line, "sessionId": "i-fork", "promptId": "p"} for line in first.lines])
    assert is_known(served, fork, tmp_path)


def test_a_turn_that_hooks_saw_is_known_by_its_prompt_id(served: Machine, tmp_path: Path) -> None:
    session = fixed_bug("i-hooked")
    see_live(served, "i-hooked", LONG_AGO + timedelta(hours=1), prompt_id=session.lines[0]["promptId"])
    assert is_known(served, session, tmp_path)


def test_another_prompt_of_a_session_that_hooks_saw_is_not_known(served: Machine, tmp_path: Path) -> None:
    see_live(served, "i-other", LONG_AGO, prompt_id="another")
    assert not is_known(served, fixed_bug("i-other"), tmp_path)


def test_where_one_side_has_no_prompt_id_the_moment_tells(served: Machine, tmp_path: Path) -> None:
    see_live(served, "i-moment", LONG_AGO + timedelta(seconds=6))
    see_live(served, "i-later", LONG_AGO + timedelta(seconds=60))
    assert is_known(served, fixed_bug("i-moment"), tmp_path)
    assert not is_known(served, fixed_bug("i-later"), tmp_path)


def test_two_imported_turns_of_one_moment_are_two(served: Machine, tmp_path: Path) -> None:
    session = PastSession("i-quick", prompt_ids=False).prompt("go").prompt("no, wait").says("Waiting.")
    first, second = turns_of(session, tmp_path)
    store(served, [first])
    assert known(served, [first, second])["known"] == [first.name]


def test_a_session_that_was_forgotten_does_not_come_back(served: Machine, tmp_path: Path) -> None:
    turns = turns_of(fixed_bug("i-forgotten"), tmp_path)
    store(served, turns)
    served.post("/api/forget", {"session": "i-forgotten"})
    assert session_of(served, "i-forgotten") is None
    more = turns_of(fixed_bug("i-forgotten").prompt("once more").says("Done."), tmp_path)
    assert set(known(served, more)["known"]) == {turn.name for turn in more}


def test_a_memory_that_was_forgotten_does_not_come_back(served: Machine, tmp_path: Path) -> None:
    turns = turns_of(fixed_bug("i-memory", 77), tmp_path)
    store(served, turns)
    found = served.get("/api/memories?all_projects=true")["memories"]
    served.post("/api/forget", {"ids": [one["id"] for one in found if one["session"] == "i-memory"]})
    assert known(served, turns)["known"] == [turns[0].name]
    assert store(served, turns)["memories"] == 0


# Settings.


def test_nothing_of_excluded_folders_is_kept(machine: Machine, tmp_path: Path) -> None:
    machine.home.config.write_text(f'exclude = ["{NEVER}"]\n')
    machine.start_worker()
    turns = turns_of(fixed_bug("s1", cwd=NEVER), tmp_path)
    assert known(machine, turns) == {
        "known": [],
        "excluded": [turns[0].name],
        "off": [],
        "excluded_then": [turns[0].name],
    }
    assert store(machine, turns) == {"turns": 0, "memories": 0, "ended": 0, "unsure_lessons": 0}
    assert machine.post("/api/import", {"turns": [turn.as_rows() for turn in turns]})["turns"] == 0
    assert machine.row_count() == 0


def test_a_row_with_the_name_of_a_live_event_is_refused(tmp_path: Path) -> None:
    (turn,) = turns_of(fixed_bug("s1"), tmp_path)
    rows: Json = turn.as_rows()["events"]
    row = PastRow.model_validate(rows[0])
    assert row.arrival(lambda _: False)
    live = row.model_copy(update={"name": spool_name("UserPromptSubmit")})
    with pytest.raises(MemoryLiteError, match="is not the name of an event of the past"):
        live.arrival(lambda _: False)


def test_with_a_broken_configuration_nothing_is_imported(machine: Machine, tmp_path: Path) -> None:
    machine.home.config.write_text("exclude = 7\n")
    machine.start_worker()
    turns = turns_of(fixed_bug("s1"), tmp_path)
    answer = machine.ask("POST", "/api/import", {"turns": [turn.as_json() for turn in turns]})
    assert (answer.status, machine.row_count()) == (400, 0)
    assert "exclude" in answer.body["error"]["message"]


# Rendering.


def test_contexts_of_imported_sessions_are_rendered_once_the_import_is_over(machine: Machine, tmp_path: Path) -> None:
    machine.start_worker()
    shop = tmp_path / "shop"
    shop.mkdir()
    rendered = machine.home.rendered_for(str(shop))
    for number in range(3):
        at = LONG_AGO + timedelta(days=number)
        store(machine, turns_of(fixed_bug(f"s{number}", number, at, str(shop)), tmp_path))
        assert not rendered.exists()
    machine.drain()
    assert b"total_2" in rendered.read_bytes()


# Beside hooks that see the same session.


def begin_live(machine: Machine, session: str) -> None:
    """A turn that hooks see and that still goes on, taken in."""
    edit = {"file_path": "/home/dev/shop/parser.py", "old_string": "a", "new_string": "def quote(): b"}
    for given in (
        payload("UserPromptSubmit", session, "/home/dev/shop", prompt="Keep quotes in the parser"),
        payload("PostToolUse", session, "/home/dev/shop", tool_name="Edit", tool_input=edit, tool_response={}),
    ):
        leave(machine.home, given)
    known(machine, [])


def end_live(machine: Machine, session: str) -> None:
    said = "Kept quotes in the parser. Next step: add a test for it."
    for given in commit_turns.ending(session, "/home/dev/shop", said, "parser.py"):
        leave(machine.home, given)
    known(machine, [])


def test_a_turn_that_goes_on_is_not_cut_in_two_by_an_import(served: Machine, tmp_path: Path) -> None:
    begin_live(served, "i-open")
    assert store(served, turns_of(fixed_bug("i-open"), tmp_path))["turns"] == 1
    end_live(served, "i-open")
    live = [row for row in served.rows() if row.session == "i-open" and "-0-" not in row.name]
    assert {row.turn for row in live} == {live[0].name}
    assert {row.status for row in live} == {"done"}


def test_a_turn_without_a_prompt_does_not_become_part_of_one_that_goes_on(machine: Machine, tmp_path: Path) -> None:
    past = fixed_bug("i-mixed")
    del past.lines[0]
    machine.start_worker()
    begin_live(machine, "i-mixed")
    assert store(machine, turns_of(past, tmp_path))["turns"] == 1
    end_live(machine, "i-mixed")
    found = machine.get("/api/memories?all_projects=true")["memories"]
    prompts = {one["files"][0]: one["prompt"] for one in found if one["files"]}
    assert set(prompts) == {"parser.py", "total_0.py"}
    assert prompts["parser.py"] != prompts["total_0.py"]


def test_old_turns_do_not_tell_how_a_session_stands_that_has_gone_on(served: Machine, tmp_path: Path) -> None:
    begin_live(served, "i-on")
    end_live(served, "i-on")
    before = session_of(served, "i-on")
    past = fixed_bug("i-on").prompt("now the tax").edits("/home/dev/shop/tax.py", "a", "def tax(): b")
    assert store(served, turns_of(past.says("Next: fix the tax for books."), tmp_path))["turns"] == 2
    after = session_of(served, "i-on")
    assert before["summary"]["next_steps"] == ["Add a test for it."]
    assert (after["summary"], after["status"]) == (before["summary"], "active")


# Forgotten sessions.


def forked(session: PastSession, id_: str) -> PastSession:
    """The same lines under another session's name, as older clients wrote them when they went on with one."""
    session.id = id_
    for line in session.lines:
        line["sessionId"] = id_
    return session


def test_a_forgotten_session_does_not_come_back_by_a_fork_of_it(served: Machine, tmp_path: Path) -> None:
    store(served, turns_of(fixed_bug("i-gone"), tmp_path))
    served.post("/api/forget", {"session": "i-gone"})
    assert is_known(served, forked(fixed_bug("i-gone"), "i-fork"), tmp_path)


def test_a_turn_that_hooks_saw_is_known_in_a_fork(served: Machine, tmp_path: Path) -> None:
    past = fixed_bug("i-seen")
    see_live(served, "i-seen", LONG_AGO, prompt_id=past.lines[0]["promptId"])
    assert is_known(served, forked(past, "i-seen-fork"), tmp_path)


def test_a_session_forgotten_in_the_middle_of_its_import_stays_forgotten(served: Machine, tmp_path: Path) -> None:
    turns = turns_of(fixed_bug("i-between"), tmp_path)
    store(served, turns)
    served.post("/api/forget", {"session": "i-between"})
    assert store(served, turns) == {"turns": 0, "memories": 0, "ended": 0, "unsure_lessons": 0}
    assert session_of(served, "i-between") is None
    assert [row for row in served.rows() if row.session == "i-between"] == []
