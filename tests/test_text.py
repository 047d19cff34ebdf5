"""Words for the index and for questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.text import (
    STOPWORDS,
    index_text,
    is_beginning,
    matched_words,
    one_line,
    overlap,
    query_words,
    within,
)


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


def test_a_german_question_loses_its_stopwords_and_keeps_what_may_be_a_name() -> None:
    assert query_words("Warum wird die Größe nicht für MIT geprüft?") == ["die", "grosse", "mit", "gepruft"]


def test_an_identifier_is_one_word_too_whatever_is_between_its_parts() -> None:
    assert query_words("getUserName get_user_name get-user-name") == ["getusername", "user", "name"]


def test_a_path_is_not_joined_to_one_word() -> None:
    assert index_text("src/auth/jwt.py").split() == ["src", "auth", "jwt", "py"]


def test_an_identifier_of_many_parts_is_not_joined() -> None:
    assert index_text("a_b_c_d_e_f").split()[0] == "abcdef"
    assert index_text("a_b_c_d_e_f_g").split() == ["a", "b", "c", "d", "e", "f", "g"]


def test_a_commit_is_not_taken_to_pieces() -> None:
    assert query_words("3f2a91bc") == ["3f2a91bc"]


def test_characters_without_spaces_are_indexed_and_asked_for_in_pairs() -> None:
    assert index_text("数据库").split() == ["数据", "据库", "库"]
    assert query_words("数据库") == ["数据", "据库"]
    assert query_words("用户ID登录") == ["用户", "id", "登录"]


def test_a_single_character_is_the_beginning_of_a_pair() -> None:
    assert query_words("数") == ["数"]
    assert is_beginning("数")
    assert not is_beginning("数据")
    assert not is_beginning("x")


def test_a_text_has_the_words_that_share_a_stem_or_a_beginning_with_its_own() -> None:
    words = ["refreshing", "token", "datenbank", "数", "cat", "zanzibar"]
    text = "Refreshed tokens, the Datenbankverbindung, 大数据, concatenate"
    assert matched_words(words, text) == ["refreshing", "token", "datenbank", "数"]


def test_an_endless_word_is_cut_the_same_way_in_text_and_question() -> None:
    assert query_words("x" * 100_000) == index_text("x" * 99_999).split()
    assert [len(word) for word in query_words("ß" * 100_000)] == [64]


ANY_TEXT = st.text(st.characters())  # also with half characters, which no database takes


@given(ANY_TEXT)
def test_any_text_gives_words_that_are_safe_in_a_query(text: str) -> None:
    for word in (*query_words(text), *index_text(text).split(" ")):
        assert "".join(char for char in word if char.isalnum() or ord(char) > 127) == word
        assert not any(char in word for char in '"*\x00')
        word.encode()


@given(ANY_TEXT)
def test_a_text_has_every_word_of_the_question_it_makes(text: str) -> None:
    assert matched_words(query_words(text), text) == query_words(text)


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_text_has_the_same_words_beside_chinese(text: str) -> None:
    assert index_text(f"{text} 漢") == f"{index_text(text)} 漢".strip()


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


def test_a_character_alone_is_asked_for_only_when_nothing_else_is() -> None:
    assert query_words("用 git 的 rebase") == ["git", "rebase"]
    assert query_words("用") == ["用"]
