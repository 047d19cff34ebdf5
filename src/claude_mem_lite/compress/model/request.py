"""Requests to a model: prompt, schema and message of a turn; the answer is checked and joined with facts of rules.

Called by the worker when a provider is configured; stores nothing, and does not decide when to ask. Prompts are files
of the package, with a version in the first line. A lesson without a quote of the prompt is dropped: a model may invent
statements of the user."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources

from claude_mem_lite.code.syntax.changes import read_anchor
from claude_mem_lite.compress.model.provider_errors import OTHER_MODEL
from claude_mem_lite.compress.model.response_parser import is_exact, read_drafts, read_summary, safe_prose
from claude_mem_lite.compress.model.turn_answer import ModelLesson, TurnAnswer
from claude_mem_lite.compress.prose.clean import clip
from claude_mem_lite.compress.prose.drafts import make_draft
from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.errors import ModelRefused
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import (
    FOREIGN_ORIGINS,
    MAX_DETAIL_LENGTH,
    WORK_KINDS,
    Draft,
    JsonObject,
    JsonValue,
    Kind,
    SessionSummary,
    text,
)
from claude_mem_lite.providers import Provider, Usage
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.text import one_line, overlap, within
from claude_mem_lite.values import frozen

LESSON_KINDS: tuple[Kind, ...] = ("preference", "rule", "convention", "correction", "anti_pattern", "gotcha", "note")
MAX_LESSON = 300
_MAX_BEFORE = 400
_MIN_WORDS = 3
_MIN_SHARED = 0.6


_MAX_STARTS = 40
_THOUGHT = lazy(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S)
_NOTHING = lazy(r"[\s`]*(?:json)?\s*\[\s*\][\s`]*")
_EXTRA_COMMA = lazy(r",(\s*[}\]])")
_DECODER = json.JSONDecoder(strict=False)
MAX_TURN_TOKENS = 1_024
"""Maximum length of an answer about one turn: memories, and the session so far."""
MAX_SUMMARY_TOKENS = 512
MAX_MATERIAL = 32_000
_MAX_GOAL = 300
_MAX_TITLE = 90
_MAX_ALL_TITLES = 900
_MAX_TITLES = 20
_KEPT_ORIGINS = ("user", *FOREIGN_ORIGINS)
_MIN_LIKENESS = 0.4


def read_answer(text: str) -> JsonObject | None:
    """Return the requested object from anywhere in the text of a model; None for no such object.

    A list counts as the memories, and so do single memories, the rest of a truncated answer."""
    text = _THOUGHT.sub("", text)
    if _NOTHING.fullmatch(text):
        return {"memories": []}
    alone: list[JsonValue] = []
    for value in _values(text):
        if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            return {"memories": value}
        for answer in (value, *value.values()) if isinstance(value, Mapping) else ():
            if isinstance(answer, Mapping) and ("memories" in answer or "headline" in answer):
                return answer
        if isinstance(value, Mapping) and ("title" in value or "summary" in value):
            alone.append(value)
    return {"memories": alone} if alone else None


def _values(text: str) -> Iterator[JsonValue]:
    """Yield every JSON value of a text that could be the answer, outermost first, without prose and fences."""
    starts = [bracket.start() for bracket in re.finditer(r"[{\[]", text)][: _MAX_STARTS * 20]
    end = tries = 0
    for start in starts:
        if start < end or tries == _MAX_STARTS:
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


@frozen
class Prompt:
    """Instructions for a model, and the version that is stored with each answer."""

    text: str
    version: str


@cache
def load(name: str) -> Prompt:
    """Return the prompt of a name. A changed text needs a new version: memories name the version."""
    file = resources.files("claude_mem_lite") / "prompts" / f"{name}.md"
    version, _, text = file.read_text("utf-8").partition("\n")
    return Prompt(text.strip(), version.strip())


_STRING: JsonObject = {"type": "string"}
_STRINGS: JsonObject = {"type": "array", "items": _STRING}


def _object(**members: JsonObject) -> JsonObject:
    """Return a schema for the strict mode of every provider: all members required, no others allowed."""
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


@frozen
class TurnRequest:
    """Material of one request about a turn."""

    goal: str
    """The session's first request."""
    titles: tuple[str, ...]
    """Titles of the session's memories so far, oldest first."""
    digest: str
    files_edited: tuple[str, ...] = ()
    """The files that the turn changed: a memory names no other files."""
    prompt: str = ""
    sentences: tuple[str, ...] = ()
    """The sentences of the prompt that may be lessons."""
    previous_message: str = ""


def ask(provider: Provider, request: TurnRequest) -> TurnAnswer:
    """Make one call. ModelUnavailable when a retry may help, ModelRefused for an unusable answer."""
    message = message_of(request)
    schema = _TURN_WITH_LESSONS if request.sentences else _TURN
    done = provider.complete(instructions_of(request), message, schema, MAX_TURN_TOKENS)
    answer = read_answer(done.text)
    drafts = read_drafts(answer, request.files_edited, message) if answer else None
    if answer is None or drafts is None:
        raise ModelRefused(f"{provider.name} gave an answer that cannot be used", OTHER_MODEL, done.usage)
    lessons = read_lessons(answer, request.prompt, request.sentences, message)
    return TurnAnswer(drafts, read_summary(answer, message), done.usage, load("turn").version, lessons)


def instructions_of(request: TurnRequest) -> str:
    """Return the prompt about a turn, with the part about lessons only for sentences that may be lessons."""
    more = [load("lessons").text] if request.sentences else []
    return "\n\n".join((load("turn").text, *more))


