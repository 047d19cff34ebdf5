"""Private spans never reach a file; everything else does."""

import gc
import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.hook.private import MARK, Json, clean, hide, hide_lines, reduced, without_spans
from tests.hook.conftest import Hooks
from tests.support.cpu_limit import cpu_seconds

OPENINGS = (
    "<private>", "<PRIVATE>", "<private >", '<Private reason="key">', "<private\n>", "<private\u00a0>",
    "<private\\u00a0>", "\\u003cprivate\\u003e", '\\\\u003cprivate why=\\\\"\\\\u003c\\\\"\\\\u003E',
)  # fmt: skip
CLOSINGS = ("</private>", "</PRIVATE>", "</private >", "<\\/private>", "\\u003c/private\\u003e", "</private\u2003>")
BIG = 512 * 1024
# A quarter of a second at most; where it is gone over again and again, twice the text takes four times as long.
LARGE, A_MOMENT_S = 128 * 1024, 6
ANY_TEXT = st.text().filter(lambda text: "private" not in text.lower())
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(ANY_TEXT, inner, max_size=5),
    max_leaves=20,
)
PIECES = st.lists(st.sampled_from(["word", *OPENINGS, *CLOSINGS]), max_size=30)


def words_and_secrets(pieces: list[str]) -> tuple[list[str], set[str], set[str]]:
    """The pieces with each word made unique, the words that stand outside of all spans, and the others."""
    texts = [f"[{index}]" if piece == "word" else piece for index, piece in enumerate(pieces)]
    secret: set[str] = set()
    for index, piece in enumerate(pieces):
        if piece == "word" and (depth_after(pieces[:index]) or closes_unopened(pieces, index)):
            secret.add(texts[index])
    words = {text for text, piece in zip(texts, pieces, strict=True) if piece == "word"}
    return texts, words - secret, secret


def depth_after(pieces: list[str]) -> int:
    depth = 0
    for piece in pieces:
        depth = depth + 1 if piece in OPENINGS else max(depth - (piece in CLOSINGS), 0)
    return depth


def closes_unopened(pieces: list[str], after: int) -> bool:
    return any(pieces[i] in CLOSINGS and depth_after(pieces[:i]) == 0 for i in range(after, len(pieces)))


@given(PIECES)
def test_no_text_inside_a_span_survives_and_all_text_outside_does(pieces: list[str]) -> None:
    texts, words, secrets = words_and_secrets(pieces)
    result = hide("".join(texts))
    assert {word for word in words | secrets if word in result} == words


@given(PIECES, st.sets(st.integers(0, 30)))
def test_lines_of_one_text_are_treated_like_the_text(pieces: list[str], breaks: set[int]) -> None:
    texts, words, secrets = words_and_secrets(pieces)
    lines = [""]
    for index, text in enumerate(texts):
        lines = [*lines, text] if index in breaks else [*lines[:-1], lines[-1] + text]
    result = "".join(hide_lines(lines))
    assert {word for word in words | secrets if word in result} == words


@given(ANY_JSON)
def test_a_value_without_tags_keeps_its_meaning(value: Json) -> None:
    assert json.loads(clean(json.dumps(value).encode())) == value


@given(st.lists(ANY_TEXT))
def test_lines_without_tags_are_unchanged(lines: list[str]) -> None:
    assert hide_lines(lines) == lines


@given(st.lists(st.text(alphabet="a\n\0"), min_size=1))
def test_line_breaks_inside_of_lines_do_not_shift_them(lines: list[str]) -> None:
    assert hide_lines(["<private>x</private>", *lines]) == [MARK, *lines]


@given(ANY_JSON, st.sampled_from(OPENINGS), st.sampled_from(CLOSINGS))
def test_a_secret_is_removed_wherever_it_stands(value: Json, opening: str, closing: str) -> None:
    payload = {"before": value, "key": [{"deep": f"a{opening}SECRET{closing}b"}], f"{opening}SECRET": "c"}
    result = clean(json.dumps(payload).encode())
    assert b"SECRET" not in result
    assert json.loads(result)["before"] == value
    assert json.loads(result)["key"] == [{"deep": f"a{MARK}b"}]


@given(st.binary(), st.binary())
def test_bytes_that_are_no_json_are_cleaned_in_place(before: bytes, after: bytes) -> None:
    head = b"{" + before.replace(b"p", b"")
    assert clean(head + b"<private>SECRET</Private>" + after.replace(b"p", b"")) == head + b"[private]" + after.replace(
        b"p", b""
    )


@pytest.mark.parametrize("text", ["<privateKey>x</privateKey>", "<private-x>", "private", "< private>", "<private/>x"])
def test_what_only_resembles_a_tag_stays(text: str) -> None:
    assert hide(text) == text


def test_spans_within_spans_are_one() -> None:
    assert hide("a<private>b<private>c</private>d</private>e") == f"a{MARK}e"


