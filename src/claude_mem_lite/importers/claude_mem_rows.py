"""Rows of claude-mem as requests to the worker: observations as memories, prompts and summaries as statements of a
session. claude-mem has only folder names; `ProjectLookup` finds the project ids."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.event_names import CLAUDE_MEM, IMPORTED_PROMPT, IMPORTED_SUMMARY, past_name
from claude_mem_lite.importers.claude_mem_db import ClaudeMemRow, ClaudeMemSession, lines_of
from claude_mem_lite.importers.jsonl_reader import Lines
from claude_mem_lite.importers.transcript_entries import first_entry
from claude_mem_lite.importers.transcripts import SUFFIXES
from claude_mem_lite.models import MAX_TITLE_LENGTH, WORK_KINDS, JsonObject, Kind, Location
from claude_mem_lite.responses.imports import KnownSession
from claude_mem_lite.text import one_line, within
from claude_mem_lite.values import frozen

_KINDS: Mapping[str, Kind] = {
    **{kind: kind for kind in WORK_KINDS},
    "security_alert": "gotcha",
    "security_note": "note",
    "sensitive": "note",
}
# Sensitive observations are found by search, and never injected unasked.
_ONLY_WHEN_ASKED = ("sensitive",)
_STATUS = {"completed": "completed", "failed": "failed"}
How = Literal["option", "session", "name", "own", "there"]


def to_memory(row: ClaudeMemRow, project: str, root: str) -> JsonObject:
    """Return an observation as a line of `import jsonl`, without an id."""
    texts = row.texts
    body = [text for name in ("subtitle", "narrative", "text") if (text := texts[name])]
    title = texts["title"] or (body[0] if body else "")
    short = within(one_line(title), MAX_TITLE_LENGTH)
    if not texts["title"] and short == one_line(title):
        body = body[1:]
    elif short != one_line(title):
        body = list(dict.fromkeys((title, *body)))
    type_ = texts["type"]
    tags = [*row.lists["concepts"], *([] if type_ in WORK_KINDS else [type_])]
    model = texts["model"]
    return {
        "kind": kind_of(type_),
        "title": short,
        "summary": body[0] if body else "",
        "detail": "\n\n".join(body[1:]),
        "facts": list(row.lists["facts"]),
        "files": relative(row.lists["files"], root),
        "tags": list(dict.fromkeys(filter(None, tags))),
        "created_at": row.at.isoformat(),
        "last_seen_at": row.at.isoformat(),
        "project": project,
        "scope": f"project:{project}",
        "session": row.session,
        "prompt": prompt_id(row.session, row.prompt_number),
        "origin": "mcp" if type_ in _ONLY_WHEN_ASKED else "import",
        "made_by": f"{CLAUDE_MEM}/{model}" if model else CLAUDE_MEM,
    }


def key_of(row: ClaudeMemRow) -> list[str]:
    """Return the identity of an observation: the same for every copy of the database."""
    texts = row.texts
    content = [texts[name] for name in ("type", "title", "subtitle", "narrative", "text")]
    return [row.session, row.at.isoformat(), *content, *row.lists["facts"]]


def to_statement(row: ClaudeMemRow, root: str) -> JsonObject:
    """Return a prompt or a summary of a session under a stable name."""
    event = IMPORTED_PROMPT if row.kind == "prompt" else IMPORTED_SUMMARY
    origin = (row.session, event, *row.texts.values())
    statement: dict[str, object] = {
        "name": past_name(event, int(row.at.timestamp() * 1000) * 1_000_000, *origin),
        "session": row.session,
        "at": row.at.isoformat(),
        "prompt_id": prompt_id(row.session, row.prompt_number) if row.kind == "prompt" else "",
    }
    if row.kind == "prompt":
        return {**statement, "text": row.texts["text"]}  # type: ignore[dict-item]  # only texts
    summary = {**row.texts, "next_steps": list(lines_of(row.texts["next_steps"]))}
    files = {name: relative(paths, root) for name, paths in row.lists.items()}
    return {**statement, "summary": {**summary, **files}}  # type: ignore[dict-item]  # texts and lists of texts


def to_session(session: ClaudeMemSession, name: str, project: str, root: str, cwd: str) -> JsonObject:
    started_at = session.started_at.isoformat() if session.started_at else None
    return {
        "id": session.id,
        "name": name,
        "project": project,
        "root": root,
        "cwd": cwd,
        # A session without an end is over too: if the session goes on, hooks report so.
        "status": _STATUS.get(session.status, "interrupted"),
        "title": session.title,
        "started_at": started_at,
        "ended_at": session.ended_at.isoformat() if session.ended_at else None,
    }


def kind_of(type_: str) -> Kind:
    """Return the kind for a type; types of other claude-mem modes become notes: only the user makes rules."""
    return _KINDS.get(type_, "note")


def prompt_id(session: str, number: int) -> str:
    return f"{CLAUDE_MEM}:{session}:{number}" if number else ""


def relative(files: Iterable[str], root: str) -> list[str]:
    """Return paths relative to the project's root."""
    inside = f"{root.rstrip(os.sep)}{os.sep}" if root else ""
    return list(dict.fromkeys(file.removeprefix(inside) if inside else file for file in files))


