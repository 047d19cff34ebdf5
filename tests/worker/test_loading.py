"""Tests of `worker/loading.py`, `worker/session_job.py`, `worker/answers/routes.py`, `inbox/usable_events.py`,
`agents/save_permission.py` and `compress/model/turn_answer.py`: modules that a worker has not loaded before its first
answer, and has loaded soon after."""

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite.worker.loading import LATE
from tests.support.running import Machine, open_machine, payload, wait_until

NOTING = """
import sys

class Noting:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("claude_mem_lite"):
            noted.write(name + "\\n")

with open(sys.argv[1], "w", buffering=1) as noted:
    sys.meta_path.insert(0, Noting())
    from claude_mem_lite.paths import find_home
    from claude_mem_lite.worker.process import run
    run(find_home())
"""
LATE_ROOMS = ("guards.", "responses.", "context.prompt.", "team.sync", "worker.api.routes", "worker.commands")
EARLY_COMPRESS = {
    "claude_mem_lite.compress",
    "claude_mem_lite.compress.model",
    "claude_mem_lite.compress.model.turn_answer",
    "claude_mem_lite.compress.prose",
    "claude_mem_lite.compress.prose.clean",
    "claude_mem_lite.compress.prose.drafts",
    "claude_mem_lite.compress.prose.markdown",
    "claude_mem_lite.compress.prose.sentence_types",
    "claude_mem_lite.compress.prose.verbs",
    "claude_mem_lite.compress.rules",
    "claude_mem_lite.compress.rules.session_handoff",
}
"""Modules that start contexts are worded with."""
EARLY_KNOWLEDGE = {
    "claude_mem_lite.knowledge",
    "claude_mem_lite.knowledge.lessons",
    "claude_mem_lite.knowledge.lessons.similarity",
    "claude_mem_lite.knowledge.project_facts",
}


@pytest.fixture
def cold() -> Iterator[Machine]:
    with open_machine(is_cold=True) as made:
        yield made


def test_the_first_answer_needs_neither_rules_for_turns_nor_guards_nor_the_api(cold: Machine, tmp_path: Path) -> None:
    noted = tmp_path / "imports"
    worker = subprocess.Popen([sys.executable, "-I", "-c", NOTING, str(noted)], env=cold.environment())
    wait_until(cold.home.socket.exists, "the worker to listen")
    assert cold.hook("SessionStart", payload("SessionStart", cwd=str(tmp_path), source="startup")).status == 0
    names = [f"claude_mem_lite.{name}" for name in LATE]
    wait_until(lambda: set(names) <= set(noted.read_text().split()), "the late modules to be loaded")
    cold.stop_worker()
    worker.wait(30)
    imported = noted.read_text().split()
    early = set(imported[: imported.index(names[0])])
    rooms = (
        "guards.",
        "team.sync",
        "worker.api.routes",
        "worker.commands",
        "worker.guards",
        "context.prompt",
        "responses.",
    )
    assert {name for name in early if name.startswith(tuple(f"claude_mem_lite.{room}" for room in rooms))} == set()
    assert {name for name in early if name.startswith("claude_mem_lite.compress")} <= EARLY_COMPRESS
    assert {name for name in early if name.startswith("claude_mem_lite.knowledge")} <= EARLY_KNOWLEDGE


STEP = """
import gc
import sys
from pathlib import Path
from claude_mem_lite.worker.loading import FIRST_ANSWER_S, LATE, LoadingStep
from claude_mem_lite.worker.shutdown import Activity, Package

installed = Path(sys.argv[1])
activity, package = Activity(), Package(installed)
gc.disable()
step = LoadingStep(activity, package)
due_s = step.run()
assert due_s is not None and 0 < due_s <= FIRST_ANSWER_S and not step.is_loaded
with activity.answering():
    if sys.argv[2]:
        installed.write_text(sys.argv[2])
step.run()
print(step.is_loaded, f"claude_mem_lite.{LATE[0]}" in sys.modules, gc.isenabled())
"""


@pytest.mark.parametrize(("text", "is_loaded"), [("", True), ("# another version", False)])
def test_late_modules_of_an_unchanged_package_are_loaded_after_the_first_answer(
    tmp_path: Path, text: str, is_loaded: bool
) -> None:
    installed = tmp_path / "__init__.py"
    installed.write_text("")
    ran = subprocess.run(
        [sys.executable, "-I", "-c", STEP, str(installed), text], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == [str(is_loaded)] * 3


@pytest.mark.parametrize("name", LATE)
def test_every_late_module_exists(name: str) -> None:
    assert importlib.import_module(f"claude_mem_lite.{name}")
