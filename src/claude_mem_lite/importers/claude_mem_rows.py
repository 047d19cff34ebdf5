"""Rows of claude-mem as what is sent to the worker: observations as memories, prompts and summaries as what was said
in a session."""

import os
from collections.abc import Iterable, Mapping

from claude_mem_lite.event_names import past_name
from claude_mem_lite.importers.claude_mem_db import KeptRow, KeptSession, lines_of
from claude_mem_lite.models import MAX_TITLE_LENGTH, WORK_KINDS, JsonObject, Kind
from claude_mem_lite.text import one_line, within

MADE_BY = "claude-mem"
PROMPT, SUMMARY = "ClaudeMemPrompt", "ClaudeMemSummary"
"""How the names of what was said end, instead of the name of a hook's event."""
_KINDS: Mapping[str, Kind] = {
    **{kind: kind for kind in WORK_KINDS},
    "security_alert": "gotcha",
    "security_note": "note",
    "sensitive": "note",
}
# What is not to come up in the wrong place is found when it is looked for, and given to nobody unasked.
_ONLY_WHEN_ASKED = ("sensitive",)
_STATUS = {"completed": "completed", "failed": "failed"}


def to_memory(row: KeptRow, project: str, root: str) -> JsonObject:
    """The line of an observation, as `import jsonl` takes it, without an id."""
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
        "made_by": f"{MADE_BY}/{model}" if model else MADE_BY,
    }


def key_of(row: KeptRow) -> list[str]:
    """What an observation is known by, whenever and from whichever copy of the database it is read."""
    texts = row.texts
    content = [texts[name] for name in ("type", "title", "subtitle", "narrative", "text")]
    return [row.session, row.at.isoformat(), *content, *row.lists["facts"]]


def to_said(row: KeptRow, root: str) -> JsonObject:
    """What was asked, or how a session was summed up at some point, under a name that stays."""
    event = PROMPT if row.kind == "prompt" else SUMMARY
    origin = (row.session, event, *row.texts.values())
    said: dict[str, object] = {
        "name": past_name(event, int(row.at.timestamp() * 1000) * 1_000_000, *origin),
        "session": row.session,
        "at": row.at.isoformat(),
        "prompt_id": prompt_id(row.session, row.prompt_number) if row.kind == "prompt" else "",
    }
    if row.kind == "prompt":
        return {**said, "text": row.texts["text"]}  # type: ignore[dict-item]  # texts all of them
    summary = {**row.texts, "next_steps": list(lines_of(row.texts["next_steps"]))}
    files = {name: relative(found, root) for name, found in row.lists.items()}
    return {**said, "summary": {**summary, **files}}  # type: ignore[dict-item]  # texts and lists of them


def to_session(session: KeptSession, name: str, project: str, root: str, cwd: str) -> JsonObject:
    started_at = session.started_at.isoformat() if session.started_at else None
    return {
        "id": session.id,
        "name": name,
        "project": project,
        "root": root,
        "cwd": cwd,
        # One that claude-mem saw no end of is over as well: if it goes on, hooks will tell.
        "status": _STATUS.get(session.status, "interrupted"),
        "title": session.title,
        "started_at": started_at,
        "ended_at": session.ended_at.isoformat() if session.ended_at else None,
    }


def kind_of(type_: str) -> Kind:
    """The kind of an observation of a type; what another mode of claude-mem observed is a note, whatever it is called:
    nobody but you makes rules."""
    return _KINDS.get(type_, "note")


def prompt_id(session: str, number: int) -> str:
    return f"{MADE_BY}:{session}:{number}" if number else ""


def relative(files: Iterable[str], root: str) -> list[str]:
    """Paths as memories have them: seen from the root of their project."""
    inside = f"{root.rstrip(os.sep)}{os.sep}" if root else ""
    return list(dict.fromkeys(file.removeprefix(inside) if inside else file for file in files))
