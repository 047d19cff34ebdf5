"""The session summary after a turn, from the one before it. It is what the next session sees, so it must read well."""

import re
from collections.abc import Iterable, Sequence

from claude_mem_lite.compress import titles
from claude_mem_lite.compress.closing import Closing
from claude_mem_lite.compress.drafts import prompt_text, whole_clauses, whole_sentences
from claude_mem_lite.compress.prose import sentences
from claude_mem_lite.compress.sentence_kinds import says_all_done, states_decision
from claude_mem_lite.compress.turns import closing_of
from claude_mem_lite.compress.verbs import impersonal, past, reported
from claude_mem_lite.models import Draft, SessionSummary, Turn, TurnDigest
from claude_mem_lite.words import overlap, within

LONGEST_HEADLINE = 200
LONGEST_REQUEST = 400
_LONGEST_COMPLETED = 600
_LONGEST_LEARNED = 350
_LONGEST_INVESTIGATED = 160
_LONGEST_NOTES = 160
_LONGEST_STEP = 140
_MOST_STEPS = 5
_LONGEST_DECISION = 240
_MOST_DECISIONS = 3
_MOST_FILES = 8
_LONGEST_FILES = 300

_WORK = ("feature", "bugfix", "refactor", "change")
_STEP_LABEL = re.compile(
    r"(?i)^(?:next(?: steps?| up)?|to-?dos?|remaining(?: work)?|still to do|follow[- ]?ups?|left to do"
    r"|pending)\s*[:,–—-]\s*"
)
_NAMED_BY_FILE = re.compile(
    r"(?:Change .* in \S+|(?:Change|Create|Delete) \S+|(?:Add|Remove) .* (?:to|from) \S+(?= and))"
    r"(?: and \d+ more files?)?$"
)
_NUMBER = re.compile(r"\d+")


def summarize(previous: SessionSummary | None, turn: Turn, digest: TurnDigest) -> SessionSummary:
    """What the session amounts to once this turn is over."""
    before = previous or SessionSummary()
    closing = closing_of(turn)
    done = _done(digest, closing)
    read = _newest(before.files_read, digest.files_read)
    return SessionSummary(
        headline=_headline(before, turn, digest),
        request=before.request or _request(turn.prompt),
        investigated=_investigated(read, before.investigated),
        learned=_grown(before.learned, _learned(closing, digest), _LONGEST_LEARNED),
        completed=_grown(before.completed, done, _LONGEST_COMPLETED),
        next_steps=_next_steps(before.next_steps, turn, digest, closing, done),
        files_read=read,
        files_edited=_newest(before.files_edited, digest.files_edited),
        notes=_notes(before.notes, digest),
        key_decisions=_decisions(before.key_decisions, digest),
    )


def _headline(before: SessionSummary, turn: Turn, digest: TurnDigest) -> str:
    """What was done, newest last; until something is done, what was found out or asked for."""
    done = [draft for draft in digest.drafts if draft.kind in _WORK and draft.origin != "mcp"]
    surest = max((draft.confidence for draft in done), default=0.0)
    # A test broken and mended on the way is not what a session was about.
    work = [draft.title for draft in done if draft.confidence >= min(surest, 0.7)]
    if not work:
        found = [
            draft.title
            for kind in ("discovery", "decision", "failure")
            for draft in digest.drafts
            if draft.kind == kind and draft.origin not in ("web", "mcp")
        ]
        return before.headline or within((found or [_asked(turn.prompt)])[0], LONGEST_HEADLINE)
    earlier = before.headline.split("; ") if before.headline and before.completed and before.files_edited else []
    parts = [part for part in earlier if not any(_same(part, title) for title in work)]
    # The first thing done says what the session was about; what came between makes room for the newest.
    telling = [title for title in work if not _NAMED_BY_FILE.match(title)] or ([] if parts else work)
    parts = [part for part in parts if not _NAMED_BY_FILE.match(part)] if telling else parts
    parts += telling[:2]
    while len(parts) > 1 and len("; ".join(parts)) > LONGEST_HEADLINE:
        parts.pop(1 if len(parts) > 2 else 0)
    return within("; ".join(parts), LONGEST_HEADLINE)


def _asked(prompt: str) -> str:
    said = prompt_text(prompt)
    return titles.from_prompt(said) or titles.from_statement(said)


def _request(prompt: str) -> str:
    said = prompt_text(prompt)
    return whole_sentences(sentences(said), LONGEST_REQUEST) if said else ""


