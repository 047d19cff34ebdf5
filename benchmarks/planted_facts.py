"""Facts about real files, functions and commands of a project: a question of each, and the texts to plant by condition.

The question of a fact has the same words in all conditions, so that only the stored past differs. The
templates are in planted_templates.py."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal, get_args

from benchmarks.planted_templates import TEMPLATES, Template

Condition = Literal[
    "present",
    "early",
    "absent",
    "adjacent",
    "beside another",
    "superseded",
    "superseded in other words",
    "contradictory",
    "reworded",
]
Path = Literal["remember", "prompt", "reply"]
CONDITIONS: tuple[Condition, ...] = get_args(Condition)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_MAX_COMPARED = 400
_PATHS: tuple[Path, ...] = ("remember", "prompt", "reply")
"""From the word that is most the user's."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Real thing of a project, as it is written in a text."""

    sort: Literal["file", "function", "command"]
    name: str
    sibling: str
    """Another real thing of the same sort with the most similar name."""

    is_quoted: bool = True

    def written(self) -> str:
        return self._spelled(self.name)

    def written_sibling(self) -> str:
        return self._spelled(self.sibling)

    def _spelled(self, name: str) -> str:
        return f"`{name}`" if self.is_quoted else name


@dataclass(frozen=True, slots=True)
class Plant:
    """Statement to store, and how: by the command of the user, by a prompt, or by the closing message of a turn."""

    text: str
    path: Path
    day: int
    """Days after the last real session."""
    minute: int = 0
    began_minute: int = 0
    """Minute at which the session of the statement began; the same day."""
    is_early: bool = False
    """Whether the days count from the middle of the real sessions."""


@dataclass(frozen=True, slots=True)
class Case:
    """A subject and a template, to be asked in all conditions."""

    number: int
    subject: Subject
    template: Template
    values: tuple[str, str, str]
    """The value, the one that replaces or contradicts it, and that of the adjacent fact."""
    path: Path
    older_path: Path
    """Path of a statement that is replaced: the newer one is at least as much the user's."""

    @property
    def question(self) -> str:
        return self.template.question.format(x=self.subject.written())

    def plants(self, condition: Condition) -> list[Plant]:
        """Return what to store in a condition, in order of time."""
        first, second, other = self.values
        stated = self._stated(self.template.stated, first)
        changed = self._stated(self.template.changed, second)
        if condition == "present":
            return [Plant(stated, self.path, 1)]
        if condition == "early":
            return [Plant(stated, self.path, 0, is_early=True)]
        if condition == "reworded":
            return [Plant(self._stated(self.template.reworded, first), self.path, 1)]
        if condition == "adjacent":
            return [Plant(self._adjacent(other), self.path, 1)]
        if condition == "beside another":
            return [Plant(self._beside_another(other), self.path, 1)]
        if condition == "superseded":
            return [Plant(stated, self.older_path, 1), Plant(changed, self.path, 2)]
        if condition == "superseded in other words":
            changed = self._stated(self.template.reworded, second)
            return [Plant(stated, self.older_path, 1), Plant(changed, self.path, 2)]
        if condition == "contradictory":
            return self._opposed(stated, self._stated(self.template.stated, second))
        return []

    @property
    def is_of_sibling(self) -> bool:
        """Whether the adjacent fact is about the sibling, and not about something else of the subject."""
        return self.number % 2 == 0

    def _adjacent(self, value: str) -> str:
        if self.is_of_sibling:
            return self.template.stated.format(x=self.subject.written_sibling(), v=value)
        return self._stated(self.template.beside, value)

    def _beside_another(self, value: str) -> str:
        """A sentence about the sibling that names the subject too."""
        subject, stated = self.subject.written(), self.template.stated
        about = stated.format(x=self.subject.written_sibling(), v=value).rstrip(".")
        inner = about if stated.startswith("{") else about[0].lower() + about[1:]
        return (f"{about}, and {subject} uses it.", f"Unlike {subject}, {inner}.", f"{subject} is done; {inner}.")[
            self.number % 3
        ]

    def _opposed(self, stated: str, other: str) -> list[Plant]:
        """Two statements whose order says nothing: at one moment, of the user and then of the agent, or of two sessions
        that ran at the same time."""
        if self.path == "remember":
            return [Plant(stated, "remember", 1), Plant(other, "remember", 1)]
        if self.path == "prompt":
            return [Plant(stated, "prompt", 1), Plant(other, "reply", 2)]
        return [
            Plant(stated, "reply", 1, minute=30, began_minute=0),
            Plant(other, "reply", 1, minute=40, began_minute=10),
        ]

    def _stated(self, text: str, value: str) -> str:
        return text.format(x=self.subject.written(), v=value)


