"""The command `lessons` and what `show` tells of lessons, with a real worker."""

import json
from pathlib import Path

import pytest

from tests.support.lesson_stories import stories
from tests.support.running import Json, Machine
from tests.worker.commands import run_here
from tests.worker.test_lesson_collection import turn

FIRST, SECOND = stories(2)
QUESTION = "Why don't we use only the standard library for all of our dates"
POINTING = "Hmm, the commits of this branch are too big for our reviewers because they read them one by one"
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


def test_accepting_tells_what_is_a_rule_now_and_how_to_word_it_better(machine: Machine, cwd: str) -> None:
    (one,) = unsure(machine, cwd)
    assert "`lessons edit ID" in run_here(machine, "lessons", cwd=cwd).stdout

    told = run_here(machine, "lessons", "accept", one["id"], cwd=cwd).stdout.splitlines()

    (rule,) = json.loads(run_here(machine, "lessons", "--json", cwd=cwd).stdout)["learned"]
    assert told[0] == f'Now a rule: "{FIRST.said}." ({rule["id"]})'
    assert "lessons edit ID" in told[1]


@pytest.mark.parametrize(("said", "why"), [(QUESTION, "is a question"), (POINTING, "cannot be understood without")])
def test_what_is_no_rule_is_accepted_only_in_words_that_are(machine: Machine, cwd: str, said: str, why: str) -> None:
    turn(machine, cwd, said, "s-2")
    ids = [one["id"] for one in unsure(machine, cwd)]
    assert len(ids) == 2
    id_ = next(one["id"] for one in unsure(machine, cwd) if one["sentence"] == said)

    refused = run_here(machine, "lessons", "accept", *ids, cwd=cwd, status=1).stderr
    assert f"{id_} {why}" in refused
    assert f'lessons accept {id_} "the rule in your words"' in refused
    assert len(unsure(machine, cwd)) == 2, "none is accepted then"

    told = run_here(machine, "lessons", "accept", id_, SECOND.saved, cwd=cwd).stdout
    assert told.startswith(f'Now a rule: "{SECOND.saved}" (')
    learned = json.loads(run_here(machine, "lessons", "--json", cwd=cwd).stdout)["learned"]
    assert [(one["summary"], one["made_by"]) for one in learned] == [(SECOND.saved, "user")]


def test_words_go_with_one_lesson_and_behind_its_id(machine: Machine, cwd: str) -> None:
    (one,) = unsure(machine, cwd)
    for given in ((one["id"], one["id"], FIRST.saved), (FIRST.saved, one["id"]), (FIRST.saved,)):
        assert (
            "give TEXT after exactly one ID" in run_here(machine, "lessons", "accept", *given, cwd=cwd, status=2).stderr
        )


def test_a_text_that_is_empty_or_too_long_is_refused(machine: Machine, cwd: str) -> None:
    (one,) = unsure(machine, cwd)
    assert "the text is empty" in run_here(machine, "lessons", "edit", one["id"], "", cwd=cwd, status=1).stderr
    long = run_here(machine, "lessons", "edit", one["id"], "word " * 101, cwd=cwd, status=1).stderr
    assert "the text has 505 characters, and a lesson at most 500" in long
    assert "one self-contained sentence" in long


def test_lesson_is_no_kind(machine: Machine, cwd: str) -> None:
    refused = run_here(machine, "list", "--kind", "lesson", cwd=cwd, status=2).stderr
    assert "`claude-mem-lite lessons` lists lessons" in refused
