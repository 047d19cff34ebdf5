"""Kinds of secrets that a place, a sentence or a table reveals, with made-up values; `generated_secrets` has tokens.

`tests/data/secrets/early.txt` was written before the rules, `late.txt` after them. A gap `{h}` is a password as people
make them; `{a32}`, `{b32}`, `{x32}` are 32 letters and digits, base64 or hex."""

import random
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

from tests.support.data_files import DATA

ALNUM = string.ascii_letters + string.digits
_ALPHABETS = {
    "a": ALNUM,
    "b": ALNUM + "+/",
    "x": "0123456789abcdef",
    "u": string.ascii_uppercase + "234567",
}
_GAP = re.compile(r"\{([a-z])(\d*)\}")


@dataclass(frozen=True, slots=True)
class Kind:
    """A text with a secret in it; `is_held_out` when it was written after the rules."""

    name: str
    text: str
    secret: str
    is_held_out: bool = False


def kinds(seed: int = 11) -> list[Kind]:
    """Every kind, filled with values that are the same for the same seed."""
    chance = random.Random(seed)
    early, late = ((DATA / "secrets" / f"{name}.txt").read_text() for name in ("early", "late"))
    return [*_filled(early, chance, is_held_out=False), *_filled(late, chance, is_held_out=True)]


def _filled(templates: str, chance: random.Random, *, is_held_out: bool) -> Iterator[Kind]:
    for number, template in enumerate(filter(None, templates.strip("\n").split("\n%\n")), 1):
        secrets: list[str] = []

        def fill(gap: re.Match[str], secrets: list[str] = secrets) -> str:
            secrets.append(_value(gap[1], int(gap[2] or 0), chance))
            return secrets[-1]

        text = _GAP.sub(fill, template)
        name = f"{'late' if is_held_out else 'early'} {number}: {template[:50]!r}"
        yield Kind(name, text, max(secrets, key=len), is_held_out)


def _value(kind: str, length: int, chance: random.Random) -> str:
    if kind == "h":
        return chance.choice(_PASSWORDS)(chance)
    value = "".join(chance.choices(_ALPHABETS[kind], k=length))
    # One of each sort, where rules ask for it.
    return f"{value[:3]}k7{value[5:8]}Q4{value[10:]}" if kind in "ab" and length >= 12 else value


def _syllables(chance: random.Random, count: int) -> str:
    return "".join(chance.choice("bdfgklmnprst") + chance.choice("aeiou") for _ in range(count))


def _strong(chance: random.Random) -> str:
    return "".join(chance.choices(ALNUM, k=4)) + "7q" + "".join(chance.choices(ALNUM, k=6)) + "R3"


_PASSWORDS = (
    lambda chance: f"{_syllables(chance, 3).title()}{chance.randint(2001, 2029)}!",
    lambda chance: f"{_syllables(chance, 2)}-{_syllables(chance, 2)}-{chance.randint(10, 99)}",
    lambda chance: f"{_syllables(chance, 4)}{chance.randint(100, 999)}",
    _strong,
    lambda chance: f"{_syllables(chance, 2).title()}#{_syllables(chance, 2)}${chance.randint(10, 99)}",
    lambda chance: f"{_syllables(chance, 2).title()}{_syllables(chance, 2).title()}{chance.randint(10, 99)}",
)
