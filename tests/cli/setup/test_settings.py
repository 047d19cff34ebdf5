"""The `config` command: settings with where they come from."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home
from tests.support.fake_worker import FakeWorker, fake_worker, run

TOLD: dict[str, JsonValue] = {
    "file": "/home/dev/.claude-mem-lite/config.toml",
    "project_file": "/home/dev/shop/.claude-mem-lite.toml",
    "problems": ["a project may not set debug; it may say budget_tokens"],
    "settings": [
        {"key": "budget_tokens", "value": 500, "sources": ["project file"], "variable": "CLAUDE_MEM_LITE_BUDGET"},
        {"key": "preset", "value": "codes", "sources": ["environment"], "variable": "CLAUDE_MEM_LITE_PRESET"},
        {"key": "presets", "value": {"mine": {"sessions": 5}}, "sources": ["file"], "variable": ""},
        {"key": "exclude", "value": ["~/a", "/home/dev/shop/b"], "sources": ["file", "project file"], "variable": ""},
        {"key": "debug", "value": False, "sources": ["default"], "variable": "CLAUDE_MEM_LITE_DEBUG"},
    ],
}


@pytest.fixture
def worker(home: Home) -> Iterator[FakeWorker]:
    with fake_worker(home) as worker:
        worker.answer("GET /api/settings", TOLD)
        yield worker


def test_each_setting_has_a_line_with_who_said_so(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("config") == 0
    assert capsys.readouterr().out.splitlines() == [
        "budget_tokens\t500\t/home/dev/shop/.claude-mem-lite.toml",
        'preset\t"codes"\tCLAUDE_MEM_LITE_PRESET',
        "presets\t[presets.mine]\t/home/dev/.claude-mem-lite/config.toml",
        'exclude\t["~/a", "/home/dev/shop/b"]\t'
        "/home/dev/.claude-mem-lite/config.toml, /home/dev/shop/.claude-mem-lite.toml",
        "debug\tfalse\tdefault",
        "/home/dev/shop/.claude-mem-lite.toml: a project may not set debug; it may say budget_tokens; "
        "that is left out.",
    ]


def test_json_is_what_the_worker_told(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("config", "--json") == 0
    assert json.loads(capsys.readouterr().out) == TOLD


def test_a_broken_file_is_one_sentence(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.refuse("GET /api/settings", 400, "refused", "config.toml: unknown key x", "did you mean y?")
    assert run("config") == 1
    assert capsys.readouterr().err == "claude-mem-lite: config.toml: unknown key x; did you mean y?\n"


@pytest.mark.usefixtures("worker")
def test_the_path_of_the_file_stands_beside_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("config") == 0
    assert capsys.readouterr().err == f"{TOLD['file']} (not there, so the defaults hold)\n"


def test_a_hint_that_asks_is_not_followed_by_a_semicolon(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/settings", {**TOLD, "problems": ["a project may not set debg; did you mean debug?"]})
    assert run("config") == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("did you mean debug? That is left out.")


def test_without_a_data_folder_the_defaults_are_told_and_nothing_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("config") == 0
    shown = capsys.readouterr()
    assert "presets\t{}\tdefault" in shown.out.splitlines()
    assert str(tmp_path / "home" / "config.toml") in shown.err
    assert run("config", "--json") == 0
    told = {one["key"]: one["value"] for one in json.loads(capsys.readouterr().out)["settings"]}
    assert (told["budget_tokens"], told["presets"]) == (2000, {})
    assert not (tmp_path / "home").exists()
