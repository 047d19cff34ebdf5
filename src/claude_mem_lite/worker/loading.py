"""Modules that the worker loads after its first answer, in the job thread.

Most workers are started by the start of a session, whose answer needs half of the modules. The rest is imported where
it is used, and here at once: the first prompt must not wait for imports, and a package that is replaced by an upgrade
must not mix with the loaded modules."""

import gc
import importlib
import sys
from dataclasses import dataclass, field

from claude_mem_lite.worker.shutdown import Activity, Package

LATE = (
    "worker.answers.prompt",
    "worker.answers.tool_use",
    "worker.background",
    "worker.turn_job",
    "worker.commands",
    "worker.guards.jobs",
    "worker.guards.replays",
    "knowledge.memory_rebuild",
    "knowledge.turn_rewrite",
    "knowledge.outcomes",
    "experiment.session_outcomes",
    "compress.model.provider_setup",
    "store.team",
)
"""Modules that import the others. Prompts and tool calls come first, because a hook waits for them."""
_PACKAGE = "claude_mem_lite"
FIRST_ANSWER_S = 1.0
"""Time within which the hook that started a worker is expected to ask."""


@dataclass(slots=True)
class LoadingStep:
    """Import of the late modules, once, after the first answer or soon after a start that nobody asked anything of.

    The background steps of the loop wait for it: they need these modules, and would compete with the first answer."""

    activity: Activity
    package: Package
    is_loaded: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.is_loaded = all(f"{_PACKAGE}.{name}" in sys.modules for name in LATE)  # as in a process of tests

    def run(self) -> float | None:
        if self.is_loaded:
            return None
        left_s = FIRST_ANSWER_S - self.activity.age_s()
        if left_s > 0 and not self.activity.has_answered:
            return left_s
        if self.package.is_intact():  # else the loop ends before its next pass, or waits for the end of an upgrade
            for name in LATE:
                importlib.import_module(f"{_PACKAGE}.{name}")
            self.is_loaded = True
            _collect_again()
            return 0.0  # the steps are made for the next pass
        return None


def _collect_again() -> None:
    """Switch the collection of garbage on, if the start has switched it off, and have it pass over the modules."""
    if not gc.isenabled():
        gc.collect()  # first: frozen garbage would stay
        gc.freeze()
        gc.enable()
