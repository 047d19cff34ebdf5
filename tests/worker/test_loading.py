"""Tests of `worker/loading.py`, `worker/session_job.py`, `worker/answers/routes.py`, `inbox/usable_events.py`,
`agents/save_permission.py` and `compress/model/turn_answer.py`: modules that a worker has not loaded before its first
answer, and has loaded soon after."""

import importlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from claude_mem_lite.config import Config
from claude_mem_lite.db.connection import open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, migrate
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.answers.session_start import start_context
from claude_mem_lite.worker.composition import open_loop
from claude_mem_lite.worker.event_intake import Intake
from claude_mem_lite.worker.loading import LATE, LateModules
from claude_mem_lite.worker.shutdown import Activity, Package
from tests.support.fakes import FakeEmbedder
from tests.support.patience import PATIENT
from tests.support.running import (
    WAIT_S,
    Machine,
    leave,
    open_machine,
    payload,
    running_loop,
    spool_name,
    turn,
    wait_until,
)
from tests.worker.conftest import SetClock

if TYPE_CHECKING:
    from claude_mem_lite.worker.background import BackgroundStep

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
import sys
from pathlib import Path
from claude_mem_lite.worker.loading import LATE, LateModules
from claude_mem_lite.worker.shutdown import Activity, Package

installed = Path(sys.argv[1])
activity, package = Activity(), Package(installed)
late = LateModules(activity, package, first_request_s=60.0)
due_s = late.due_in_s()
assert due_s is not None and 0 < due_s <= 60.0
with activity.answering():
    if sys.argv[2]:
        installed.write_text(sys.argv[2])
if late.due_in_s() == 0.0:
    late.load()
print(late.is_loaded, f"claude_mem_lite.{LATE[0]}" in sys.modules)
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
    assert ran.stdout.split() == [str(is_loaded), str(is_loaded)]


COLLECTING = """
import gc, importlib, sys
gc.disable()
from claude_mem_lite.worker.loading import LATE, LateModules
from claude_mem_lite.worker.shutdown import Activity, Package

if sys.argv[1]:
    for name in LATE:
        importlib.import_module(f"claude_mem_lite.{name}")
activity, package = Activity(), Package()
late = LateModules(activity, package, first_request_s=60.0)
with activity.answering():
    pass
if late.due_in_s() == 0.0:
    late.load()
print(late.is_loaded, gc.isenabled(), gc.get_freeze_count() > 0)
"""


