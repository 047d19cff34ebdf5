"""Words for the index and for questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.words import STOPWORDS, index_text, one_line, overlap, query_words, within


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("getUserById", {"get", "user", "by", "id"}),
        ("get_user_by_id", {"get", "user", "by", "id"}),
        ("HTTPServer2", {"http", "server", "2"}),
        ("src/auth/jwt.py", {"src", "auth", "jwt", "py"}),
    ],
)
def test_an_identifier_is_found_by_each_of_its_parts(identifier: str, parts: set[str]) -> None:
    assert parts - STOPWORDS <= set(query_words(identifier))
    assert all(part in index_text(identifier).lower() for part in parts)


def test_a_question_loses_its_stopwords() -> None:
    assert query_words("Why does the login test fail?") == ["login", "test", "fail"]


def test_a_question_of_stopwords_alone_keeps_them() -> None:
    assert query_words("to be or not to be") == ["to", "be", "or", "not"]


@given(st.text())
def test_any_text_gives_words_that_are_safe_in_a_query(text: str) -> None:
    assert all(word and '"' not in word and not word.isspace() for word in query_words(text))


def test_overlap_is_the_share_of_telling_words_that_the_other_has() -> None:
    assert overlap("Freeze the clock", "We should freeze the clock in the test") == 1.0
    assert overlap("We should freeze the clock in the test", "Freeze the clock") == pytest.approx(2 / 3)
    assert overlap("", "anything") == 0.0


@given(st.text(max_size=300), st.integers(min_value=2, max_value=100))
def test_a_text_cut_to_fit_is_marked_and_never_too_long(text: str, limit: int) -> None:
    cut = within(text, limit)
    assert len(cut) <= limit
    assert cut == text or cut.endswith("…")


@given(st.text())
def test_one_line_has_no_break_and_no_double_space(text: str) -> None:
    line = one_line(text)
    assert line.split() == text.split()
    assert "  " not in line
    assert "\n" not in line
