"""Closing of handoffs: a session that continues the work removes finished steps from a handoff, or closes the handoff.

Called in the transaction that stores a turn. A step that may have been done (`may_be_done`) is closed too: a finished
step in a context misleads more than an open step that only search finds.

A failure is retired when the command passes later. A run of another session counts if the session started in the same
folder and the failure is visible on the branch; elsewhere the same command may check something else."""

import re
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.compress.compose.next_steps import (
    is_about,
    is_done_by,
    may_be_done,
    split_done_and_denied,
    subjects_of,
)
from claude_mem_lite.compress.rules.session_handoff import FAILING, cut_down, steps_of
from claude_mem_lite.compress.toolcalls.edits import EDIT_TOOLS
from claude_mem_lite.compress.toolcalls.fix_pairing import is_over, leaves_open
from claude_mem_lite.compress.toolcalls.payload_fields import COMMAND_TOOLS
from claude_mem_lite.compress.toolcalls.tool_calls import read_steps
from claude_mem_lite.inbox.queue import Row
from claude_mem_lite.models import Event, Memory, Session, Turn, without_request
from claude_mem_lite.store import branches, memories, memory_queries, retirements, sessions, symbol_changes, turns
from claude_mem_lite.turn_digest import TurnDigest
from claude_mem_lite.values import frozen

_DONE_KINDS = ("feature", "bugfix", "refactor", "change")
_MAX_MEMORIES = 200
_MAX_PROMPTS = 100
_GO_ON = re.compile(
    r"(?i)^\W*(?:(?:ok|okay|yes|please|and|now|let's|so|hi|hey|hello|bitte|ja|好的?|请)\W+)*"
    r"(?:continue|go on|carry on|keep going|resume|proceed|pick (?:it )?up|finish (?:it|this|that|what|the rest)"
    r"|mach weiter|weiter|fortsetzen|继续|接着)"
)
_GO_ON_WITH = re.compile(
    r"(?i)\b(?:continue|go on|carry on|pick (?:it )?up|resume)\b.{0,40}\b(?:where|from|left off|hand-?off|yesterday"
    r"|last (?:session|time)|next steps?|open (?:steps?|points?|tasks?))\b"
)


def retire_failures(db: sqlite3.Connection, turn: Turn, digest: TurnDigest, branch: str) -> None:
    """Retire the failures of the project whose commands passed in this turn, as of the end of the turn."""
    if not digest.passed:
        return
    began, ended = turn.events[0].at, turn.events[-1].at
    own = memory_queries.of_session(db, turn.session, _MAX_MEMORIES, before=began)
    # The user may have confirmed a failure before a rebuild of the turn.
    own = [failure for failure in own if failure.last_seen_at < began]
    _retire(db, own, digest, "its command passed later in the session", ended)
    of_others = memories.newest(
        db, project=turn.project, kinds=("failure",), without_session=turn.session, limit=_MAX_MEMORIES
    )
    is_shown = shown_on(db, turn.project, branch)
    failures = [
        failure
        for failure in of_others
        if failure.last_seen_at < began and is_shown(failure) and ran_beside(db, failure, turn.session)
    ]
    _retire(db, failures, digest, f"its command passed in session {turn.session}", ended)


def shown_on(db: sqlite3.Connection, project: str, branch: str) -> Callable[[Memory], bool]:
    """Return a test for memories that are visible on a branch: made there, or on a merged branch."""
    merged = {branch_state.name: branch_state.merged_at for branch_state in branches.of_project(db, project)}

    def is_shown(memory: Memory) -> bool:
        merged_at = merged.get(memory.branch)
        return memory.branch in ("", branch) or (merged_at is not None and merged_at > memory.created_at)

    return is_shown


def ran_beside(db: sqlite3.Connection, memory: Memory, session: str) -> bool:
    """Return True if a session started in the folder of the session of a memory."""
    theirs, ours = sessions.find(db, memory.session), sessions.find(db, session)
    return theirs is not None and ours is not None and theirs.cwd == ours.cwd


def _retire(db: sqlite3.Connection, found: list[Memory], digest: TurnDigest, reason: str, at: datetime) -> None:
    for memory in found:
        is_users = memory.pinned or memory.made_by == "user"
        if memory.kind == "failure" and not is_users and is_over(memory.title, digest.passed):
            retirements.retire(db, memory.id, "taken up", reason, at)


TOOLS = (*COMMAND_TOOLS, *EDIT_TOOLS)
"""Tools whose calls fail or fix a failure."""
Read = Callable[[Sequence[Row]], Sequence[Event]]


def events_left_failing(events: Sequence[Event], before: Callable[[], Sequence[Row]], read: Read) -> tuple[Event, ...]:
    """Return the commands and edits of earlier turns that left a command failing; usually none.

    `before` finds the calls, and `read` reads them like those of any turn."""
    if not any(map(_is_command, events)):
        return ()  # no command was run
    found = [event for event in read(before()) if event.at <= events[0].at]
    commands = [step for event in found if _is_command(event) for step in read_steps(event)]
    return tuple(found) if leaves_open(commands) else ()


