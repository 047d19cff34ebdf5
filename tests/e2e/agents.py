"""Drives the real Codex CLI, Copilot CLI, Gemini CLI and OpenCode as programs: one prompt a process, against a fake of
their API."""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.client import PROJECT, RUN_TIMEOUT_S
from tests.e2e.fake_agent_apis import FakeAgentApi

MODELS = {"codex": "gpt-5.5", "copilot": "fake", "gemini": "gemini-2.5-flash", "opencode": "fake/fake"}


def find_program(agent: str) -> Path:
    """Where the client is, whether or not it is there: a variable says, else it is what `make e2e` installs."""
    chosen = os.environ.get(f"{agent.upper()}_BINARY")
    return Path(chosen) if chosen else PROJECT / ".e2e" / agent / "node_modules" / ".bin" / agent


def agent_environment(home: Path, api: FakeAgentApi) -> dict[str, str]:
    """All that the clients and what they start may know of this machine."""
    temporary = home.parent / "tmp"
    temporary.mkdir(exist_ok=True)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "FAKE_API_KEY": "not-a-key",
        "GEMINI_API_KEY": "not-a-key",
        "GOOGLE_GEMINI_BASE_URL": api.url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{api.url}/v1",
        "COPILOT_MODEL": MODELS["copilot"],
        "OPENCODE_CONFIG_CONTENT": json.dumps(_opencode_settings(api.url)),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


def _opencode_settings(url: str) -> dict[str, object]:
    options = {"baseURL": f"{url}/v1", "apiKey": "not-a-key"}
    limits = {"context": 200_000, "output": 8_000}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"fake": {"limit": limits}}}
    return {"model": MODELS["opencode"], "enabled_providers": ["fake"], "provider": {"fake": provider}}


@dataclass(frozen=True, slots=True)
class AgentClient:
    agent: str
    program: Path
    environment: Mapping[str, str]
    api_url: str

    def run(self, prompt: str, cwd: Path) -> str:
        """One prompt in a process of its own; what it printed."""
        done = subprocess.run(
            [str(self.program), *self._options(), prompt],
            cwd=cwd,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_TIMEOUT_S,
        )
        assert done.returncode == 0, f"{self.agent} exits {done.returncode}: {done.stderr[-2000:]}"
        return done.stdout + done.stderr

    def _options(self) -> list[str]:
        if self.agent == "gemini":
            return ["--yolo", "--model", MODELS["gemini"], "--prompt"]
        if self.agent == "copilot":
            return ["--allow-all-tools", "--prompt"]
        if self.agent == "opencode":
            return ["run", "--auto"]
        provider = f'{{name="fake", base_url="{self.api_url}/v1", wire_api="responses", env_key="FAKE_API_KEY"}}'
        settings = (f'model="{MODELS["codex"]}"', 'model_provider="fake"', f"model_providers.fake={provider}")
        chosen = [word for setting in settings for word in ("-c", setting)]
        # Hooks have to be trusted by hand before they run, and nobody is here to do it.
        trusting = ("--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox")
        return ["exec", "--skip-git-repo-check", *trusting, *chosen]
