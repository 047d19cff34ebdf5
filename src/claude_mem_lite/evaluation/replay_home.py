"""Home that a walk through recorded sessions fills: turns go in through the worker's own API."""

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from claude_mem_lite.client.client import Client
from claude_mem_lite.client.worker_process import wait_until
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.evaluation.in_process_worker import TRY_LATER, send_hook
from claude_mem_lite.event_names import time_of
from claude_mem_lite.importers.transcript_turns import TranscriptTurn
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
from claude_mem_lite.values import frozen

_BATCH_BYTES = 2 * 1024 * 1024
_DRAIN_S = 600.0


@frozen
class ReplayHome:
    """Home with one checkout in place of all folders of the project."""

    home: Home
    root: Path
    folders: Sequence[str]
    """Folders of the sessions, the longest path first."""

    @property
    def client(self) -> Client:
        return Client(self.home)

    def start(self, session: str, at: datetime) -> str:
        """Return the text that the start hook of a session prints, and confirm the print."""
        name = f"{int(at.timestamp() * 1e9):020d}-1-00000000-SessionStart"
        payload = {"session_id": session, "cwd": str(self.root), "source": "startup"}
        reply = send_hook(
            self.home, "SessionStart", name, json.dumps({**payload, "hook_event_name": "SessionStart"}).encode()
        )
        if not reply:
            return ""
        send_hook(self.home, "printed", name)
        context = json.loads(reply)["hookSpecificOutput"]["additionalContext"]
        assert isinstance(context, str)
        return context

    def import_turns(self, turns: Sequence[TranscriptTurn]) -> None:
        """Import turns, and wait until all are stored and indexed."""
        batch: list[JsonObject] = []
        size = 0
        for turn in sorted(turns, key=ended_at):
            batch.append(json.loads(self.relocate(json.dumps(turn.as_json()))))
            size += len(repr(turn))
            if size >= _BATCH_BYTES:
                self.client.import_turns(batch)
                batch, size = [], 0
        if batch:
            self.client.import_turns(batch)
        if not self.client.drain(_DRAIN_S).drained:
            raise MemoryLiteError(f"the worker of the walk processed not all turns in {_DRAIN_S:.0f} s", TRY_LATER)
        if not wait_until(lambda: not self.client.index().waiting, Deadline.after(_DRAIN_S)):
            raise MemoryLiteError(f"the worker of the walk indexed not all memories in {_DRAIN_S:.0f} s", TRY_LATER)

    def relocate(self, encoded: str) -> str:
        """Return JSON text with the one checkout in place of all folders."""
        for folder in self.folders:
            encoded = encoded.replace(json.dumps(folder)[1:-1], str(self.root))
        return encoded


def ended_at(turn: TranscriptTurn) -> datetime:
    """Return the time of the last event of a turn."""
    return time_of(turn.events[-1].name)
