"""Tests of events of transcripts on their way into the inbox."""

from dataclasses import asdict

import pytest

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.event_names import past_name
from claude_mem_lite.inbox.past_arrival import past_arrival, placed_arrival
from claude_mem_lite.models import JsonObject

NAME = past_name("UserPromptSubmit", 1_700_000_000 * 10**9, "one")
TOKEN = "ghp_" + "a8Kd93jfLq02MzXc7VbN5tYpRw61HsGeUoIi"


def _prompt(prompt: str) -> JsonObject:
    return {"session_id": "s", "cwd": "/home/dev/shop", "hook_event_name": "UserPromptSubmit", "prompt": prompt}


def test_a_row_has_no_secret_no_private_passage_and_no_injected_context() -> None:
    block = "<claude-mem-lite>\n- wombatgarden\n</claude-mem-lite>"
    row = placed_arrival(NAME, _prompt(f"use {TOKEN} <private>quokkafish</private> {block} now")).arrival
    for word in (TOKEN, "quokkafish", "wombatgarden"):
        assert word not in str(row)
    assert "[redacted:" in row.payload


def test_a_row_is_what_the_worker_would_make_with_the_folder_beside_it() -> None:
    payload = _prompt(f"use {TOKEN} now")
    arrival = past_arrival(NAME, payload, lambda _: False)
    assert arrival is not None
    assert placed_arrival(NAME, payload).as_json() == {**asdict(arrival), "folder": "/home/dev/shop"}


def test_an_event_of_an_excluded_folder_is_none() -> None:
    assert past_arrival(NAME, _prompt("hello there"), lambda folder: folder == "/home/dev/shop") is None


def test_an_event_of_today_is_refused() -> None:
    with pytest.raises(MemoryLiteError):
        placed_arrival("00001700000000000000-1-00000000-UserPromptSubmit", _prompt("hello there"))
