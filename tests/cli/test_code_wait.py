"""`code` waits while the worker reads, and says what it waits for."""

import json
from collections.abc import Iterator

import pytest

from claude_mem_lite.cli.code import ProgressLines
from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home
from tests.support.fake_worker import Answer, FakeWorker, fake_worker, run

FOUND: dict[str, JsonValue] = {
    "root": "/srv/shop",
    "files": 900,
    "too_large": 2,
    "is_cut": True,
    "total": 3,
    "suggestions": [],
    "symbols": [
        {
            "file": "a.py",
            "name": "\x1b[31mf",
            "kind": "function",
            "signature": "def f()",
            "line": 3,
            "last_line": 4,
            "callers": [],
            "callers_total": 0,
            "unclear": 7,
            "heirs": 1,
        }
    ],
}


@pytest.fixture
def worker(home: Home) -> Iterator[FakeWorker]:
    with fake_worker(home) as worker:
        worker.answer("GET /api/code", FOUND)
        yield worker


def test_what_was_left_out_is_said(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("code", "callers", "f") == 0
    told = capsys.readouterr()
    assert told.out.splitlines() == [
        "f  a.py:3",
        "    def f()",
        "  no call of it was found; callbacks and calls by reflection are not followed",
        "  1 class names it as base",
        "    7 calls of this name are on objects whose type the code does not tell",
        "… and 2 more symbols of that name; name a class or a file to see fewer",
    ]
    assert told.err.splitlines() == [
        "The project has more files than are read; 900 files were.",
        "2 files over 1 MiB were not read.",
    ]


class Reading(dict[str, Answer]):
    """Answers of a worker that is still reading code when it is asked for the first time."""

    times_asked = 0

    def get(self, key: str, default: Answer, /) -> Answer:  # type: ignore[override]
        self.times_asked += key == "GET /api/code"
        is_first = key == "GET /api/code" and self.times_asked == 1
        return (200, {"reading": {"done": 3, "total": 900}}) if is_first else super().get(key, default)


def test_it_asks_again_until_everything_is_read(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answers = Reading(worker.answers)
    assert run("code", "symbols", "f") == 0
    assert [seen.path for seen in worker.seen if seen.path != "/api/health"] == ["/api/code", "/api/code"]
    assert capsys.readouterr().err.splitlines()[:2] == [
        "Reading 900 files for the first time.",
        "Ctrl-C is safe: the next call goes on where this one stopped.",
    ]


def test_without_a_terminal_a_line_every_ten_seconds_says_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0.0, 5.0, 10.0, 10.0, 19.0, 21.0, 21.0])
    lines = ProgressLines(9000, lambda: next(times))
    for done in (100, 200, 300, 400):
        lines.advance(done)
    assert capsys.readouterr().err.splitlines()[2:] == ["200 of 9,000 files read.", "400 of 9,000 files read."]


def test_the_folder_and_the_limit_are_handed_on(worker: FakeWorker, home: Home) -> None:
    assert run("code", "callees", "A.b", "--cwd", str(home.root), "--limit", "3") == 0
    asked = next(seen for seen in worker.seen if seen.path == "/api/code")
    assert asked.query == (
        ("what", "callees"),
        ("name", "A.b"),
        ("cwd", str(home.root.resolve())),
        ("all_projects", "false"),
        ("limit", "3"),
    )


def test_an_empty_name_is_a_mistake(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("code", "symbols", " ") == 2
    assert "the name is empty" in capsys.readouterr().err


def test_an_unknown_name_is_an_error_as_json_too(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/code", {**FOUND, "symbols": [], "total": 0, "suggestions": ["renew", "review"]})
    assert run("code", "symbols", "rennew", "--json") == 1
    told = capsys.readouterr()
    assert json.loads(told.out)["suggestions"] == ["renew", "review"]
    assert "did you mean renew or review?" in told.err
    assert "git" not in told.err


def test_what_was_left_out_is_said_when_nothing_is_found_too(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/code", {**FOUND, "symbols": [], "total": 0, "by_git": True})
    assert run("code", "symbols", "renew") == 1
    told = capsys.readouterr().err
    assert "The project has more files than are read; 900 files were." in told
    assert "2 files over 1 MiB were not read." in told
    assert (
        "nothing in /srv/shop is called 'renew' among the 900 source files that git tracks; "
        "a new file is seen after `git add`" in told
    )


def test_why_a_file_is_not_read_is_said(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/code", {**FOUND, "symbols": [], "total": 0, "why": "a.kt is in a language"})
    assert run("code", "symbols", "a.kt") == 1
    assert "a.kt is in a language" in capsys.readouterr().err
