"""`python -m benchmarks.cost DATA`: what a model would be sent of recorded sessions, and what that would cost.

The sessions are imported without a model; then every turn that the product would ask a model about is asked about
with the product's own question, of a provider that only counts. Nothing is sent anywhere. Tokens are estimated as
everywhere in the product. Sent are the prompt, the form of the answer and the question; raw is what the agent saw and
wrote in the same sessions: prompts, prose, the inputs and outputs of tools as text. What a model would answer is not
known, so two prices are told: with answers as long as what rules made of the same turn, and with the longest."""

import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.figures import Figure, keep
from benchmarks.product import imported
from benchmarks.stored import remembered
from benchmarks.transcripts import Data, strings
from claude_mem_lite.compress.model.request import ask
from claude_mem_lite.compress.model.turn_digest import is_worth_asking
from claude_mem_lite.config import DEFAULT_MODELS, Config
from claude_mem_lite.context.render import estimate_tokens
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.errors import ModelRefused
from claude_mem_lite.inbox.model_queue import ModelTurns
from claude_mem_lite.knowledge.turn_rewrite import TurnQuestion, question_about
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
from claude_mem_lite.providers import CallLimits, Completion, Prices, prices_of
from claude_mem_lite.store import sessions as session_table

MODEL = DEFAULT_MODELS["anthropic"]
MAX_SENT = 10


@dataclass(frozen=True, slots=True)
class Call:
    """The size of one call, in tokens."""

    session: str
    sent: int
    answer: int
    longest_answer: int


@dataclass(slots=True)
class Counter:
    """A provider that asks nobody: it counts what it is given and answers with what it was told to."""

    answer: str
    limits: CallLimits = CallLimits()  # noqa: RUF009  frozen
    sent: int = 0
    longest: int = 0

    @property
    def name(self) -> str:
        return f"counter/{MODEL}"

    def check(self) -> None:
        """It always answers."""

    def complete(self, system: str, user: str, schema: JsonObject, max_tokens: int) -> Completion:
        self.sent += sum(map(estimate_tokens, (system, user, json.dumps(schema))))
        self.longest += max_tokens
        return Completion(self.answer)


def main(arguments: Sequence[str]) -> int:
    data = Data(Path(arguments[0]))
    raw: dict[str, int] = defaultdict(int)
    turns = 0
    for turn in data.turns():
        turns += 1
        texts = [turn.prompt, *turn.prose]
        for call in turn.calls:
            texts += [*strings(call.input), call.output]
        raw[turn.session] += sum(map(estimate_tokens, texts))
    with imported(data) as home:
        calls = list(_calls(home))
    figures = list(_figures(calls, raw, turns))
    for figure in figures:
        print(figure.line())
    return keep("cost", "What a model would cost", figures, "python -m benchmarks.cost DATA")


def _calls(home: Home) -> Iterator[Call]:
    with remembered(home) as db, closing(open_for_reading(home.inbox_db)) as inbox:
        turns = ModelTurns(inbox)
        for row in inbox.execute("select turn from inbox where turn <> '' group by turn order by min(id)").fetchall():
            question = question_about(row["turn"], turns, db, Config())
            if isinstance(question, str) or not is_worth_asking(question.turn, question.digest):
                continue
            session = session_table.find(db, question.turn.session)
            counter = Counter(_answer(question, asdict(session.summary) if session else {}))
            with suppress(ModelRefused):  # rules' own words may be too thin for an answer; what was sent is counted
                ask(counter, question.request)
            yield Call(question.turn.session, counter.sent, estimate_tokens(counter.answer), counter.longest)


def _answer(question: TurnQuestion, summary: dict[str, object]) -> str:
    """What rules made of the turn, in the form a model is asked for."""
    told = ("kind", "title", "summary", "facts", "files")
    memories = [{name: asdict(draft)[name] for name in told} for draft in question.digest.drafts]
    session = {name: value for name, value in summary.items() if not name.startswith("files")}
    return json.dumps({"memories": memories, "session": session}, ensure_ascii=False)


def _figures(calls: Sequence[Call], raw: dict[str, int], turns: int) -> Iterator[Figure]:
    sent = sum(call.sent for call in calls)
    whole = sum(raw.values())
    note = f"{sent} of {whole} tokens, {len(calls)} calls for {turns} turns"
    yield Figure("tokens sent, of raw tokens", round(100 * sent / whole, 2), "%", bar=MAX_SENT, note=note)
    by_session: dict[str, list[Call]] = {session: [] for session in raw}
    for call in calls:
        by_session.setdefault(call.session, []).append(call)
    shares = [
        100 * sum(call.sent for call in made) / raw[session] for session, made in by_session.items() if raw.get(session)
    ]
    yield Figure("the same, median of sessions", round(statistics.median(shares), 2), "%", note=_spread(shares, 1))
    tokens = [float(sum(call.sent for call in made)) for made in by_session.values()]
    yield Figure("tokens sent a session, mean", round(statistics.fmean(tokens)), "", note=_spread(tokens, 0))
    sizes = [float(call.sent) for call in calls]
    yield Figure("tokens sent a call, mean", round(statistics.fmean(sizes)), "", note=_spread(sizes, 0))
    prices = prices_of(MODEL, 0.0, 0.0)
    for name, longest in (("answers as long as what rules made", False), ("the longest answers", True)):
        dollars = [_dollars(made, prices, longest=longest) for made in by_session.values()]
        mean = round(statistics.fmean(dollars), 4)
        yield Figure(f"dollars a session, mean, {name}", mean, "$", note=f"{_spread(dollars, 4)}; {MODEL}")
        over = sum(each > Config().session_usd for each in dollars)
        yield Figure(f"sessions over the cap of ${Config().session_usd}, {name}", over, "")


def _dollars(calls: Sequence[Call], prices: Prices, *, longest: bool) -> float:
    answers = sum(call.longest_answer if longest else call.answer for call in calls)
    return prices.usage(sum(call.sent for call in calls), answers).cost_usd


def _spread(values: Sequence[float], digits: int) -> str:
    p90 = statistics.quantiles(values, n=10)[-1]
    return f"median {statistics.median(values):.{digits}f}, p90 {p90:.{digits}f}, at most {max(values):.{digits}f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