def test_a_span_over_several_lines_of_a_patch_is_removed_whole() -> None:
    lines = [" a", "+x<private>", "+SECRET", "-SECRET", "+</private>", " b"]
    assert hide_lines(lines) == [" a", f"+x{MARK}", " b"]


def test_a_patch_that_begins_inside_a_span_loses_its_beginning() -> None:
    assert hide_lines([" SECRET", "+SECRET", " </private> a", "+b"]) == [f"{MARK} a", "+b"]


def test_a_patch_that_ends_inside_a_span_loses_its_end() -> None:
    assert hide_lines([" a", "+<private>", "+SECRET"]) == [" a", f"+{MARK}"]


def test_a_part_between_two_ends_of_a_span_is_removed_whole() -> None:
    hunks: list[Json] = [
        {"lines": [" a", " <private>", "-SECRET"]},
        {"lines": ["-SECRET"], "oldStart": 9},
        {"lines": ["-SECRET", " </private>", " b"]},
        {"lines": [" c"]},
    ]
    assert json.loads(clean(json.dumps(hunks).encode())) == [
        {"lines": [" a", f" {MARK}"]},
        {"lines": [MARK], "oldStart": 9},
        {"lines": [MARK, " b"]},
        {"lines": [" c"]},
    ]


def test_an_edit_inside_a_private_part_of_its_file_is_hidden_although_it_shows_no_tag() -> None:
    before = "".join(["open\n" * 5, "<private>\n", "SECRET=1\n" * 9, "</private>\n", "open\n" * 5])
    payload = {
        "tool_input": {"file_path": "/f", "old_string": "SECRET=1\nSECRET=1", "new_string": "SECRET=2"},
        "tool_response": {
            "originalFile": before,
            "oldString": "SECRET=1\nSECRET=1",
            "newString": "SECRET=2",
            "structuredPatch": [
                {"oldStart": 2, "oldLines": 2, "lines": ["-open", " open"]},
                {"oldStart": 9, "oldLines": 3, "lines": [" SECRET=1", "-SECRET=1", "+SECRET=2"]},
            ],
        },
    }
    result = clean(json.dumps(payload).encode())
    assert b"SECRET" not in result
    response = json.loads(result)["tool_response"]
    assert [hunk["lines"] for hunk in response["structuredPatch"]] == [["-open", " open"], [MARK]]
    assert response["originalFile"] == "".join(["open\n" * 5, MARK, "\n", "open\n" * 5])


def test_an_edit_outside_of_the_private_parts_of_its_file_is_kept() -> None:
    payload = {
        "tool_input": {"edits": [{"old_string": "open", "new_string": "shut"}], "old_string": "", "new_string": "n"},
        "tool_response": {"originalFile": "open <private>x</private>", "structuredPatch": None},
    }
    assert json.loads(clean(json.dumps(payload).encode()))["tool_input"] == payload["tool_input"]


@pytest.mark.parametrize(
    "text",
    [
        rb"a <private>SECRET</private> b",
        rb"a \u003cprivate\u003eSECRET\u003c/private\u003e b",
        rb"a \u003CPRIVATE note\u003ESECRET\u003c\/private> b",
        rb"a <Private\n>SECRET<\/private> b",
    ],
)
def test_the_hook_removes_spans_before_it_keeps_the_payload(hooks: Hooks, text: bytes) -> None:
    hooks.run("UserPromptSubmit", payload=b'{"n": 1.5, "s": "\xc3\xa9", "prompt": "%b"}' % text)
    (file,) = hooks.kept()
    assert json.loads(file.read_bytes()) == {"n": 1.5, "s": "é", "prompt": f"a {MARK} b"}


@pytest.mark.parametrize("text", [b"SECRET</private> b", rb"SECRET<\/private> b", rb"SECRET\u003c/PRIVATE> b"])
def test_a_closing_tag_alone_is_enough(hooks: Hooks, text: bytes) -> None:
    hooks.run("UserPromptSubmit", payload=b'{"prompt": "%b"}' % text)
    (file,) = hooks.kept()
    assert json.loads(file.read_bytes()) == {"prompt": f"{MARK} b"}


def test_an_opening_tag_alone_hides_the_rest_of_its_string_only(hooks: Hooks) -> None:
    hooks.run("UserPromptSubmit", payload=b'{"prompt": "a <private>SECRET", "cwd": "/x"}')
    (file,) = hooks.kept()
    assert json.loads(file.read_bytes()) == {"prompt": f"a {MARK}", "cwd": "/x"}


@pytest.mark.parametrize("head", [b'{"a": ', b"\xff\xfe", b"[" * 100_000 + b'"', b'{"a": "\xff'])
def test_spans_are_removed_from_payloads_that_cannot_be_parsed(hooks: Hooks, head: bytes) -> None:
    hooks.run("Stop", payload=head + b"<private>SECRET</private>")
    (file,) = hooks.kept()
    assert file.read_bytes() == head + b"[private]"


