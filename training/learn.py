"""Labelled turns -> a judge. The worth and the kind of a turn are learned on sentences judged by models that had not
seen the project of the turn, as it will be with the projects of users."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from claude_mem_lite.compress.compose.judge import (
    KINDS,
    Judge,
    headings_apart,
    heads,
    kind_ngrams,
    kind_numbers,
    probable_title,
    worth_numbers,
)
from claude_mem_lite.compress.compose.titles import title_ngrams, title_rows, titles_of
from claude_mem_lite.compress.prose.linear_model import Linear
from training.examples import Example
from training.logistic import Matrix, fit, rows, vocabulary

Scores = NDArray[np.float32]

AT_LEAST, IN_PROJECTS = 8, 3
"""How often, and in how many projects, an n-gram has to be seen to be one of the vocabulary."""
KIND_STRENGTH = 6.0
"""Penalty on the weights of the kind; with the few turns of some kinds 1.0 is .04 worse on projects not trained on."""


def learn(given: Sequence[Example]) -> Judge:
    """Return the judge of some labelled turns."""
    projects = sorted({one.project for one in given})
    judged: dict[int, Scores] = {}
    for project in projects:
        others = [one for one in given if one.project != project]
        model = learn_sentences(others)
        judged |= {id(one): model.scores(one.ngrams, one.numbers) for one in given if one.project == project}
    title = _learn_titles(given, judged)
    titles = {id(one): _probable_title(title, one, judged[id(one)]) for one in given if one.label.cards}
    for one in given:
        judged[id(one)] = headings_apart(judged[id(one)], one.past.candidates)
    return Judge(learn_sentences(given), _learn_worth(given, judged), _learn_kinds(given, judged, titles), title)


def learn_sentences(given: Sequence[Example]) -> Linear:
    """Return the model of the roles of sentences; of two readers the first counts."""
    grams = [found for one in given for found in one.ngrams]
    numbers = [found for one in given for found in one.numbers]
    projects = [one.project for one in given for _ in one.ngrams]
    told = [row for one in given for row in one.roles(one.label)]
    wanted, counts = (np.array([row[side] for row in told]) for side in (0, 1))
    return _fitted(grams, numbers, projects, wanted, counts)


def _learn_worth(given: Sequence[Example], judged: dict[int, Scores]) -> Linear:
    # A commit of work that an earlier turn described has no card; whether its message tells something nobody said.
    told = [one for one in given if one.label.cards or not one.past.commits]
    numbers = [worth_numbers(judged[id(one)], one.past.candidates, one.facts) for one in told]
    wanted = np.array([[float(one.label.grade == 2)] for one in told])
    return _fitted([()] * len(told), numbers, [one.project for one in told], wanted, np.ones_like(wanted))


def _probable_title(model: Linear, one: Example, scores: Scores) -> str:
    titles = titles_of(one.past.candidates)
    told = title_rows(titles, one.past.candidates, one.numbers, scores.tolist(), one.facts)
    good = model.scores(map(title_ngrams, titles), told)[:, 0].tolist() if titles else []
    return probable_title(list(zip(titles, good, strict=True)))


def _learn_kinds(given: Sequence[Example], judged: dict[int, Scores], titles: dict[int, str]) -> Linear:
    carded = [one for one in given if one.label.cards]
    best = [heads(judged[id(one)], one.past.candidates) for one in carded]
    pairs = list(zip(best, carded, strict=True))
    grams = [list(kind_ngrams(titles[id(one)], texts, one.facts)) for texts, one in pairs]
    numbers = [kind_numbers(judged[id(one)], titles[id(one)], texts, one.facts) for texts, one in pairs]
    wanted = np.array([[float(one.label.cards[0].kind == kind) for kind in KINDS] for one in carded])
    counts = np.array([[float(one.label.grade)] * len(KINDS) for one in carded])
    return _fitted(grams, numbers, [one.project for one in carded], wanted, counts, strength=KIND_STRENGTH)


def _learn_titles(given: Sequence[Example], judged: dict[int, Scores]) -> Linear:
    """Return the model of good headlines; what is said twice in a turn counts once."""
    grams, numbers, wanted, projects = [], [], [], []
    for one in given:
        graded = list(one.titles())
        titles = [title for title, _ in graded]
        grams += [list(title_ngrams(title)) for title in titles]
        numbers += title_rows(titles, one.past.candidates, one.numbers, judged[id(one)].tolist(), one.facts)
        wanted += [[good] for _, good in graded]
        projects += [one.project] * len(graded)
    return _fitted(grams, numbers, projects, np.array(wanted), np.ones((len(wanted), 1)))


def _fitted(
    grams: Sequence[Iterable[str]],
    numbers: Sequence[Sequence[float]],
    projects: Sequence[str],
    wanted: Matrix,
    counts: Matrix,
    *,
    strength: float = 1.0,
) -> Linear:
    words = vocabulary(grams, projects, at_least=AT_LEAST, in_projects=IN_PROJECTS)
    examples = rows(grams, numbers, words)
    columns = [fit(examples, wanted[:, at], counts[:, at], strength=strength) for at in range(wanted.shape[1])]
    weights = np.stack(columns, axis=1).astype(np.float32)
    return Linear({word: at for at, word in enumerate(words)}, weights)
