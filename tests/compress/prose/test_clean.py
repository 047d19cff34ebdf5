"""Noise goes, what a person would read stays, every cut is marked."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.compress.prose.clean import clean, clip

BASE64 = "".join(random.Random(7).choices(string.ascii_letters + string.digits + "+/", k=4_000))


@pytest.mark.parametrize(
    "escape",
    [
        "\x1b[1;31m",
        "\x1b[38;2;255;0;0m",
        "\x1b[38:5:196m",
        "\x1b[?25l",
        "\x1b[?2004h",
        "\x1b[K",
        "\x1b[3A",
        "\x1b[2J",
        "\x1b[>0q",
        "\x1b[6 q",
        "\x9b31m",
        "\x1b(B",
        "\x1b)0",
        "\x1b7",
        "\x1bM",
        "\x1bc",
        "\x1b]0;pytest\x07",
        "\x1b]8;;https://example.com\x1b\\",
        "\x1b]133;A\x9c",
        "\x9d2;title\x9c",
        "\x1bP1$r0m\x1b\\",
        "\x1b_private\x1b\\",
        "\x1b]1337;File=inline=1:" + "QUJD" * 2_000 + "\x07",
    ],
)
def test_every_escape_of_the_terminal_goes(escape: str) -> None:
    assert clean(f"FAILED {escape}tests/a.py") == "FAILED tests/a.py"


def test_an_escape_that_never_ends_takes_no_more_than_its_line() -> None:
    assert clean("before\n\x1b]0;title\nafter") == "before\n\nafter"


@pytest.mark.parametrize("back", ["\r", "\x1b[2K\x1b[1G", "\x1b[G", "\x1b[2K\r", "\x1b[1F"])
def test_what_a_line_was_before_it_was_written_over_goes(back: str) -> None:
    assert clean(f"transforming (1){back}transforming (311){back}847 modules\nnext") == "847 modules\nnext"


def test_a_line_written_over_keeps_its_last_state() -> None:
    assert clean("Building 10%\rBuilding 55%\rBuilding done\nnext") == "Building done\nnext"


def test_windows_line_ends_are_line_ends() -> None:
    assert clean("one\r\ntwo\r\n") == "one\ntwo"


def test_short_lines_that_come_back_stay() -> None:
    text = "\n".join(f"case {word}:\n  run()" for word in string.ascii_lowercase)
    assert clean(text) == text


def test_a_short_table_of_numbers_stays() -> None:
    table = "\n".join(f"row {n} {n * n}" for n in range(20))
    assert clean(table) == table


def test_two_equal_lines_stay() -> None:
    assert clean("same\nsame\nother") == "same\nsame\nother"


def test_a_base64_blob_is_cut_and_marked() -> None:
    assert clean(f"image: {BASE64} end") == "image: [base64, 4,000 characters cut] end"


def test_a_minified_line_is_cut_and_marked() -> None:
    minified = "function a(b){return b.c(d)};" * 200
    cleaned = clean(f"bundle.js\n{minified}\nend")
    assert len(cleaned) < 300
    assert "characters cut" in cleaned
    assert cleaned.endswith("end")


def test_a_long_path_and_a_hash_are_no_blobs() -> None:
    text = "/very" * 60 + "/long-path/to/file.py da39a3ee5e6b4b0d3255bfef95601890afd80709"
    assert clean(text) == text


@pytest.mark.parametrize(
    "block",
    [
        "<claude-mem-lite>\nold memories\n</claude-mem-lite>",
        "--- memory (3 items, for reference) ---\n[pattern] old\n--- end memory ---",
    ],
)
def test_our_own_block_goes(block: str) -> None:
    assert clean(f"before {block} after").split() == ["before", "after"]


def test_every_block_of_ours_goes() -> None:
    block = "<claude-mem-lite>\nold\n</claude-mem-lite>"
    assert clean(f"a {block} b {block} c").split() == ["a", "b", "c"]


def test_an_unclosed_block_of_ours_goes_to_the_end() -> None:
    assert clean("before\n<claude-mem-lite>\nold memories") == "before"


def test_control_characters_and_lone_surrogates_go() -> None:
    cleaned = clean("a\x00b\x07c\ud800d\ttab")
    assert cleaned == "abc\ufffdd\ttab"
    cleaned.encode()


def test_many_blank_lines_become_one() -> None:
    assert clean("a\n\n \n\n\nb") == "a\n\nb"


def test_the_indentation_after_blank_lines_stays() -> None:
    assert clean("a\n\n\n\n  1) b") == "a\n\n  1) b"


def test_marks_that_turn_the_direction_of_text_go() -> None:
    assert clean("access \u202egnp\u202c granted \u2066x\u2069") == "access gnp granted x"


@pytest.mark.parametrize(
    "noise",
    [
        "a",
        "a1" * 99 + " ",
        "\x1b[31mx\x1b[0m ",
        "\x1b",
        "\x1b]0;abc",
        "progress 10%\r",
        "a\x08",
        "<claude-mem-lite>x</claude-mem-lite>",
        "<claude-mem-lite>",
        "--- memory (",
        "\n",
        " \n",
        " ",
        "[",
        "data:",
    ],
)
def test_half_a_megabyte_of_noise_is_cleaned_in_linear_time(noise: str) -> None:
    # Nothing is timed: what takes the square of it runs into the suite's timeout.
    assert len(clean(noise * (500_000 // len(noise)))) < 10_000


def test_clip_keeps_head_and_tail_and_says_what_is_missing() -> None:
    text = "".join(f"line {n}\n" for n in range(1_000))
    clipped = clip(text, 300)
    assert clipped.startswith("line 0\n")
    assert clipped.endswith("line 999\n")
    assert "characters cut" in clipped
    assert len(clipped) <= 300


def test_clip_leaves_a_short_text_alone() -> None:
    assert clip("short", 100) == "short"


@given(st.text(), st.integers(min_value=-5, max_value=200))
def test_clip_never_passes_its_limit(text: str, limit: int) -> None:
    assert len(clip(text, limit)) <= max(limit, 0)


NOISE = st.text(alphabet=st.sampled_from("ab \n\r\t\x1b[]0;m\x07\x08\x00█%|=>-\ud800é漢"), max_size=300)


@given(st.text() | NOISE)
def test_any_text_is_cleaned_into_text_that_can_be_stored(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert "\x1b" not in cleaned
    assert "\x00" not in cleaned


@given(NOISE)
def test_cleaning_adds_nothing_but_marks(text: str) -> None:
    assert len(clean(text)) <= len(text) + 30 * (text.count("\n") + 1)
