"""What a failed tool call is known by, for tests and benchmarks that begin with a call."""

from claude_mem_lite.compress.toolcalls.error_fingerprints import anchors_of_step, failed_step
from claude_mem_lite.models import ToolCall


def anchors_of_call(call: ToolCall, cwd: str = "") -> tuple[str, ...]:
    """Return the anchors of a tool call that has just failed."""
    step = failed_step(call, cwd)
    return anchors_of_step(step) if step else ()
