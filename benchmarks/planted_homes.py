"""Homes with the real past of a project and planted facts, stored in the product's own ways, and asked as hooks ask."""

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from benchmarks.planted_facts import Plant, Subject, subjects
from claude_mem_lite.evaluation.in_process_worker import SettableClock, send_hook, served
from claude_mem_lite.evaluation.recording import Recording
from claude_mem_lite.evaluation.replay_home import ReplayHome
from claude_mem_lite.evaluation.sightings import tree_at, write_tree
from claude_mem_lite.event_names import new_name, past_name, time_of
from claude_mem_lite.importers.transcript_turns import STEP_NS, TranscriptEvent, TranscriptTurn
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.paths import Home

_FUNCTION = re.compile(
    r"(?m)^\s*(?:export )?(?:pub )?(?:async )?(?:def|fn|function|func(?: \([^)]*\))?) (\w{8,40})\s*[(<]"
)
_COMMAND = re.compile(
    r"(?:^|&& )((?:make|just|npm run|npm|pnpm|pnpm run|bun run|bun|cargo|go|uv run|uv|python -m|npx|gh|docker|git|mise)"
    r" [a-z][\w:.-]+)"
)
_FILE = re.compile(r"[\w./-]+/[\w-]+\.\w{1,6}")
_SHARED_NAME = re.compile(r"(?:^|/)(?:index|main|mod|__init__|README|SKILL|CLAUDE)\.\w+$")
ASK_DAY = 4
_EVENT = "UserPromptSubmit"
_WORK = (
    ("Have a look at the open points of the last review.", "I went through the open points of the review."),
    ("Tidy up the imports that nobody needs.", "The unused imports are gone and the build is green."),
    ("Explain the stack trace that I saw this morning.", "The trace came from a closed connection."),
    ("Update the changelog for the next release.", "The changelog has an entry for each merged request."),
    ("Why is the page so slow on my phone?", "The page loads three large pictures before it draws anything."),
    ("Write down how a newcomer sets this up.", "There is a short guide for newcomers with all steps."),
    ("Compare both proposals for the new layout.", "The second proposal needs fewer queries, so I would take it."),
    ("Check whether the backups can be restored.", "I restored the latest backup into an empty folder."),
    ("Rename the confusing options of the command line.", "Four options have clearer names, and the old ones warn."),
    ("Look for tests that depend on the clock.", "Two tests waited for a second; both take a clock now."),
)
"""Work of the sessions in which facts are stated: a prompt and a closing message of each."""


@dataclass(frozen=True, slots=True)
class PlantedHome:
    """Running home in which facts are planted and questions asked."""

    filled: ReplayHome
    clock: SettableClock
    last: datetime
    """End of the real past."""
    middle: datetime
    """Begin of the session in the middle of the real past."""

    def plant(self, plants: Sequence[Plant]) -> None:
        """Store statements in order of time."""
        for plant in sorted(plants, key=lambda one: (one.day, one.minute)):
            self.clock.at = self._day_of(plant) + timedelta(minutes=plant.minute)
            if plant.path == "remember":
                self.filled.client.remember(None, plant.text, scope=None, tags=(), cwd=str(self.filled.root))
        by_turn = [(number, one) for number, one in enumerate(plants) if one.path != "remember"]
        self.clock.at = self.last + timedelta(days=ASK_DAY)
        self.filled.import_turns([turn for number, one in by_turn for turn in self._turns(number, one)])

    def _day_of(self, plant: Plant) -> datetime:
        return (self.middle if plant.is_early else self.last) + timedelta(days=plant.day)

    def _turns(self, number: int, plant: Plant) -> Iterator[TranscriptTurn]:
        """Yield the turns of a session that states a fact; with a turn before, if the session began earlier."""
        session = f"planted-{plant.day}-{number:04d}"
        task, done = _WORK[number % len(_WORK)]
        day = self._day_of(plant)
        if plant.began_minute != plant.minute:
            yield _turn(session, day + timedelta(minutes=plant.began_minute), self.filled.root, task, done)
        at = day + timedelta(minutes=plant.minute)
        if plant.path == "prompt":
            yield _turn(session, at, self.filled.root, f"{plant.text} {task}", done)
        else:
            yield _turn(session, at, self.filled.root, task, f"{done} {plant.text}")

    def ask(self, question: str, session: str) -> str:
        """Return the text that a prompt of a new session is given."""
        payload = {
            "session_id": session,
            "transcript_path": str(self.filled.root / "t.jsonl"),
            "cwd": str(self.filled.root),
            "hook_event_name": _EVENT,
            "prompt": question,
        }
        body = json.dumps(payload).encode()
        name = new_name(_EVENT, self.clock.at)
        reply = send_hook(self.filled.home, _EVENT, name, body)
        return str(json.loads(reply)["hookSpecificOutput"]["additionalContext"]) if reply else ""

    def start(self) -> str:
        """Return the context of a session that starts now."""
        return self.filled.start("starting", self.clock.at)


