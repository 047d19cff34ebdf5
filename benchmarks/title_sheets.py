"""`python -m benchmarks.title_sheets DATA … [--of K --part I]`: headlines and sentences of turns, to be graded.

Prints each labelled turn whose memory has no commit to take its title from: what readers saw in it, then numbered
headlines and sentences that the composer could use. docs/labels.md tells how to grade them;
`python -m benchmarks.title_labels` turns the answers into references."""

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from training.examples import Example, examples
from training.learn import learn

from benchmarks.label_files import fingerprint
from claude_mem_lite.compress.compose.headline import of_commit
from claude_mem_lite.compress.compose.judge import Judge, Judgement
from claude_mem_lite.compress.compose.material import impersonal_sentence
from claude_mem_lite.compress.compose.titles import Title, titles_of
from claude_mem_lite.text import one_line, within

MAX_TITLES, MAX_RANDOM, MAX_SENTENCES = 8, 3, 7
_MAX_PROMPT, _MAX_MESSAGE, _MAX_SENTENCE = 350, 2_600, 330


def offered_titles(one: Example, judgement: Judgement) -> list[Title]:
    """Return the headlines to grade: the likeliest by the sentence judge, headings of plans, and some at random."""
    found = titles_of(one.past.candidates)
    ranked = sorted(found, key=lambda title: -judgement.verdicts[title.at].head)
    ranked.sort(key=lambda title: title.form != "plan")
    best, rest = ranked[:MAX_TITLES], ranked[MAX_TITLES:]
    drawn = random.Random(_key(one))
    offered = best + drawn.sample(rest, min(MAX_RANDOM, len(rest)))
    drawn.shuffle(offered)
    return offered


def offered_sentences(one: Example, judgement: Judgement) -> list[tuple[str, str]]:
    """Return names and texts of the sentences that a summary would most likely take, in order of the turn."""
    spoken = [at for at, each in enumerate(one.past.candidates) if each.source in ("body", "closing")]
    best = sorted(spoken, key=lambda at: -judgement.verdicts[at].carries)[:MAX_SENTENCES]
    chosen = [one.past.candidates[at] for at in sorted(best)]
    return [(each.ref, impersonal_sentence(each.text)) for each in chosen]


def sheet(one: Example, judge: Judge) -> str:
    """Return one turn with its headlines and sentences."""
    judgement = judge.judge(one.past.candidates, one.facts)
    lines = [
        f"=== {one.past.turn.session[:8]}:{one.past.number}",
        f"PROMPT: {within(one_line(one.past.turn.prompt), _MAX_PROMPT)}",
        f"MESSAGE: {within(one.past.message.strip(), _MAX_MESSAGE)}",
        *(f"MEMORY: [{card.kind}] {card.title}" for card in one.label.cards),
        *(f"  t{at}: {title.text}" for at, title in enumerate(offered_titles(one, judgement), 1)),
    ]
    lines += [f"  {ref}: {within(text, _MAX_SENTENCE)}" for ref, text in offered_sentences(one, judgement)]
    return "\n".join(lines)


def is_offered(one: Example) -> bool:
    """Return whether a turn has a memory whose title no commit gives."""
    return one.label.grade > 0 and not any(of_commit(commit.subject) for commit in one.past.commits)


def drawn(given: Sequence[Example]) -> list[Example]:
    """Return all offered turns of grade 2 and a third of those of grade 1, in an order that mixes the projects."""
    offered = [one for one in given if is_offered(one) and (one.label.grade == 2 or int(_key(one), 16) % 3 == 0)]
    return sorted(offered, key=_key)


def _key(one: Example) -> str:
    return fingerprint(f"{one.past.turn.session} {one.past.number}")


def judges_of(given: Sequence[Example]) -> dict[str, Judge]:
    """Return for each project a judge that was trained on the others."""
    projects = sorted({one.project for one in given})
    return {project: learn([one for one in given if one.project != project]) for project in projects}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--of", type=int, default=1, help="cut the turns into so many parts")
    parser.add_argument("--part", type=int, default=0, help="print this part, from 0")
    asked = parser.parse_args(arguments)
    given = examples(asked.data)
    judges = judges_of(given)
    for one in drawn(given)[asked.part :: asked.of]:
        print(sheet(one, judges[one.project]), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
