"""The queries that search is measured with at scale: 300 by seed, in turns of three classes and four places.

- `common`: 2 of the 50 most frequent words that search does not leave out, and 1 to 3 words of a topic; every fifth has
  common words only (3), every other one some function words as people write them ("how does the … for …").
- `content`: 3 to 6 words of a topic.
- `names`: an identifier, a path or the end of one, an identifier among words, words with a typo, in turns.

Half of the queries go over all projects, a quarter into the huge one, a quarter into a small one. What they ask for is
in the home: topics, identifiers and paths are those of its memories."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

from benchmarks.synthetic import (
    BATCH,
    HUGE_PROJECT,
    NOW,
    SMALL_PROJECT,
    TOPICS,
    Language,
    batch,
    project_id,
)
from claude_mem_lite.models import Memory
from claude_mem_lite.search_values import Filters

QUERIES = 300
WARMING = 20
Class = Literal["common", "content", "names"]
Location = Literal["all", "huge", "small"]
_CLASSES: tuple[Class, ...] = ("common", "content", "names")
_PLACES: tuple[Location, ...] = ("all", "huge", "all", "small")


@dataclass(frozen=True, slots=True)
class ScaleQuery:
    text: str
    kind: Class
    place: Location
    filters: Filters


def queries(language: Language, number: int, seed: int, size: int) -> list[ScaleQuery]:
    """The same for the same numbers."""
    rng = random.Random(f"queries {seed}")
    known, _ = batch(language, 0, min(BATCH, size), size)
    made = []
    for one in range(number):
        kind, place = _CLASSES[one % 3], _PLACES[one // 3 % 4]
        # By twelves, so that every form of a question is asked in every place.
        text = " ".join(_words(kind, one // 12, language, known, rng))
        made.append(ScaleQuery(text, kind, place, Filters(project=_project(place))))
    return made


def filtered(language: Language, given: Sequence[ScaleQuery], size: int) -> Iterator[tuple[str, list[ScaleQuery]]]:
    """Some of the queries again, with a filter besides the place; what each filter is, in words."""
    known, _ = batch(language, 0, min(BATCH, size), size)
    filters = {
        "since a month ago": Filters(since=NOW - timedelta(days=30)),
        "of the kind decision": Filters(kinds=("decision",)),
        "about a file": Filters(file=known[len(known) // 2].files[0]),
    }
    for name, asked in filters.items():
        yield name, [replace(one, filters=replace(asked, project=one.filters.project)) for one in given[:60]]


def _project(place: Location) -> str | None:
    if place == "all":
        return None
    return project_id(HUGE_PROJECT if place == "huge" else SMALL_PROJECT)


def _words(kind: Class, turn: int, language: Language, known: Sequence[Memory], rng: random.Random) -> list[str]:
    topic = rng.randrange(TOPICS)
    if kind == "common":
        if turn % 5 == 0:
            return rng.sample(language.common, 3)
        words = [*rng.sample(language.common, 2), *language.of_topic(topic, rng, rng.randint(1, 3))]
        rng.shuffle(words)
        return words if turn % 2 else ["how", "does", "the", *words[:1], "for", *words[1:]]
    if kind == "content":
        return language.of_topic(topic, rng, rng.randint(3, 6))
    return _with_names(turn % 4, topic, language, rng.choice([one for one in known if one.symbols]), rng)


def _with_names(form: int, topic: int, language: Language, memory: Memory, rng: random.Random) -> list[str]:
    if form == 0:
        return [memory.symbols[0].name]
    if form == 1:
        return [memory.files[0] if rng.random() < 0.5 else memory.files[0].rpartition("/")[2]]
    if form == 2:
        return [*language.of_topic(topic, rng, rng.randint(1, 3)), memory.symbols[0].name]
    first, *others = language.of_topic(topic, rng, rng.randint(2, 4))
    return [_with_typo(first, rng), *others]


def _with_typo(word: str, rng: random.Random) -> str:
    """A letter missing, or two in the wrong order."""
    at = rng.randrange(len(word) - 1)
    return word[:at] + word[at + 1 :] if rng.random() < 0.5 else word[:at] + word[at + 1] + word[at] + word[at + 2 :]
