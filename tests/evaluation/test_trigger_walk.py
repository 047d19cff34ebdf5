"""Tests of `evaluation/trigger_walk.py`: a prompt knows what had ended by its time, in its own checkout, and is given
nothing twice."""

import logging
from collections import Counter
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.evaluation.recording import read_recording
from claude_mem_lite.evaluation.session_walk import FIRST, SessionStart, Walk
from claude_mem_lite.evaluation.trigger_walk import AnsweredPrompt, PromptTrigger, walk_in_time
from claude_mem_lite.evaluation.walk_folder import walk_folder
from claude_mem_lite.timestamps import utc_now
from claude_mem_lite.worker.services import Services
from tests.support.past_sessions import LONG_AGO, PastSession, fixed_bug

DAY = LONG_AGO + timedelta(days=30)
KNOWN = "Who is the owner of `load_users`?"
RUNNING = "Who is the owner of `load_carts`?"


class Walked:
    """Prompts of a session beside a longer one, and what was seen on the way."""

    def __init__(self, recorded: Path) -> None:
        self.prompts: list[AnsweredPrompt] = []
        self.branches: list[tuple[str, str]] = []
        self.printed: Counter[str] = Counter()
        with walk_folder() as folder:
            walk = Walk(read_recording([recorded], utc_now()), folder)
            for reached in walk_in_time(walk, self._observe):
                if isinstance(reached, SessionStart):
                    id_ = reached.session.id
                    with closing(open_for_reading(walk.home.memory_db)) as db:
                        own = "select count(*) from receipts where session = ? and given_at is not null"
                        self.printed[id_] += db.execute(own, (id_,)).fetchone()[0]
                else:
                    self.prompts.append(reached)
            self.problems = walk.problems

    def _observe(self, _: Services, trigger: PromptTrigger, root: str) -> None:
        head = Path(root, ".git", "HEAD").read_text().strip()
        self.branches.append((trigger.session.id, head.rpartition("/")[2]))
        logging.getLogger("claude_mem_lite.context").warning("layer failed")

    def given(self, prompt: str) -> list[int]:
        return [len(one.answer.items) for one in self.prompts if one.trigger.prompt == prompt]


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Walked:
    recorded = tmp_path_factory.mktemp("recorded")
    for number in range(FIRST):
        session = fixed_bug(f"s{number:02d}", number, LONG_AGO + timedelta(days=number))
        session.prompt("Who owns it?").says("I looked. The owner of `load_users` is Grace Hopper.").write(recorded)
    long = PastSession("long", DAY).prompt("Look for the owner of the carts.")
    long.at += timedelta(hours=3)
    long.says("I looked. The owner of `load_carts` is Ada Byron.").prompt("Go on.").says("Gone on.").write(recorded)
    short = PastSession("short", DAY + timedelta(hours=1))
    for prompt in (KNOWN, KNOWN, RUNNING):
        short.at += timedelta(minutes=5)
        short.prompt(prompt).says("It is somebody.")
    for line in short.lines:
        line["gitBranch"] = "feature"
    short.write(recorded)
    later = PastSession("later", DAY + timedelta(days=1)).prompt(RUNNING).says("It is somebody.")
    later.write(recorded)
    return Walked(recorded)


def test_a_turn_that_still_runs_is_not_known(walked: Walked) -> None:
    first, later = walked.given(RUNNING)
    assert (first, later > 0) == (0, True)


def test_what_a_prompt_was_given_is_not_given_again(walked: Walked) -> None:
    first, again = walked.given(KNOWN)
    assert (first > 0, again) == (True, 0)


def test_the_start_of_a_session_counts_as_printed(walked: Walked) -> None:
    assert set(walked.printed) == {"long", "short", "later"}
    assert min(walked.printed.values()) == 1


def test_a_session_goes_on_in_its_own_checkout(walked: Walked) -> None:
    of_long = [branch for session, branch in walked.branches if session == "long"]
    assert len(of_long) == 2
    assert "feature" not in of_long
    assert {branch for session, branch in walked.branches if session == "short"} == {"feature"}


def test_problems_of_the_worker_are_counted_over_the_walk(walked: Walked) -> None:
    assert walked.problems["layer failed"] == len(walked.prompts)
