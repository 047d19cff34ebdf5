"""Typed calls to the worker, for the command line, `doctor`, the MCP server and the page. Opens no database."""

from __future__ import annotations

from collections.abc import Sequence

from claude_mem_lite.client import lazy_responses as responses
from claude_mem_lite.client.base import EXPORT_TIMEOUT_S, PROBE_TIMEOUT_S, read
from claude_mem_lite.client.guards import GuardCalls
from claude_mem_lite.client.reads import MemoryReads
from claude_mem_lite.client.team import TeamCalls
from claude_mem_lite.client.writes import MemoryWrites, Transfers

BACKUP_TIMEOUT_S = 620.0
# Longer than the worker's own timeout for a model.
TRY_TIMEOUT_S = 140.0


class Client(MemoryReads, MemoryWrites, Transfers, TeamCalls, GuardCalls):
    """Client of the worker of one home: all calls, those about the worker itself included.

    Every call raises WorkerUnavailable if no worker answers."""

    __slots__ = ()

    def health(self, timeout_s: float = PROBE_TIMEOUT_S) -> responses.status.Health:
        """Return the state of the worker."""
        return read(responses.status.Health, self._get("/api/health", timeout_s=timeout_s))

    def queue_counts(self) -> responses.status.QueueCounts:
        """Return the number of events by status."""
        return read(responses.status.QueueCounts, self._get("/api/queue/stats"))

    def failed_events(self) -> Sequence[responses.status.FailedEvent]:
        """Return the failed events, and the turns for which the model failed."""
        return read(responses.status.FailedEvents, self._get("/api/queue", [("status", "error")])).events

    def retry(self, event: int | None) -> responses.status.Retried:
        """Queue one failed event, or all, again."""
        return read(responses.status.Retried, self._post("/api/queue/retry", {"id": event}))

    def drain(self, timeout_s: float) -> responses.status.Drained:
        """Wait until the worker has nothing left to do, or the time is over."""
        return read(
            responses.status.Drained, self._post("/api/drain", {"timeout_s": timeout_s}, timeout_s=timeout_s + 10)
        )

    def settings(self, cwd: str) -> responses.status.Settings:
        """Return every setting in force in a folder, with its sources."""
        return read(responses.status.Settings, self._get("/api/settings", [("cwd", cwd)]))

    def try_model(self) -> responses.status.ModelTrial:
        """Ask the configured model for one word."""
        return read(responses.status.ModelTrial, self._post("/api/model/try", {}, timeout_s=TRY_TIMEOUT_S))

    def damaged_words(self) -> Sequence[str]:
        """Return the names of the corrupt word indexes: memories, passages."""
        return read(responses.status.CorruptIndexes, self._get("/api/index/damage", timeout_s=EXPORT_TIMEOUT_S)).damaged

    def rebuild(self) -> responses.status.RebuildStarted:
        """Start a rebuild of all derived data."""
        return read(responses.status.RebuildStarted, self._post("/api/rebuild", {}, timeout_s=120))

    def index(self) -> responses.status.IndexState:
        """Return the progress of indexing."""
        return read(responses.status.IndexState, self._get("/api/index"))

    def backup(self) -> responses.status.NewBackup:
        """Make a backup."""
        return read(responses.status.NewBackup, self._post("/api/backup", {}, timeout_s=BACKUP_TIMEOUT_S))

    def recoveries(self) -> Sequence[responses.status.ShownRecovery]:
        """Return successful and failed recoveries, oldest first."""
        return read(responses.status.Recoveries, self._get("/api/recoveries")).recoveries

    def ask_to_stop(self) -> None:
        """Ask the worker to end after its present work; `worker_process.stop_worker` waits for the end."""
        self._post("/api/stop", {}, timeout_s=PROBE_TIMEOUT_S)
