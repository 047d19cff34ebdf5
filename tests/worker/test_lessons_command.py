"""The command `lessons` and what `show` tells of lessons, with a real worker."""

import json
from pathlib import Path

import pytest

from tests.lesson_sentences import stories
from tests.running import Json, Machine
from tests.worker.commands import run_here
from tests.worker.test_lessons import turn

FIRST, SECOND = stories(2)
RULE = "From now on always run the linter before every commit"


@pytest.fixture
def cwd(machine: Machine) -> str:
    folder = machine.user_home / "shop"
    folder.mkdir(parents=True)
    machine.start_worker()
    turn(machine, str(folder), "Please look at the mirror", "s-1", "I have put all of it into one commit.")
    turn(machine, str(folder), FIRST.said, "s-1")
    return str(folder)


def unsure(machine: Machine, cwd: str) -> list[Json]:
    found: list[Json] = json.loads(run_here(machine, "lessons", "--json", cwd=cwd).stdout)["unsure"]
    return found


def test_an_unsure_lesson_is_shown_with_what_it_answers(machine: Machine, cwd: str) -> None:
    (one,) = unsure(machine, cwd)
    listed = run_here(machine, "lessons", cwd=cwd).stdout
    assert "in answer to: I have put all of it into one commit." in listed

    shown = run_here(machine, "show", one["id"][:6], cwd=cwd).stdout
    for part in (FIRST.said, "[lesson, unsure]", "I have put all of it into one commit.", "session: s-1"):
        assert part in shown
    assert FIRST.said in run_here(machine, "timeline", one["id"], cwd=cwd).stdout
    (record,) = json.loads(run_here(machine, "show", one["id"], "--json", cwd=cwd).stdout)
    assert (record["kind"], record["sentence"]) == ("lesson", FIRST.said)
    assert "`lessons` those of lessons" in run_here(machine, "show", "zzzzzz", cwd=cwd, status=1).stderr


def test_the_list_says_how_many_more_there_are(machine: Machine, cwd: str) -> None:
    turn(machine, cwd, SECOND.said, "s-2")
    turn(machine, cwd, RULE, "s-3")
    assert "more; --limit" not in run_here(machine, "lessons", cwd=cwd).stdout
    assert "… and 1 more; --limit shows more of them." in run_here(machine, "lessons", "--limit", "1", cwd=cwd).stdout
    listed = run_here(machine, "lessons", "list", cwd=cwd).stdout
    assert listed == run_here(machine, "lessons", cwd=cwd).stdout


def test_where_nothing_was_learned_it_says_what_to_do(machine: Machine, cwd: str, tmp_path: Path) -> None:
    told = run_here(machine, "lessons", cwd=str(tmp_path)).stdout
    assert "--all-projects" in told
    assert "claude-mem-lite import transcripts" in told
    assert FIRST.said in run_here(machine, "lessons", "--all-projects", cwd=str(tmp_path)).stdout


def test_dismissing_tells_what_was_dismissed_and_twice_that_it_was(machine: Machine, cwd: str) -> None:
    turn(machine, cwd, RULE, "s-3")
    found = json.loads(run_here(machine, "lessons", "--json", cwd=cwd).stdout)
    for one, said in ((found["unsure"][0], FIRST.said), (found["learned"][0], found["learned"][0]["title"])):
        assert run_here(machine, "lessons", "dismiss", one["id"], cwd=cwd).stdout == f"Dismissed: {said}\n"
        again = run_here(machine, "lessons", "dismiss", one["id"], cwd=cwd).stdout
        assert again == f"Was dismissed already: {said}\n"


def test_a_text_that_is_empty_or_too_long_is_refused(machine: Machine, cwd: str) -> None:
    (one,) = unsure(machine, cwd)
    assert "the text is empty" in run_here(machine, "lessons", "edit", one["id"], "", cwd=cwd, status=1).stderr
    long = run_here(machine, "lessons", "edit", one["id"], "word " * 101, cwd=cwd, status=1).stderr
    assert "the text has 505 characters, and a lesson at most 500" in long
    assert "one self-contained sentence" in long


def test_lesson_is_no_kind(machine: Machine, cwd: str) -> None:
    refused = run_here(machine, "list", "--kind", "lesson", cwd=cwd, status=2).stderr
    assert "`claude-mem-lite lessons` lists lessons" in refused
