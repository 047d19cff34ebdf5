"""Events of transcripts to rows of the inbox, in the command that imports them or in the worker.

The command takes most of the time for it, while the worker processes the turns before."""

from collections.abc import Callable
from dataclasses import asdict

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.event_names import is_past
from claude_mem_lite.inbox.spool import Arrival, read_arrival
from claude_mem_lite.models import JsonObject
from claude_mem_lite.safety.clean_import import without_private
from claude_mem_lite.safety.own_blocks import payload_without_own_blocks
from claude_mem_lite.values import frozen


@frozen
class PlacedArrival:
    """Event of a transcript with its folder, for a worker that knows the excluded folders."""

    arrival: Arrival
    folder: str

    def as_json(self) -> JsonObject:
        """Return the row of the inbox with the folder."""
        return {**asdict(self.arrival), "folder": self.folder}


def past_arrival(name: str, payload: JsonObject, excludes: Callable[[str], bool]) -> Arrival | None:
    """Return an event of a transcript without secrets, private passages and injected context; None in an excluded
    folder."""
    if not is_past(name):
        raise MemoryLiteError(f"{name!r} is not the name of an event of the past")
    return read_arrival(name, without_private(payload_without_own_blocks(payload)), excludes)


def placed_arrival(name: str, payload: JsonObject) -> PlacedArrival:
    """Return an event of a transcript with its folder, without secrets, private passages and injected context."""
    folder = ""

    def note(named: str) -> bool:
        nonlocal folder
        folder = named
        return False

    arrival = past_arrival(name, payload, note)
    assert arrival is not None
    return PlacedArrival(arrival, folder)
