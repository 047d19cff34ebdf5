"""Names of code keep their case wherever they are told: in titles, summaries, headlines, steps and codes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.compress.prose import titles
from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.prose.verbs import impersonal, reported
from claude_mem_lite.compress.rules.session_handoff import handoff
from claude_mem_lite.compress.rules.session_summary import summarize
from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.context.layers.session_codes import coded
from tests.support.turns import bash, lenient_judge, turn, write

# Verbs among them: `run_ray_cluster` and `added_at` begin like a report of work.
_PARTS = st.sampled_from(
    [
        "run",
        "add",
        "added",
        "fix",
        "update",
        "remove",
        "cart",
        "tax",
        "total",
        "ray",
        "user",
        "load",
        "set",
        "get",
        "new",
        "test",
        "is",
    ]
)
_SMALL = "abcdefghijklmnopqrstuvwxyz"
_WORDS = st.lists(_PARTS, min_size=2, max_size=4)
_SNAKE = _WORDS.map("_".join)
_CAMEL = _WORDS.map(lambda parts: parts[0] + "".join(part.capitalize() for part in parts[1:]))
_NUMBERED = st.tuples(_PARTS, st.integers(0, 99)).map(lambda pair: f"{pair[0]}{pair[1]}")
_PLAIN = st.one_of(_SNAKE, _CAMEL, _NUMBERED)
NAMES = st.one_of(
    _PLAIN,
    st.sampled_from([letter for letter in _SMALL if letter != "a"]),
    _PLAIN.map(lambda name: f"{name}()"),
    _PARTS.map(lambda name: f"{name}()"),
    _WORDS.map(".".join),
    st.tuples(_WORDS, st.sampled_from(["py", "ts", "go", "rs"])).map(lambda pair: f"{'/'.join(pair[0])}.{pair[1]}"),
    _PARTS.map(lambda name: f"`{name}`"),
    st.sampled_from(["npm", "pytest", "git", "cargo", "ruff"]),
)
_DEEDS = st.sampled_from(
    ["now returns 2", "is called once a day", "has been renamed", "returns cents instead of francs", "was never closed"]
)


def told_with_other_case(name: str, text: str) -> list[str]:
    """The places where a text has the name in another case."""
    bare = name.strip("`")
    found = re.findall(rf"(?i)(?<![\w./]){re.escape(bare)}(?![\w])", text)
    return [one for one in found if one != bare]


@given(NAMES, _DEEDS)
def test_a_name_at_the_beginning_keeps_its_case(name: str, deed: str) -> None:
    said = f"{name} {deed}"
    for made in (capital(said), impersonal(said), reported(said)):
        assert not told_with_other_case(name, made), made
    for subject in (said, f"fix: {said}", f"feat(cart): {said}"):
        assert not told_with_other_case(name, titles.from_commit(subject)[0])


@given(NAMES, _DEEDS, st.sampled_from(["fix the bug in the cart", "why is it slow?", "go on"]))
def test_a_name_keeps_its_case_in_all_that_is_told_of_a_turn(name: str, deed: str, asked: str) -> None:
    said = f"Done: {name} {deed}. {name} {deed} in the cart, too.\n\nStill to do: {name} for the Swiss table."
    made = turn(asked, write("shop.md", "# Shop\n"), bash(f"git commit -m '{name} {deed}'"), closing=said)
    digest = fold(made, lenient_judge())
    summary = summarize(None, made, digest)
    left = handoff(summary, digest)
    texts = [text for draft in digest.drafts for text in (draft.title, draft.summary, draft.detail, *draft.facts)]
    texts += [summary.headline, summary.learned, summary.completed, *summary.next_steps, *coded(summary).values()]
    texts += [left.title, left.summary] if left else []
    for text in texts:
        assert not told_with_other_case(name, text), text


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("a retry was added", "A retry was added"),
        ("update the docs", "Update the docs"),
        ("prices are rounded", "Prices are rounded"),
    ],
)
def test_words_begin_with_a_capital(said: str, told: str) -> None:
    assert capital(said) == told
