"""Where a session starts: the main language, the task, and what to look for. Fast and bounded: git is not run, no
tree is walked, and what cannot be told within the time is left out. docs/project-facts.md has the rules."""

import os
import re
import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from claude_mem_lite.code.git.repository import open_repository
from claude_mem_lite.code.git.status import touched
from claude_mem_lite.context.forecast import SESSIONS, Edited, Forecast, forecast
from claude_mem_lite.context.languages import main_language
from claude_mem_lite.context.tasks import Task as Task
from claude_mem_lite.context.tasks import task_of
from claude_mem_lite.models import Place, Session
from claude_mem_lite.store import sessions, turns
from claude_mem_lite.text import one_line, within

DETECT_S = 0.03
"""How long the files of a checkout may be looked at."""
_LAST_SESSIONS = 5
_MOST_PROMPTS = 30
_MOST_ASKED_ABOUT = 40
_MOST_TOUCHED = 20
_LONGEST_SUMMARY = 300
_MOST_NAMED = 8
# They say nothing of the work done there.
_USUAL_BRANCHES = ("main", "master", "trunk", "develop", "dev")
_BETWEEN_WORDS = re.compile(r"[^\w.]+|_+")


@dataclass(frozen=True, slots=True)
class Setting:
    """What can be told of a place before anything is looked up."""

    language: str = ""
    task: Task | None = None
    query: str = ""
    """The last summary, the branch and the touched files, in a few words."""
    touched: tuple[str, ...] = ()
    """Files that `git status` would name, those that sessions edited first."""
    forecast: Forecast = field(default_factory=Forecast)
    """The files that the coming session will probably touch."""


def detect(db: sqlite3.Connection, place: Place, without_session: str = "", deadline: float | None = None) -> Setting:
    """The setting of a place, for a session that is not `without_session`; `deadline` is on the monotonic clock."""
    until = time.monotonic() + DETECT_S if deadline is None else deadline
    last = sessions.newest(db, project=place.project, without=without_session, told_only=True, limit=_LAST_SESSIONS)
    repository = open_repository(place.root) if place.root else None
    entries = repository.entries() if repository else None
    files: list[str] = []
    if repository is not None and entries is not None:
        files = touched(repository, entries, place.root, _edited(last, place.root), _MOST_TOUCHED, until)
    return Setting(
        language=main_language(place.root, entries) if place.root else "",
        task=task_of(turns.last_prompts(db, last[0].id, _MOST_PROMPTS)) if last else None,
        query=_query(last[0] if last else None, place.branch, files),
        touched=tuple(files),
        forecast=_forecast(db, place, without_session, files),
    )


def _forecast(db: sqlite3.Connection, place: Place, without_session: str, touched: Sequence[str]) -> Forecast:
    past = sessions.edited_files(db, place.project, without=without_session, limit=SESSIONS)
    edited = [Edited(branch, tuple(from_root(files, place.root))) for branch, files in past]
    return forecast(edited, place.branch, touched)


def from_root(files: Iterable[str], root: str) -> list[str]:
    """Return paths as seen from the root of the project."""
    return [file.removeprefix(f"{root}/") for file in files]


def _edited(found: Sequence[Session], root: str) -> list[str]:
    """The files that sessions edited, as seen from the root, the last edited first."""
    paths = (path for session in found for path in reversed(session.summary.files_edited))
    inside = from_root(paths, root)
    return list(dict.fromkeys(path for path in inside if not path.startswith(("/", "~"))))[:_MOST_ASKED_ABOUT]


def branch_words(branch: str) -> str:
    """What the name of a branch says of the work done there; '' when it says nothing."""
    return "" if branch in _USUAL_BRANCHES else " ".join(_BETWEEN_WORDS.split(branch))


def _query(last: Session | None, branch: str, files: Sequence[str]) -> str:
    told = ""
    if last is not None:
        summary = last.summary
        request = summary.request if summary.request not in summary.headline else ""
        told = within(one_line(" ".join((summary.headline, *summary.next_steps, request))), _LONGEST_SUMMARY)
    on = branch_words(branch)
    names = dict.fromkeys(os.path.basename(path) for path in files[:_MOST_NAMED])
    return one_line(" ".join((told, on, *names)))
