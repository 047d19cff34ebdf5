"""Facts that are stored as prose: each form is read back by the module that writes it."""

from typing import Any

import pytest

from claude_mem_lite.compress.prose.drafts import is_quote_of, quote_line, quoted_in
from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.compress.toolcalls import fix_pairing, repairs
from claude_mem_lite.compress.toolcalls.edits import FileChange
from claude_mem_lite.compress.toolcalls.repairs import Repair
from claude_mem_lite.db import recovery_log
from claude_mem_lite.db.recovery_log import Recovery
from claude_mem_lite.knowledge import correction_context
from claude_mem_lite.models import Memory, is_request, request_headline
from claude_mem_lite.paths import Home
from claude_mem_lite.store import tombstones
from tests.compress.rules.test_repairs import NO_TABLE
from tests.support.fakes import NOW, Store
from tests.support.turns import bash_failed, turn


def memory(**fields: Any) -> Memory:
    usual: dict[str, Any] = {"kind": "bugfix", "title": "Totals are rounded", "summary": "", "scope": "project:shop"}
    return Memory(id="m1", created_at=NOW, last_seen_at=NOW, project="shop", **{**usual, **fields})


@pytest.mark.parametrize("commands", [("uv sync",), ("uv sync", "npm ci")])
def test_the_commands_of_a_repair_are_read_from_its_fact(commands: tuple[str, ...]) -> None:
    fix = memory(facts=(repairs.fact_of(Repair((), commands)),))
    assert repairs.recorded_commands(fix) == f"running {' and '.join(commands)}"
    assert repairs.describe_fix(fix) == f"Totals are rounded; fixed by running {' and '.join(commands)}"


def test_commands_beside_edits_are_no_repair_of_their_own() -> None:
    fact = repairs.fact_of(Repair((FileChange("src/cart.py", "modified"),), ("uv sync",)))
    assert repairs.recorded_commands(memory(facts=(fact,), files=("src/cart.py",))) == ""


def test_the_failed_command_is_read_from_the_title_of_its_failure() -> None:
    failed = bash_failed("python load.py", NO_TABLE)
    (failure,) = fold(turn("load the carts", failed, closing="python load.py still fails.")).drafts
    assert failure.title != "python load.py"
    assert fix_pairing.failed_command(failure.title) == "python load.py"


def test_the_line_about_the_work_before_a_lesson_is_found_in_a_detail() -> None:
    line = correction_context.line_after(memory(files=("src/cart.py",)))
    assert correction_context.without_lines(f"Before.\n{line}\nAfter.") == "Before.\nAfter."


@pytest.mark.parametrize("date", ["", "2026-03-01"])
def test_a_quoted_sentence_is_read_from_its_line(date: str) -> None:
    line = quote_line("Use pnpm from now on", date=date)
    assert quoted_in(f'Before.\n{line} (in answer to: "…done")') == ["Use pnpm from now on"]
    assert is_quote_of(line, "Use pnpm from now on")
    assert is_quote_of(f"{line[:-6]}…", "Use pnpm from now on")
    assert not is_quote_of(line, "Use pnpm")


def test_the_headline_of_a_session_without_an_outcome_is_known_as_a_request() -> None:
    assert is_request(request_headline("Look up the timeout"))
    assert not is_request("Looked up the timeout")


@pytest.mark.parametrize("folder", ["damaged-20260301T120000Z", "before-restore-20260301T120000Z-2"])
def test_folder_and_command_of_a_recovery_are_read_from_its_text(home: Home, folder: str) -> None:
    kept = home.root / folder / "memory.db"
    text, undo = f"{recovery_log.kept_in(folder)}.", f"{recovery_log.restore_command(kept)} undoes it."
    recovery_log.add(home, Recovery("restore-1", NOW.isoformat(), text, undo))
    assert [(entry.text, entry.undo) for entry in recovery_log.all_of(home)] == [
        ("What was there is not kept any more.", "")
    ]
    kept.parent.mkdir()
    kept.touch()
    assert [(entry.text, entry.undo) for entry in recovery_log.all_of(home)] == [(text, undo)]


def test_the_kinds_of_tombstones_are_told_apart_by_their_prefixes(store: Store) -> None:
    forgotten = memory(title="Totals are rounded up to whole cents")
    tombstones.add_memory(store.db, forgotten, NOW)
    tombstones.note_left(store.db, "forget-1", [("m2", "m3"), ("m4", "")], NOW)
    assert tombstones.left_by(store.db, "forget-1") == [("m2", "m3"), ("m4", "")]
    assert tombstones.is_buried(store.db, "m1")
    again = memory(title="totals are rounded up to whole cents", summary="Again.")
    assert tombstones.repeats_forgotten(store.db, again)
