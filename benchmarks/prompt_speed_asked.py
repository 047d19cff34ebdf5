"""What the worker is asked when its answers are timed: prompts, opened files, failed and passed commands, by seed.

- A prompt has 3 to 60 words, half of them of one topic, the others as frequent as words are; every fourth is of 3 to 12
  common words alone, every fifth names a path of a memory besides.
- Half of the opened files are named by a decision of the project, half by any memory.
- Half of the failures have happened before: a thousand fixes are stored beside the made-up memories."""

import json
import random
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.call_anchors import anchors_of_call
from benchmarks.synthetic import BATCH, HUGE_PROJECT, NOW, SMALL_PROJECT, TOPICS, Language, batch, project_id
from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.models import JsonObject, Memory, ToolCall
from claude_mem_lite.paths import Home
from claude_mem_lite.store import memories
from claude_mem_lite.store.ids import short_id

PLACES = ("huge", "small")
_NUMBERS = {"huge": HUGE_PROJECT, "small": SMALL_PROJECT}
_FIXES = 1_000


@dataclass(frozen=True, slots=True)
class Asked:
    """One event of a hook; `words` and `is_common` tell of prompts."""

    kind: str
    place: str
    event: str
    payload: bytes
    words: int = 0
    is_common: bool = False


class Checkouts:
    """A checkout of each project."""

    def __init__(self, folder: Path) -> None:
        self.roots = {place: folder / place for place in PLACES}
        for place, root in self.roots.items():
            (root / ".git").mkdir(parents=True)
            remote = f"https://{project_id(_NUMBERS[place])}.git"
            (root / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {remote}\n')
            (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")


def all_asked(
    language: Language, checkouts: Checkouts, size: int, prompts: int, others: int, seed: str
) -> Iterator[Asked]:
    """The same for the same numbers and seed: so many prompts, and so many of each of the others."""
    rng = random.Random(f"answers {seed}")
    known = [one for first in range(0, size, BATCH) for one in _decided(language, first, size)]
    for one in range(max(prompts, others)):
        place = PLACES[one % 2]
        root = checkouts.roots[place]
        session = f"{seed}-{one}"
        if one < prompts:
            yield _prompt(language, known, one, place, rng).at(root, session)
        if one < others:
            yield _opened(known, one, place, rng).at(root, session)
            yield _ran(one, place, has_failed=True).at(root, session)
            yield _ran(one, place, has_failed=False).at(root, session)


def store_fixes(home: Home) -> None:
    """Fixes of failures, as rules make them of a command that failed and passed later, of the huge project."""
    project = project_id(HUGE_PROJECT)
    with closing(open_for_writing(home.memory_db)) as db, atomic(db):
        for number in range(_FIXES):
            call = _failed(number)
            fix = Memory(
                id=short_id(f"fix {number}"),
                kind="bugfix",
                title=f"Fix the import of part_{number}",
                summary=f"part_{number} was not installed; adding it to the requirements put it right.",
                created_at=NOW,
                last_seen_at=NOW,
                scope=f"project:{project}",
                project=project,
                anchors=anchors_of_call(call),
                session=f"fixed-{number}",
                branch="main",
            )
            memories.put(db, fix, f"turn of {fix.id}", NOW)


@dataclass(frozen=True, slots=True)
class _Question:
    """An event that is not in any folder yet."""

    kind: str
    place: str
    event: str
    fields: JsonObject
    file: str = ""
    words: int = 0
    is_common: bool = False

    def at(self, root: Path, session: str) -> Asked:
        fields: JsonObject = {
            "session_id": session,
            "transcript_path": str(root / "t.jsonl"),
            "cwd": str(root),
            "hook_event_name": self.event,
            **self.fields,
        }
        if self.file:
            fields = {**fields, "tool_input": {"file_path": str(root / self.file)}}
        return Asked(self.kind, self.place, self.event, json.dumps(fields).encode(), self.words, self.is_common)


def _decided(language: Language, first: int, size: int) -> list[Memory]:
    """The decisions of a batch, and some others."""
    made, _ = batch(language, first, min(BATCH, size - first), size)
    return [one for at, one in enumerate(made) if one.kind == "decision" or at % 50 == 0]


def _prompt(language: Language, known: Sequence[Memory], number: int, place: str, rng: random.Random) -> _Question:
    is_common = number // 2 % 4 == 0
    if is_common:
        words = rng.sample(language.common, rng.randint(3, 12))
    else:
        draws = np.random.default_rng(rng.randrange(2**32))
        (words,) = language.draw(draws, [rng.randrange(TOPICS)], rng.randint(3, 60))
        words = [*words, rng.choice(known).files[0]] if number // 2 % 5 == 0 else words
    fields: JsonObject = {"prompt": " ".join(words)}
    return _Question("prompt", place, "UserPromptSubmit", fields, words=len(words), is_common=is_common)


def _opened(known: Sequence[Memory], number: int, place: str, rng: random.Random) -> _Question:
    project = project_id(_NUMBERS[place])
    decided = [one for one in known if one.kind == "decision" and one.project == project]
    memory = rng.choice(decided if decided and number // 2 % 2 == 0 else known)
    fields: JsonObject = {
        "tool_name": "Read",
        "tool_use_id": "t",
        "tool_response": {"type": "text", "file": {"content": "one line\n" * 400}},
    }
    return _Question("file", place, "PostToolUse", fields, file=memory.files[0])


def _ran(number: int, place: str, *, has_failed: bool) -> _Question:
    if not has_failed:
        output = "".join(f"src/module_{line}.py: checked, nothing to report\n" for line in range(400))
        fields: JsonObject = {
            "tool_name": "Bash",
            "tool_input": {"command": "make check"},
            "tool_use_id": "t",
            "tool_response": {"stdout": output, "stderr": "", "interrupted": False},
        }
        return _Question("passed", place, "PostToolUse", fields)
    call = _failed(number if number // 2 % 2 == 0 else _FIXES + number)
    fields = {"tool_name": call.tool, "tool_input": call.input, "tool_use_id": "t", "error": call.error}
    return _Question("failure", place, "PostToolUseFailure", fields)


def _failed(number: int) -> ToolCall:
    part = f"part_{_letters(number)}"
    error = (
        "Exit code 1\nTraceback (most recent call last):\n"
        f'  File "/srv/app/{part}/main.py", line {number + 3}, in <module>\n    import {part}\n'
        f"ModuleNotFoundError: No module named '{part}'"
    )
    return ToolCall("Bash", {"command": "python -m pytest tests"}, error=error)


def _letters(number: int) -> str:
    """A number as letters: digits are taken out where failures are compared."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))