def ask_summary(provider: Provider, material: str) -> tuple[SessionSummary, Usage, str]:
    """Return the summary of a session from the material, the usage of the call, and the version of the prompt."""
    prompt = load("session")
    message = redact(clip(material, MAX_MATERIAL))
    done = provider.complete(prompt.text, message, _SESSION, MAX_SUMMARY_TOKENS)
    answer = read_answer(done.text)
    summary = read_summary(answer, message) if answer else None
    if summary is None:
        raise ModelRefused(f"{provider.name} gave a summary that cannot be used", OTHER_MODEL, done.usage)
    return summary, done.usage, prompt.version


def message_of(request: TurnRequest) -> str:
    """Return the message about a turn, redacted once more as a whole."""
    goal = within(one_line(request.goal), _MAX_GOAL)
    begun = goal[:60].rstrip(" .!?…")  # rules end a request with a full stop
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


def merge_drafts(rules: tuple[Draft, ...], answered: tuple[Draft, ...]) -> tuple[Draft, ...]:
    """Return the drafts to store for a turn with an answer of a model.

    The drafts of the model, each with the exact facts of the matching drafts of rules, and drafts that only rules can
    make: the user's choices, foreign text, and errors with a fingerprint that the model left out. When the model found
    no memory, the drafts of rules stay: readers saw a memory too in .94 of these turns."""
    if not answered:
        return rules
    kept: list[Draft] = []
    matching: dict[int, list[Draft]] = {}
    for draft in rules:
        best = max(range(len(answered)), key=lambda at: _likeness(draft, answered[at]))
        if draft.origin in _KEPT_ORIGINS or _is_left_out(draft, answered[best]):
            kept.append(draft)
        else:
            matching.setdefault(best, []).append(draft)
    return (*(_with_facts(draft, matching.get(at, ())) for at, draft in enumerate(answered)), *kept)


def _is_left_out(draft: Draft, nearest: Draft) -> bool:
    """Return whether a draft has the fingerprint of an error and the nearest draft is about something else."""
    if all(map(read_anchor, draft.anchors)):
        return False  # anchored to code only
    return _likeness(draft, nearest) < _MIN_LIKENESS


def _likeness(draft: Draft, other: Draft) -> float:
    """Return the likeness of two drafts, by files, words and sort."""
    own_text, other_text = (f"{each.title} {each.summary} {' '.join(each.facts)}" for each in (draft, other))
    shared = len(set(draft.files) & set(other.files)) / len(draft.files) if draft.files else 0.0
    words = max(overlap(draft.title, other_text), overlap(other.title, own_text))
    is_same_sort = draft.kind == other.kind or (draft.kind in WORK_KINDS) == (other.kind in WORK_KINDS)
    return words + shared + (0.05 if is_same_sort else 0.0)


def _with_facts(answered: Draft, rules: Sequence[Draft]) -> Draft:
    """Return a draft of the model with the exact facts of rules about the same work; the rest goes to the detail."""
    if not rules:
        return answered
    every = (answered, *rules)
    joined_draft = make_draft(
        answered.kind,
        answered.title,
        answered.summary,
        facts=[fact for draft in every for fact in draft.facts],
        files=[path for draft in every for path in draft.files],
        symbols=[symbol for draft in every for symbol in draft.symbols],
        anchors=[anchor for draft in every for anchor in draft.anchors],
        origin=answered.origin,
        confidence=max(draft.confidence for draft in every),
    )
    more = [fact for draft in rules for fact in draft.facts if fact not in joined_draft.facts]
    details = [answered.detail, *more, *(draft.detail for draft in rules)]
    return replace(joined_draft, detail=clip("\n".join(filter(None, dict.fromkeys(details))), MAX_DETAIL_LENGTH))


def part_of(sentences: Sequence[str], previous_message: str) -> str:
    """Return the end of a message about a turn: the sentences, and the end of the agent's message before them."""
    if not sentences:
        return ""
    before = one_line(previous_message)[-_MAX_BEFORE:]
    context = [f"The agent had said before: …{before}"] if before else []
    items = (f"- {sentence}" for sentence in sentences)
    return "\n".join(("Sentences of the user that may hold beyond the task:", *items, *context))


def read_lessons(answer: JsonObject, prompt: str, sentences: Sequence[str], sent: str) -> tuple[ModelLesson, ...]:
    """Return the lessons of an answer that quote the prompt, at most one for each sentence."""
    items = answer.get("lessons")
    lessons: dict[str, ModelLesson] = {}
    for item in items if isinstance(items, list) else ():
        lesson = _lesson(item, prompt, sentences, sent)
        if lesson is not None:
            lessons.setdefault(lesson.sentence, lesson)
    return tuple(lessons.values())


def _lesson(item: JsonValue, prompt: str, sentences: Sequence[str], sent: str) -> ModelLesson | None:
    if not isinstance(item, Mapping):
        return None
    quote = _plain(text(item.get("quote")))
    if len(quote.split()) < _MIN_WORDS or quote not in _plain(prompt):
        return None
    sentence = max(sentences, key=lambda sentence: overlap(quote, sentence), default="")
    lesson = capital(within(safe_prose(text(item.get("lesson"))), MAX_LESSON))
    is_sound = len(lesson.split()) >= _MIN_WORDS and not lesson.endswith("?") and is_exact(lesson, sent)
    if overlap(quote, sentence) < _MIN_SHARED or not is_sound:
        return None
    return ModelLesson(
        sentence, lesson, next((kind for kind in LESSON_KINDS if kind == item.get("kind")), "preference")
    )


def _plain(words: str) -> str:
    """Return words for a comparison: without case, quotation marks and the final stop."""
    return one_line(words.replace("’", "'").replace("`", "")).casefold().strip(" \"'“”.…")
