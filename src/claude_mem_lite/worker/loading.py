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


@dataclass(slots=True)
class LateModules:
    """Modules that are imported once: after the first answer, with the first request other than a session start, or
    soon after a start without any request.

    The background steps of the loop wait for them: they need these modules, and would compete with the first answer."""

    activity: Activity
    package: Package
    first_request_s: float
    is_loaded: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        if all(f"{_PACKAGE}.{name}" in sys.modules for name in LATE):  # as in a process of tests
            self._note_loaded()

    def due_in_s(self) -> float | None:
        """Return the seconds until the modules are due. None after they are loaded, and while the package is another or
        incomplete: then the loop ends, or waits for the end of an upgrade."""
        if self.is_loaded or not self.package.is_intact():
            return None
        return 0.0 if self.activity.has_answered else max(self.first_request_s - self.activity.age_s(), 0.0)

    def load(self) -> None:
        """Load the modules. Only when they are due: then the package is known to be unchanged."""
        for name in LATE:
            importlib.import_module(f"{_PACKAGE}.{name}")
        self._note_loaded()

    def _note_loaded(self) -> None:
        self.is_loaded = True
        _collect_again()


def _collect_again() -> None:
    """Switch the collection of garbage on, if the start has switched it off, and have it pass over the modules."""
    if not gc.isenabled():
        gc.collect()  # first: frozen garbage would stay
        gc.freeze()
        gc.enable()
