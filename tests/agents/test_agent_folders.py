"""Folders of the agents, by the variables of their clients."""

from pathlib import Path

import pytest

from claude_mem_lite.agents.agent_folders import VARIABLES, agent_folder, environment_with
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.importers.discovery import folders_of
from claude_mem_lite.install.targets import target_of

USUAL = {
    CLAUDE_CODE: ".claude",
    "codex": ".codex",
    "copilot": ".copilot",
    "cursor": ".cursor",
    "gemini": ".gemini",
    "opencode": ".local/share/opencode",
}
NAMED = {CLAUDE_CODE: "named", "codex": "named", "copilot": "named", "gemini": "named/.gemini"}


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("agent", USUAL)
def test_without_a_variable_an_agent_has_its_usual_folder(user: Path, agent: str) -> None:
    assert agent_folder(agent, {}) == agent_folder(agent, dict.fromkeys(VARIABLES.values(), "")) == user / USUAL[agent]


@pytest.mark.parametrize("agent", NAMED)
def test_sessions_and_settings_are_in_the_folder_of_the_same_variable(user: Path, agent: str) -> None:
    environment = {VARIABLES[agent]: "~/named"}
    own = user / NAMED[agent]
    assert target_of(agent, "user", None, environment).folder == own
    assert {folder.parent for folder in folders_of(agent, environment)} == {own}


def test_the_sessions_of_opencode_are_in_its_folder_of_the_users_data(user: Path) -> None:
    assert folders_of("opencode", {"XDG_DATA_HOME": "~/data"}) == [user / "data" / "opencode"]


@pytest.mark.parametrize("agent", USUAL)
def test_a_chosen_folder_is_the_one_of_the_environment_that_names_it(user: Path, agent: str) -> None:
    chosen = agent_folder(agent, {}, Path("~/chosen") / Path(USUAL[agent]).name)
    assert chosen == user / "chosen" / Path(USUAL[agent]).name
    expected = chosen if agent in VARIABLES else user / ".cursor"
    assert agent_folder(agent, environment_with(agent, chosen, {})) == expected
