"""`python -m benchmarks.turn_labels ANSWERS READER DATA …`: a reader's answers -> references in labels/turns.jsonl.

An answer is one JSON line a turn, as docs/labels.md tells. A reference names sentences by number and hash: when the
sentences of a turn are cut in another way one day, those whose words are the same are still found."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.label_files import append, fingerprint, read_lines
from benchmarks.past_turns import PastTurn, past_turns
from claude_mem_lite.compress.compose.candidates import SentenceCandidate

LABELS = Path(__file__).parent / "labels" / "turns.jsonl"
KINDS = ("bugfix", "feature", "refactor", "decision", "discovery", "change")
ROLES = ("cause", "result", "decision", "finding", "verified")


@dataclass(frozen=True, slots=True)
class Card:
    """One thing of a turn that is worth a memory."""

    grade: int
    kind: str
    title: str
    carriers: Mapping[str, str]
    """Hash of a sentence -> its role."""
    needs_context: frozenset[str]
    """Hashes of the carriers that cannot be understood alone."""


@dataclass(frozen=True, slots=True)
class Label:
    """A reader's judgement of one turn."""

    project: str
    session: str
    number: int
    reader: str
    cards: tuple[Card, ...]
    next_steps: frozenset[str]

    @property
    def turn(self) -> tuple[str, str, int]:
        return self.project, self.session, self.number

    @property
    def grade(self) -> int:
        return max((card.grade for card in self.cards), default=0)


def load(path: Path = LABELS) -> list[Label]:
    """Return all labels, in the order in which they were made."""
    return list(map(label_of, read_lines(path)))


def label_of(told: Mapping[str, object]) -> Label:
    """Return a line of references as a label."""
    cards = told["cards"]
    assert isinstance(cards, list)
    return Label(
        str(told["project"]),
        str(told["session"]),
        int(str(told["turn"])),
        str(told["reader"]),
        tuple(map(_card, cards)),
        frozenset(_hash(ref) for ref in told.get("next", [])),  # type: ignore[attr-defined]
    )


def _card(told: Mapping[str, object]) -> Card:
    carriers = told["from"]
    assert isinstance(carriers, dict)
    return Card(
        int(str(told["grade"])),
        str(told["kind"]),
        str(told["title"]),
        {_hash(ref): role.rstrip("*") for ref, role in carriers.items()},
        frozenset(_hash(ref) for ref, role in carriers.items() if role.endswith("*")),
    )


def _hash(ref: str) -> str:
    return ref.partition(":")[2]


def references(answers: Iterable[Mapping[str, object]], turns: Iterable[PastTurn], reader: str) -> Iterator[str]:
    """Yield a line of references for each answer; ValueError says what is wrong with one."""
    known = {f"{past.turn.session[:8]}:{past.number}": past for past in turns}
    for answer in answers:
        name = str(answer["turn"])
        if name not in known:
            raise ValueError(f"no turn is called {name}")
        past = known[name]
        by_ref = {one.ref: one for one in past.candidates}
        cards = answer.get("cards", [])
        assert isinstance(cards, list)
        told = {
            "project": past.project,
            "session": past.turn.session,
            "turn": past.number,
            "prompt": fingerprint(past.turn.prompt),
            "reader": reader,
            "cards": [_referred(card, by_ref, name) for card in cards],
        }
        left = [_ref(ref, by_ref) for ref in answer.get("next", []) if ref in by_ref]  # type: ignore[attr-defined]
        yield json.dumps(told | ({"next": left} if left else {}), ensure_ascii=False)


def _referred(card: Mapping[str, object], by_ref: Mapping[str, SentenceCandidate], turn: str) -> dict[str, object]:
    carriers = card["from"]
    assert isinstance(carriers, dict)
    wrong = [role for role in carriers.values() if role.rstrip("*") not in ROLES]
    if card["kind"] not in KINDS or card["grade"] not in (1, 2) or wrong:
        raise ValueError(f"{turn}: a card has kind {card['kind']!r}, grade {card['grade']!r}, unknown roles {wrong}")
    return {
        "grade": card["grade"],
        "kind": card["kind"],
        "title": card["title"],
        "from": {_ref(ref, by_ref): role for ref, role in carriers.items() if ref in by_ref},
    }


def _ref(ref: str, by_ref: Mapping[str, SentenceCandidate]) -> str:
    return f"{ref}:{fingerprint(by_ref[ref].text)}"


def main(arguments: Sequence[str]) -> int:
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    answers = read_lines(Path(arguments[0]))
    turns = [past for folder in arguments[2:] for past in past_turns(Path(folder))]
    lines = list(references(answers, turns, arguments[1]))
    append(LABELS, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
