"""Tests of `worker/answers/routes.py`: which requests are hooks', and which threads answer them."""

import pytest

from claude_mem_lite.worker.answers.routes import HOOK_LANES, HookRoutes
from claude_mem_lite.worker.http.messages import Request


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/hook/Stop", True), ("/hook/Stop_codex", True), ("/hook/Stop/more", False), ("/api/hook/Stop", False)],
)
def test_a_hook_asks_for_its_event_alone(path: str, expected: bool) -> None:
    assert HookRoutes.has(Request("POST", path)) is expected


@pytest.mark.parametrize(
    ("event", "lane"),
    [
        ("SessionStart", "starts"),
        ("SessionStart_gemini", "starts"),
        ("UserPromptSubmit", "hooks"),
        ("PostToolUse_codex", "hooks"),
        ("PostToolUseFailure", "hooks"),
        ("Stop", ""),
        ("printed", ""),
    ],
)
def test_starts_and_prompts_have_threads_of_their_own(event: str, lane: str) -> None:
    assert HookRoutes.lane_of(Request("POST", f"/hook/{event}")) == lane
    assert not lane or HOOK_LANES[lane] > 0
