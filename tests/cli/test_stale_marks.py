"""What commands tell about memories that the code has left behind: doctor --stale, and the marks in search and show."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home
from tests.support.fake_worker import HIT, MEMORY, FakeWorker, fake_worker, run

CHANGED: dict[str, JsonValue] = {"verdict": "changed", "reasons": ["src/auth.py::renew changed"]}
GONE: dict[str, JsonValue] = {"verdict": "gone", "reasons": ["src/auth.py is gone"]}


@pytest.fixture
def worker(home: Home) -> Iterator[FakeWorker]:
    with fake_worker(home) as worker:
        yield worker


def stale(id_: str, verdict: str, reason: str) -> dict[str, JsonValue]:
    status = "retired" if verdict == "retired" else "active"
    return {**HIT, "id": id_, "status": status, "verdict": verdict, "reasons": [reason]}


def answer(*memories: JsonValue, checked: int = 3, unchecked: int = 0) -> JsonValue:
    return {"project": "shop", "excluded": False, "memories": memories, "checked": checked, "unchecked": unchecked}


@pytest.mark.parametrize(
    ("more", "mark"),
    [
        ({"freshness": CHANGED}, " [may be stale]  ["),
        ({"freshness": GONE}, " [code is gone]  ["),
        ({"freshness": None, "elsewhere": "feature/x"}, " [on branch feature/x]  ["),
        ({"freshness": CHANGED, "elsewhere": "next"}, " [may be stale] [on branch next]  ["),
        ({"freshness": {"verdict": "fresh", "reasons": ["src/auth.py moved to a.py"]}}, "race  [bugfix"),
        ({}, "race  [bugfix"),
    ],
)
def test_a_hit_is_marked_after_its_title(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str], more: dict[str, JsonValue], mark: str
) -> None:
    worker.answer("GET /api/search", {"hits": [{**HIT, **more}]})
    run("search", "token")
    assert mark in capsys.readouterr().out.splitlines()[0]


def test_search_json_has_no_other_keys_than_the_agreed_ones(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/search", {"hits": [{**HIT, "freshness": CHANGED, "elsewhere": "next"}]})
    run("search", "token", "--json")
    assert json.loads(capsys.readouterr().out) == [HIT]


def test_a_listed_memory_is_marked_after_its_title(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/memories", {"memories": [{**MEMORY, "freshness": GONE}]})
    run("list")
    assert capsys.readouterr().out.endswith("\tFix the token refresh race [code is gone]\n")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"freshness": {"verdict": "fresh", "reasons": []}}, "state: fresh, it matches the code"),
        ({"freshness": CHANGED}, "state: may be stale: src/auth.py::renew changed"),
        ({"freshness": GONE}, "state: its code is gone: src/auth.py is gone"),
        ({"elsewhere": "next"}, "state: made on branch next, whose work is not here"),
        ({"retired_because": "its branch x is gone"}, "state: retired, because its branch x is gone"),
    ],
)
def test_show_tells_how_it_stands_with_a_memory(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str], more: dict[str, JsonValue], told: str
) -> None:
    worker.answer("GET /api/records/k7f3a9", {**MEMORY, **more})
    run("show", "k7f3a9")
    assert told in capsys.readouterr().out.splitlines()


def test_show_asks_from_the_current_folder(
    worker: FakeWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/records/k7f3a9", MEMORY)
    monkeypatch.chdir(tmp_path)
    run("show", "k7f3a9")
    assert dict(worker.last("/api/records/k7f3a9").query) == {"cwd": str(tmp_path)}
    assert "state:" not in capsys.readouterr().out


def test_doctor_stale_lists_what_the_code_has_left_behind_and_what_to_do(
    worker: FakeWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = (
        stale("aaaaaaaaaa", "changed", "src/auth.py::renew changed"),
        stale("bbbbbbbbbb", "retired", "its branch spike is gone, unmerged"),
        stale("cccccccccc", "gone", "src/old.py is gone"),
    )
    worker.answer("GET /api/stale", answer(*found))
    monkeypatch.chdir(tmp_path)
    assert run("doctor", "--stale") == 0
    assert dict(worker.last("/api/stale").query) == {"cwd": str(tmp_path)}
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith("  ")] == [
        "May be stale, because their code has changed:",
        "Their code is gone:",
        "Retired, and active again as soon as their code or branch is back:",
        "`claude-mem-lite show ID` shows one in full; `claude-mem-lite retire ID` stops giving it to sessions.",
    ]
    assert lines[1].startswith("  aaaaaaaaaa  Fix the token refresh race  [bugfix, ")
    assert lines[2] == "      src/auth.py::renew changed"
    assert "[bugfix, retired, " in lines[7]


@pytest.mark.parametrize(
    ("checked", "told"),
    [
        (1, "All is fresh: 1 memory matches the code."),
        (34, "All is fresh: 34 memories match the code."),
        (0, "No memory of this project is tied to code that could have changed."),
    ],
)
def test_nothing_stale_is_said(worker: FakeWorker, capsys: pytest.CaptureFixture[str], checked: int, told: str) -> None:
    worker.answer("GET /api/stale", answer(checked=checked))
    assert run("doctor", "--stale") == 0
    assert capsys.readouterr().out == f"{told}\n"


def test_what_could_not_be_checked_is_counted(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/stale", answer(unchecked=1_200))
    run("doctor", "--stale")
    assert "1,200 memories could not be checked in time" in capsys.readouterr().out


def test_an_excluded_folder_is_not_looked_at(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/stale", {"project": "shop", "excluded": True, "memories": [], "checked": 0, "unchecked": 0})
    run("doctor", "--stale")
    assert capsys.readouterr().out.startswith("This folder is excluded by the configuration")


def test_doctor_stale_json_is_what_the_worker_answers(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    given = answer(stale("aaaaaaaaaa", "gone", "src/old.py is gone"), unchecked=2)
    worker.answer("GET /api/stale", given)
    assert run("doctor", "--stale", "--json") == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(given))
