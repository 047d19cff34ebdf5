"""Limits of time as users have them: other tests lift them, so that a busy machine does not change what is told."""

import json
import subprocess
import sys

_PROGRAM = """
import json, time
from claude_mem_lite.context import detect
from claude_mem_lite.hook import kernel
from claude_mem_lite.worker import looking
from claude_mem_lite.worker.answering import start, waiting
print(json.dumps({
    "looks at need": waiting.LOOK_AT_NEED_S, "way back": waiting.WAY_BACK_S, "detects": detect.DETECT_S,
    "looks": looking.WITHIN_S, "start is made by": start._ANSWER_BY_S,
    "start's way back": start._WAY_BACK_S,
    "layers": start._MOST_PATIENCE_S, "layers at least": start._LEAST_PATIENCE_S,
    "looks at least": looking.time_for_context(start._LEAST_PATIENCE_S)._latest - time.monotonic(),
    **kernel.ANSWER_WITHIN_S,
}))
"""


def test_what_an_answer_may_take_is_less_than_its_hook_waits() -> None:
    ran = subprocess.run([sys.executable, "-I", "-c", _PROGRAM], capture_output=True, text=True, check=True)
    limits: dict[str, float] = json.loads(ran.stdout)
    at_need = 2 * limits["looks at need"] + limits["way back"]  # at the branches, and at the code
    assert at_need < limits["PostToolUse"] == limits["PostToolUseFailure"]
    assert at_need < limits["UserPromptSubmit"]
    assert limits["start is made by"] + limits["start's way back"] < limits["SessionStart"]
    assert limits["looks"] + limits["detects"] < limits["layers"] < limits["SessionStart"]
    assert limits["looks at least"] < limits["layers at least"]
