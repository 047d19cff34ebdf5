"""The headline of a turn that no commit names, for its memory and for its session."""

import re
from collections.abc import Collection
from operator import itemgetter

from claude_mem_lite.compress.compose.material import Judged, Material
from claude_mem_lite.compress.compose.titles import Title
from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.prose.verbs import BASES

MIN_TITLE = 0.5
"""Smallest probability of a good headline where no commit gives the title: nothing rather than a torn one."""
ITEM_PENALTY = 0.2
"""What an item of a list has less than its probability: it tells a part, and readers called a fifth of such headlines
good, of others two thirds."""
MIN_TITLE_OF_CAUSE = 0.1
"""Smallest probability of a good headline of a sentence that states the cause of what was put right."""


def best_title(given: Material, without: Collection[int] = ()) -> tuple[str, Judged | None]:
    """Return the best headline and its sentence, none of the candidates at some places; '' when none is good enough.

    Where none is sure, it is the sentence that states the cause of what was put right."""
    said = given.said
    offered = [pair for pair in offered_titles(given, proposals=not given.is_idle) if pair[1].at not in without]
    sure = [pair for pair in offered if pair[0] >= MIN_TITLE]
    if not sure and (given.fixes or given.slips):
        causes = [pair for pair in offered if pair[1].form != "cut" and said[pair[1].at].states_cause]
        sure = [pair for pair in causes if pair[0] >= MIN_TITLE_OF_CAUSE]
    _, title = max(sure, key=itemgetter(0), default=(0.0, None))
    return (capital(title.text), said[title.at]) if title else ("", None)


def offered_titles(given: Material, *, proposals: bool) -> list[tuple[float, Title]]:
    """Return the headlines that sentences and headings of a turn could give, each with how good it is, with or without
    those that tell what might be done."""
    return [
        (good - ITEM_PENALTY * (given.candidates[title.at].kind in ("item", "row")), title)
        for title, good in given.judgement.titles
        if title.form != "subject" and (proposals or not _is_proposal(title.text, given.candidates[title.at].text))
    ]


def _is_proposal(title: str, sentence: str) -> bool:
    """Return whether a headline is an instruction that its sentence does not report as done."""
    word = title.split(" ", 1)[0].lower()
    return word in BASES and re.search(rf"(?i)\b{re.escape(word)}\b", sentence) is not None
