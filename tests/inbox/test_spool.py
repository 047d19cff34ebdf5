"""What hooks left on disk, read in order, and removed only when told to."""

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest

from claude_mem_lite.agents import codex, copilot
from claude_mem_lite.event_names import is_spool_name
from claude_mem_lite.inbox import spool
from claude_mem_lite.inbox.spool import Arrival, SpoolBatch, batches, leave, read_arrival, remove
from claude_mem_lite.paths import Home

GONE = 4_194_305
"""A process id above the highest that Linux gives out."""


@pytest.fixture
def place(home: Home) -> Iterator[Path]:
    """The first fallback place of the home."""
    folder = home.fallback_spools()[0]
    folder.mkdir(mode=0o700)
    yield folder
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


def test_events_are_read_oldest_first_from_every_place(home: Home, place: Path) -> None:
    put(home.spool_new, 3)
    put(place, 1)
    put(home.spool_tmp, 2)
    put(place, 4, prefix=".tmp-")
    (batch,) = batches(home, nothing)
    assert [arrival.session for arrival in batch.arrivals] == ["s-1", "s-2", "s-3", "s-4"]
    assert [arrival.name for arrival in batch.arrivals] == [name(number) for number in (1, 2, 3, 4)]


def test_files_stay_until_they_are_told_to_go(home: Home) -> None:
    path = put(home.spool_new, 1)
    (batch,) = batches(home, nothing)
    assert path.exists()
    remove(batch)
    assert not path.exists()
    remove(batch)


def test_many_events_come_in_pieces(home: Home) -> None:
    for number in range(250):
        put(home.spool_new, number)
    assert [len(batch.arrivals) for batch in batches(home, nothing)] == [100, 100, 50]


