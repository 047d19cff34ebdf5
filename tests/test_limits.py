"""Limits of time as users have them: other tests lift them, so that a busy machine does not change what is told."""

import json
import subprocess
import sys

_PROGRAM = """
import json
from types import SimpleNamespace
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.limits import LIMITS
from claude_mem_lite.hook import kernel
from claude_mem_lite.code.freshness import scanner as looking, time_budget as cpu_budget
from claude_mem_lite.worker.answers import hook_request as waiting, session_start as start

given = []  # how long looks may last by the clock

class Noted(cpu_budget.CpuBudget):
    def __init__(self, work_s, within_s):
        assert work_s <= within_s
        given.append(within_s)

looking.CpuBudget = waiting.CpuBudget = Noted
looking.context_budget(LIMITS)
looking.context_budget(LIMITS, Deadline.after(start._MIN_PATIENCE_S))
seen = SimpleNamespace(hidden=(), freshness=lambda memories: {})
loop = SimpleNamespace(limits=LIMITS, scanner=SimpleNamespace(checkout=lambda *_, **__: seen))
at_need = waiting.LazyCheckoutView(loop, None, None)
at_need.hidden, at_need.freshness([None])
print(json.dumps({
    "looks": given[0], "looks at least": given[1], "looks at need": sum(given[2:]), "number at need": len(given[2:]),
    "way back": waiting.WAY_BACK_S, "detects": LIMITS.detect_s,
    "start is made by": start._ANSWER_BY_S, "start's way back": start._WAY_BACK_S,
    "layers": LIMITS.start_patience_s, "layers at least": start._MIN_PATIENCE_S,
    **kernel.ANSWER_WITHIN_S,
}))
"""


def test_what_an_answer_may_take_is_less_than_its_hook_waits() -> None:
    ran = subprocess.run([sys.executable, "-I", "-c", _PROGRAM], capture_output=True, text=True, check=True)
    limits: dict[str, float] = json.loads(ran.stdout)
    assert limits["number at need"] == 2  # at the branches, and at the code
    at_need = limits["looks at need"] + limits["way back"]
    assert at_need < limits["PostToolUse"] == limits["PostToolUseFailure"]
    assert at_need < limits["UserPromptSubmit"]
    assert limits["start is made by"] + limits["start's way back"] < limits["SessionStart"]
    assert limits["looks"] + limits["detects"] < limits["layers"] < limits["SessionStart"]
    assert limits["looks at least"] + limits["detects"] < limits["layers at least"]
