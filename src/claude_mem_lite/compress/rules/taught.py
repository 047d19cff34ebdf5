"""What the user teaches in the prompts of a turn -> memories of it. What counts is told in docs/corrections.md.

Called for every turn; only what the user typed is read: not what sub-agents were asked, nor what clients and hooks put
into a prompt."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from claude_mem_lite.compress.language.drafts import make_draft
from claude_mem_lite.compress.language.names import files_named
from claude_mem_lite.compress.lessons.lesson import Lesson
from claude_mem_lite.compress.lessons.reading import read
from claude_mem_lite.compress.lessons.spoken import is_brief, spoken
from claude_mem_lite.models import GUIDANCE_KINDS, Draft, Turn
from claude_mem_lite.patterns import lazy
from claude_mem_lite.words import overlap, within

_MOST_OF_A_TURN = 4
_LONGEST_QUOTE = 300
# How much of a sentence the title must tell for the sentence to add nothing.
_TOLD = 0.6
_LONGEST_LEAD = 12
_SAID_BACK = 0.7
_LEAST_REQUEST = 2
_JOINING = lazy(r"(?i)^(?:[,;.!\s]|(?:and|then|also|so|und|dann)\b[\s,]*)+")
_HELLO = (
    r"(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening)|hallo|guten (?:morgen|tag)|moin)"
    r"(?: (?:there|claude|again|all|everyone|zusammen))?"
)
_GREETING = lazy(rf"(?i)^\s*(?:{_HELLO}\s*[,.!–—-]+\s*)+(?=\S)")
_ONLY_GREETING = lazy(rf"(?i)\s*{_HELLO}(?:[\s,.!?–—👋-]+{_HELLO})*[\s,.!?–—👋-]*")
OWN_COMMANDS = "/mem-lite:"
"""How the commands of our plugin begin: what they are given is stored by them, and would be learned twice."""


def taught(turn: Turn) -> list[Draft]:
    """What the user said in this turn that holds beyond it, each once."""
    found: dict[tuple[str, str], Draft] = {}
    for sentence, lesson in _lessons(turn):
        draft = _draft(sentence, lesson)
        known = found.get((draft.kind, draft.title.lower()))
        if known is None or known.confidence < draft.confidence:
            found[draft.kind, draft.title.lower()] = draft
    return list(found.values())[:_MOST_OF_A_TURN]


def asked_for(prompt: str) -> str:
    """A prompt without greeting and without what it teaches, for telling what was to be done; all of it when nothing
    else is asked."""
    left = prompt = _GREETING.sub("", prompt, count=1) or prompt
    for sentence in spoken(prompt):
        if read(sentence) is not None:
            left = left.replace(sentence, "", 1)
    if left == prompt:
        return prompt
    left = _JOINING.sub("", left.lstrip())
    return left if len(left.split()) >= _LEAST_REQUEST else prompt


def only_greets(prompt: str) -> bool:
    """Whether a prompt says hello and nothing else."""
    return _ONLY_GREETING.fullmatch(prompt) is not None


def only_teaches(prompt: str) -> bool:
    """Return whether a prompt lays something down and asks for nothing: a correction may ask for its own being done."""
    said = [read(sentence) for sentence in spoken(prompt)]
    return bool(said) and all(lesson is not None and lesson.kind != "correction" for lesson in said)


def says_back(draft: Draft, lessons: Sequence[Draft]) -> bool:
    """Whether a decision of the agent's is only what the user has just taught it."""
    is_own = draft.kind == "decision" and draft.origin == "assistant"
    return is_own and any(overlap(draft.title, lesson.title) >= _SAID_BACK for lesson in lessons)


def is_taught(draft: Draft) -> bool:
    """Whether a draft tells what the user taught, by word or by taking a change back."""
    return draft.origin == "user" and draft.kind in (*GUIDANCE_KINDS, "note")


def _lessons(turn: Turn) -> Iterator[tuple[str, Lesson]]:
    # The prompt of a turn that came in parts was read with its first part.
    for event in turn.events:
        if event.kind == "UserPromptSubmit" and event.prompt and not event.agent_id:
            if event.prompt.startswith(OWN_COMMANDS):
                continue
            for sentence in spoken(event.prompt):
                lesson = read(sentence)
                if lesson is None:
                    continue
                # What reaches into every project must not come out of a text that could have been pasted.
                is_too_wide = lesson.scope == "universal" and not is_brief(event.prompt)
                yield sentence, replace(lesson, scope="") if is_too_wide else lesson


def _draft(sentence: str, lesson: Lesson) -> Draft:
    made = make_draft(
        lesson.kind,
        lesson.title,
        _summary(sentence, lesson.title),
        files=files_named(sentence),
        origin="user",
        confidence=lesson.confidence,
    )
    return replace(made, scope=lesson.scope)


def _summary(sentence: str, title: str) -> str:
    """What is taught, and the user's own words when they say more than that: why, or since when."""
    said = within(sentence.strip(), _LONGEST_QUOTE)
    is_told = len(said) <= len(title) + _LONGEST_LEAD or overlap(said, title) >= _TOLD
    return f"{title}." if is_told else f'{title}. The user said: "{said}"'
