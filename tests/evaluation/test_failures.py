"""Tests of `evaluation/failures.py`, `evaluation/project_recordings.py` and of what counts as a typed prompt."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite.compress.toolcalls.error_fingerprints import anchors_of_step, failed_step
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.evaluation.failures import repeated_failures
from claude_mem_lite.evaluation.project_recordings import of_paths, of_sessions
from claude_mem_lite.evaluation.trigger_walk import is_typed
from claude_mem_lite.event_names import new_name
from claude_mem_lite.importers.transcript_turns import TranscriptEvent
from claude_mem_lite.models import JsonObject, ToolCall
from claude_mem_lite.responses.records import SessionRecord
from claude_mem_lite.timestamps import utc_now
from tests.support.fakes import NOW, SHOP, Store
from tests.support.past_sessions import fixed_bug

COMMAND = "python check.py"
ERROR = "Exit code 1\nTraceback (most recent call last):\nModuleNotFoundError: No module named 'flamingo'\n"
FAILED: JsonObject = {
    "hook_event_name": "PostToolUseFailure",
    "session_id": "now",
    "cwd": SHOP.root,
    "tool_name": "Bash",
    "tool_input": {"command": COMMAND},
    "error": ERROR,
}


def repeated(store: Store, times: int = 1) -> list[str]:
    events = tuple(TranscriptEvent(new_name("PostToolUseFailure", NOW), FAILED) for _ in range(times))
    request = ContextRequest(SHOP, NOW, "now")
    return [failure.fix for failure in repeated_failures(store.db, events, request)]


def remember_fix(store: Store, title: str, kind: str, session: str, at: datetime = NOW - timedelta(days=1)) -> str:
    step = failed_step(ToolCall("Bash", {"command": COMMAND}, error=ERROR), SHOP.root)
    assert step is not None
    anchors = tuple(anchors_of_step(step))
    return store.remember(title, kind=kind, anchors=anchors, session=session, created_at=at, last_seen_at=at).id


def test_a_failure_counts_once_with_the_newest_fix_of_another_session(store: Store) -> None:
    remember_fix(store, "Install flamingo by hand", "bugfix", "earlier")
    newest = remember_fix(store, "Add flamingo to the requirements", "bugfix", "later")
    assert repeated(store, times=3) == [newest]


@pytest.mark.parametrize(("kind", "session"), [("bugfix", "now"), ("gotcha", "earlier")])
def test_what_the_session_itself_fixed_and_what_is_no_fix_do_not_count(store: Store, kind: str, session: str) -> None:
    remember_fix(store, "Install flamingo", kind, session)
    assert repeated(store) == []


def test_a_warning_that_is_given_in_place_of_the_fix_does_not_count_as_the_fix(store: Store) -> None:
    fix = remember_fix(store, "Install flamingo by hand", "bugfix", "earlier")
    remember_fix(store, "Flamingo is missing on every new machine", "gotcha", "other")
    store.db.execute("update memories set status = 'retired' where id = ?", (fix,))
    events = (TranscriptEvent(new_name("PostToolUseFailure", NOW), FAILED),)
    found = list(repeated_failures(store.db, events, ContextRequest(SHOP, NOW, "now")))
    assert [(failure.fix, failure.is_offered) for failure in found] == [(fix, False)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("go on", True), ("  ", False), ("<command-name>/clear</command-name>", False), ("[Request interrupted", False)],
)
def test_texts_of_the_client_are_no_prompts(text: str, expected: bool) -> None:
    assert is_typed(text) is expected


def test_sessions_of_two_folders_are_two_projects(tmp_path: Path) -> None:
    for id_, folder in (("a", "shop"), ("b", "ledger"), ("c", "shop")):
        fixed_bug(id_, cwd=f"/home/dev/{folder}").write(tmp_path)
    found = {one.name: [listed.id for listed in one.recording.listed] for one in of_paths([tmp_path], utc_now())}
    assert found == {"shop": ["a", "c"], "ledger": ["b"]}


def test_two_projects_in_folders_of_the_same_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    for id_, folder in (("a", "old/shop"), ("b", "shop"), ("c", "ledger")):
        fixed_bug(id_, cwd=f"/home/dev/{folder}").write(tmp_path)
    names = {one.name for one in of_paths([tmp_path], utc_now())}
    assert names == {"/home/dev/old/shop", "/home/dev/shop", "ledger"}


def test_a_stored_session_in_a_folder_of_its_project_has_files_from_the_root_of_the_project(tmp_path: Path) -> None:
    stored = []
    for id_, cwd in (("a", "/p"), ("b", "/p/sub")):
        fixed_bug(id_, cwd=cwd).write(tmp_path / "projects")
        stored.append(SessionRecord(id_, "p", cwd, "ended", str(NOW), str(NOW)))
    (project,) = of_sessions(stored, {"CLAUDE_CONFIG_DIR": str(tmp_path)}, utc_now())
    files = {listed.id: listed.files for listed in project.recording.listed}
    assert files["b"] == {f"sub/{file}" for file in files["a"]}
    assert files["a"]