def test_big_events_come_in_smaller_pieces(home: Home) -> None:
    for number in range(3):
        put(home.spool_new, number, words="x" * (spool.BATCH_BYTES // 2))
    assert [len(batch.arrivals) for batch in batches(home, nothing)] == [2, 1]


def test_a_file_whose_hook_still_runs_is_not_read(home: Home) -> None:
    put(home.spool_tmp, 1, pid=os.getpid())
    assert list(batches(home, nothing)) == []


def test_a_file_that_nobody_has_touched_for_long_is_read_whoever_has_the_number_of_its_hook(home: Home) -> None:
    path = put(home.spool_tmp, 1, pid=os.getpid())
    long_ago = path.stat().st_mtime - spool.ABANDONED_AFTER_S - 5
    os.utime(path, (long_ago, long_ago))
    (batch,) = batches(home, nothing)
    assert [arrival.session for arrival in batch.arrivals] == ["s-1"]


def test_files_with_other_names_are_not_ours(home: Home) -> None:
    for other in ("README", "1-2-3-Stop", ".tmp-x", name(1) + ".bak"):
        (home.spool_new / other).write_text("{}")
    assert list(batches(home, nothing)) == []


def test_a_missing_spool_holds_nothing(tmp_path: Path) -> None:
    assert list(batches(Home(tmp_path / "nowhere"), nothing)) == []


def test_a_fallback_place_that_others_can_look_into_is_not_read(home: Home, place: Path) -> None:
    put(place, 1)
    place.chmod(0o755)
    assert list(batches(home, nothing)) == []


def test_a_fallback_place_that_is_a_link_is_not_followed(home: Home, place: Path) -> None:
    elsewhere = home.root / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    put(elsewhere, 1)
    place.rmdir()
    place.symlink_to(elsewhere)
    try:
        assert list(batches(home, nothing)) == []
    finally:
        place.unlink()
        place.mkdir()


def test_a_file_that_cannot_be_read_is_told_and_stays(home: Home) -> None:
    """Too many open files, say, or one that belongs to another user: it may be readable later."""
    secret = home.root / "secret"
    secret.write_text("not for the inbox")
    link = home.spool_new / name(1)
    link.symlink_to(secret)
    put(home.spool_new, 2)
    (batch,) = batches(home, nothing)
    assert [bool(arrival.problem) for arrival in batch.arrivals] == [True, False]
    assert batch.arrivals[0].payload == ""
    remove(batch)
    assert [path.name for path in home.spool_new.iterdir()] == [name(1)]


def test_a_folder_among_the_events_keeps_none_of_them_back(home: Home) -> None:
    (home.spool_new / name(1)).mkdir()
    put(home.spool_new, 2)
    (batch,) = batches(home, nothing)
    remove(batch)
    assert [arrival.session for arrival in batch.arrivals] == ["", "s-2"]


def test_a_file_that_cannot_be_removed_keeps_none_of_the_others(home: Home) -> None:
    folder = home.spool_new / name(1)
    folder.mkdir()
    path = put(home.spool_new, 2)
    remove(SpoolBatch((), (folder, path)))
    assert not path.exists()


def test_events_of_excluded_folders_are_only_removed(home: Home) -> None:
    put(home.spool_new, 1, cwd="/private")
    put(home.spool_new, 2)
    (batch,) = batches(home, lambda folder: folder == "/private")
    assert [arrival.session for arrival in batch.arrivals] == ["s-2"]
    assert len(batch.files) == 2


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_pieces_of_events_of_excluded_folders_are_only_removed(cut: int) -> None:
    raw = json.dumps({"cwd": '/pri"vate', "prompt": "words and words and words"}).encode()[:-cut]
    assert read_arrival(name(1), raw, lambda folder: folder == '/pri"vate') is None


def test_the_argument_of_the_hook_stands_in_for_a_missing_event_name() -> None:
    arrival = read_arrival(name(1), b'{"session_id":"s-1"}', nothing)
    assert arrival is not None
    assert arrival.event == "Stop"
    assert json.loads(arrival.payload)["hook_event_name"] == "Stop"


def test_an_unreadable_event_is_known_by_the_argument_of_the_hook() -> None:
    assert read_arrival(name(1), b"[1]", nothing) == Arrival(
        name(1), "Stop", "", "[1]", 3, "the payload is a JSON list, not an object"
    )


def test_an_event_that_trips_whoever_reads_it_is_told_and_keeps_none_of_the_others_back(home: Home) -> None:
    def excluded(folder: str) -> bool:
        if folder == "/odd":
            raise LookupError(folder)
        return False

    bad = put(home.spool_new, 1, cwd="/odd", words="not to be kept")
    put(home.spool_new, 2)
    (batch,) = batches(home, excluded)
    assert [arrival.session for arrival in batch.arrivals] == ["", "s-2"]
    size, reason = bad.stat().st_size, "the payload could not be read: LookupError"
    assert batch.arrivals[0] == Arrival(name(1), "Stop", "", "", size, reason)
    remove(batch)
    assert list(home.spool_new.iterdir()) == []


@pytest.mark.parametrize("obstacle", [FileNotFoundError("no package"), ImportError("no module")])
def test_an_event_that_this_machine_cannot_read_for_now_stays(home: Home, obstacle: Exception) -> None:
    """An upgrade removes the files of the package for a moment."""

    def excluded(folder: str) -> bool:
        if folder == "/odd":
            raise obstacle
        return False

    kept = put(home.spool_new, 1, cwd="/odd")
    put(home.spool_new, 2)
    (batch,) = batches(home, excluded)
    size, reason = kept.stat().st_size, f"the event cannot be read for now: {type(obstacle).__name__}"
    assert batch.arrivals[0] == Arrival(name(1), "Stop", "", "", size, reason)
    assert batch.arrivals[1].session == "s-2"
    remove(batch)
    assert list(home.spool_new.iterdir()) == [kept]
    (batch,) = batches(home, nothing)
    assert [(arrival.session, arrival.problem) for arrival in batch.arrivals] == [("s-1", "")]


def test_what_is_left_of_an_event_may_trip_it_too(home: Home) -> None:
    def excluded(folder: str) -> bool:
        raise LookupError(folder)

    arrival = read_arrival(name(1), b'{"cwd": "/odd", "prompt"', excluded)
    assert arrival is not None
    assert (arrival.payload, arrival.problem) == ("", "the payload could not be read: LookupError")


def test_an_event_can_be_left_as_a_hook_leaves_it(home: Home) -> None:
    leave(home, name(1), b'{"session_id":"s-1"}')
    (batch,) = batches(home, nothing)
    assert [arrival.session for arrival in batch.arrivals] == ["s-1"]
    assert list(home.spool_tmp.iterdir()) == []


STOPPED = datetime(2026, 11, 15, 12, tzinfo=UTC)


def put_copilot(home: Home, number: int, session: str, kind: str, log: Path, **more: object) -> str:
    """An event of Copilot that came with or after a stop, whose message its log gets later."""
    named = f"{number:020d}-{GONE}-{number:08x}-{kind}_copilot"
    given = {"session_id": session, "cwd": "/", "timestamp": STOPPED.isoformat(), "transcript_path": str(log), **more}
    leave(home, named, json.dumps(given).encode())
    return named


def names_at(home: Home, age_s: float) -> tuple[list[str], bool]:
    """The events that are taken some time after the stop, and whether others are left."""
    found = list(batches(home, nothing, now_s=STOPPED.timestamp() + age_s))
    taken = [arrival.name for batch in found for arrival in batch.arrivals]
    assert taken == [path.name for batch in found for path in batch.files]
    return taken, any(batch.is_incomplete for batch in found)


def test_an_event_that_its_agent_has_not_written_whole_is_left_with_the_later_ones_of_its_session(
    home: Home, tmp_path: Path
) -> None:
    log = tmp_path / "events.jsonl"
    stop = put_copilot(home, 1, "s-1", "Stop", log)
    end = put_copilot(home, 2, "s-1", "SessionEnd", log)
    other = put_copilot(home, 3, "s-2", "UserPromptSubmit", log, prompt="go on")
    assert names_at(home, 0.1) == ([other], True)
    assert names_at(home, 3) == ([stop, end, other], False)
    log.write_text(json.dumps({"type": "agentStop", "timestamp": round(STOPPED.timestamp() * 1000)}))
    assert names_at(home, 0.1) == ([stop, end, other], False)


@pytest.mark.parametrize(("agent", "event"), [(copilot, "Stop_copilot"), (codex, "PostToolUse_codex")])
def test_no_log_of_an_excluded_folder_is_read(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: ModuleType, event: str
) -> None:
    monkeypatch.setattr(agent, "last_lines", lambda _: pytest.fail("it was read"))
    call = {"tool_name": "Bash", "tool_use_id": "c", "tool_input": {"command": "ls"}, "tool_response": ""}
    payload = {"session_id": "s", "cwd": "/private", "timestamp": STOPPED.isoformat(), **call}
    raw = json.dumps({**payload, "transcript_path": str(tmp_path / "events.jsonl")}).encode()
    assert read_arrival(f"{1:020d}-1-00000001-{event}", raw, lambda folder: folder == "/private") is None


@pytest.mark.parametrize(
    "wrong", ["", "Stop", "1-2-3-Stop", f"{'0' * 20}-1-00000000-", f"{'0' * 20}-1-0000000g-Stop", f"x{'0' * 20}"]
)
def test_other_names_are_no_names_of_events(wrong: str) -> None:
    assert not is_spool_name(wrong)


def name(number: int, pid: int = GONE) -> str:
    return f"{number:020d}-{pid}-{number:08x}-Stop"


def put(folder: Path, number: int, *, pid: int = GONE, prefix: str = "", cwd: str = "/", words: str = "") -> Path:
    path = folder / (prefix + name(number, pid))
    path.write_text(json.dumps({"session_id": f"s-{number}", "cwd": cwd, "prompt": words}))
    return path


def nothing(_: str) -> bool:
    """No folder is excluded."""
    return False