def cases(subjects: Sequence[Subject], past: str, number: int, seed: str) -> list[Case]:
    """Return cases of subjects and templates in turn; none where a sentence of the past has the subject and the telling
    words of the template, because something may be known about it."""
    order = random.Random(seed)
    mentioned = _sentences_by_subject(subjects, past)
    values = _values(order)
    made: list[Case] = []
    waiting = list(subjects)
    taken: set[str] = set()
    while waiting and len(made) < number:
        template = TEMPLATES[len(made) % len(TEMPLATES)]
        free = next((one for one in waiting if not _is_spoken_of(template, mentioned[one])), None)
        if free is None:
            break
        taken |= {free.name, free.sibling}
        waiting = [one for one in waiting if taken.isdisjoint((one.name, one.sibling))]
        three = tuple(next(values[template.value]) for _ in range(3))
        path = order.choice(_PATHS)
        older_path = order.choice(_PATHS[_PATHS.index(path) :])
        free = replace(free, is_quoted=free.sort == "command" or len(made) % 4 < 2)
        made.append(Case(len(made), free, template, (three[0], three[1], three[2]), path, older_path))
    return made


def subjects(names: Mapping[Literal["file", "function", "command"], Sequence[str]], seed: str) -> list[Subject]:
    """Return subjects of all sorts in turn, in an order that the seed decides."""
    order = random.Random(seed)
    by_sort = []
    for sort, known in names.items():
        drawn = sorted(set(known))
        order.shuffle(drawn)
        by_sort.append([Subject(sort, name, sibling) for name in drawn if (sibling := _sibling(name, drawn))])
    longest = max(map(len, by_sort), default=0)
    return [made[place] for place in range(longest) for made in by_sort if place < len(made)]


def _sibling(name: str, names: Sequence[str]) -> str:
    """Return the most similar other name that is no part of the name, and of which the name is no part."""
    plain = name.lower()  # names that differ by case alone are one thing, renamed
    others = [one for one in names[:_MAX_COMPARED] if one.lower() not in plain and plain not in one.lower()]
    return max(others, key=lambda one: (SequenceMatcher(None, name, one).ratio(), one), default="")


def _sentences_by_subject(subjects: Sequence[Subject], past: str) -> dict[Subject, list[str]]:
    """Return the sentences of the past that have the last part of a subject's name."""
    found: dict[Subject, list[str]] = {one: [] for one in subjects}
    by_part: dict[str, list[Subject]] = {}
    for one in subjects:
        by_part.setdefault(_last_part(one.name), []).append(one)
    for sentence in _SENTENCE.split(past.lower()):
        for part, same in by_part.items():
            if part in sentence:
                for one in same:
                    found[one].append(sentence)
    return found


def _last_part(name: str) -> str:
    return name.lower().rpartition("/")[2]


def _is_spoken_of(template: Template, sentences: Sequence[str]) -> bool:
    return any(all(word.rstrip("s") in sentence for word in template.telling) for sentence in sentences)


def _values(order: random.Random) -> dict[str, Iterator[str]]:
    """Return endless values of each sort; no value comes twice, and none is a word of any project."""
    numbers = order.sample(range(20_011, 59_999), 3_000)
    words = _coined(order)
    return {
        "number": (str(number) for number in numbers),
        "name": (f"{next(words)}_{next(words)}" for _ in range(3_000)),
        "person": (f"{next(words).title()} {next(words).title()}" for _ in range(3_000)),
        "command": (f"{next(words)} --{next(words)}" for _ in range(3_000)),
        "date": (
            f"{2040 + number // 336}-{number // 28 % 12 + 1:02d}-{number % 28 + 1:02d}" for number in range(3_000)
        ),
    }


def _coined(order: random.Random) -> Iterator[str]:
    seen: set[str] = set()
    while True:
        word = "".join(order.choice("bdfgklmnprtvz") + order.choice("aeiou") for _ in range(4))
        if word not in seen:
            seen.add(word)
            yield word
