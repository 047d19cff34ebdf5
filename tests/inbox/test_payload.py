"""What the inbox keeps of a payload: readable, capped, without secrets."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox.payload import STORED_LIMIT, accept, cut_middle, parse, to_stored, unreadable_head
from claude_mem_lite.models import JsonObject, JsonValue

BASE: dict[str, JsonValue] = {
    "session_id": "s-1",
    "cwd": "/work",
    "hook_event_name": "PostToolUse",
    "tool_name": "Bash",
}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "the payload is empty"),
        (b" \n ", "the payload is empty"),
        (b"{", "the payload is no JSON"),
        (b"[]", "the payload is a JSON list, not an object"),
        (b'"x"', "the payload is a JSON str, not an object"),
        (b"null", "the payload is a JSON NoneType, not an object"),
        (b"[" * 100_000, "the payload is nested too deeply"),
        (b'{"cwd":"' + b"x" * 5000 + b'"}', "the payload's cwd is nothing a client would send"),
        (b'{"session_id":"a\\u0000b"}', "the payload's session_id is nothing a client would send"),
    ],
)
def test_what_cannot_be_read_says_why(raw: bytes, reason: str) -> None:
    with pytest.raises(PayloadError) as refused:
        parse(raw)
    assert refused.value.message.startswith(reason)


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    assert parse(b'{"a":"caf\xe9"}') == {"a": "caf\ufffd"}


def test_half_a_character_is_replaced_and_whole_ones_stay() -> None:
    raw = json.dumps({"a": "cut \ud83d", "b": "whole \U0001f600", "\udc00": ["\udfff"]}).encode()
    assert parse(raw) == {"a": "cut \ufffd", "b": "whole \U0001f600", "\ufffd": ["\ufffd"]}


def test_half_a_character_is_replaced_in_a_payload_that_is_parsed_already() -> None:
    assert accept({"a": "cut \ud83d", "b": "whole \U0001f600"}) == {"a": "cut \ufffd", "b": "whole \U0001f600"}


def test_a_payload_that_is_parsed_already_is_checked_too() -> None:
    with pytest.raises(PayloadError, match="session_id is nothing a client would send"):
        accept({"session_id": "a\x00b"})


@pytest.mark.parametrize("letter", ["x", "\n", "\x01", "é", "\U0001f600"])
def test_no_letter_makes_a_stored_payload_longer_than_the_limit(letter: str) -> None:
    for length in (STORED_LIMIT // 12, STORED_LIMIT // 6, STORED_LIMIT // 2, STORED_LIMIT):
        assert len(to_stored({**BASE, "prompt": letter * length})) <= STORED_LIMIT


def test_a_small_payload_is_kept_as_it_is() -> None:
    given_payload = {**BASE, "tool_input": {"command": "ls -la", "n": [1, 2.5, None, True]}}
    assert json.loads(to_stored(given_payload)) == given_payload


def test_a_long_text_keeps_its_head_and_tail() -> None:
    output = "first\n" + "middle\n" * 200_000 + "last"
    stored = stored_of({**BASE, "tool_response": {"stdout": output}})
    kept = member(stored, "tool_response", "stdout")
    assert kept.startswith("first\n")
    assert kept.endswith("\nlast")
    assert "characters cut" in kept


def test_a_long_list_keeps_its_head_and_tail() -> None:
    lines = [f"line {number}" for number in range(100_000)]
    stored = stored_of({**BASE, "tool_input": {"command": "make"}, "tool_response": {"lines": lines}})
    kept = member(stored, "tool_response", "lines")
    assert (kept[0], kept[-1]) == ("line 0", "line 99999")
    assert any("items cut" in line for line in kept)
    assert stored["tool_input"] == {"command": "make"}


def test_what_names_the_event_is_never_cut() -> None:
    folder = "/" + "deep folder/" * 300
    stored = stored_of({**BASE, "cwd": folder, **{f"field {n}": "some words " * 30 for n in range(5000)}})
    assert stored["cwd"] == folder
    assert {key: stored[key] for key in BASE if key != "cwd"} == {key: BASE[key] for key in BASE if key != "cwd"}


def test_enormous_keys_are_cut_like_other_texts() -> None:
    stored = stored_of({**BASE, "k " * 1_000_000: 1, "tool_input": {"command": "make"}})
    assert stored["tool_input"] == {"command": "make"}


def test_a_secret_is_not_kept() -> None:
    token = "ghp_" + "a1B2" * 9
    stored = to_stored({**BASE, "tool_response": {"stdout": f"token is {token}\nbye"}})
    assert token not in stored
    assert "[redacted:github-token]" in stored


def test_a_secret_at_the_cut_is_not_kept_in_half() -> None:
    token = "ghp_" + "a1B2" * 9
    for shift in range(0, 80, 7):
        stored = to_stored({**BASE, "tool_response": {"stdout": ("x" * 70 + f"\n{token}\n") * 8000 + "y" * shift}})
        assert "a1B2a1B2" not in stored


def test_nothing_of_a_secret_is_kept_of_an_unreadable_payload() -> None:
    token = "ghp_" + "a1B2" * 9
    head = unreadable_head(b'{"stdout": "' + token.encode() + b"\x00" + b"x" * 5000)
    assert token not in head
    assert "\x00" not in head
    assert len(head) < 2100


def test_a_token_that_is_cut_off_is_not_kept_of_what_cannot_be_parsed() -> None:
    """What a key took before it is redacted moves the end of the text that was looked at into what is kept."""
    lines = "\\n".join("Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4" for _ in range(95))
    key = f"-----BEGIN RSA PRIVATE KEY-----\\n{lines}\\n-----END RSA PRIVATE KEY-----"
    start = f'{{"stdout": "{key}" '
    raw = (start + " " * (7985 - len(start)) + "ghp_" + "a1" * 18).encode()
    assert "a1a1" not in unreadable_head(raw)
    assert "[redacted:private-key]" in unreadable_head(raw)


@given(text=st.text(alphabet=st.sampled_from("ab \n"), max_size=400), limit=st.integers(6, 100))
@settings(database=None, derandomize=True)
def test_a_cut_keeps_whole_lines_from_both_ends(text: str, limit: int) -> None:
    cut = cut_middle(text, limit)
    if len(text) <= limit:
        assert cut == text
        return
    head, mark, tail = cut.partition("[… ")
    number, _, tail = tail.partition(" characters cut …]")
    assert mark
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + len(tail) <= limit
    assert len(head) + int(number) + len(tail) == len(text)


def stored_of(payload: JsonObject) -> dict[str, JsonValue]:
    stored = to_stored(payload)
    assert len(stored) <= STORED_LIMIT
    value: dict[str, JsonValue] = json.loads(stored)
    return value


def member(stored: JsonObject, *keys: str) -> "str":
    value: JsonValue = stored
    for key in keys:
        assert isinstance(value, dict)
        value = value[key]
    return value  # type: ignore[return-value]
