"""All cases, and what is lost of them."""

from claude_mem_lite.text import one_line
from tests.cases import (
    agents,
    builds,
    edits,
    git,
    javascript_tests,
    linters,
    noise,
    operations,
    other_tests,
    packages,
    python_tests,
    worthless,
)
from tests.cases.case import Case, Stored, store

CASES: tuple[Case, ...] = (
    *python_tests.CASES,
    *javascript_tests.CASES,
    *other_tests.CASES,
    *builds.CASES,
    *linters.CASES,
    *packages.CASES,
    *git.CASES,
    *operations.CASES,
    *edits.CASES,
    *agents.CASES,
    *noise.CASES,
    *worthless.CASES,
)


def lost_facts(case: Case, stored: Stored) -> list[str]:
    """The facts of a case that cannot be read in what was stored of it."""
    return [fact for fact in case.facts if one_line(fact) not in stored.text]


def table() -> str:
    """Which facts of which case are lost, and how many of all that is."""
    facts = sum(len(case.facts) for case in CASES)
    lost = [(case.name, fact) for case in CASES for fact in lost_facts(case, store(case))]
    lines = [f"{name}: {fact}" for name, fact in lost]
    kept = facts - len(lost)
    return "\n".join([*lines, f"{len(CASES)} cases, {kept} of {facts} facts survive ({kept / facts:.1%})"])
