"""A newcomer's days, from the built wheel, in a HOME of his own: install, work, upgrade, leave.

What was on the machine before is there afterwards, byte for byte, and nothing else is."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from demo import facts, recording

from claude_mem_lite import __version__
from tests.e2e.repositories import make_repo
from tests.pipeline.wheels import Tool, build_as, run, wheel_of_this_run
from tests.support.running import wait_until

OLDER = "0.0.9"
OWN_SETTINGS = '{\n\t"model":  "opus",\n\t"hooks": {"Notification": []}\n}'
DATA = ".claude-mem-lite"


@dataclass
class Newcomer:
    """A user with settings and a project, who has pipx or uv."""

    root: Path

    @property
    def user(self) -> Path:
        return self.root / "user"

    @property
    def project(self) -> Path:
        return self.user / "shop"

    @property
    def tool(self) -> Tool:
        return Tool(self.user / ".local" / "share" / "tools" / "claude-mem-lite", self.user / ".local" / "bin")

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.tool.bin}:/usr/bin:/bin",
            "HOME": str(self.user),
            "PYTHONPYCACHEPREFIX": str(self.root / "compiled"),
        }

    def settle_in(self) -> None:
        make_repo(self.project)
        (self.user / ".claude").mkdir()
        (self.user / ".claude" / "settings.json").write_text(OWN_SETTINGS)
        (self.user / ".claude.json").write_text('{"numStartups": 3}')
        (self.user / ".local" / "share" / "tools").mkdir(parents=True)

    def run(self, *arguments: str) -> str:
        return run([str(self.tool.bin / "claude-mem-lite"), *arguments], self.project, self.environment)

    def ask(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--json"))

    def hook(self, text: str) -> str:
        """Send an event through the installed hooks, as the agent does; what they printed."""
        event = json.loads(text)["hook_event_name"]
        settings = json.loads((self.user / ".claude" / "settings.json").read_text())
        done = subprocess.run(
            ["sh", "-c", settings["hooks"][event][0]["hooks"][0]["command"]],
            cwd=self.project,
            env=self.environment,
            input=text,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def start_session(self, session: str) -> str:
        """What a new session is given."""
        payload = {"session_id": session, "cwd": str(self.project), "hook_event_name": "SessionStart"}
        return self.hook(json.dumps({**payload, "source": "startup"}))

    def tree(self) -> dict[str, bytes | None]:
        """Every file of the user by its content, and every folder."""
        return {
            str(path.relative_to(self.user)): path.read_bytes() if path.is_file() else None
            for path in sorted(self.user.rglob("*"))
        }


@pytest.fixture
def newcomer() -> Iterator[Newcomer]:
    with tempfile.TemporaryDirectory(prefix="cml-", dir="/tmp") as folder:
        one = Newcomer(Path(folder).resolve())
        one.settle_in()
        try:
            yield one
        finally:
            if (one.tool.bin / "claude-mem-lite").exists():
                one.run("worker", "stop")


def test_a_newcomer_installs_works_upgrades_and_leaves_without_a_trace(
    newcomer: Newcomer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    before = newcomer.tree()

    newcomer.tool.install(build_as(OLDER, newcomer.root / "older"))
    newcomer.run("install")
    for event in recording.load(recording.BUNDLED, newcomer.project):
        newcomer.hook(event.text)
    newcomer.run("worker", "drain")

    remembered = newcomer.ask("status")
    assert (remembered["version"], remembered["capturing"]) == (OLDER, True)
    assert remembered["memories"] > 0
    assert newcomer.ask("search", "time zone of the report") != []
    assert missing_in(newcomer.start_session("second")) == []

    # pipx and uv replace the package under a worker at work, and know nothing of ours
    newcomer.tool.install(wheel_of_this_run(tmp_path_factory))
    wait_until(lambda: not newcomer.ask("worker", "status")["running"], "the older worker to end")
    # The worker compiles the new package during its first answer, which a busy machine may cut short.
    later = (newcomer.start_session(f"later {number}") for number in count())
    wait_until(lambda: missing_in(next(later)) == [], "a session that is told what was remembered")
    upgraded = newcomer.ask("status")
    assert upgraded["version"] == __version__
    assert upgraded["memories"] >= remembered["memories"]
    assert "FAIL" not in newcomer.run("doctor")
    assert "up to date" in newcomer.run("install")
    newcomer.run("backup")

    newcomer.run("uninstall")
    left = {Path(path).parts[0] for path in set(newcomer.tree()) - set(before)}
    assert left == {DATA, ".local"}, "what is remembered stays, and the program"
    assert changed(before, newcomer.tree()) == {}

    newcomer.run("uninstall", "--purge", "--yes")
    newcomer.tool.uninstall()
    assert newcomer.tree() == before


def missing_in(printed: str) -> list[str]:
    """Names of the facts that a start context lacks."""
    context = json.loads(printed)["hookSpecificOutput"]["additionalContext"]
    return [fact.name for fact in facts.TOLD if not facts.is_told(fact, context)]


def changed(before: dict[str, bytes | None], now: dict[str, bytes | None]) -> dict[str, bytes | None]:
    return {path: now.get(path) for path, content in before.items() if now.get(path) != content}
