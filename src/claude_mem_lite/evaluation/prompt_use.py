"""Use of what prompts are given: how many prompts get items, and how many of the items are of use.

An item is of use when the session of its memory began earlier and touched a file that this session touches. Precision
is over items, so a prompt with three items counts three times; its interval comes from drawing whole sessions, because
prompts of one session are not independent. Where that has no width, as with no item of use, it is Wilson's over
sessions."""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence

from claude_mem_lite.evaluation.intervals import ROUNDS, share_interval
from claude_mem_lite.evaluation.recording import ListedSession
from claude_mem_lite.values import frozen


@frozen
class JudgedPrompt:
    """Prompt with its session, whether its turn changed files, and whether each of its items is of use."""

    session: str
    has_edits: bool
    useful: tuple[bool, ...]


@frozen
class Rates:
    """Counts over prompts, and the 95 % interval of the share of items that are of use."""

    prompts: int
    answered: int
    items: int
    useful: int
    low: float
    high: float

    @property
    def share(self) -> float:
        return self.answered / self.prompts if self.prompts else 0.0

    @property
    def precision(self) -> float:
        return self.useful / self.items if self.items else 0.0

    def note(self) -> str:
        return (
            f"{self.useful} of {self.items} items, 95 % {self.low:.3f} to {self.high:.3f}; "
            f"{self.answered} of {self.prompts} prompts ({100 * self.share:.1f} %)"
        )


def is_useful(session: ListedSession, source: str, sessions: Mapping[str, ListedSession]) -> bool:
    """Return whether an item of another session is of use in this session."""
    other = sessions.get(source)
    return other is not None and other.started_at < session.started_at and bool(other.files & session.files)


def judge(
    session: ListedSession, has_edits: bool, sources: Sequence[str], sessions: Mapping[str, ListedSession]
) -> JudgedPrompt:
    """Judge the items of a prompt by the sessions of their memories; items of its own session do not count."""
    others = [source for source in sources if source != session.id]
    return JudgedPrompt(session.id, has_edits, tuple(is_useful(session, source, sessions) for source in others))


def with_edits(judged: Sequence[JudgedPrompt], has_edits: bool | None) -> list[JudgedPrompt]:
    """Return the prompts whose turns changed files, or did not; all for None."""
    return [prompt for prompt in judged if has_edits is None or prompt.has_edits is has_edits]


def rates(judged: Sequence[JudgedPrompt]) -> Rates:
    """Return the counts over prompts, and their interval."""
    items = [useful for prompt in judged for useful in prompt.useful]
    low, high = _interval(judged)
    return Rates(len(judged), sum(bool(prompt.useful) for prompt in judged), len(items), sum(items), low, high)


def _interval(judged: Sequence[JudgedPrompt]) -> tuple[float, float]:
    sums: defaultdict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for prompt in judged:
        useful, items = sums[prompt.session]
        sums[prompt.session] = (useful + sum(prompt.useful), items + len(prompt.useful))
    drawn = random.Random(0)
    pairs = list(sums.values())
    found = []
    for _ in range(ROUNDS if pairs else 0):
        chosen = drawn.choices(pairs, k=len(pairs))
        if items := sum(number for _, number in chosen):
            found.append(sum(useful for useful, _ in chosen) / items)
    found.sort()
    if found and found[0] < found[-1]:
        return found[int(len(found) * 0.025)], found[int(len(found) * 0.975)]
    with_items = sum(items > 0 for _, items in pairs)
    return share_interval(with_items * found[0] if found else 0.0, with_items)
