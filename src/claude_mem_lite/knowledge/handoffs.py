"""Handoffs are closed by the session that takes them up: what it did is crossed off, and what it did not do stays.

Called by the worker in the transaction that stores a turn. A step that may have been done (`may_be_done`) is closed,
too: what is told as open and is not misleads more than what only search finds."""

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from claude_mem_lite.compress.rules.finished_steps import is_about, is_done_by, may_be_done, subjects_of, told_apart
from claude_mem_lite.compress.rules.fix_pairing import is_over
from claude_mem_lite.compress.rules.session_handoff import FAILING, cut_down, steps_of
from claude_mem_lite.knowledge.resolved_failures import ran_beside, shown_on
from claude_mem_lite.models import Memory, Session, TurnDigest, without_request
from claude_mem_lite.store import memories, memory_queries, retirements, sessions, symbol_changes, turns

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


@dataclass(frozen=True, slots=True)
class _Done:
    """What a session has done since a moment."""

    sentences: tuple[str, ...]
    denied: tuple[str, ...]
    """What it says that it did not do: that weighs more than what it was asked for."""
    files: frozenset[str]
    open: tuple[str, ...]
    """What it leaves open itself."""
    is_told_to_go_on: bool
    renames: tuple[tuple[str, str], ...] = ()
    """What functions and classes were called when the step was left, and since, in order."""
    subjects: tuple[str, ...] = ()
    """The subjects of its commits."""
    passed: tuple[str, ...] = ()
    """The commands that went well where the step was left."""

    def covers(self, step: str) -> bool:
        if step.startswith(FAILING):
            return is_over(step.removeprefix(FAILING), self.passed)
        names = {step, self._in_names_of_now(step)}
        if any(is_about(one, said) for one in names for said in self.denied):
            return False
        is_doubtful = any(may_be_done(one, self.files, self.subjects) for one in names)
        return is_doubtful or any(is_done_by(one, said) for one in names for said in self.sentences)

    def carries(self, step: str) -> bool:
        return any(is_about(one, left) for one in {step, self._in_names_of_now(step)} for left in self.open)

    def _in_names_of_now(self, step: str) -> str:
        for was, name in self.renames:
            step = re.sub(rf"(?<!\w){re.escape(was)}(?!\w)", name, step)
        return step


def take_up(
    db: sqlite3.Connection, session: str, branch: str, began: datetime, ended: datetime, digest: TurnDigest
) -> None:
    """Close, or cut down to what is left, the handoffs of earlier sessions that this one works on, as of a turn."""
    found = sessions.find(db, session)
    if found is None:
        return
    is_shown = shown_on(db, found.project, branch)
    # All that is open, however long ago: search finds it until it is done.
    left_open = memories.left_open(db, found.project, without_session=session)
    standing = [left for left in left_open if left.last_seen_at < began and is_shown(left)]
    # A turn that changed and ran nothing may have spoken of plans only.
    has_worked = bool(digest.files_edited or digest.passed)
    said = digest.said.reports if has_worked else ()
    denied = told_apart(digest.said.sentences)[1] if has_worked else ()
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
    goes_on = done.is_told_to_go_on and is_newest and at_its_files
    is_begun = len(undone) < len(steps)
    if (is_begun or goes_on) and not remaining:
        retirements.retire(db, left.id, "taken up", f"session {session} took it up", at)
    elif is_begun and remaining != steps and left.made_by != "user":
        memories.rewrite(db, cut_down(left, remaining))


def _done_since(db: sqlite3.Connection, session: Session, since: datetime) -> _Done:
    made = [
        one
        for one in memory_queries.of_session(db, session.id, _MAX_MEMORIES)
        if one.kind in _DONE_KINDS and one.created_at > since
    ]
    told = session.summary
    asked = turns.asked_since(db, session.id, since, _MAX_PROMPTS)
    tasks = [task for one in asked for task in one.tasks if not any(is_about(task, step) for step in told.next_steps)]
    is_whole = session.started_at > since
    edited = told.files_edited if is_whole else ()
    completed = (told.completed,) if is_whole and told.completed and (made or edited) else ()
    files = frozenset((*edited, *(file for one in made for file in one.files)))
    # What was ticked off without a trace of work may have been planned only.
    work = [text for one in made for text in (one.title, without_request(one.summary))]
    said, denied = told_apart((*work, *completed, *(tasks if files or made else ())))
    goes_on = _is_told_to_go_on([one.prompt for one in asked], is_whole=is_whole)
    renames = tuple(symbol_changes.renames_since(db, session.project, since))
    return _Done(said, denied, files, told.next_steps, goes_on, renames, subjects_of(made))


def _is_told_to_go_on(prompts: Sequence[str], *, is_whole: bool) -> bool:
    """By the first prompt of a session; later a bare "go on" means what the session itself is at."""
    first = bool(is_whole and prompts and _GO_ON.match(prompts[0]))
    return first or any(_GO_ON_WITH.search(prompt) for prompt in prompts)
