"""claude-mem knows a project by the name of its folder; here is found out which project of ours that is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from claude_mem_lite.code.git.project_identity import find_place
from claude_mem_lite.importers.claude_mem_db import KeptSession
from claude_mem_lite.importers.jsonl_reader import Lines
from claude_mem_lite.importers.transcript_entries import first_entry
from claude_mem_lite.importers.transcripts import SUFFIXES
from claude_mem_lite.models import Place

How = Literal["option", "session", "name", "own", "there"]


@dataclass(frozen=True, slots=True)
class Mapped:
    """The project of ours that something belongs to, its folder as far as it is known, and how that was found out."""

    project: str
    root: str
    how: How


@dataclass(frozen=True, slots=True)
class KnownSession:
    """A session that our own hooks or an import have seen."""

    project: str
    cwd: str


class Projects:
    """Answers which project a row belongs to."""

    def __init__(
        self,
        chosen: Mapping[str, str],
        sessions: Iterable[KeptSession],
        seen: Mapping[str, KnownSession],
        named: Mapping[str, str],
        transcripts: Iterable[Path],
        imported: Mapping[str, KnownSession],
    ) -> None:
        """`chosen` are the folders that the user gave by name, `named` those of our projects that alone have a name,
        `imported` the sessions that an earlier import brought and nobody else has seen."""
        self._chosen = {name: find_place(folder) for name, folder in chosen.items()}
        self._named = named
        self.folders: dict[str, str] = {}
        """Where sessions worked, by their ids."""
        self._of_session: dict[str, tuple[str, Mapped]] = {}
        """With the name that claude-mem has for its project; a session may work in others too."""
        self._of_name: dict[str, set[Mapped]] = {}
        files = _by_session(transcripts)
        places: dict[str, Place] = {}
        for session in sessions:
            known = seen.get(session.id)
            cwd = (known.cwd if known else "") or session.cwd or _folder_of(files.get(session.id))
            earlier = None if known else imported.get(session.id)
            if earlier and earlier.project == session.project:  # by its name alone: it goes where more is known
                earlier = None
            if not cwd and not known and not earlier:
                continue
            for folder in (cwd, earlier.cwd if earlier else ""):
                if folder not in places:
                    places[folder] = find_place(folder)
            found = Mapped(known.project if known else places[cwd].project, places[cwd].root, "session")
            if earlier and (not cwd or earlier.project != found.project):
                cwd = earlier.cwd
                found = Mapped(earlier.project, places[cwd].root, "there")
            self.folders[session.id] = cwd
            self._of_session[session.id] = (_parent(session.project), found)
            self._of_name.setdefault(session.project, set()).add(found)

    def of(self, name: str, session: str) -> Mapped:
        """By the user's word, else by where the session worked, else by where all others of that name did, else by
        the one project of ours that is called so. What nothing is known of is a project of its own name."""
        spoken = self._chosen.get(name) or self._chosen.get(_parent(name))
        if spoken:
            return Mapped(spoken.project, spoken.root, "option")
        own_name, worked_in = self._of_session.get(session, ("", None))
        if worked_in and own_name == _parent(name):
            return worked_in
        for one in dict.fromkeys((name, _parent(name))):
            found = self._of_name.get(one, set())
            if len({mapped.project for mapped in found}) == 1:
                return min(found, key=lambda mapped: (mapped.root == "", mapped.root))
            if not found and one in self._named:
                return Mapped(self._named[one], "", "name")
        return Mapped(name, "", "own")

    def candidates(self, name: str) -> list[str]:
        """The projects that sessions of a name belong to, when there are several."""
        return sorted({mapped.project for mapped in self._of_name.get(name, set())})


def parents(names: Iterable[str]) -> set[str]:
    """The names with those of the repositories that they are worktrees of."""
    return {one for name in names for one in (name, _parent(name))}


def _parent(name: str) -> str:
    return name.partition("/")[0] or name


def _by_session(folders: Iterable[Path]) -> dict[str, Path]:
    """The transcripts of the client, by the ids of their sessions."""
    found: dict[str, Path] = {}
    for folder in folders:
        for suffix in SUFFIXES:
            found |= {path.name.removesuffix(suffix): path for path in sorted(folder.glob(f"*/*{suffix}"))}
    return found


def _folder_of(transcript: Path | None) -> str:
    entry = first_entry(Lines(transcript, [])) if transcript else None
    return entry.member("cwd") if entry else ""
