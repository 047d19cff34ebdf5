"""Tests of the removal of injected context."""

from claude_mem_lite.models import JsonObject
from claude_mem_lite.safety.own_blocks import payload_without_own_blocks, without_own_blocks

BLOCK = "<claude-mem-lite>\n- a memory\n</claude-mem-lite>"


def test_blocks_are_removed_from_every_text_of_a_payload() -> None:
    payload: JsonObject = {"prompt": f"a {BLOCK} b", "tool_response": {"lines": [f"{BLOCK}c", 1]}, "cwd": "/x"}
    assert payload_without_own_blocks(payload) == {"prompt": "a  b", "tool_response": {"lines": ["c", 1]}, "cwd": "/x"}


def test_a_payload_without_blocks_is_the_same_object() -> None:
    payload: JsonObject = {"prompt": "nothing of ours"}
    assert payload_without_own_blocks(payload) is payload


def test_a_block_that_was_cut_off_ends_the_text() -> None:
    assert without_own_blocks("before <claude-mem-lite>\n- half a mem") == "before "
