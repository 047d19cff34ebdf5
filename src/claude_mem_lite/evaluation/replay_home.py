"""Home that a walk through recorded sessions fills: turns go in through the worker's own API."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.evaluation.in_process_worker import PATIENCE_S, TRY_LATER, WalkClient, send_hook
from claude_mem_lite.event_names import time_of
from claude_mem_lite.importers.transcript_turns import TranscriptTurn
from claude_mem_lite.importers.turn_batches import batches
from claude_mem_lite.paths import Home
from claude_mem_lite.values import frozen


@frozen
class ReplayHome:
    """Home with one checkout in place of all checkouts of the project."""

    home: Home
    root: Path
    folders: Sequence[str]
    """Checkouts of the sessions, the longest path first."""

    @property
    def client(self) -> WalkClient:
        return WalkClient(self.home)

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

    def import_turns(
        self, turns: Sequence[TranscriptTurn], imported: Callable[[Sequence[TranscriptTurn]], None] = lambda _: None
    ) -> None:
        """Import turns, and wait after each batch: work must not fall between batches as the machine is fast or
        slow. `imported` is called with each batch."""
        for batch in batches(sorted(turns, key=ended_at)):
            self.client.import_turns([json.loads(self.relocate(json.dumps(turn.as_json()))) for turn in batch])
            self.wait_until_idle()
            imported(batch)

    def wait_until_idle(self) -> None:
        """Wait until all turns are stored and indexed, and the code is scanned."""
        if not self.client.drain(PATIENCE_S).drained:
            raise MemoryLiteError(f"the worker of the walk did not finish its work in {PATIENCE_S:.0f} s", TRY_LATER)

    def relocate(self, encoded: str) -> str:
        """Return JSON text with the one checkout in place of all checkouts."""
        for folder in self.folders:
            encoded = encoded.replace(json.dumps(folder)[1:-1], str(self.root))
        return encoded


def ended_at(turn: TranscriptTurn) -> datetime:
    """Return the time of the last event of a turn."""
    return time_of(turn.events[-1].name)
