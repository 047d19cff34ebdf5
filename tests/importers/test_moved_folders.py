"""Turns of another machine, as if they had been done in a folder of this one."""

from datetime import UTC, datetime

import pytest

from claude_mem_lite.importers.transcript_turns import TranscriptEvent, TranscriptTurn
from claude_mem_lite.importers.transcripts import FolderMap
from claude_mem_lite.models import JsonObject


def turn_in(cwd: str, **payload: object) -> TranscriptTurn:
    told: JsonObject = {"cwd": cwd, **payload}  # type: ignore[dict-item]
    return TranscriptTurn("s1", "n1", "p1", datetime(2026, 3, 1, tzinfo=UTC), cwd, (TranscriptEvent("n1", told),))


@pytest.mark.parametrize(
    ("name", "cwd", "here"),
    [
        ("shop", "/Users/me/shop", "/home/me/shop"),
        ("shop", "/Users/me/shop/src/cart", "/home/me/shop/src/cart"),
        ("shop", "/Users/shop/shop", "/home/me/shop"),
        ("/Users/me/shop", "/Users/me/shop/src", "/home/me/shop/src"),
        ("/Users/me/shop/", "/Users/me/shop", "/home/me/shop"),
        ("shop", "/Users/me/workshop", "/Users/me/workshop"),
        ("/Users/me/shop", "/Users/me/shop2", "/Users/me/shop2"),
        ("me/shop", "/Users/me/shop", "/home/me/shop"),
    ],
)
def test_a_folder_is_replaced_by_name_or_path(name: str, cwd: str, here: str) -> None:
    folders = FolderMap({name: "/home/me/shop"})
    placed = folders.relocate(turn_in(cwd))
    assert (placed.cwd, placed.events[0].payload["cwd"]) == (here, here)
    assert placed.former_folders == ((cwd,) if here != cwd else ())
    assert folders.unused == (set() if here != cwd else {name})


def test_paths_of_calls_are_replaced_and_what_was_said_is_not() -> None:
    said = "Look at /Users/me/shop/cart.py"
    given = {"file_path": "/Users/me/shop/cart.py", "content": "/Users/me/shop/a\n/Users/me/shop/b"}
    turn = turn_in("/Users/me/shop", tool_input=given, prompt=said, parts=["/Users/me/shop"])
    payload = FolderMap({"shop": "/home/me/shop"}).relocate(turn).events[0].payload
    assert payload["tool_input"] == {**given, "file_path": "/home/me/shop/cart.py"}
    assert payload["prompt"] == said
    assert payload["parts"] == ["/home/me/shop"]
