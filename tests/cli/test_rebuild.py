"""`rebuild` waits until the worker has made everything anew, and says what came of it."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite.install.doctor.worker_checks import check_composer
from claude_mem_lite.paths import Home
from claude_mem_lite.responses.status import Health
from tests.support.fake_worker import HEALTH, FakeWorker, fake_worker, run
from tests.support.past_sessions import Json
from tests.support.running import wait_until

TURN = "01772442001000000000-0-0123abcd-UserPromptSubmit"


@pytest.fixture
def worker(home: Home) -> Iterator[FakeWorker]:
    with fake_worker(home) as worker:
        worker.answer("POST /api/rebuild", {"waiting": 3, "documents": 3, "problem": ""})
        worker.answer("GET /api/index", {"waiting": 0, "documents": 3, "problem": ""})
        yield worker


def test_it_ends_when_nothing_waits_any_more(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rebuild") == 0
    assert [each.path for each in worker.seen if each.path != "/api/health"] == ["/api/rebuild", "/api/index"]
    told = capsys.readouterr()
    assert told.out == "Rebuilt the index of 3 memories and passages.\n"
    assert told.err == "Indexing 3 documents.\n"


def test_json_tells_how_many_documents_there_are(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    assert worker.seen == []
    assert run("rebuild", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"documents": 3}


def test_it_fails_when_no_vectors_can_be_made(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/index", {"waiting": 0, "documents": 3, "problem": "no vectors can be made: OSError"})
    assert run("rebuild") == 1
    told = capsys.readouterr().err
    assert "words are indexed anew, but no vectors can be made" in told
    assert "`claude-mem-lite doctor` says what to do" in told


def test_it_says_that_the_next_worker_goes_on_when_this_one_ends(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.hang_up.add("/api/index")
    assert run("rebuild") == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "the worker ended before everything was indexed; what is left is done as soon as one runs again" in told.err


def test_it_says_that_it_waits_for_a_rebuild_that_is_under_way(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("POST /api/rebuild", {"waiting": 3, "documents": 3, "problem": "", "joined": True})
    assert run("rebuild") == 0
    assert "A rebuild is under way already; waiting for it.\n" in capsys.readouterr().err


def test_status_tells_what_is_still_to_be_indexed(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/health", {**HEALTH, "unindexed": 12})
    run("status")
    assert "5, 1 of them from today; 12 documents still to be indexed" in capsys.readouterr().out


def test_status_tells_why_there_is_no_search_by_meaning(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/health", {**HEALTH, "unindexed": 0, "index_problem": "no vectors can be made: OSError"})
    run("status")
    told = capsys.readouterr().out
    assert "still to be indexed" not in told
    assert "; no vectors can be made: OSError, so search goes by words alone (`claude-mem-lite doctor` says" in told


NONE: Json = {"turns": 0, "left": 0, "kept": 0, "reworded": 0, "new": 0, "taken_back": 0, "unsure": 0}


def test_rebuilding_memories_says_so_when_there_is_nothing_to_do(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/rebuild/memories", {"sessions": []})
    worker.answer("GET /api/sessions", {"sessions": [{"id": "s1"}]})
    assert run("rebuild", "--memories") == 0
    assert capsys.readouterr().out == "Every turn has the memories that this version makes of it.\n"
    worker.answer("GET /api/sessions", {"sessions": []})
    assert run("rebuild", "--memories") == 0
    assert capsys.readouterr().out == "There are no sessions yet.\n"


def test_rebuilding_memories_of_no_home_makes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLAUDE_MEM_LITE_HOME", str(tmp_path / "none"))
    assert run("rebuild", "--memories") == 0
    assert capsys.readouterr().out == "There are no sessions yet.\n"
    assert not (tmp_path / "none").exists()


def test_rebuilding_memories_adds_up_what_the_worker_tells(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    turn: Json = {
        "turn": TURN,
        "prompt_id": "",
        "began_at": "2026-03-02T09:00:00+00:00",
        "kept_bytes": 10,
        "is_left": False,
    }
    worker.answer("GET /api/rebuild/memories", {"sessions": [{"id": "s1", "turns": 1}, {"id": "s2", "turns": 1}]})
    worker.answer("GET /api/rebuild/memories/turns", {"turns": [turn]})
    worker.answer("POST /api/rebuild/memories", {**NONE, "turns": 1, "kept": 2, "taken_back": 600, "changes": []})
    assert run("rebuild", "--memories", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    sums = {"sessions": 2, "turns": 2, "kept": 4, "taken_back": 1200, "changes": []}
    assert told == {**NONE, "dry_run": False, **sums}
    assert run("rebuild", "--memories", "--dry-run") == 0
    out = capsys.readouterr().out
    assert out == "Would rebuild the memories of 2 turns: 4 kept, 0 reworded, 0 new, 1,200 taken back.\n"


def test_ctrl_c_counts_the_batch_under_way_and_says_how_to_go_on(worker: FakeWorker) -> None:
    turn: Json = {
        "turn": TURN,
        "prompt_id": "",
        "began_at": "2026-03-02T09:00:00+00:00",
        "kept_bytes": 10,
        "is_left": False,
    }
    worker.answer("GET /api/rebuild/memories", {"sessions": [{"id": "s1", "turns": 1}, {"id": "s2", "turns": 1}]})
    worker.answer("GET /api/rebuild/memories/turns", {"turns": [turn]})
    done = worker.answer_later("POST /api/rebuild/memories", {**NONE, "turns": 1, "kept": 2, "changes": []})
    line = [str(Path(sys.executable).parent / "claude-mem-lite"), "rebuild", "--memories"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as rebuilding:
        wait_until(lambda: any(one.method == "POST" for one in worker.seen), "the first batch")
        rebuilding.send_signal(signal.SIGINT)
        done.set()
        out, err = rebuilding.communicate(timeout=30)
    assert rebuilding.returncode == 130
    assert out == "Rebuilt the memories of 1 turn: 2 kept, 0 reworded, 0 new, 0 taken back.\n"
    assert err.startswith("Rebuilding the memories of 2 turns in 2 sessions.\n")
    assert "Stopped. What is rebuilt is kept; the same command goes on with the rest." in err


@pytest.mark.parametrize("options", [("--dry-run",), ("--project", "shop"), ("--cwd", "/")])
def test_the_index_is_rebuilt_as_a_whole(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    assert run("rebuild", *options) == 2
    assert "go with --memories" in capsys.readouterr().err
    assert worker.seen == []


def test_doctor_offers_the_rebuild_of_older_memories_as_no_fault() -> None:
    (check,) = check_composer(Health(pid=1, stale_turns=1_200))
    assert check.state == "ok"
    assert check.found.startswith("1,200 turns have memories of an older version")
    assert "`claude-mem-lite rebuild --memories`" in check.next_step
    assert check_composer(Health(pid=1)) == []
