"""Sessions of another machine or of a folder that moved: the folders in their turns are replaced by those of today."""

from collections.abc import Mapping
from dataclasses import replace

from claude_mem_lite.importers.transcript_turns import PastTurn
from claude_mem_lite.models import JsonObject, JsonValue


class FolderMap:
    """Folders by the name or path that sessions know them by. `unused` names those that no session was in."""

    def __init__(self, chosen: Mapping[str, str]) -> None:
        self._chosen = chosen
        self.unused = set(chosen)

    def place(self, turn: PastTurn) -> PastTurn:
        """Return the turn as if it had been done in the folder that its own stands for."""
        for name, folder in self._chosen.items():
            if there := _root(turn.cwd, name):
                self.unused.discard(name)
                events = tuple(replace(one, payload=_payload(one.payload, there, folder)) for one in turn.events)
                cwd, former = _path(turn.cwd, there, folder), tuple(sorted({turn.cwd, *turn.folders}))
                return replace(turn, cwd=cwd, events=events, former_folders=former)
        return turn


def _root(cwd: str, name: str) -> str:
    """Return the part of a path that a name stands for: the path itself, or all of it up to the last folder called so;
    '' when there is none."""
    named = name.rstrip("/")
    if named.startswith("/"):
        return named if cwd == named or cwd.startswith(f"{named}/") else ""
    head, found, _ = f"{cwd}/".rpartition(f"/{named}/")
    return f"{head}/{named}" if found else ""


def _payload(payload: JsonObject, there: str, folder: str) -> JsonObject:
    return {key: _value(value, there, folder) for key, value in payload.items()}


def _value(value: JsonValue, there: str, folder: str) -> JsonValue:
    """Replace every path below a folder; a path inside a longer text stays, since it is what was said."""
    if isinstance(value, str):
        return _path(value, there, folder)
    if isinstance(value, dict):
        return _payload(value, there, folder)
    return [_value(one, there, folder) for one in value] if isinstance(value, list) else value


def _path(text: str, there: str, folder: str) -> str:
    if text != there and (not text.startswith(f"{there}/") or "\n" in text):
        return text
    return folder + text[len(there) :]
