"""Noise goes, what a person would read stays, every cut is marked."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.compress.clean import clean, clip

BASE64 = "".join(random.Random(7).choices(string.ascii_letters + string.digits + "+/", k=4_000))


def test_colours_and_titles_of_the_terminal_go() -> None:
    assert clean("\x1b[1;31mFAILED\x1b[0m tests \x1b]0;pytest\x07done \x1b[2K\x1b[1Gok") == "FAILED tests done ok"


def test_a_line_written_over_keeps_its_last_state() -> None:
    assert clean("Building 10%\rBuilding 55%\rBuilding done\nnext") == "Building done\nnext"


def test_windows_line_ends_are_line_ends() -> None:
    assert clean("one\r\ntwo\r\n") == "one\ntwo"


def test_of_a_run_of_progress_bars_the_last_stays() -> None:
    bars = "\n".join(f"Downloading {n}%|{'█' * (n // 10)}{'░' * (10 - n // 10)}| {n}/100" for n in range(0, 101, 10))
    assert clean(f"start\n{bars}\nend") == "start\nDownloading 100%|██████████| 100/100\nend"


def test_repeated_lines_are_counted() -> None:
    assert clean("a\n" + "retrying connection\n" * 40 + "b") == "a\nretrying connection\n… (repeated 40 times)\nb"


def test_two_equal_lines_stay() -> None:
    assert clean("same\nsame\nother") == "same\nsame\nother"


def test_a_base64_blob_is_cut_and_marked() -> None:
    assert clean(f"image: {BASE64} end") == "image: [base64, 4,000 characters cut] end"


def test_base64_broken_into_lines_is_cut_and_marked() -> None:
    lines = "\n".join(BASE64[at : at + 76] for at in range(0, 1_520, 76))
    assert clean(f"cert:\n{lines}\nend") == "cert:\n[base64, 1,520 characters cut]\nend"


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


def test_an_unclosed_block_of_ours_goes_to_the_end() -> None:
    assert clean("before\n<claude-mem-lite>\nold memories") == "before"


def test_control_characters_and_lone_surrogates_go() -> None:
    cleaned = clean("a\x00b\x07c\ud800d\ttab")
    assert cleaned == "abc\ufffdd\ttab"
    cleaned.encode()


def test_many_blank_lines_become_one() -> None:
    assert clean("a\n\n\n\n\nb") == "a\n\nb"


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