@pytest.mark.parametrize("are_there", ["", "yes"])
def test_garbage_is_collected_again_whoever_has_loaded_the_modules(are_there: str) -> None:
    """Hooks and commands of the first second may have loaded all of them."""
    ran = subprocess.run(
        [sys.executable, "-I", "-c", COLLECTING, are_there], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["True", "True", "True"], "the modules are passed over"


def test_late_modules_are_due_soon_after_a_start_without_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    late = LateModules(Activity(), Package(), first_request_s=60.0)
    late.is_loaded = False
    for age_s, due_s in ((20.0, 40.0), (61.0, 0.0)):
        monkeypatch.setattr(Activity, "age_s", lambda _, age_s=age_s: age_s)
        assert late.due_in_s() == due_s


@pytest.mark.parametrize("name", LATE)
def test_every_late_module_exists(name: str) -> None:
    assert importlib.import_module(f"claude_mem_lite.{name}")


def test_background_steps_that_cannot_be_made_end_no_worker_and_are_made_with_a_later_pass(
    home: Home, clock: SetClock
) -> None:
    asked: list[int] = []
    with open_loop(home, clock, embedder=FakeEmbedder(), limits=PATIENT) as loop:
        make_steps = loop._make_steps

        def fail_at_first() -> "Sequence[BackgroundStep]":
            asked.append(len(asked))
            if asked == [0]:
                raise RuntimeError("can't start new thread")
            return make_steps()

        loop._make_steps = fail_at_first
        services = loop.services
        services.activity.note_other_request()
        jobs = threading.Thread(target=loop.run)
        jobs.start()
        try:
            for _ in range(2):
                assert services.passes.wait_until_idle(WAIT_S)
        finally:
            services.shutdown.stop()
            jobs.join()
    assert asked == [0, 1]


def test_a_first_start_that_waits_for_a_pass_does_not_keep_that_pass_waiting(home: Home, clock: SetClock) -> None:
    limits = replace(PATIENT, first_answer_s=10 * WAIT_S)
    with running_loop(home, clock, embedder=FakeEmbedder(), limits=limits) as services, services.activity.answering():
        for _ in range(3):
            assert services.passes.wait_until_stored(WAIT_S)


def _left_start(home: Home) -> str:
    return leave(home, payload("SessionStart", source="startup"), name=spool_name("SessionStart", time.time_ns()))


def test_the_first_answer_waits_for_no_pass_if_nothing_else_waits(home: Home, clock: SetClock) -> None:
    with open_loop(home, clock, embedder=FakeEmbedder(), limits=PATIENT) as loop:
        name = _left_start(home)
        assert loop.services.passes.is_behind(name)
        loop.make_way_if_idle()
        assert not loop.services.passes.is_behind(name)
        other = _left_start(home)
        assert loop.services.passes.is_behind(name)  # by the other session
        assert loop.services.passes.is_behind(other)


@pytest.mark.parametrize("event", ["Stop", "SessionEnd"])
def test_the_first_answer_waits_for_the_end_of_a_session_before(home: Home, clock: SetClock, event: str) -> None:
    with open_loop(home, clock, embedder=FakeEmbedder(), limits=PATIENT) as loop:
        before = leave(home, payload(event), name=spool_name(event, time.time_ns()))
        name = _left_start(home)
        loop.make_way_if_idle()
        (home.spool_new / before).unlink()
        assert loop.services.passes.is_behind(name)  # until the pass that has begun


def test_the_first_answer_has_the_turn_that_a_killed_worker_left_in_the_inbox(
    home: Home, clock: SetClock, project: str
) -> None:
    for event in turn("s-before", "From now on always use pnpm, not npm.", cwd=project):
        leave(home, event)
    with closing(open_for_writing(home.inbox_db)) as db:
        migrate(db, INBOX_MIGRATIONS, clock())
        assert Intake(home, Queue(db), clock, lambda: True).take_in(Config())
    with open_loop(home, clock, embedder=FakeEmbedder(), limits=PATIENT) as loop:
        start = payload("SessionStart", source="startup", cwd=project)
        name = leave(home, start, name=spool_name("SessionStart", time.time_ns()))
        loop.make_way_if_idle()
        jobs = threading.Thread(target=loop.run)
        jobs.start()
        try:
            answer = start_context(loop.services, name, json.dumps(start).encode())
        finally:
            loop.services.shutdown.stop()
            jobs.join()
    assert answer is not None
    assert b"pnpm" in answer


@pytest.mark.parametrize("text", ["experiment = 0.5\n", "no = "])
def test_the_first_answer_waits_for_a_pass_that_follows_special_settings(
    home: Home, clock: SetClock, text: str
) -> None:
    home.config.write_text(text)
    with open_loop(home, clock, embedder=FakeEmbedder(), limits=PATIENT) as loop:
        name = _left_start(home)
        loop.make_way_if_idle()
        assert loop.services.passes.is_behind(name)


def test_the_start_that_was_answered_first_is_taken_in_afterwards(home: Home, clock: SetClock) -> None:
    with open_loop(home, clock, embedder=FakeEmbedder(), limits=PATIENT) as loop:
        name = _left_start(home)
        loop.make_way_if_idle()
        jobs = threading.Thread(target=loop.run)
        jobs.start()
        try:
            wait_until(lambda: not (home.spool_new / name).exists(), "the event to be taken in")
        finally:
            loop.services.shutdown.stop()
            jobs.join()