@contextmanager
def planted_home(base: Path, folder: Path, recording: Recording, last: datetime) -> Iterator[PlantedHome]:
    """Yield a copy of a filled home, with the files of the project as last seen; remove it at the end."""
    shutil.copytree(base / "home", folder / "home", ignore=shutil.ignore_patterns("*.sock", "*.lock"))
    shutil.copytree(base / "checkout", folder / "checkout")
    past = [recording.past[one.id] for one in recording.listed]
    clock = SettableClock(last + timedelta(days=ASK_DAY))
    tree, _ = tree_at(replace(past[-1], began_at=clock.at, turns=()), past)
    write_tree(folder / "checkout", tree, {})
    home = Home(folder / "home")
    try:
        with served(home, clock):
            middle = past[len(past) // 2].began_at
            yield PlantedHome(ReplayHome(home, folder / "checkout", ()), clock, last, middle)
    finally:
        shutil.rmtree(folder)


def real_subjects(recording: Recording, seed: str) -> list[Subject]:
    """Return files, functions and commands of a recorded project."""
    names: dict[Literal["file", "function", "command"], list[str]] = {"file": [], "function": [], "command": []}
    for past in recording.past.values():
        for seen in past.sightings:
            if _FILE.fullmatch(seen.file) and not _SHARED_NAME.search(seen.file):
                names["file"].append(seen.file)
            names["function"] += [one for one in _FUNCTION.findall(seen.after or "") if _is_identifier(one)]
        for payload in (event.payload for turn in past.turns for event in turn.events):
            given = payload.get("tool_input")
            if isinstance(given, dict) and payload.get("tool_name") == "Bash":
                names["command"] += [one for one in _COMMAND.findall(text(given.get("command"))) if len(one) > 8]
    return subjects(names, seed)


def past_text(recording: Recording) -> str:
    """Return prompts and prose of all sessions."""
    kinds = {"UserPromptSubmit": "prompt", "Stop": "last_assistant_message"}
    return "\n".join(
        text(event.payload.get(field))
        for past in recording.past.values()
        for turn in past.turns
        for event in turn.events
        if (field := kinds.get(text(event.payload.get("hook_event_name")))) is not None
    )


def _is_identifier(name: str) -> bool:
    return "_" in name.strip("_") or re.search(r"[a-z][A-Z]", name) is not None


def _turn(session: str, at: datetime, root: Path, prompt: str, reply: str) -> TranscriptTurn:
    fields: JsonObject = {"session_id": session, "cwd": str(root), "transcript_path": "", "git_branch": ""}
    steps: tuple[tuple[str, JsonObject], ...] = (
        (_EVENT, {"prompt": prompt}),
        ("Stop", {"last_assistant_message": reply}),
    )
    events = []
    for number, (event, more) in enumerate(steps):
        at_ns = int(at.timestamp()) * 10**9 + number * 60 * 10**9 + STEP_NS
        name = past_name(event, at_ns, session, prompt)
        events.append(TranscriptEvent(name, {**fields, "hook_event_name": event, **more}))
    return TranscriptTurn(session, events[0].name, "", time_of(events[0].name), str(root), tuple(events))
