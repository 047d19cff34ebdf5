"""What a model wrote -> drafts and a summary. Tolerant of form, strict about content; never raises on any text."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from claude_mem_lite.compress.language import titles
from claude_mem_lite.compress.language.clean import clean, clip
from claude_mem_lite.compress.language.drafts import LONGEST_SUMMARY, make_draft
from claude_mem_lite.compress.language.prose import sentences
from claude_mem_lite.models import LONGEST_DETAIL, LONGEST_TITLE, Draft, JsonObject, JsonValue, Kind, SessionSummary
from claude_mem_lite.patterns import lazy
from claude_mem_lite.redaction.redact import redact
from claude_mem_lite.words import one_line, within

KINDS: tuple[Kind, ...] = (
    "decision", "bugfix", "feature", "refactor", "change", "discovery", "gotcha", "architecture", "convention",
    "pattern", "failure",
)  # fmt: skip
_OTHER_NAMES: dict[str, Kind] = {
    "fix": "bugfix", "bug": "bugfix", "feat": "feature", "refactoring": "refactor", "chore": "change",
    "docs": "change", "test": "change", "update": "change", "finding": "discovery", "learning": "discovery",
    "insight": "discovery", "fact": "discovery", "warning": "gotcha", "caveat": "gotcha", "anti_pattern": "gotcha",
    "design": "architecture", "rule": "convention", "error": "failure",
}  # fmt: skip
_MOST_DRAFTS = 8
_LEAST_WORDS = 3
_CONFIDENCE = 0.8
_MOST_STARTS = 40
_PADDING = ("null", "none", "none.", "n/a", "-", "...")
_THOUGHT = lazy(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S)
_NOTHING = lazy(r"[\s`]*(?:json)?\s*\[\s*\][\s`]*")
_EXTRA_COMMA = lazy(r",(\s*[}\]])")
# Narrower than for what commands print: of agents and their prompts a model may well have to tell.
_ORDER = lazy(
    r"(?i)\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:previous|prior|above|earlier|all|your)\b"
    r".{0,20}\b(?:instructions?|rules?|prompts?|orders?)\b|^\W*(?:system|assistant|human|user|important)\s*:"
)
_TAG = lazy(r"<(?=[/!?a-z])", re.I)
_MARKUP = lazy(r"\*\*|__|`")
_PATH_ALONE = lazy(r"[\w.@~-]*(?:[/\\.][\w.@~-]+)+/?")
_PROSE_LIMITS = {"headline": 200, "request": 400, "investigated": 300, "learned": 500, "completed": 700, "notes": 300}
_LIST_LIMITS = {"next_steps": (5, 160), "key_decisions": (4, 260)}


def read_answer(text: str) -> JsonObject | None:
    """The object that a model was asked for, wherever in its text it stands; None when there is none.

    A list is taken for the memories, and so are single ones: what is left of an answer that was cut off."""
    text = _THOUGHT.sub("", text)
    if _NOTHING.fullmatch(text):
        return {"memories": []}
    alone: list[JsonValue] = []
    for value in _values(text):
        if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            return {"memories": value}
        for found in (value, *value.values()) if isinstance(value, Mapping) else ():
            if isinstance(found, Mapping) and ("memories" in found or "headline" in found):
                return found
        if isinstance(value, Mapping) and ("title" in value or "summary" in value):
            alone.append(value)
    return {"memories": alone} if alone else None


def read_drafts(answer: JsonObject, files_edited: Sequence[str]) -> tuple[Draft, ...] | None:
    """The memories of an answer, none when it says there are none; None when it says nothing usable about them."""
    told = answer.get("memories")
    items = [told] if isinstance(told, Mapping) else told if isinstance(told, list) else None
    if items is None:
        return None
    found = [draft for item in items if isinstance(item, Mapping) and (draft := _draft(item, files_edited))]
    distinct = {draft.title.lower(): draft for draft in reversed(found)}
    drafts = tuple(reversed(distinct.values()))[:_MOST_DRAFTS]
    return drafts if drafts or not items else None


def read_summary(answer: JsonObject) -> SessionSummary | None:
    """The summary in an answer, by itself or under `session`; None without a headline."""
    told = answer.get("session")
    given = told if isinstance(told, Mapping) else answer
    prose = {name: _prose(given.get(name), limit) for name, limit in _PROSE_LIMITS.items()}
    lists = {name: _list(given.get(name), *limits) for name, limits in _LIST_LIMITS.items()}
    prose["headline"] = prose["headline"].rstrip(".")
    return SessionSummary(**prose, **lists) if prose["headline"] else None  # type: ignore[arg-type]


def _values(text: str) -> Iterator[JsonValue]:
    """Every JSON value in a text that could be the answer, outermost first, prose and fences around it left out."""
    starts = [found.start() for found in re.finditer(r"[{\[]", text)][: _MOST_STARTS * 20]
    end = tries = 0
    for start in starts:
        if start < end or tries == _MOST_STARTS:
            continue
        tries += 1
        for version in (text[start:], _EXTRA_COMMA.sub(r"\1", text[start:])):
            try:
                value, length = _DECODER.raw_decode(version)
            except (ValueError, RecursionError):
                continue
            end = start + length
            yield value
            break


_DECODER = json.JSONDecoder(strict=False)


def _draft(item: JsonObject, files_edited: Sequence[str]) -> Draft | None:
    """One memory; None for what tells nothing: without a summary, or with a title that is a word or two."""
    given, summary = _prose(item.get("title"), 400), _prose(item.get("summary"), LONGEST_SUMMARY)
    if not summary or _is_short(given):
        return None
    title = _title(given) or _title(titles.from_statement(_first(summary)))
    if not title:
        return None
    files = _files(item.get("files"), files_edited)
    return make_draft(
        _kind(item.get("kind"), bool(files)),
        title,
        summary,
        detail=clip(_safe(_string(item.get("detail"))), LONGEST_DETAIL),
        files=files,
        confidence=_CONFIDENCE,
    )


def _is_short(title: str) -> bool:
    """Whether a title has fewer than three words. Not every language puts spaces between its words."""
    return len(title.split()) < _LEAST_WORDS if title.isascii() else not title


def _title(text: str) -> str:
    """The text when it can stand for a memory: not a path alone, no empty phrase."""
    text = within(_MARKUP.sub("", text).strip(" \"'“”-*#"), LONGEST_TITLE).rstrip(" .")
    least = 1.5 if text.isascii() else 0.5
    if _is_short(text) or _PATH_ALONE.fullmatch(text) or titles.weight(text) < least:
        return ""
    return text


def _kind(value: JsonValue, edited: bool) -> Kind:
    name = re.sub(r"[\s-]+", "_", _string(value).strip().lower())
    for kind in KINDS:
        if name in (kind, f"{kind}s"):
            return kind
    return _OTHER_NAMES.get(name, "change" if edited else "discovery")


def _files(value: JsonValue, edited: Sequence[str]) -> list[str]:
    """The edited files that are named, by whole path or by its end."""
    names = re.split(r"[,\n]", value) if isinstance(value, str) else value if isinstance(value, list) else []
    named = [name.strip(" `") for name in names if isinstance(name, str) and name.strip(" `")]
    return [path for path in edited if any(f"/{path}".endswith(f"/{name.lstrip('/')}") for name in named)]


def _list(value: JsonValue, most: int, limit: int) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(said for item in items if (said := _prose(item, limit))))[:most]


def _prose(value: JsonValue, limit: int) -> str:
    """One line of plain words within a limit."""
    return within(one_line(_safe(_string(value))), limit)


def _safe(text: str) -> str:
    """What a model wrote, without secrets, sentences that speak to the reader, and what looks like a block of ours."""
    if text.strip().lower() in _PADDING:
        return ""
    lines = _TAG.sub("‹", redact(clean(text[:20_000]))).split("\n")
    kept = (" ".join(part for part in sentences(line) if not _ORDER.search(part)) for line in lines)
    return "\n".join(kept).strip()


def _string(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "; ".join(item for item in value if isinstance(item, str))
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _first(text: str) -> str:
    return next(iter(sentences(text)), "")
