"""Tests of `cli/setup/past_sessions.py`: the agents that seem to have sessions, by the names of their files."""

from pathlib import Path

import pytest

from claude_mem_lite.cli.setup.past_sessions import agents_with_past
from tests.support import agent_files as made
from tests.support.past_sessions import fixed_bug


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        ".local/share/opencode/auth.json",
        ".local/share/opencode/snapshot/shop/session-1.json",
        ".local/share/opencode/snapshot/shop/opencode.db",
        ".gemini/tmp/shop/logs.json",
        ".copilot/session-state/p1/workspace.json",
        ".claude/projects/-home-dev-shop/sessions.json",
    ],
)
def test_files_without_sessions_count_as_none(user: Path, name: str) -> None:
    made.write_json(user / name, {})
    assert agents_with_past({}) == []


def test_every_agent_with_a_session_is_named(user: Path) -> None:
    fixed_bug("s1").write(user / ".claude" / "projects" / "-home-dev-shop")
    made.write_lines(user / ".codex" / "sessions" / "2026" / "rollout-c1.jsonl", made.codex_session())
    made.write_lines(user / ".copilot" / "session-state" / "p1" / "events.jsonl", made.copilot_session())
    made.write_lines(made.gemini_folder(user) / "session-g1.jsonl", [made.gemini_head(), *made.gemini_messages()])
    made.opencode_files(user / ".local" / "share")
    assert agents_with_past({}) == ["Claude Code", "Codex CLI", "Copilot CLI", "Gemini CLI", "OpenCode"]
