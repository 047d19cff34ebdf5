"""Prompts and answers of a turn -> memories of the user's lessons. docs/corrections.md has the rules.

Called for every turn. Only text that the user typed counts: no prompts of sub-agents, no texts of clients and hooks, no
options offered by the agent."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from claude_mem_lite.compress.lessons.candidates import lesson_candidates
from claude_mem_lite.compress.lessons.lesson import ONCE, Lesson, in_third_person, order, without_scope
from claude_mem_lite.compress.lessons.reader import read
from claude_mem_lite.compress.lessons.statement import named_kind, statement_of
from claude_mem_lite.compress.lessons.user_voice import is_brief, own_sentences
from claude_mem_lite.compress.prose.drafts import make_draft, quote_line
from claude_mem_lite.compress.prose.mentions import files_named
from claude_mem_lite.compress.toolcalls.steps import Answered
from claude_mem_lite.compress.toolcalls.tool_calls import ASKING_TOOL, read_steps
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import GUIDANCE_KINDS, Draft, Event, Turn
from claude_mem_lite.text import overlap, within

_MAX_OF_A_TURN = 4
_MAX_QUOTE_LENGTH = 300
# Share of the words of a sentence in the title, above which the sentence adds nothing.
_MIN_REPEATED = 0.8
_MAX_LEAD_LENGTH = 12
_MIN_RESTATED = 0.7
_MIN_REQUEST = 2
_JOINING = lazy(r"(?i)^(?:[,;.!\s]|(?:and|then|also|so|und|dann)\b[\s,]*)+")
_HELLO = (
    r"(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening)|hallo|guten (?:morgen|tag)|moin)"
    r"(?: (?:there|claude|again|all|everyone|zusammen))?"
)
_PUSHBACK = lazy(r"(?i)^\W*(?:no|nope|nah|wait|sorry|but|again)\b")
_GREETING = lazy(rf"(?i)^\s*(?:{_HELLO}\s*[,.!–—-]+\s*)+(?=\S)")
_ONLY_GREETING = lazy(rf"(?i)\s*{_HELLO}(?:[\s,.!?–—👋-]+{_HELLO})*[\s,.!?–—👋-]*")
OWN_COMMANDS = "/mem-lite:"
"""Prefix of the commands of the plugin, which store their arguments themselves."""


def lesson_drafts(turn: Turn) -> list[Draft]:
    """Return the distinct lessons of the user in a turn."""
    drafts: dict[tuple[str, str], Draft] = {}
    for sentence, lesson in _lessons(turn):
        draft = _draft(sentence, lesson)
        known = drafts.get((draft.kind, draft.title.lower()))
        if known is None or known.confidence < draft.confidence:
            drafts[draft.kind, draft.title.lower()] = draft
    return list(drafts.values())[:_MAX_OF_A_TURN]


def request_in(prompt: str) -> str:
    """Return a prompt without greeting and lessons; the whole prompt when no request is left."""
    left = prompt = _GREETING.sub("", prompt, count=1) or prompt
    for sentence, _ in lessons_in(prompt, ""):
        left = left.replace(sentence, "", 1)
    if left == prompt:
        return prompt
    left = _JOINING.sub("", left.lstrip())
    return left if len(left.split()) >= _MIN_REQUEST else prompt


def is_greeting(prompt: str) -> bool:
    """Return whether a prompt is only a greeting."""
    return _ONLY_GREETING.fullmatch(prompt) is not None


def has_only_lessons(prompt: str) -> bool:
    """Return whether a prompt has only lessons and no request; a correction may be a request, too."""
    lasting = [sentence for sentence, lesson in lessons_in(prompt, "") if lesson.kind != "correction"]
    return bool(lasting) and len(lasting) == len(own_sentences(prompt))


def restates_lesson(draft: Draft, lessons: Sequence[Draft]) -> bool:
    """Return whether a decision of the agent only repeats a lesson of the user."""
    is_own = draft.kind == "decision" and draft.origin == "assistant"
    return is_own and any(overlap(draft.title, lesson.title) >= _MIN_RESTATED for lesson in lessons)


def is_taught(draft: Draft) -> bool:
    """Return whether a draft is a lesson of the user, by words or by a reverted change."""
    return draft.origin == "user" and draft.kind in (*GUIDANCE_KINDS, "note")


# Drafts, headline and request of a turn each read the lessons of the same prompt.
@lru_cache(maxsize=8)
def lessons_in(prompt: str, previous_message: str) -> tuple[tuple[str, Lesson], ...]:
    """Return the lessons of a prompt with their sentences: explicit lessons, and sure lessons of the scorer."""
    sentences = own_sentences(prompt)
    stated = {sentence: lesson for sentence in sentences if (lesson := read(sentence)) is not None}
    if len(stated) < len(sentences):
        candidates = lesson_candidates(prompt, previous_message)
        sure = [
            candidate.sentence for candidate in candidates if candidate.is_sure and candidate.sentence not in stated
        ]
        stated |= {sentence: _worded(sentence) for sentence in sure}
    return tuple((sentence, stated[sentence]) for sentence in dict.fromkeys(sentences) if sentence in stated)


def _worded(sentence: str) -> Lesson:
    """Return a sure sentence of the scorer as a lesson. The kind cannot be learned from the words (.36 right on new
    projects, .33 for the most frequent kind), so only explicit first words count."""
    scoped = without_scope(statement_of(sentence))
    kind = named_kind(scoped.text) or ("correction" if _PUSHBACK.match(sentence) else "convention")
    return Lesson(kind, order(in_third_person(scoped.text)), ONCE, scoped.scope)


def user_statements(turn: Turn) -> Iterator[tuple[Event, str, str]]:
    """Yield event, text, and previous message or question of the agent, for each prompt and each typed answer of a
    turn."""
    for event in turn.events:
        if event.agent_id:
            continue
        # The prompt of a turn in parts is read with the first part.
        if event.kind == "UserPromptSubmit" and event.prompt and not event.prompt.startswith(OWN_COMMANDS):
            yield event, event.prompt, turn.previous_message
        elif event.tool is not None and event.tool.tool == ASKING_TOOL:
            for step in read_steps(event):
                if isinstance(step, Answered) and step.in_own_words:
                    yield event, step.answer, step.question


def _lessons(turn: Turn) -> Iterator[tuple[str, Lesson]]:
    for _, text, before in user_statements(turn):
        for sentence, lesson in lessons_in(text, before):
            # A lesson for every project must not come from a text that could be pasted.
            is_too_wide = lesson.scope == "universal" and not is_brief(text)
            yield sentence, replace(lesson, scope="") if is_too_wide else lesson


def _draft(sentence: str, lesson: Lesson) -> Draft:
    quote = within(sentence.strip(), _MAX_QUOTE_LENGTH)
    body = without_scope(statement_of(quote)).text
    is_repeated = len(body) <= len(lesson.title) + _MAX_LEAD_LENGTH or overlap(body, lesson.title) >= _MIN_REPEATED
    draft = make_draft(
        lesson.kind,
        lesson.title,
        f"{lesson.title}." if is_repeated else statement_of(in_third_person(body)),
        detail=quote_line(quote),
        files=files_named(sentence),
        origin="user",
        confidence=lesson.confidence,
    )
    return replace(draft, scope=lesson.scope)
