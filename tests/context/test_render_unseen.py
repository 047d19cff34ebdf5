"""Nothing that cannot be seen reaches a context: a model reads what a person who looks at it would not."""

import sys
import unicodedata

import pytest

from claude_mem_lite.context.render import memory_line, safe_line, utf16_units
from claude_mem_lite.models import Memory
from tests.support.fakes import NOW

UNSEEN = ("Cc", "Cf", "Co", "Cs")


def test_no_control_format_private_or_half_character_is_left() -> None:
    every = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in UNSEEN]
    shown = {char for char in every if safe_line(f"a{char}b") not in ("ab", "a b")}
    assert shown == set()


@pytest.mark.parametrize(
    "hidden", ["\u202e", "\u200b", "\u2066", "\ufeff", "\U000e0069", "\ufe01", "\U000e0101", "\u3164"]
)
def test_what_is_hidden_in_a_memory_is_not_in_its_line(hidden: str) -> None:
    title, summary = f"A till{hidden} counts", f"It is of wood {hidden} and old{hidden * 3} brass"
    memory = Memory("abc123", "note", title, summary, created_at=NOW, last_seen_at=NOW, scope="universal", project="")
    line = memory_line(memory, NOW, dated=False, limit=400)
    assert hidden not in line
    assert "A till counts. It is of wood and old brass" in line


def test_what_is_seen_stays_and_takes_no_more_room() -> None:
    for text in ("Café 😀 → 会计 ½ ‹x›", "naïve — “quoted”", "\U0001f600" * 300):
        line = safe_line(text)
        assert line.rstrip("…") in text
        assert utf16_units(line) <= utf16_units(text)
    assert safe_line("a\u200b\u200bb \u200b c\td\x85e") == "ab c d e"


def test_taking_it_out_takes_one_look_at_each_character() -> None:
    assert safe_line("\u200b" * 1_000_000 + "A till") == "A till"
