"""The client as a model, with a program in its place that does what the test says."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from claude_mem_lite.compress.model.claude_cli_provider import ClaudeCliProvider
from claude_mem_lite.compress.model.request import ask
from claude_mem_lite.errors import ModelError, ModelRefused, ModelUnavailable
from claude_mem_lite.providers import CallLimits
from tests.compress.model.conftest import REQUEST
from tests.support import live_files
from tests.support.running import wait_until

MODEL = "claude-haiku-4-5-20251001"
REPORT = {
    "type": "result",
    "is_error": False,
    "api_error_status": None,
    "result": '```json\n{"memories": [{"kind": "fix", "title": "Run make before the tests", "summary": "s"}]}\n```',
    "total_cost_usd": 0.0021,
    "usage": {
        "input_tokens": 900,
        "cache_creation_input_tokens": 60,
        "cache_read_input_tokens": 40,
        "output_tokens": 120,
    },
}


def put_claude(folder: Path, body: str) -> None:
    """A program named claude, in a folder that is on the PATH."""
    folder.mkdir(exist_ok=True)
    program = folder / "claude"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)


def provider(folder: Path, more: Mapping[str, str] | None = None, timeout_s: float = 20.0) -> ClaudeCliProvider:
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", **(more or {})}
    return ClaudeCliProvider(MODEL, environment, limits=CallLimits(timeout_s))


def reporting(folder: Path, report: Mapping[str, object], code: int = 0) -> ClaudeCliProvider:
    (folder.parent / "report.json").write_text(json.dumps(report))
    put_claude(folder, f"cat >/dev/null; cat {folder.parent}/report.json; exit {code}")
    return provider(folder)


def test_its_report_becomes_memories_with_what_they_took(tmp_path: Path) -> None:
    told = ask(reporting(tmp_path / "bin", REPORT), REQUEST)
    assert [(draft.kind, draft.title) for draft in told.drafts] == [("bugfix", "Run make before the tests")]
    assert (told.usage.tokens_in, told.usage.tokens_out, told.usage.cost_usd) == (1_000, 120, 0.0021)


def test_it_is_run_in_an_empty_folder_without_tools_hooks_and_the_agents_variables(tmp_path: Path) -> None:
    put_claude(
        tmp_path / "bin",
        f'cat >{tmp_path}/stdin; env >{tmp_path}/env; ls -A >{tmp_path}/ls; printf "%s\\n" "$@" >{tmp_path}/arguments\n'
        f"cat {tmp_path}/report.json",
    )
    (tmp_path / "report.json").write_text(json.dumps(REPORT))
    leaked = {
        "CLAUDECODE": "1",
        "CLAUDE_CODE_SESSION_ID": "s1",
        "CLAUDE_PROJECT_DIR": "/somewhere",
        "ANTHROPIC_API_KEY": "sk-not-ours",
        "ANTHROPIC_BASE_URL": "http://gateway",
        "CLAUDE_MEM_LITE_HOME": "/somewhere",
    }
    wanted = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": "/config"}
    ask(provider(tmp_path / "bin", {**wanted, **leaked}), REQUEST)

    seen = dict(line.partition("=")[::2] for line in (tmp_path / "env").read_text().splitlines())
    assert not leaked.keys() & seen.keys()
    assert (seen["CLAUDE_MEM_LITE_INTERNAL"], seen["CLAUDE_CONFIG_DIR"]) == ("1", "/config")
    assert (seen["CLAUDE_CODE_MAX_OUTPUT_TOKENS"], seen["MAX_THINKING_TOKENS"]) == ("1024", "0")
    assert (tmp_path / "ls").read_text() == ""
    assert "is_valid" in (tmp_path / "stdin").read_text()
    arguments = (tmp_path / "arguments").read_text()
    assert "is_valid" not in arguments  # others can see the arguments of a process
    assert "-p\n--safe-mode\n--strict-mcp-config\n--disable-slash-commands\n--no-session-persistence\n--tools\n\n" in (
        arguments
    )
    assert f"--output-format\njson\n--model\n{MODEL}\n" in arguments


def test_a_configured_address_is_passed_on(tmp_path: Path) -> None:
    put_claude(tmp_path / "bin", f"cat >/dev/null; env >{tmp_path}/env; cat {tmp_path}/report.json")
    (tmp_path / "report.json").write_text(json.dumps(REPORT))
    environment = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    ask(ClaudeCliProvider(MODEL, environment, "http://127.0.0.1:9"), REQUEST)
    assert "ANTHROPIC_BASE_URL=http://127.0.0.1:9\n" in (tmp_path / "env").read_text()


@pytest.mark.parametrize(
    ("more", "error", "words"),
    [
        ({"api_error_status": 429}, ModelUnavailable, "status 429"),
        ({"api_error_status": 529}, ModelUnavailable, "status 529"),
        ({"api_error_status": 400}, ModelRefused, "status 400"),
        ({"api_error_status": 401}, ModelRefused, "not logged in; run `claude` and log in"),
        ({"result": "Not logged in · Please run /login"}, ModelRefused, "not logged in"),
        ({"result": "API Error: Unable to connect"}, ModelUnavailable, "could not be reached"),
    ],
)
def test_an_error_it_reports_is_told_apart(
    tmp_path: Path, more: dict[str, object], error: type[ModelError], words: str
) -> None:
    with pytest.raises(error, match=words):
        ask(reporting(tmp_path / "bin", {**REPORT, "is_error": True, **more}, code=1), REQUEST)


@pytest.mark.parametrize("more", [{"result": ""}, {"result": None}, {"result": 7}])
def test_an_empty_answer_is_refused_with_what_it_took(tmp_path: Path, more: dict[str, object]) -> None:
    with pytest.raises(ModelRefused, match="answered nothing") as caught:
        ask(reporting(tmp_path / "bin", {**REPORT, **more}), REQUEST)
    assert caught.value.usage.cost_usd == 0.0021


@pytest.mark.parametrize("body", ["echo 'error: unknown option' >&2; exit 1", "exit 3", "echo '[1]'", "kill -9 $$"])
def test_a_client_that_prints_no_report_should_be_updated(tmp_path: Path, body: str) -> None:
    put_claude(tmp_path / "bin", body)
    with pytest.raises(ModelRefused, match="update Claude Code"):
        ask(provider(tmp_path / "bin"), REQUEST)


def test_without_a_client_nothing_is_tried(tmp_path: Path) -> None:
    with pytest.raises(ModelRefused, match="there is no claude on the PATH"):
        ask(ClaudeCliProvider(MODEL, {"PATH": str(tmp_path)}), REQUEST)


def test_a_client_that_cannot_be_run_is_named(tmp_path: Path) -> None:
    put_claude(tmp_path / "bin", "")
    (tmp_path / "bin" / "claude").write_text("no program at all")
    with pytest.raises(ModelRefused, match="cannot be started"):
        ask(provider(tmp_path / "bin"), REQUEST)


def test_one_that_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    put_claude(tmp_path / "bin", f"sleep 60 & echo $! $$ >{tmp_path}/pids; wait")
    with pytest.raises(ModelUnavailable, match="did not answer in time"):
        ask(provider(tmp_path / "bin", timeout_s=5.0), REQUEST)
    for pid in map(int, (tmp_path / "pids").read_text().split()):
        wait_until(lambda pid=pid: _is_gone(pid), "the client to be gone")  # type: ignore[misc]


def test_what_it_left_running_does_not_outlive_the_call(tmp_path: Path) -> None:
    put_claude(tmp_path / "bin", f"(sleep 60 & echo $! >{tmp_path}/pids)")
    with pytest.raises(ModelUnavailable, match="did not answer in time"):
        ask(provider(tmp_path / "bin", timeout_s=5.0), REQUEST)
    pid = int((tmp_path / "pids").read_text())
    wait_until(lambda: _is_gone(pid), "what the client started to be gone")


def test_a_client_in_whatever_folder_we_are_in_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_claude(tmp_path / "bin", "echo ran >/dev/null")
    monkeypatch.chdir(tmp_path)
    for path in ("bin", ".", ""):
        with pytest.raises(ModelRefused, match="no claude on the PATH"):
            ask(ClaudeCliProvider(MODEL, {"PATH": path}), REQUEST)


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -1.0, None, "0.1", 10**400])
def test_a_cost_that_is_none_is_guessed(tmp_path: Path, cost: object) -> None:
    took = ask(reporting(tmp_path / "bin", {**REPORT, "total_cost_usd": cost}), REQUEST).usage
    assert (took.tokens_in, took.tokens_out) == (1_000, 120)
    assert 0 < took.cost_usd < 0.1


def test_an_error_is_counted_with_what_it_took(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as raised:
        ask(reporting(tmp_path / "bin", {**REPORT, "is_error": True, "api_error_status": 529}), REQUEST)
    assert raised.value.usage.cost_usd == 0.0021


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return live_files.is_zombie(pid)
