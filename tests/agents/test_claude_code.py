"""Payloads of the agent -> events, and which of them hold nothing."""

import pytest

from claude_mem_lite.agents.claude_code import event_from_payload, why_skipped
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.models import JsonObject

NAME = "00001763200000000000-1-deadbeef-Stop"


def skipped(**fields: object) -> str | None:
    payload: JsonObject = {"session_id": "s", "cwd": "/p", **fields}  # type: ignore[dict-item]
    return why_skipped(event_from_payload(NAME, payload), payload)


@pytest.mark.parametrize("tool", ["Glob", "Grep", "LS", "TodoRead", "ToolSearch", "ListMcpResourcesTool"])
def test_a_tool_that_only_looks_around_is_skipped(tool: str) -> None:
    assert skipped(hook_event_name="PostToolUse", tool_name=tool) is not None


@pytest.mark.parametrize("tool", ["mcp__claude-mem-lite__memory_search", "mcp__plugin_claude-mem-lite_memory__save"])
def test_our_own_tools_are_skipped(tool: str) -> None:
    assert skipped(hook_event_name="PostToolUse", tool_name=tool) is not None


@pytest.mark.parametrize("tool", ["Bash", "Edit", "mcp__github__create_issue"])
def test_a_tool_that_does_something_is_kept(tool: str) -> None:
    assert skipped(hook_event_name="PostToolUse", tool_name=tool) is None


def test_the_notification_of_a_background_task_is_no_prompt() -> None:
    assert skipped(hook_event_name="UserPromptSubmit", prompt="<task-notification>\n<task-id>a</task-id>") is not None
    assert skipped(hook_event_name="UserPromptSubmit", prompt="Explain <task-notification>") is None


def test_the_clients_own_helper_is_no_sub_agent() -> None:
    assert skipped(hook_event_name="SubagentStop", agent_id="a", agent_type="") is not None
    assert skipped(hook_event_name="SubagentStop", agent_id="a", agent_type="general-purpose") is None


@pytest.mark.parametrize("payload", [{}, {"session_id": "s"}, {"hook_event_name": "Stop"}, {"session_id": 1}])
def test_a_payload_without_event_or_session_is_no_event(payload: JsonObject) -> None:
    with pytest.raises(PayloadError):
        event_from_payload(NAME, payload)