def _done(digest: TurnDigest, closing: Closing) -> str:
    """One or two sentences on what the turn completed: the assistant's own words, else the titles of its memories."""
    work = [draft for draft in digest.drafts if draft.kind in _WORK]
    if not work:
        return ""
    plain = [impersonal(text) for text in closing.told[:8]]
    told = [text for text in plain if reported(text) and len(text) > 25]
    told = told or [text for text in plain[:4] if re.search(r"(?i)\bnow\b|no longer", text)]
    title = work[0].title
    told = [text for text in told if titles.weight(text) >= 3 and not says_all_done(text)]
    if told:
        return whole_sentences(told[:2] if len(told[0]) < 80 else told[:1], 260)
    return whole_sentences([past(title)], 200)


def _learned(closing: Closing, digest: TurnDigest) -> str:
    told = [text for text in (*closing.causes(), *closing.findings()) if not states_decision(text)]
    found = [text for text in dict.fromkeys(told) if 40 < len(text) < 300 and titles.weight(text) >= 3]
    if found:
        return whole_sentences(map(impersonal, found[:2]), 260)
    new = [draft for draft in digest.drafts if draft.kind == "discovery" and draft.origin == "assistant"]
    if not new:
        return ""
    whole = next((text for text in closing.told if overlap(new[0].title, text) > 0.9), new[0].title)
    return whole_sentences([impersonal(whole)], 260)


def _investigated(read: Sequence[str], before: str) -> str:
    if not read:
        return before
    names = [path.rsplit("/", 1)[-1] for path in read]
    shown = ", ".join(names[:5])
    return within(f"Read {shown}{' and more' if len(names) > 5 else ''}.", _LONGEST_INVESTIGATED)


def _grown(before: str, new: str, limit: int) -> str:
    """The text with new sentences added; the oldest ones go when there is no room."""
    parts = [part for part in sentences(before) if not _same(part, new)]
    parts += [part for part in sentences(new) if part not in parts]
    while len(parts) > 1 and len(" ".join(parts)) > limit:
        parts.pop(0)
    return within(" ".join(parts), limit)


def _next_steps(before: Sequence[str], turn: Turn, digest: TurnDigest, closing: Closing, done: str) -> tuple[str, ...]:
    """The newest turn that names any replaces the old; a finished list or word of completion empties it."""
    listed = [within(task, _LONGEST_STEP) for task in digest.open_tasks or ()]
    # What a sentence says of several items reads better as the items.
    said = [step for step in map(_step, closing.next_steps()) if step and not _says(" ".join(listed), step)]
    new = [*said, *(task for task in listed if not any(_says(step, task) for step in said))]
    if new:
        return tuple(dict.fromkeys(new))[:_MOST_STEPS]
    if digest.open_tasks is not None or closing.says_all_done():
        return ()
    finished = f"{done} {prompt_text(turn.prompt)}" if done else ""
    return tuple(step for step in before if overlap(step, finished) < 0.6)


def _step(text: str) -> str:
    text = _STEP_LABEL.sub("", text).strip()
    return within(text[:1].upper() + text[1:], _LONGEST_STEP) if len(text.split()) > 1 else ""


def _notes(before: str, digest: TurnDigest) -> str:
    """What still fails; nothing once a later turn has fixed something."""
    failures = [draft.title for draft in digest.drafts if draft.kind == "failure" and draft.origin != "web"]
    if failures:
        return within(f"Still failing: {failures[-1]}.", _LONGEST_NOTES)
    return "" if any(draft.kind in _WORK for draft in digest.drafts) else before


def _decisions(before: Sequence[str], digest: TurnDigest) -> tuple[str, ...]:
    new = [_decision(draft) for draft in digest.drafts if draft.kind == "decision"]
    kept = [old for old in before if not any(_same(old, text) for text in new)]
    return (*kept, *new)[-_MOST_DECISIONS:]


def _decision(draft: Draft) -> str:
    """What was decided and why, as long as it fits."""
    said = [text for text in sentences(draft.summary) if not text.startswith("Asked: ")]
    if draft.origin == "user" or not said:
        return whole_clauses(draft.title, _LONGEST_DECISION)
    return whole_sentences([whole_clauses(said[0], _LONGEST_DECISION - 1), *said[1:2]], _LONGEST_DECISION)


def _newest(before: Iterable[str], new: Iterable[str]) -> tuple[str, ...]:
    """The files touched last, each once, newest at the end."""
    kept: list[str] = []
    room = _LONGEST_FILES
    for path in dict.fromkeys(reversed([*before, *new])):
        if len(kept) == _MOST_FILES or len(path) > room:
            break
        kept.append(path)
        room -= len(path)
    return tuple(reversed(kept))


def _same(first: str, second: str) -> bool:
    """Whether two texts say nearly the same, by their words; other numbers mean other things."""
    if _NUMBER.findall(first) != _NUMBER.findall(second):
        return False
    return max(overlap(first, second), overlap(second, first)) >= 0.7


def _says(text: str, part: str) -> bool:
    """Whether a text says what a part of it might, numbers included."""
    return overlap(part, text) >= 0.7 and set(_NUMBER.findall(part)) <= set(_NUMBER.findall(text))
