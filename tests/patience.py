"""Limits of time as no user would bear them: tests are about what is told, not about how soon on a busy machine.

Tests of a limit set it themselves."""

import importlib

_LIMITS_S = (
    ("claude_mem_lite.context.project_setting", "DETECT_S", 10.0),
    ("claude_mem_lite.code.freshness.scanner", "CHECK_S", 10.0),
    ("claude_mem_lite.code.freshness.scanner", "WITHIN_S", 10.0),
    ("claude_mem_lite.code.freshness.scanner", "_SHARE_OF_PATIENCE", 1.0),
    ("claude_mem_lite.code.freshness.scanner", "_BRANCHES_S", 10.0),
    ("claude_mem_lite.worker.api.staleness", "_ANSWER_S", 10.0),
    ("claude_mem_lite.worker.api.staleness", "_ANSWER_WITHIN_S", 10.0),
    ("claude_mem_lite.knowledge.code_links", "_MAX_S", 10.0),
    ("claude_mem_lite.worker.answers.hook_request", "LOOK_AT_NEED_S", 10.0),
    (
        "claude_mem_lite.worker.api.status",
        "_RETRY_LOOK_S",
        0.02,
    ),  # how often a drain looks: each test would wait for 0.2
    ("claude_mem_lite.worker.loop", "IMPORT_QUIET_S", 60.0),
    (
        "claude_mem_lite.worker.answers.session_start",
        "_MAX_PATIENCE_S",
        1.0,
    ),  # the hook itself waits for no more than 1.5
)


def be_patient() -> None:
    """Have the product's code in this process take the time it needs."""
    for name, limit, seconds in _LIMITS_S:
        module = importlib.import_module(name)
        assert hasattr(module, limit), f"{name} has no {limit}"
        setattr(module, limit, seconds)
