"""Ten sessions in one repository, through real hooks and a real worker: what the user says is learned, what is replaced
gives way, what was left open is picked up, and what is forgotten stays away. After each session the next context is
what a person who had been there would want to be told."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.running import Machine, open_machine, short_folder
from tests.worker.working_repository import WorkingRepository

PRICE = '''\
"""Prices."""


def as_text(price):
    """A price as customers see it."""
    return f"{price:.2f} EUR"
'''
REFUNDS = '''\
"""Refunds."""


def report(refunds):
    """All refunds, one line each."""
    return [f"{one.order}: {one.amount}" for one in refunds]
'''
PREFERENCE = "pytest"
CORRECTION = "pnpm"
OLD_DECISION, NEW_DECISION = "as floats", "integer cents"
LEFT_OPEN = "refund report"
SECRET_PORT = "5433"


@pytest.fixture
def work() -> Iterator[WorkingRepository]:
    with open_machine() as machine, short_folder() as folder:
        machine.start_worker()
        readme = "# shop\n\nSells things to people, and takes them back.\n"
        yield WorkingRepository.begin(machine, folder / "shop", {"README.md": readme})


def lines_with(context: str, words: str) -> list[str]:
    return [line for line in context.splitlines() if words in line]


def knowledge(context: str) -> str:
    """The part that tells what is known to hold, without what sessions did."""
    rules = context.partition("## The user's standing rules")[2].partition("## Notes")[0]
    known = context.partition("## Known")[2].partition("## Earlier work")[0].partition("## Code changed")[0]
    return rules + known


def remembered(machine: Machine, words: str, root: Path) -> list[dict[str, object]]:
    """Everything that is stored with these words, whatever its status."""
    statuses = "&".join(f"status={one}" for one in ("active", "superseded", "retired"))
    told = machine.get(f"/api/memories?cwd={root}&{statuses}&limit=500")
    assert isinstance(told, dict)
    return [one for one in told["memories"] if words in f"{one['title']} {one['summary']}"]


def decide(work: WorkingRepository, text: str) -> None:
    work.machine.post("/api/memories", {"kind": "decision", "text": text, "cwd": str(work.root)})


def test_ten_sessions_of_a_shop(work: WorkingRepository) -> None:
    # 1: a preference, stated once.
    work.session(
        "I prefer pytest over unittest. Please add a module that formats prices.",
        {"src/price.py": PRICE},
        "Added `as_text` in src/price.py, which formats a price with two decimals.",
    )
    told = work.context()
    assert PREFERENCE in knowledge(told)
    assert "price" in told

    # 2: a correction.
    work.session(
        "No, always use pnpm, not npm. And set up the front end.",
        {"web/main.js": "export function start() {\n  return 1;\n}\n"},
        "Set up the front end with pnpm and a first `start` function.",
    )
    assert lines_with(knowledge(work.context()), CORRECTION)

    # 3: a decision.
    decide(work, "Store prices as floats, because that is the simplest thing that works")
    told = work.context()
    assert lines_with(told, OLD_DECISION)
    assert PREFERENCE in knowledge(told)

    # 4: the correction again: it counts, and is told once.
    work.session(
        "Always use pnpm, not npm! Add a build script.",
        {"web/build.js": "export function build() {\n  return 2;\n}\n"},
        "Added a build script that runs with pnpm.",
    )
    told = work.context()
    assert len(lines_with(knowledge(told), CORRECTION)) == 1
    (correction,) = [one for one in remembered(work.machine, CORRECTION, work.root) if one["kind"] == "rule"]
    assert correction["times_seen"] == 2

    # 5: the decision is replaced.
    decide(work, "Store prices as integer cents instead of floats, because floats lose cents")
    told = work.context()
    assert lines_with(told, NEW_DECISION)
    assert not lines_with(told, OLD_DECISION)
    (old,) = [
        one
        for one in remembered(work.machine, OLD_DECISION, work.root)
        if one["kind"] == "decision" and NEW_DECISION not in str(one["summary"])
    ]
    assert old["status"] == "superseded"
    assert old["superseded_by"]

    # 6: something is left open.
    work.session(
        "Keep refunds in cents as well.",
        {"src/refunds.py": REFUNDS},
        "Added the module for refunds. Next step: convert the refund report to cents.",
    )
    told = work.context()
    assert LEFT_OPEN in told.partition("## Last sessions")[0]

    # 7: and picked up.
    work.session(
        "continue",
        {"src/refunds.py": REFUNDS.replace("one.amount}", "one.amount / 100:.2f}")},
        "Converted the refund report to cents. Nothing is left to do.",
    )
    told = work.context()
    assert not lines_with(told.partition("## Last sessions")[0], "Next: ")
    assert "convert the refund report" not in told.partition("## Last sessions")[0]

    # 8: something to remember, in so many words.
    work.session(
        f"Remember that the staging database listens on port {SECRET_PORT}. Then tidy the price module.",
        {"src/price.py": PRICE},
        "Tidied the price module.",
    )
    told = work.context()
    assert lines_with(knowledge(told), SECRET_PORT)
    assert lines_with(knowledge(told), CORRECTION)

    # 9: which is forgotten again.
    for memory in remembered(work.machine, SECRET_PORT, work.root):
        work.machine.post("/api/forget", {"ids": [memory["id"]]})
    work.session("Thanks. Rename nothing today.", {}, "Understood.")
    told = work.context()
    assert SECRET_PORT not in told
    assert work.machine.files_with(f"port {SECRET_PORT}") == []

    # 10: another day: all that holds, nothing that does not, and nothing of it elsewhere.
    work.session(
        "Add a test for refunds.",
        {"tests/test_refunds.py": "def test_report():\n    assert True\n"},
        "Added a test for the refund report.",
    )
    told = work.context()
    held = knowledge(told)
    assert PREFERENCE in held
    assert len(lines_with(held, CORRECTION)) == 1
    assert lines_with(held, NEW_DECISION)
    assert SECRET_PORT not in told
    other = work.at(work.root.parent / "garden")
    other.root.mkdir()
    other.git("init", "--quiet", "--initial-branch=main")
    assert "pnpm" not in other.context()
