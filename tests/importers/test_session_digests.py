"""Digests that the importing command makes of past turns, for the worker to take."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.compress.rules import digest_key
from claude_mem_lite.compress.rules.digest_key import key_of
from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.config import Config
from claude_mem_lite.importers import session_digests
from claude_mem_lite.importers.session_digests import SessionDigests
from claude_mem_lite.importers.transcripts import find_transcripts, read_transcript
from claude_mem_lite.models import JsonObject, Turn
from claude_mem_lite.turn_digest import TurnDigest
from tests.support.past_sessions import LONG_AGO, PastSession, fixed_bug
from tests.support.turns import bash, turn

LATER = LONG_AGO + timedelta(days=30)
TURN = turn("run the tests", bash("pytest", "2 passed"))


def digests_of(session: PastSession, folder: Path) -> Sequence[JsonObject | None]:
    path = session.write(folder)
    maker = SessionDigests(Config(), LATER)
    past = [turn for transcript in find_transcripts([path]) for turn in read_transcript(transcript, LATER)]
    return [maker.digest(turn.arrivals()) for turn in past]


def test_a_turn_with_a_prompt_has_a_digest(tmp_path: Path) -> None:
    (made,) = digests_of(fixed_bug("d-one"), tmp_path)
    assert made is not None
    assert set(made) == {"key", "digest"}


def test_no_digest_follows_a_turn_with_a_failed_command(tmp_path: Path) -> None:
    session = PastSession("d-failed").prompt("run it").runs("pytest", "1 failed", exit_code=1).says("One fails.")
    session.prompt("and now?").says("Still.")
    first, second = digests_of(session, tmp_path)
    assert first is not None
    assert second is None


def test_digests_are_made_again_from_the_fourth_turn_after_a_failed_command_on(tmp_path: Path) -> None:
    session = PastSession("d-later").prompt("run it").runs("pytest", "1 failed", exit_code=1).says("One fails.")
    for asked in ("why?", "since when?", "and now?", "and the docs?"):
        session.prompt(asked).says("I look.")
    assert [made is not None for made in digests_of(session, tmp_path)] == [True, False, False, False, True]


def test_no_digest_follows_a_failed_command_of_a_turn_without_a_prompt(tmp_path: Path) -> None:
    session = PastSession("d-unasked").prompt("start it").says("It starts.")
    session.prompt("<task-notification>\nIt started.\n</task-notification>").runs("pytest", "1 failed", exit_code=1)
    session.says("One fails.").prompt("and now?").says("Still.")
    assert [made is not None for made in digests_of(session, tmp_path)] == [True, True, False]


def test_after_a_turn_without_a_digest_comes_the_one_of_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails_once(turn: Turn) -> TurnDigest:
        if turn.prompt == "first":
            raise ValueError("odd")
        return fold(turn)

    monkeypatch.setattr(session_digests, "fold", fails_once)
    session = PastSession("d-odd").prompt("first").says("One.").prompt("second").says("Two.")
    first, second = digests_of(session, tmp_path)
    assert first is None
    assert second is not None
    assert caplog.messages == ["turn left to the worker: ValueError"]


@pytest.mark.parametrize(
    "other",
    [
        replace(TURN, prompt="run them again"),
        replace(TURN, previous_message="The tests are missing."),
        replace(TURN, events=TURN.events[1:]),
        replace(TURN, earlier=TURN.events),
    ],
    ids=["prompt", "message before", "events", "failed before"],
)
def test_a_turn_that_differs_in_anything_that_rules_read_has_another_key(other: Turn) -> None:
    assert key_of(other) != key_of(TURN)


def test_a_digest_of_another_version_has_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of(TURN)
    monkeypatch.setattr(digest_key, "__version__", "0.0.1")
    assert key_of(TURN) != before
