"""What a reader of a question is given, by condition, at the beginning of a later session.

All that ended before the session is imported in the order of time, with the clock at its beginning and its checkout as
it was then. Each question is the first prompt of that session:

- `none`: nothing.
- `product`: the start context with the default budget, and what the question as a prompt is given on top of it within
  250 tokens. The default is 2,000; a processor reads some 35 tokens a second.
- `headlines`: the headlines of the newest ten sessions.
- `past`: prompts and prose of earlier sessions, the newest turn first, cut to as many tokens as `product` has.
- `default`: as `product`, with the default budget of a prompt; not asked, only looked through for the answer."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.reader_questions import ReaderQuestion
from benchmarks.transcripts import Data, RawTurn, recorded
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.queries import Where
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.context.render import estimate_tokens
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.evaluation.in_process_worker import served
from claude_mem_lite.evaluation.replay_home import ended_at
from claude_mem_lite.evaluation.session_walk import Walk
from claude_mem_lite.worker.answers.hook_request import LazyCheckoutView
from claude_mem_lite.worker.answers.prompt import budget_of_prompt, build_now
from claude_mem_lite.worker.services import Services

HEADLINES = 10
MAX_PROMPT_TOKENS = 250
DEFAULT = "default"
CONDITIONS = ("none", "product", "headlines", "past")


@dataclass(frozen=True, slots=True)
class Notes:
    """A question with the notes of each condition."""

    question: ReaderQuestion
    by_condition: Mapping[str, str]


def all_notes(data: Data, folder: Path, questions: Sequence[ReaderQuestion]) -> Iterator[Notes]:
    """Yield the notes of the questions of one project, which are all asked in the same session."""
    (asked_in,) = {one.asked_in for one in questions}
    walk = Walk(recorded(data), folder)
    place = [one.id for one in walk.listed].index(asked_in)
    with served(walk.home, walk.clock) as services:
        walk.begin(place)
        past = "\n\n".join(map(_raw_text, _past_turns(data, walk)))
        asking = _Asking(walk, services)
        for question in questions:
            yield asking.notes(question, past)


class _Asking:
    """Asks the product at the beginning of one session."""

    def __init__(self, walk: Walk, services: Services) -> None:
        self._walk = walk
        self._services = services
        self._client = Client(walk.home)
        self._start = self._client.context(str(walk.root), None)
        found = self._client.sessions(Where(str(walk.root)), limit=HEADLINES)
        self._headlines = "\n".join(f"- {one.last_event_at[:10]}: {one.summary.headline}" for one in found)

    def notes(self, question: ReaderQuestion, past: str) -> Notes:
        product = self._given(question.text, MAX_PROMPT_TOKENS)
        by_condition = {
            "none": "",
            "product": product,
            "headlines": self._headlines,
            "past": cut(past, estimate_tokens(product)),
            DEFAULT: self._given(question.text, budget_of_prompt(self._services.settings.config, 0)),
        }
        return Notes(question, by_condition)

    def _given(self, prompt: str, max_tokens: int) -> str:
        """Return the start context with what a prompt is given on top of it."""
        return "\n".join(filter(None, (self._start.context, self._prompt_context(prompt, max_tokens))))

    def _prompt_context(self, prompt: str, max_tokens: int) -> str:
        place = find_location(str(self._walk.root))
        already_given = {item.source for item in self._start.items if item.line in self._start.context}
        with closing(open_for_reading(self._services.home.memory_db)) as db:
            checkout = LazyCheckoutView(self._services, db, place)
            request = ContextRequest(place, self._services.clock(), "asking", checkout=checkout)
            return build_now(self._services, db, prompt, request, already_given, max_tokens).text


def cut(text: str, max_tokens: int) -> str:
    """Return the beginning of a text that has at most so many tokens by the product's estimate."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens(text[:middle]) <= max_tokens else (low, middle - 1)
    return text[:low]


def _past_turns(data: Data, walk: Walk) -> list[RawTurn]:
    """Return the turns of all sessions that have ended, the newest first."""
    ends = {id_: max(map(ended_at, one.turns)) for id_, one in walk.past.items()}
    turns = [one for one in data.turns() if one.session in ends and ends[one.session] < walk.clock.at]
    return sorted(turns, key=lambda one: ends[one.session])[::-1]


def _raw_text(turn: RawTurn) -> str:
    return "\n".join((f"User: {turn.prompt}", f"Agent: {' '.join(turn.prose)}"))
