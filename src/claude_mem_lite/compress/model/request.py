"""Turns told by a model: one question a turn, the answer checked and joined with the exact facts of rules.

Called by the worker when a provider is configured; stores nothing and decides nothing about when to ask.

The prompts that models are given: files of the package, each with its version in the first line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from claude_mem_lite.code.syntax.anchors import read_anchor
from claude_mem_lite.compress.model.lesson_verdicts import KINDS as LESSON_KINDS
from claude_mem_lite.compress.model.lesson_verdicts import ModelLesson, part_of, read_lessons
from claude_mem_lite.compress.model.provider_errors import OTHER_MODEL
from claude_mem_lite.compress.model.response_json import read_answer
from claude_mem_lite.compress.model.response_parser import read_drafts, read_summary
from claude_mem_lite.compress.prose.clean import clip
from claude_mem_lite.compress.prose.drafts import make_draft
from claude_mem_lite.errors import ModelRefused
from claude_mem_lite.models import (
    FOREIGN_ORIGINS,
    MAX_DETAIL_LENGTH,
    WORK_KINDS,
    Draft,
    JsonObject,
    Provider,
    SessionSummary,
    Usage,
)
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.text import one_line, overlap, within


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is told, and the version that is stored with all it answers."""

    text: str
    version: str


@cache
def load(name: str) -> Prompt:
    """The prompt of this name. A changed text needs a new version: memories say by which one they were made."""
    file = resources.files("claude_mem_lite") / "prompts" / f"{name}.md"
    version, _, text = file.read_text("utf-8").partition("\n")
    return Prompt(text.strip(), version.strip())


MAX_TURN_TOKENS = 1_024
"""Longest answer about one turn: its memories, and the session so far."""
MAX_SUMMARY_TOKENS = 512
MAX_MATERIAL = 32_000
_MAX_GOAL = 300
_MAX_TITLE = 90
_MAX_ALL_TITLES = 900
_MAX_TITLES = 20
_KEPT_ORIGINS = ("user", *FOREIGN_ORIGINS)
_MIN_LIKENESS = 0.4

_STRING: JsonObject = {"type": "string"}
_STRINGS: JsonObject = {"type": "array", "items": _STRING}


def _object(**members: JsonObject) -> JsonObject:
    """Return a schema that every provider's strict mode takes: all members required, none besides."""
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


_KIND: JsonObject = {"type": "string", "enum": list(WORK_KINDS)}
_SO_FAR: dict[str, JsonObject] = {
    "headline": _STRING,
    "learned": _STRING,
    "completed": _STRING,
    "next_steps": _STRINGS,
    "key_decisions": _STRINGS,
}
_SESSION = _object(**_SO_FAR, request=_STRING, investigated=_STRING, notes=_STRING)
_MEMORY = _object(kind=_KIND, title=_STRING, summary=_STRING, facts=_STRINGS, files=_STRINGS)
_PARTS: dict[str, JsonObject] = {"memories": {"type": "array", "items": _MEMORY}, "session": _object(**_SO_FAR)}
_TURN = _object(**_PARTS)
_LESSON = _object(quote=_STRING, lesson=_STRING, kind={"type": "string", "enum": list(LESSON_KINDS)})
_TURN_WITH_LESSONS = _object(**_PARTS, lessons={"type": "array", "items": _LESSON})


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """Material of one question about a turn."""

    goal: str
    """The session's first request."""
    titles: tuple[str, ...]
    """Titles of the session's memories so far, oldest first."""
    digest: str
    files_edited: tuple[str, ...] = ()
    """The files the turn changed: a memory names no other."""
    prompt: str = ""
    sentences: tuple[str, ...] = ()
    """The sentences of the prompt that may be lessons."""
    previous_message: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """Memories of one turn and the summary of its session, by a model."""

    drafts: tuple[Draft, ...]
    summary: SessionSummary | None
    """The session so far, without its files; None when the answer held none."""
    usage: Usage
    prompt_version: str
    lessons: tuple[ModelLesson, ...] = ()


def ask(provider: Provider, request: TurnRequest) -> Told:
    """Make one call. ModelUnavailable when trying again may help, ModelRefused when the answer cannot be used."""
    message = message_of(request)
    schema = _TURN_WITH_LESSONS if request.sentences else _TURN
    done = provider.complete(instructions_of(request), message, schema, MAX_TURN_TOKENS)
    answer = read_answer(done.text)
    drafts = read_drafts(answer, request.files_edited, message) if answer else None
    if answer is None or drafts is None:
        raise ModelRefused(f"{provider.name} gave an answer that cannot be used", OTHER_MODEL, done.usage)
    lessons = read_lessons(answer, request.prompt, request.sentences, message)
    return Told(drafts, read_summary(answer, message), done.usage, load("turn").version, lessons)


