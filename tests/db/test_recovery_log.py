"""What the user hears of a recovery: in words that are right, and nothing that does not hold any more."""

import shlex

import pytest

from claude_mem_lite.db import recovery_log
from claude_mem_lite.db.recovery_log import Recovery
from claude_mem_lite.install.doctor.database_checks import check_recovery
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.recovery import set_aside, startup
from tests.support.fakes import NOW

ASIDE = "damaged-20260301T120000Z"
TEXT = f"memory.db is empty, and there is no backup: a new one was begun. What was there is kept in {ASIDE}."


def test_one_event_is_and_several_are_done_again() -> None:
    one = Recovery("memory-1", NOW.isoformat(), "It is back.", replayed=1)
    assert recovery_log.sentence(one) == "It is back. 1 event that came after it is done again."
    several = Recovery("memory-1", NOW.isoformat(), "It is back.", replayed=1200)
    assert recovery_log.sentence(several) == "It is back. 1,200 events that came after it are done again."


def test_a_folder_that_is_gone_is_not_named_any_more(home: Home) -> None:
    (home.root / ASIDE).mkdir()
    undo = f"What was there is kept: `claude-mem-lite restore {home.root / ASIDE / 'memory.db'}` undoes it."
    (home.root / ASIDE / "memory.db").touch()
    recovery_log.add(home, Recovery("restore-1", NOW.isoformat(), TEXT, undo))
    (told,) = recovery_log.not_shown(home)
    assert (told.text, told.undo) == (TEXT, undo)
    (home.root / ASIDE / "memory.db").unlink()
    (home.root / ASIDE).rmdir()
    (told,) = recovery_log.not_shown(home)
    assert told.text.endswith("a new one was begun. What was there is not kept any more.")
    assert told.undo == ""
    assert recovery_log.latest(home, NOW) == told
    assert recovery_log.all_of(home) == [told]


def test_a_record_keeps_the_command_that_a_file_may_make_work_again(home: Home) -> None:
    """What is told follows the disk; what is on record does not change when somebody has been told."""
    kept = home.root / "before-restore-20260301T120000Z" / "memory.db"
    undo = f"What was there is kept: `claude-mem-lite restore {kept}` undoes it."
    recovery_log.add(home, Recovery("restore-1", NOW.isoformat(), "It is in its place.", undo))
    recovery_log.mark_shown(home, ["restore-1"])
    recovery_log.note_replayed(home, ["restore-1"], 2)
    assert [one.undo for one in recovery_log.all_of(home)] == [""]
    kept.parent.mkdir()
    kept.touch()
    assert [one.undo for one in recovery_log.all_of(home)] == [undo]


def test_a_path_with_spaces_is_named_as_a_shell_takes_it(home: Home) -> None:
    kept = home.root / "Jo's disk" / "memory.db"
    undo = f"What was there is kept: `claude-mem-lite restore {shlex.quote(str(kept))}` undoes it."
    recovery_log.add(home, Recovery("restore-1", NOW.isoformat(), "It is in its place.", undo))
    assert [one.undo for one in recovery_log.all_of(home)] == [""]
    kept.parent.mkdir()
    kept.touch()
    assert [one.undo for one in recovery_log.all_of(home)] == [undo]


@pytest.mark.parametrize(
    ("what", "failed", "state"), [("restore", False, "ok"), ("restore", True, "warn"), ("memory", False, "warn")]
)
def test_what_the_user_has_restored_himself_is_no_warning(home: Home, what: str, failed: bool, state: str) -> None:
    recovery_log.add(home, Recovery(f"{what}-1", NOW.isoformat(), "It is in its place.", "Undo it.", failed))
    (check,) = check_recovery(home, NOW)
    assert (check.state, check.found[-20:], check.next_step) == (state, ": It is in its place", "Undo it.")


def test_restoring_by_hand_does_not_cost_the_damaged_files(home: Home) -> None:
    names = [f"damaged-2026030{day}T000000Z" for day in (1, 2, 3, 4)]
    names += [f"before-restore-2026031{day}T000000Z" for day in (1, 2, 3, 4)]
    for name in names:
        (home.root / name).mkdir()
        (home.root / name / "memory.db").touch()
    startup.prepare(home, NOW)
    assert [path.name for path in set_aside.folders(home)] == [*names[1:4], *names[5:]]
