"""The `config` command: settings with where they come from."""

import json
from collections.abc import Iterator

import pytest

from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home
from tests.unit.fake_worker import FakeWorker, fake_worker, run

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