def instructions_of(request: TurnRequest) -> str:
    """Return the prompt about a turn; the part about lessons only where a sentence may be one."""
    more = [load("lessons").text] if request.sentences else []
    return "\n\n".join((load("turn").text, *more))


def ask_summary(provider: Provider, material: str) -> tuple[SessionSummary, Usage, str]:
    """Return the summary of a session from its material, the usage of the call, and the version of the prompt."""
    prompt = load("session")
    message = redact(clip(material, MAX_MATERIAL))
    done = provider.complete(prompt.text, message, _SESSION, MAX_SUMMARY_TOKENS)
    answer = read_answer(done.text)
    summary = read_summary(answer, message) if answer else None
    if summary is None:
        raise ModelRefused(f"{provider.name} gave a summary that cannot be used", OTHER_MODEL, done.usage)
    return summary, done.usage, prompt.version


def message_of(request: TurnRequest) -> str:
    """Return the message about a turn that is sent with the prompt, redacted once more as a whole."""
    goal = within(one_line(request.goal), _MAX_GOAL)
    begun = goal[:60].rstrip(" .!?…")  # rules end a request with a full stop, the user may not
    parts = [] if begun in one_line(request.digest[:1_000]) else [f"Goal of the session: {goal}"]
    titles = _newest(request.titles)
    parts += ["\n".join(("Titles so far:", *(f"- {title}" for title in titles)))] if titles else []
    lessons = part_of(request.sentences, request.previous_message)
    return redact("\n\n".join((*parts, request.digest, *([lessons] if lessons else []))))


def _newest(titles: Sequence[str]) -> list[str]:
    """Return as many of the last titles as fit."""
    kept: list[str] = []
    room = _MAX_ALL_TITLES
    for title in reversed(titles[-_MAX_TITLES:]):
        short = within(one_line(title), _MAX_TITLE)
        room -= len(short)
        if room < 0:
            break
        kept.append(short)
    return kept[::-1]


def joined(rules: tuple[Draft, ...], told: tuple[Draft, ...]) -> tuple[Draft, ...]:
    """Return the drafts to store of a turn that a model told.

    The model's drafts, each with the exact facts of the rules' drafts that it retells, and drafts that rules alone can
    make: the user's choices, text of foreign origin, and errors that can be recognised but were not retold. When the
    model found nothing worth remembering, the rules' drafts stay: readers saw a memory too in .94 of their turns."""
    if not told:
        return rules
    kept: list[Draft] = []
    retold: dict[int, list[Draft]] = {}
    for draft in rules:
        best = max(range(len(told)), key=lambda at: _likeness(draft, told[at]))
        if draft.origin in _KEPT_ORIGINS or _is_left_out(draft, told[best]):
            kept.append(draft)
        else:
            retold.setdefault(best, []).append(draft)
    return (*(_with_facts(draft, retold.get(at, ())) for at, draft in enumerate(told)), *kept)


def _is_left_out(draft: Draft, nearest: Draft) -> bool:
    """Return whether an error is known by its fingerprint and no draft is about it: no other draft may carry it."""
    if all(map(read_anchor, draft.anchors)):
        return False  # tied to code, if to anything
    return _likeness(draft, nearest) < _MIN_LIKENESS


def _likeness(draft: Draft, other: Draft) -> float:
    """Return how surely two drafts are about the same thing, by their files, words and sort."""
    said, retold = (f"{one.title} {one.summary} {' '.join(one.facts)}" for one in (draft, other))
    shared = len(set(draft.files) & set(other.files)) / len(draft.files) if draft.files else 0.0
    words = max(overlap(draft.title, retold), overlap(other.title, said))
    is_same_sort = draft.kind == other.kind or (draft.kind in WORK_KINDS) == (other.kind in WORK_KINDS)
    return words + shared + (0.05 if is_same_sort else 0.0)


def _with_facts(told: Draft, rules: Sequence[Draft]) -> Draft:
    """Return a model's draft with the exact facts of rules about the same work; what is too much goes to the detail."""
    if not rules:
        return told
    every = (told, *rules)
    made = make_draft(
        told.kind,
        told.title,
        told.summary,
        facts=[fact for draft in every for fact in draft.facts],
        files=[path for draft in every for path in draft.files],
        symbols=[symbol for draft in every for symbol in draft.symbols],
        anchors=[anchor for draft in every for anchor in draft.anchors],
        origin=told.origin,
        confidence=max(draft.confidence for draft in every),
    )
    more = [fact for draft in rules for fact in draft.facts if fact not in made.facts]
    details = [told.detail, *more, *(draft.detail for draft in rules)]
    return replace(made, detail=clip("\n".join(filter(None, dict.fromkeys(details))), MAX_DETAIL_LENGTH))