def test_a_payload_with_invalid_utf8_around_a_span_stays_readable_json(hooks: Hooks) -> None:
    hooks.run("Stop", payload=b'{"a": "\xff<private>SECRET", "b": "kept"}')
    (file,) = hooks.kept()
    assert json.loads(file.read_bytes()) == {"a": f"\ufffd{MARK}", "b": "kept"}


@pytest.mark.parametrize(
    ("head", "unit", "tail"),
    [
        ("<private>", "\\", ""),
        ("", "\\", ""),
        ("", "\\u003c", ""),
        ("", "\\u003cprivate ", ""),
        ("", "\\u003cprivate\\", ""),
        ("", "\\\\\\\\u003cprivate\\\\\\\\n", ""),
        ("", "\\u003cprivate " + "\\" * 50, ""),
        ("", "<private ", ""),
        ("", "<private", ""),
        ("", "<private>", ""),
        ("", "</private>", ""),
        ("", "<private></private>", ""),
        ("", "<private/>", ""),
        ("", "<\\", ""),
        ("", "/\\u003e", ""),
        ("<private ", " ", ""),
        ("<private ", "\\", ""),
        ("<private ", "/\\u003e", ""),
        ("<", "\\", "/private>"),
    ],
)
def test_no_large_text_takes_more_than_a_moment(head: str, unit: str, tail: str) -> None:
    text = head + unit * (LARGE // len(unit)) + tail
    with cpu_seconds(A_MOMENT_S):
        hide(text)
        hide_lines([text, text])
        without_spans(json.dumps({"a": [{"b": text}, {"c": [text]}], text: 1}).encode())


@pytest.mark.parametrize("count", [1, 40_000, 250_000])
def test_an_edit_that_occurs_everywhere_in_its_file_takes_no_more_than_a_moment(count: int) -> None:
    given = {"old_string": "z" * count, "new_string": "b"}
    before = "z" * BIG + "<private>x</private>" * 1000
    payload = {"tool_input": given, "tool_response": {"originalFile": before}}
    assert json.loads(without_spans(json.dumps(payload).encode()))["tool_input"] == given


def test_an_edit_that_occurs_first_outside_and_then_inside_of_a_span_is_hidden() -> None:
    before = "aaaa <private>b</private> aaaaa <private>xaaa</private>"
    payload = {"tool_input": {"old_string": "aaa", "new_string": "n"}, "tool_response": {"originalFile": before}}
    assert json.loads(clean(json.dumps(payload).encode()))["tool_input"] == {"old_string": MARK, "new_string": MARK}


def test_lists_within_lists_take_no_more_than_a_moment() -> None:
    value: Json = ["<private></private>" * (BIG // 19), 1]
    for _ in range(300):
        value = [value, 1]
    assert b"private>" not in without_spans(json.dumps(value).encode())


LONG = b'{"session_id": "s", "cwd": "/private/tmp", "n": 1, "<private>SECRET": 2, "prompt": "a <private>SECRET", '
LONG += b'"tool_input": {"x": "SECRET"}, "more": "%b"}' % (b"<private></private>" * 200_000)
NAMED = {"session_id": "s", "cwd": "/private/tmp", "n": 1, "prompt": MARK, "tool_input": MARK, "more": MARK}


@pytest.fixture
def without_collection() -> Iterator[None]:
    """An exception that the timer raises within a callback of the collector is lost; the hook has no such callbacks."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_collection")
def test_what_names_the_event_is_left_of_a_payload_that_takes_too_long() -> None:
    assert json.loads(clean(LONG, limit_s=0.001)) == NAMED


@pytest.mark.parametrize("payload", [b"<private>SECRET", b'{"a": "<private>SECRET'])
def test_nothing_is_left_of_what_takes_too_long_and_is_no_json(payload: bytes) -> None:
    assert reduced(payload) == b""


@pytest.mark.parametrize(
    "payload", [b"<private>" + b"\\" * BIG, b'{"prompt": "%b"}' % (b"\\u003cprivate " * 40_000)], ids=["a", "b"]
)
def test_the_hook_keeps_an_event_whose_tags_are_made_to_be_slow(hooks: Hooks, payload: bytes) -> None:
    hooks.run("UserPromptSubmit", payload=payload)
    assert len(hooks.kept()) == 1


@pytest.mark.parametrize("text", [rb"SECRET<\\/private> b", rb"SECRET\\u003c\\/private\\u003e b"])
def test_a_closing_tag_alone_is_enough_in_json_within_json(hooks: Hooks, text: bytes) -> None:
    hooks.run("UserPromptSubmit", payload=b'{"prompt": "%b"}' % text)
    (file,) = hooks.kept()
    assert json.loads(file.read_bytes()) == {"prompt": f"{MARK} b"}