@frozen
class ProjectMatch:
    """Project with its root, if known, and the way in which the project was found."""

    project: str
    root: str
    how: How


class ProjectLookup:
    """Answers which project a row belongs to."""

    def __init__(
        self,
        chosen: Mapping[str, str],
        sessions: Iterable[ClaudeMemSession],
        seen: Mapping[str, KnownSession],
        named: Mapping[str, str],
        transcripts: Iterable[Path],
        imported: Mapping[str, KnownSession],
    ) -> None:
        """Read the folders of all sessions. `chosen` are folders that the user gave by name, `named` projects with a
        unique name, `imported` sessions known only from an earlier import."""
        self._chosen = {name: find_location(folder) for name, folder in chosen.items()}
        self._named = named
        self.folders: dict[str, str] = {}
        """Working folders by session id."""
        self._of_session: dict[str, tuple[str, ProjectMatch]] = {}
        """With claude-mem's project name; a session may work in other projects too."""
        self._of_name: dict[str, set[ProjectMatch]] = {}
        files = _by_session(transcripts)
        places: dict[str, Location] = {}
        for session in sessions:
            known = seen.get(session.id)
            cwd = (known.cwd if known else "") or session.cwd or _folder_of(files.get(session.id))
            earlier = None if known else imported.get(session.id)
            if earlier and earlier.project == session.project:  # by name alone: better knowledge takes precedence
                earlier = None
            if not cwd and not known and not earlier:
                continue
            for folder in (cwd, earlier.cwd if earlier else ""):
                if folder not in places:
                    places[folder] = find_location(folder)
            match = ProjectMatch(known.project if known else places[cwd].project, places[cwd].root, "session")
            if earlier and (not cwd or earlier.project != match.project):
                cwd = earlier.cwd
                match = ProjectMatch(earlier.project, places[cwd].root, "there")
            self.folders[session.id] = cwd
            self._of_session[session.id] = (_parent(session.project), match)
            self._of_name.setdefault(session.project, set()).add(match)

    def of(self, name: str, session: str) -> ProjectMatch:
        """Return the project: the user's choice, else the session's folder, else the common folder of sessions with the
        name, else the only project with the name. An unknown name becomes a project."""
        chosen = self._chosen.get(name) or self._chosen.get(_parent(name))
        if chosen:
            return ProjectMatch(chosen.project, chosen.root, "option")
        own_name, worked_in = self._of_session.get(session, ("", None))
        if worked_in and own_name == _parent(name):
            return worked_in
        for candidate in dict.fromkeys((name, _parent(name))):
            matches = self._of_name.get(candidate, set())
            if len({mapped.project for mapped in matches}) == 1:
                return min(matches, key=lambda mapped: (mapped.root == "", mapped.root))
            if not matches and candidate in self._named:
                return ProjectMatch(self._named[candidate], "", "name")
        return ProjectMatch(name, "", "own")

    def candidates(self, name: str) -> list[str]:
        """Return the projects of all sessions with a name."""
        return sorted({mapped.project for mapped in self._of_name.get(name, set())})


def parents(names: Iterable[str]) -> set[str]:
    """Return the names, and the names of the repositories of worktrees."""
    return {each for name in names for each in (name, _parent(name))}


def _parent(name: str) -> str:
    return name.partition("/")[0] or name


def _by_session(folders: Iterable[Path]) -> dict[str, Path]:
    """Return the client's transcripts by session id."""
    transcripts: dict[str, Path] = {}
    for folder in folders:
        for suffix in SUFFIXES:
            transcripts |= {path.name.removesuffix(suffix): path for path in sorted(folder.glob(f"*/*{suffix}"))}
    return transcripts


def _folder_of(transcript: Path | None) -> str:
    entry = first_entry(Lines(transcript, [])) if transcript else None
    return entry.member("cwd") if entry else ""
