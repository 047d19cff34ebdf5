"""Words that a pattern requires, read from the pattern."""

import re

import pytest

from claude_mem_lite.safety.injection import forms
from claude_mem_lite.safety.required_words import first_words, required_words
from tests.support.injection_texts import AFTER_RULES, BEFORE_RULES, THIRD_PERSON


@pytest.mark.parametrize(
    ("pattern", "groups"),
    [
        (r"\bignore (?:all|every) rules\b", [{"ignore "}, {" rules"}, {"all", "every"}]),
        (r"(?:please )?stop", [{"stop"}]),
        (r"(?:send|share) it", [{" it"}]),
        (r"(?=agent)agents?", [{"agent"}]),
        (r"(?!agent)\w+", []),
        (r"(?:now|at)", []),
        (r"Run", [{"run"}]),
    ],
)
def test_a_pattern_requires_the_words_that_every_match_has(pattern: str, groups: list[set[str]]) -> None:
    found = required_words(pattern)
    assert all(set(group) in [set(one) for one in found] or len(min(group, key=len)) < 3 for group in groups)
    assert bool(found) == bool(groups)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"\b(?:send|share)\b it", {"send", "share"}),
        (r"(?:now )?run", {"now run", "run"}),
        (r"(?<!not )\bdrop", {"drop"}),
        (r"(?:a|an) agent", {"a agent", "an agent"}),
        (r"!{3,}important", set()),
        (r"(?:ignore ){2,}all", {"ignore "}),
        (r"(?:now )?(?:no, ){2}run", {"now ", "no, "}),
        (r"(?:really )+run", {"really "}),
        (r"(?:really )*run", {"really ", "run"}),
        (r"\w+ runs", set()),
        (r"(?:run)?", set()),
        (r"x", set()),
    ],
)
def test_a_match_begins_with_one_of_the_first_words(pattern: str, words: set[str]) -> None:
    assert first_words(pattern) == words


def test_no_order_is_missed_by_the_words() -> None:
    texts = [text.lower() for text in (*BEFORE_RULES, *AFTER_RULES, *THIRD_PERSON)]
    for form in (form for table in forms().values() for form in table if not form.is_as_written):
        for pattern in form.patterns:
            matches = [match for text in texts if (match := re.search(pattern, text))]
            for match in matches:
                assert all(any(word in match.string for word in group) for group in required_words(pattern))
                assert not first_words(pattern) or match.string.startswith(tuple(first_words(pattern)), match.start())
