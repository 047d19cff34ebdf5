"""One turn -> what its memories are made of, judged once for memories and summary. Pure."""

from collections.abc import Sequence

from claude_mem_lite.compress.compose.candidates import MAX_COMMITS, candidates_of, plan_headings
from claude_mem_lite.compress.compose.judge import NOTHING, Judge
from claude_mem_lite.compress.compose.material import Material
from claude_mem_lite.compress.compose.turn_facts import facts_of
from claude_mem_lite.compress.rules.fix_pairing import Fix, pair
from claude_mem_lite.compress.rules.repairs import is_no_slip
from claude_mem_lite.compress.toolcalls.provenance import Hearsay, only_source
from claude_mem_lite.compress.toolcalls.steps import Agreed, Ran, Step
from claude_mem_lite.models import Turn


def material_of(turn: Turn, message: str, steps: Sequence[Step], earlier: Sequence[Step], judge: Judge) -> Material:
    """Return the judged sentences, commits and fixes of a turn; `earlier` are steps of the turns before it."""
    source = only_source(turn.events)
    plans = plan_headings(turn.prompt, [step.plan for step in steps if isinstance(step, Agreed)])
    others = Hearsay(turn.events)
    made = [commit for step in steps if isinstance(step, Ran) for commit in step.commits if commit.is_typed]
    commits = [commit for commit in made if source or not others.has(commit.subject)][-MAX_COMMITS:]
    # What a turn that only read a page found out is the page's word, and keeps that origin.
    offered = [one for one in candidates_of(message, commits, plans) if source or not others.has(one.text)]
    fixes, unfixed = pair(steps, earlier)
    return Material(
        offered,
        judge.judge(offered, facts_of(turn.prompt, message, steps)) if offered else NOTHING,
        steps,
        commits,
        [fix for fix in fixes if not _is_slip(fix)],
        [fix for fix in fixes if _is_slip(fix) and fix.failure.role in ("test", "run")],
        unfixed,
        source or "assistant",
    )


def _is_slip(fix: Fix) -> bool:
    """Return whether a failure came from the turn's own work, such as a test that was written first."""
    return fix.own_work and not is_no_slip(fix.failure, fix.repair)
