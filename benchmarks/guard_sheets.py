"""`python -m benchmarks.guard_sheets DRAW DATA …`: calls beside rules, to be judged by reading.

DRAW is `fired` (up to three matches of each rule in each project), `near` (up to four calls of each rule that do not
match though they hold all words of a command in order, or the path or module), `unfired` (up to three that hold a word
of the rule) or `other` (a hundred calls, each beside a rule of which it holds no word). What is printed goes to the
terminal alone. The answers, `NUMBER y|n` a line, are kept by reference in labels/guards.jsonl by
`python -m benchmarks.guard_sheets DRAW DATA … < ANSWERS`: does this call do what the rule forbids?"""

import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from benchmarks.guard_calls import Pair, PastCall, holds_token, pairs, past_calls, proposals, rules
from benchmarks.label_files import append
from claude_mem_lite.guards.rule import Rule

LABELS = Path(__file__).parent / "labels" / "guards.jsonl"
HELD_OUT = ("agent-swarm", "forge")
"""Projects on whose calls nothing was tuned: they were read once, near the end."""
_PER_CELL = 3
_PER_RULE = 4
_OTHERS = 100
_WIDTH = 200


def drawn(draw: str, calls: Sequence[PastCall], seed: int = 26) -> list[Pair]:
    """Return the pairs to be judged, the same ones for the same code."""
    chosen = random.Random(seed)
    guards = {name: proposal.rule for name, proposal in proposals().items()}
    if draw == "other":
        tried = [(past, chosen.choice(sorted(guards))) for past in chosen.sample(calls, min(2 * _OTHERS, len(calls)))]
        return [Pair(past, rule, "") for past, rule in tried if not holds_token(past, guards[rule])][:_OTHERS]
    cells: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in pairs(calls, guards):
        if bool(pair.match) == (draw == "fired") and (draw != "near" or is_near(pair, guards[pair.rule])):
            group = pair.past.project if draw == "fired" else str(pair.past.project in HELD_OUT)
            cells[pair.rule, group].append(pair)
    size = _PER_RULE if draw == "near" else _PER_CELL
    return [pair for cell in sorted(cells) for pair in chosen.sample(cells[cell], min(size, len(cells[cell])))]


def is_near(pair: Pair, rule: Rule) -> bool:
    """Return whether a call holds all words of a command of a rule in order, or one of its paths or modules."""
    return any(_near(named).search(pair.past.text) for named in (*rule.commands, *rule.paths, *rule.imports))


@cache
def _near(named: str) -> re.Pattern[str]:
    words = [re.escape(word).replace(r"\*", ".*") for word in named.strip("/").split()]
    return re.compile(r"(?<![\w-])" + r"\b[^\n;|&]{0,80}?\s".join(words))


def sheet(drawn_pairs: Iterable[Pair]) -> Iterable[str]:
    """Yield a line for each pair: the rule, and the call around the match."""
    sentences = rules()
    for number, pair in enumerate(drawn_pairs):
        call = pair.past.call
        text = str(call.tool_input.get("command") or call.tool_input.get("file_path") or "")
        at = max(text.find(pair.match.split("\0")[0][:20]) - _WIDTH // 2, 0) if pair.match else 0
        shown = f"<{pair.match[:60]!r}> {text[at : at + 2 * _WIDTH]!r}"
        yield f"{number} [{pair.past.project} {call.branch}] {sentences[pair.rule]!r} {shown}"


def label(pair: Pair, draw: str, should: bool) -> str:
    """Return a judged pair by reference."""
    past = pair.past
    named = {"project": past.project, "session": past.session, "call": past.id, "rule": pair.rule}
    return json.dumps({**named, "draw": draw, "should": should})


def main(arguments: Sequence[str]) -> int:
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    calls = [past for folder in arguments[1:] for past in past_calls(Path(folder))]
    judged = drawn(arguments[0], calls)
    if sys.stdin.isatty():
        print("\n".join(sheet(judged)))
        return 0
    answers = dict(line.split() for line in sys.stdin if line.strip())
    append(LABELS, [label(judged[int(number)], arguments[0], answer == "y") for number, answer in answers.items()])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
