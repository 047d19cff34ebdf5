"""No test sees the developer's own agent, keys or data."""

import os
from pathlib import Path

import pytest

from claude_mem_lite.paths import Home

_KEPT = (
    "PATH",
    "LANG",
    "LC_ALL",
    "TERM",
    "TMPDIR",
    "CLAUDE_BINARY",
    "CODEX_BINARY",
    "GEMINI_BINARY",
    "CI",
    "PYTEST_CURRENT_TEST",
    "PYTEST_VERSION",
)


@pytest.fixture(autouse=True)
def private_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A temporary HOME, and nothing of the environment but what every program needs."""
    for name in list(os.environ):
        if name not in _KEPT:
            monkeypatch.delenv(name)
    user_home = tmp_path / "user"
    user_home.mkdir()
    monkeypatch.setenv("HOME", str(user_home))
    monkeypatch.setenv("CLAUDE_MEM_LITE_HOME", str(tmp_path / "home"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """An empty data folder."""
    made = Home(tmp_path / "home")
    made.make()
    return made
