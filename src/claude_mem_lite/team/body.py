"""Body of an entry: a memory as JSON text for the team, and back. Details, sessions, prompts and everything learned on
this machine have no field.

A body is made once, before the outbox. A received body is foreign input: sizes and types are checked, text is cleaned
like that of an import."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import cast

from claude_mem_lite.code.syntax.changes import read_anchor, written
from claude_mem_lite.compress.compose.facts import is_answer
from claude_mem_lite.compress.prose.clean import clean, storable
from claude_mem_lite.export_format import values_of
from claude_mem_lite.knowledge.confidence import FIRST
from claude_mem_lite.knowledge.quarantine import without_approval
from claude_mem_lite.models import (
    MAX_ANCHORS,
    MAX_DETAIL_LENGTH,
    MAX_FACTS,
    MAX_FILES,
    MAX_TEXT_LENGTH,
    MAX_TITLE_LENGTH,
    TRUST,
    JsonObject,
    JsonValue,
    Kind,
    Memory,
    SymbolChange,
    load_json,
    without_request,
)
from claude_mem_lite.safety.clean_import import cleaned
from claude_mem_lite.safety.redact import redact, rules_for, texts_of
from claude_mem_lite.team.local_paths import LocalPaths, is_inside
from claude_mem_lite.team.policy import NEVER_KINDS, PRIVATE, BodyStatus
from claude_mem_lite.team.reasons import TeamError
from claude_mem_lite.text import one_line, within
from claude_mem_lite.timestamps import time_to_text
from claude_mem_lite.values import frozen

MADE_BY = "team"
"""`made_by` of a received memory."""
FIELDS = (
    "kind",
    "title",
    "summary",
    "facts",
    "files",
    "symbols",
    "anchors",
    "tags",
    "branch",
    "commit",
    "created_at",
    "status",
)
MAX_BODY_LENGTH = 200_000
MAX_TAGS = 24
MAX_SYMBOLS = 48
_REQUIRED = ("kind", "title", "created_at")
_STATUSES = ("active", "retired")
_MAX_NAME_LENGTH = 500
"""Maximum of a branch, a tag, a file, an anchor, and a file or name of a symbol."""
_NO_RULES = rules_for("")


@frozen
class MemoryBody:
    """Checked body of a received entry."""

    kind: Kind
    title: str
    created_at: datetime
    summary: str = ""
    facts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    symbols: tuple[SymbolChange, ...] = ()
    anchors: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    branch: str = ""
    commit: str = ""
    status: BodyStatus = "active"


def body_of(memory: Memory, status: BodyStatus, paths: LocalPaths, unknown: JsonObject | None = None) -> str | None:
    """Return the body of a memory as text, the same for equal memories; None if it may contain a secret.

    `unknown` holds fields of a newer version that an earlier body had, see `unknown_fields`."""
    bare = replace(
        memory,
        summary=without_request(memory.summary),
        facts=tuple(fact for fact in memory.facts if not is_answer(fact)),
        detail="",
        session="",
        prompt="",
        scope="",
        project="",
    )
    if cleaned(bare)[1]:
        return None
    values = {**(unknown or {}), **_values(bare, status, paths)}
    if any(redact(text) != text for text in texts_of(values)):
        return None
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return text if len(text) <= MAX_BODY_LENGTH else None


def _values(memory: Memory, status: BodyStatus, paths: LocalPaths) -> JsonObject:
    def plain(text: str, limit: int = _MAX_NAME_LENGTH) -> str:
        return within(storable(_NO_RULES.known_out(paths.out_of(text))), limit)

    symbols = [replace(symbol, file=paths.file(symbol.file), name=plain(symbol.name)) for symbol in memory.symbols]
    tags = (plain(tag) for tag in without_approval(memory).tags)
    values: dict[str, JsonValue] = {
        "kind": memory.kind,
        "title": plain(memory.title, MAX_TITLE_LENGTH),
        "summary": plain(memory.summary, MAX_TEXT_LENGTH),
        "facts": [plain(fact, MAX_DETAIL_LENGTH) for fact in memory.facts][:MAX_FACTS],
        "files": _short([paths.file(file) for file in memory.files])[:MAX_FILES],
        "symbols": [asdict(symbol) for symbol in symbols if _fits(symbol)][:MAX_SYMBOLS],
        "anchors": _short([_anchor(anchor, paths) for anchor in memory.anchors])[:MAX_ANCHORS],
        "tags": [tag for tag in tags if tag][:MAX_TAGS],
        "branch": plain(memory.branch),
        "commit": plain(memory.commit),
        "created_at": time_to_text(memory.created_at),
        "status": status,
    }
    return values


def _anchor(anchor: str, paths: LocalPaths) -> str:
    """Return an anchor with a path relative to the checkout; '' if the anchor points elsewhere."""
    code = read_anchor(anchor)
    if code is None:
        return storable(paths.out_of(anchor))
    file = paths.file(code.file)
    return written(replace(code, file=file)) if file else ""


def _short(items: Sequence[str]) -> list[str]:
    return [item for item in dict.fromkeys(items) if item and len(item) <= _MAX_NAME_LENGTH]


def _fits(symbol: SymbolChange) -> bool:
    return is_inside(symbol.file) and max(len(symbol.file), len(symbol.name)) <= _MAX_NAME_LENGTH


def words_of_body(body: str) -> str:
    """Return the text of a body for the word index and the vector on the server."""
    known = read_body(body)
    return "\n".join(filter(None, (known.title, known.summary, *known.facts, *known.files, *known.tags)))


def unknown_fields(body: str | None) -> JsonObject:
    """Return the fields of a body that this version does not know; none of a body that breaks its limits."""
    try:
        value = _parsed(body) if body else {}
    except TeamError:
        return {}
    return {name: item for name, item in value.items() if name not in FIELDS}


def read_body(body: str) -> MemoryBody:
    """Parse a received body. TeamError `bad_body`: the text breaks a limit of this version."""
    value = _parsed(body)
    known = {name: value[name] for name in FIELDS if name in value}
    if missing := [name for name in _REQUIRED if name not in known]:
        raise TeamError("bad_body", f"{missing[0]} is missing")
    values, problems = values_of(known)
    if problems:
        raise TeamError("bad_body", problems[0])
    read = MemoryBody(**values)  # type: ignore[arg-type]  # checked by name
    for problem, is_broken in _LIMITS.items():
        if is_broken(read):
            raise TeamError("bad_body", problem)
    return read


_LIMITS: dict[str, Callable[[MemoryBody], bool]] = {
    "its kind is never shared": lambda body: body.kind in NEVER_KINDS,
    "its status is unknown": lambda body: body.status not in _STATUSES,
    "its title is too long": lambda body: len(body.title) > MAX_TITLE_LENGTH,
    "its summary is too long": lambda body: len(body.summary) > MAX_TEXT_LENGTH,
    "it has too many facts": lambda body: len(body.facts) > MAX_FACTS,
    "it has too many files": lambda body: len(body.files) > MAX_FILES,
    "it has too many anchors": lambda body: len(body.anchors) > MAX_ANCHORS,
    "it has too many symbols": lambda body: len(body.symbols) > MAX_SYMBOLS,
    "it has too many tags": lambda body: len(body.tags) > MAX_TAGS,
    "a fact is too long": lambda body: any(len(fact) > MAX_DETAIL_LENGTH for fact in body.facts),
    "a name is too long": lambda body: any(len(name) > _MAX_NAME_LENGTH for name in _names(body)),
}


def _names(body: MemoryBody) -> tuple[str, ...]:
    symbols = [name for symbol in body.symbols for name in (symbol.file, symbol.name)]
    return (*body.files, *body.anchors, *body.tags, *symbols, body.branch, body.commit)


def _parsed(body: str) -> JsonObject:
    if len(body) > MAX_BODY_LENGTH:
        raise TeamError("bad_body", "it is too long")
    try:
        value = load_json(body)
    except (ValueError, RecursionError):
        raise TeamError("bad_body", "it is no JSON") from None
    if not isinstance(value, dict):
        raise TeamError("bad_body", "it is no object")
    return cast("JsonObject", value)


def memory_of(body: MemoryBody, id_: str, project: str, author: str) -> Memory:
    """Return a received memory as it is stored, without secrets, private passages and paths out of the checkout."""
    received = Memory(
        id=id_,
        kind=body.kind,
        title=one_line(clean(body.title)),
        summary=clean(body.summary),
        created_at=body.created_at,
        last_seen_at=body.created_at,
        scope=f"project:{project}",
        project=project,
        status=body.status,
        facts=_lines(body.facts),
        files=tuple(file for file in _lines(body.files) if is_inside(file)),
        symbols=tuple(symbol for symbol in map(_cleaned_symbol, body.symbols) if _fits(symbol)),
        anchors=tuple(anchor for anchor in _lines(body.anchors) if _is_anchor_inside(anchor)),
        tags=tuple(tag for tag in _lines(body.tags) if tag.casefold() != PRIVATE),
        branch=_git_name(body.branch),
        commit=_git_name(body.commit),
        origin="team",
        author=author,
        trust=TRUST["team"],
        confidence=FIRST,
        made_by=MADE_BY,
    )
    received = without_approval(cleaned(received)[0])
    if not received.title:
        raise TeamError("bad_body", "its title is empty")
    return received


def _lines(items: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for item in items if (line := one_line(clean(item)))))


def _git_name(name: str) -> str:
    """Return a branch or a commit; '' for a text with spaces, which git allows in neither."""
    cleaned_name = one_line(clean(name))
    return "" if " " in cleaned_name else cleaned_name


def _cleaned_symbol(symbol: SymbolChange) -> SymbolChange:
    return replace(symbol, file=one_line(clean(symbol.file)), name=one_line(clean(symbol.name)))


def _is_anchor_inside(anchor: str) -> bool:
    code = read_anchor(anchor)
    return code is None or is_inside(code.file)