def _is_command(event: Event) -> bool:
    return event.tool is not None and event.tool.tool in COMMAND_TOOLS


@frozen
class _Done:
    """Work of a session since a time."""

    sentences: tuple[str, ...]
    denied: tuple[str, ...]
    """Sentences in which the agent denies finished work. They outweigh the request."""
    files: frozenset[str]
    open: tuple[str, ...]
    """Steps that the session leaves open."""
    continues: bool
    renames: tuple[tuple[str, str], ...] = ()
    """Renames of functions and classes since the handoff, in order."""
    subjects: tuple[str, ...] = ()
    """Subjects of the commits of the session."""
    passed: tuple[str, ...] = ()
    """Commands that passed in the folder of the handoff."""

    def covers(self, step: str) -> bool:
        if step.startswith(FAILING):
            return is_over(step.removeprefix(FAILING), self.passed)
        names = {step, self._in_names_of_now(step)}
        if any(is_about(wording, said) for wording in names for said in self.denied):
            return False
        is_doubtful = any(may_be_done(wording, self.files, self.subjects) for wording in names)
        return is_doubtful or any(is_done_by(wording, said) for wording in names for said in self.sentences)

    def carries(self, step: str) -> bool:
        return any(is_about(wording, left) for wording in {step, self._in_names_of_now(step)} for left in self.open)

    def _in_names_of_now(self, step: str) -> str:
        for was, name in self.renames:
            step = re.sub(rf"(?<!\w){re.escape(was)}(?!\w)", name, step)
        return step


def take_up(
    db: sqlite3.Connection, session: str, branch: str, began: datetime, ended: datetime, digest: TurnDigest
) -> None:
    """Close the handoffs of earlier sessions that a session worked on, or cut them down to the open steps, as of a
    turn."""
    found = sessions.find(db, session)
    if found is None:
        return
    is_shown = shown_on(db, found.project, branch)
    # All open handoffs of any age: search finds a handoff until the work is done.
    left_open = memories.left_open(db, found.project, without_session=session)
    standing = [left for left in left_open if left.last_seen_at < began and is_shown(left)]
    # A turn without edits and commands may have been about plans.
    has_worked = bool(digest.files_edited or digest.passed)
    said = digest.said.reports if has_worked else ()
    denied = split_done_and_denied(digest.said.sentences)[1] if has_worked else ()
    for rank, left in enumerate(standing):
        done = _done_since(db, found, left.last_seen_at)
        done = replace(done, sentences=(*done.sentences, *said), denied=(*done.denied, *denied))
        if digest.passed and ran_beside(db, left, session):
            done = replace(done, passed=digest.passed)
        if done.sentences or done.files or done.passed:
            _take_up(db, left, done, session, ended, is_newest=rank == 0)


def _take_up(db: sqlite3.Connection, left: Memory, done: _Done, session: str, at: datetime, *, is_newest: bool) -> None:
    steps = steps_of(left)
    undone = [step for step in steps if not done.covers(step)]
    remaining = [step for step in undone if not done.carries(step)]
    at_its_files = not left.files or bool(done.files & set(left.files))
    goes_on = done.continues and is_newest and at_its_files
    is_begun = len(undone) < len(steps)
    if (is_begun or goes_on) and not remaining:
        retirements.retire(db, left.id, "taken up", f"session {session} took it up", at)
    elif is_begun and remaining != steps and left.made_by != "user":
        memories.rewrite(db, cut_down(left, remaining))


def _done_since(db: sqlite3.Connection, session: Session, since: datetime) -> _Done:
    made = [
        memory
        for memory in memory_queries.of_session(db, session.id, _MAX_MEMORIES)
        if memory.kind in _DONE_KINDS and memory.created_at > since
    ]
    summary = session.summary
    asked = turns.asked_since(db, session.id, since, _MAX_PROMPTS)
    tasks = [
        task for turn in asked for task in turn.tasks if not any(is_about(task, step) for step in summary.next_steps)
    ]
    is_whole = session.started_at > since
    edited = summary.files_edited if is_whole else ()
    completed = (summary.completed,) if is_whole and summary.completed and (made or edited) else ()
    files = frozenset((*edited, *(file for memory in made for file in memory.files)))
    # Tasks completed without edits or memories may have been plans.
    work = [text for memory in made for text in (memory.title, without_request(memory.summary))]
    said, denied = split_done_and_denied((*work, *completed, *(tasks if files or made else ())))
    goes_on = _continues([turn.prompt for turn in asked], is_whole=is_whole)
    renames = tuple(symbol_changes.renames_since(db, session.project, since))
    return _Done(said, denied, files, summary.next_steps, goes_on, renames, subjects_of(made))


def _continues(prompts: Sequence[str], *, is_whole: bool) -> bool:
    """Return True if the first prompt asks to go on. In later prompts "go on" refers to the session itself."""
    first = bool(is_whole and prompts and _GO_ON.match(prompts[0]))
    return first or any(_GO_ON_WITH.search(prompt) for prompt in prompts)
