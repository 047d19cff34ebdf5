"""Prompts and answers of a turn -> memories of what the user teaches in them. docs/corrections.md says what counts.

Called for every turn; only what the user typed is read: not what sub-agents were asked, what clients and hooks put
into a prompt, nor an answer that was chosen from what the agent offered."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from claude_mem_lite.compress.lessons.candidates import lesson_candidates
from claude_mem_lite.compress.lessons.lesson import ONCE, Lesson, of_the_user, order, without_scope
from claude_mem_lite.compress.lessons.reader import read
from claude_mem_lite.compress.lessons.stated_kinds import named_kind
from claude_mem_lite.compress.lessons.statement import statement_of
from claude_mem_lite.compress.lessons.user_voice import is_brief, spoken
from claude_mem_lite.compress.prose.drafts import make_draft
from claude_mem_lite.compress.prose.mentions import files_named
from claude_mem_lite.compress.toolcalls.steps import Answered
from claude_mem_lite.compress.toolcalls.tool_calls import ASKING_TOOL, read_steps
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import GUIDANCE_KINDS, Draft, Event, Turn
from claude_mem_lite.text import overlap, within

_MAX_OF_A_TURN = 4
_MAX_QUOTE_LENGTH = 300
# How much of a sentence the title must tell for the sentence to add nothing.
_TOLD = 0.8
_MAX_LEAD_LENGTH = 12
_SAID_BACK = 0.7
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
"""How the commands of our plugin begin: what they are given is stored by them, and would be learned twice."""


def taught(turn: Turn) -> list[Draft]:
    """Return what the user said in this turn that holds beyond it, each once."""
    found: dict[tuple[str, str], Draft] = {}
    for sentence, lesson in _lessons(turn):
        draft = _draft(sentence, lesson)
        known = found.get((draft.kind, draft.title.lower()))
        if known is None or known.confidence < draft.confidence:
            found[draft.kind, draft.title.lower()] = draft
    return list(found.values())[:_MAX_OF_A_TURN]


def asked_for(prompt: str) -> str:
    """Return a prompt without greeting and without what it teaches; all of it when nothing else is asked."""
    left = prompt = _GREETING.sub("", prompt, count=1) or prompt
    for sentence, _ in lessons_in(prompt, ""):
        left = left.replace(sentence, "", 1)
    if left == prompt:
        return prompt
    left = _JOINING.sub("", left.lstrip())
    return left if len(left.split()) >= _MIN_REQUEST else prompt


def only_greets(prompt: str) -> bool:
    """Whether a prompt says hello and nothing else."""
    return _ONLY_GREETING.fullmatch(prompt) is not None


def only_teaches(prompt: str) -> bool:
    """Return whether a prompt lays something down and asks for nothing: a correction may ask for its own being done."""
    lasting = [sentence for sentence, lesson in lessons_in(prompt, "") if lesson.kind != "correction"]
    return bool(lasting) and len(lasting) == len(spoken(prompt))


def says_back(draft: Draft, lessons: Sequence[Draft]) -> bool:
    """Whether a decision of the agent's is only what the user has just taught it."""
    is_own = draft.kind == "decision" and draft.origin == "assistant"
    return is_own and any(overlap(draft.title, lesson.title) >= _SAID_BACK for lesson in lessons)


def is_taught(draft: Draft) -> bool:
    """Whether a draft tells what the user taught, by word or by taking a change back."""
    return draft.origin == "user" and draft.kind in (*GUIDANCE_KINDS, "note")


def lessons_in(prompt: str, previous_message: str) -> list[tuple[str, Lesson]]:
    """Return the lessons of a prompt with their sentences: those that are stated in so many words, and those of which
    the scorer is sure."""
    sentences = spoken(prompt)
    stated = {sentence: lesson for sentence in sentences if (lesson := read(sentence)) is not None}
    if len(stated) < len(sentences):
        found = lesson_candidates(prompt, previous_message)
        sure = [one.sentence for one in found if one.is_sure and one.sentence not in stated]
        stated |= {sentence: _worded(sentence) for sentence in sure}
    return [(sentence, stated[sentence]) for sentence in dict.fromkeys(sentences) if sentence in stated]


def _worded(sentence: str) -> Lesson:
    """Return a sentence of which the scorer is sure as a lesson. Readers' kinds cannot be learned from the words (.36
    right on projects not trained on, .33 for the most frequent), so only first words that name one count."""
    scoped = without_scope(statement_of(sentence))
    kind = named_kind(scoped.text) or ("correction" if _PUSHBACK.match(sentence) else "convention")
    return Lesson(kind, order(of_the_user(scoped.text)), ONCE, scoped.scope)


def said_by_user(turn: Turn) -> Iterator[tuple[Event, str, str]]:
    """Yield the prompts of a turn and the answers that the user gave in their own words, each with its event and with
    the agent's message or question before it."""
    for event in turn.events:
        if event.agent_id:
            continue
        # The prompt of a turn that came in parts was read with its first part.
        if event.kind == "UserPromptSubmit" and event.prompt and not event.prompt.startswith(OWN_COMMANDS):
            yield event, event.prompt, turn.previous_message
        elif event.tool is not None and event.tool.tool == ASKING_TOOL:
            for step in read_steps(event):
                if isinstance(step, Answered) and step.in_own_words:
                    yield event, step.answer, step.question


def _lessons(turn: Turn) -> Iterator[tuple[str, Lesson]]:
    for _, said, before in said_by_user(turn):
        for sentence, lesson in lessons_in(said, before):
            # What reaches into every project must not come out of a text that could have been pasted.
            is_too_wide = lesson.scope == "universal" and not is_brief(said)
            yield sentence, replace(lesson, scope="") if is_too_wide else lesson


def _draft(sentence: str, lesson: Lesson) -> Draft:
    said = within(sentence.strip(), _MAX_QUOTE_LENGTH)
    body = without_scope(statement_of(said)).text
    is_told = len(body) <= len(lesson.title) + _MAX_LEAD_LENGTH or overlap(body, lesson.title) >= _TOLD
    made = make_draft(
        lesson.kind,
        lesson.title,
        f"{lesson.title}." if is_told else statement_of(of_the_user(body)),
        detail=f'The user said: "{said}"',
        files=files_named(sentence),
        origin="user",
        confidence=lesson.confidence,
    )
    return replace(made, scope=lesson.scope)
