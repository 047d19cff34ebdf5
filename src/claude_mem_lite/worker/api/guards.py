"""API of guards: lists, one guard with replay and ledger, trials, and the user's changes, through the inbox."""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import chain
from typing import Literal

from pydantic import ConfigDict, Field

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.guard_modes import Mode
from claude_mem_lite.guards import changes, proposal
from claude_mem_lite.guards.guard import Guard, Proposal, guard_from_row, proposal_to_json
from claude_mem_lite.guards.matching import Call, matched
from claude_mem_lite.guards.replay import was_let_pass
from claude_mem_lite.guards.rule import SHELL_TOOL, Rule
from claude_mem_lite.guards.rule_words import in_words
from claude_mem_lite.hook import guard_match, shell_commands
from claude_mem_lite.hook.guard_match import EDIT_TOOLS
from claude_mem_lite.models import JsonObject
from claude_mem_lite.responses.encoding import response_from
from claude_mem_lite.responses.guards import (
    GuardChange,
    GuardCounts,
    GuardDetail,
    GuardExample,
    GuardFailure,
    GuardFiring,
    GuardHooks,
    GuardList,
    GuardMatch,
    GuardRate,
    GuardReplay,
    GuardRule,
    GuardSession,
    GuardTrial,
    ShownGuard,
)
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.store import guard_ledger, guards
from claude_mem_lite.store.guards import Occasion, StoredGuard
from claude_mem_lite.store.projects import lookup, rows
from claude_mem_lite.worker.api.request_project import RequestProject
from claude_mem_lite.worker.api.routing import Body, Limit, Router, Running, wait
from claude_mem_lite.worker.services import Services

router = Router(prefix="/api")
MAX_WORDS = 20
"""Words in one list of a rule."""
_COMMANDS = {
    "accept": changes.ACCEPT,
    "dismiss": changes.DISMISS,
    "pause": changes.PAUSE,
    "resume": changes.RESUME,
    "remove": changes.REMOVE,
    "false": changes.FALSE,
}


class RuleParts(Body):
    """Parts of a rule that the user gives by hand."""

    model_config = ConfigDict(extra="forbid")

    commands: list[str] = Field(default=[], max_length=MAX_WORDS)
    flags: list[str] = Field(default=[], max_length=MAX_WORDS)
    arguments: list[str] = Field(default=[], max_length=MAX_WORDS)
    branches: list[str] = Field(default=[], max_length=MAX_WORDS)
    paths: list[str] = Field(default=[], max_length=MAX_WORDS)
    imports: list[str] = Field(default=[], max_length=MAX_WORDS)
    excepts: list[str] = Field(default=[], max_length=MAX_WORDS)


class Add(Body):
    """Guard that the user adds: a sentence, or the parts of a rule with a reason."""

    model_config = ConfigDict(extra="forbid")

    cwd: str = ""
    project: str = ""
    sentence: str = ""
    rule: RuleParts = RuleParts()
    reason: str = ""
    instead: str = ""
    mode: Mode | None = None
    """None keeps the mode of a guard with the same rule, and is `auto` for a new one."""


class GuardEdit(Body):
    """Change of one guard, by its id or the beginning of its id."""

    model_config = ConfigDict(extra="forbid")

    id: str
    change: Literal["accept", "dismiss", "pause", "resume", "remove", "false"]
    mode: Mode | None = None
    cwd: str = ""
    """Folder of the user: of the guard's project, its hook is placed there too."""


@router.get("/guards")
def guard_list(services: Running, project: RequestProject, every: bool = False) -> GuardList:
    """Return the guards of a project or of all; `every`: also dismissed and removed ones."""
    with closing(services.readers.open()) as db:
        found = guards.of_project(db, project.id, guards.STATUSES if every else guards.SHOWN)
        return GuardList(_shown(db, found))


@router.get("/guards/{id_}")
def guard_detail(services: Running, id_: str, limit: Limit = 100) -> GuardDetail:
    """Return one guard with its replay and ledger."""
    with closing(services.readers.open()) as db:
        row = guards.get(db, id_)
        replay = guards.replay_of(db, row.id)
        return GuardDetail(
            guard=_shown(db, [row])[0],
            replay=response_from(GuardReplay, replay, is_whole=bool(replay.is_whole)) if replay else None,
            matches=tuple(_match(row, match) for match in guards.matches_of(db, row.id, limit)),
            firings=tuple(response_from(GuardFiring, one) for one in guard_ledger.of_guard(db, row.id, limit)),
            failures=tuple(response_from(GuardFailure, one) for one in guard_ledger.failures_of(db, row.id, limit)),
            fires_on=GuardExample(row.fires_tool, row.fires_text),
            passes_on=GuardExample(row.passes_tool, row.passes_text),
            occasions=_occasions(db, row),
        )


@router.get("/guards/{id_}/try")
def guard_try(services: Running, id_: str, given: str, tool: str = "", cwd: str = "", branch: str = "") -> GuardTrial:
    """Return whether a guard would fire on a command line, a file or a written line."""
    with closing(services.readers.open()) as db:
        row = guards.get(db, id_)
        location = lookup.locate(db, cwd) if cwd else lookup.location_of(db, row.project)
        guard = guard_from_row(row)
        call = _trial_call(guard, given, tool, cwd or location.root, location.root, branch or location.branch)
        found = matched(guard.rule, call)
        parts = _parts(call)
        return GuardTrial(bool(found), found, _why(guard, call, found, parts), parts, _shown(db, [row])[0])


@router.post("/guards/add")
def guard_add(wanted: Add, services: Running) -> GuardChange:
    """Add a guard in the user's words, and put it in force."""
    made = _proposal(wanted)
    with closing(services.readers.open()) as db:
        named = lookup.find(db, wanted.project) if wanted.project else ""
        location = lookup.location_of(db, named) if named else lookup.locate(db, wanted.cwd)
    command: JsonObject = {
        "command": changes.ADD,
        "project": location.project,
        "folder": "" if named else wanted.cwd,
        "mode": wanted.mode or "",
        "proposal": proposal_to_json(made),
    }
    return _changed(services, wait(services.commands.put(command))[0], folder=location.root)


@router.post("/guards/change")
def guard_change(wanted: GuardEdit, services: Running) -> GuardChange:
    """Accept, dismiss, pause, resume or remove a guard, or say that its last firing was wrong."""
    command = _COMMANDS[wanted.change]
    with closing(services.readers.open()) as db:
        before = guards.get(db, wanted.id)
        guard = guard_from_row(before)
        changes.refuse_impossible(command, guard)
        fired = guard_ledger.of_guard(db, guard.id, 1)
        shown = _shown(db, [before])[0]
        location = lookup.locate(db, wanted.cwd) if wanted.cwd else None
    body: JsonObject = {
        "command": command,
        "mode": wanted.mode or "",
        "firing": fired[0].name if fired else "",
        **changes.described(guard),
    }
    wait(services.commands.put(body))
    folder = location.root if location is not None and location.project == guard.project else ""
    return _changed(services, guard.id, shown, folder)


def _proposal(wanted: Add) -> Proposal:
    parts = {name: tuple(word for word in words if word.strip()) for name, words in wanted.rule.model_dump().items()}
    _refuse_secrets((wanted.sentence, wanted.reason, wanted.instead, *chain.from_iterable(parts.values())))
    if wanted.sentence:
        made = proposal.propose(wanted.sentence)
        if made is None:
            raise MemoryLiteError(
                f"{wanted.sentence!r} names no command, path, import or branch that can be matched for sure",
                "give the parts: `claude-mem-lite guards add --command 'npm' --reason 'we use pnpm' --instead pnpm`",
            )
        return changes.checked(made)
    if not wanted.reason.strip():
        raise MemoryLiteError("a guard needs a reason, which the agent reads", "give --reason TEXT")
    if len(wanted.reason) > changes.MAX_REASON or len(wanted.instead) > changes.MAX_REASON:
        raise MemoryLiteError(f"a reason has at most {changes.MAX_REASON} characters", "say it in one sentence")
    return changes.by_hand(Rule(**parts), wanted.reason.strip(), wanted.instead.strip())


def _refuse_secrets(texts: Iterable[str]) -> None:
    """Raise MemoryLiteError for a rule with a secret: the file of the hook and the agent would hold it."""
    if any(redact(text) != text for text in texts):
        raise MemoryLiteError("the rule holds a secret, which the agent would read", "name the command without it")


def _changed(services: Services, id_: str, before: ShownGuard | None = None, folder: str = "") -> GuardChange:
    """Return a guard after its change; a removed one as it was. `folder` may be one that no session has worked in."""
    with closing(services.readers.open()) as db:
        row = guards.find(db, id_)
        if row is not None:
            return GuardChange(_shown(db, [row])[0], _hooks(db, row.project, folder))
        gone = before or ShownGuard(id=id_)
        return GuardChange(response_from(ShownGuard, gone, status="removed"), _hooks(db, gone.project))


def _hooks(db: sqlite3.Connection, project: str, folder: str = "") -> GuardHooks:
    folders = dict.fromkeys((*rows.project_folders(db, project), *([folder] if folder else [])))
    return GuardHooks(project, tuple(folders))


def _shown(db: sqlite3.Connection, found: Sequence[StoredGuard]) -> tuple[ShownGuard, ...]:
    counts = guard_ledger.counts(db, [row.id for row in found])
    return tuple(_shown_guard(db, row, counts[row.id]) for row in found)


def _shown_guard(db: sqlite3.Connection, row: StoredGuard, counts: dict[str, int]) -> ShownGuard:
    guard = guard_from_row(row)
    matches, in_sessions = guards.count_matches(db, row.id)
    replay = guards.replay_of(db, row.id)
    return response_from(
        ShownGuard,
        row,
        rule=response_from(GuardRule, guard.rule),
        words=in_words(guard.rule),
        tools=guard.rule.tools,
        is_replayed=replay is not None,
        replayed_calls=replay.calls if replay else 0,
        would_have_fired=matches,
        in_sessions=in_sessions,
        counts=GuardCounts(
            fired=sum(counts.values()),
            followed=counts.get("followed", 0),
            overridden=counts.get("overridden", 0),
            got_round=counts.get("got_round", 0),
            false=counts.get("false", 0),
            unknown=counts.get("unknown", 0) + counts.get("open", 0),
        ),
        before=_rate(_before(db, row)),
        after=_rate(guards.occasions_of(db, row.id, "ledger")),
    )


def _before(db: sqlite3.Connection, row: StoredGuard) -> list[Occasion]:
    """Return the sessions with an occasion before a guard was accepted."""
    found = guards.occasions_of(db, row.id, "replay")
    return [one for one in found if not row.accepted_at or one.at < row.accepted_at]


def _rate(occasions: Sequence[Occasion]) -> GuardRate:
    return GuardRate(len(occasions), sum(one.violations for one in occasions))


def _occasions(db: sqlite3.Connection, row: StoredGuard) -> tuple[GuardSession, ...]:
    before = [GuardSession(one.session, one.at, one.violations, False) for one in _before(db, row)]
    after = guards.occasions_of(db, row.id, "ledger")
    return (*before, *(GuardSession(one.session, one.at, one.violations, True) for one in after))


def _match(row: StoredGuard, match: guards.ReplayMatch) -> GuardMatch:
    passed = was_let_pass(match, row.created_at)
    return response_from(GuardMatch, match, is_after=match.at > row.created_at, was_let_pass=passed)


def _trial_call(guard: Guard, given: str, tool: str, folder: str, root: str, branch: str) -> Call:
    if guard.rule.commands and tool in ("", SHELL_TOOL):
        return Call(SHELL_TOOL, {"command": given}, folder, root, branch)
    path = given if given.startswith("/") else f"{root}/{given}"
    return Call(tool or EDIT_TOOLS[1], {"file_path": path, "content": given}, folder, root, branch)


def _parts(call: Call) -> tuple[str, ...]:
    if call.tool != SHELL_TOOL:
        return (guard_match.written_path(dict(call.tool_input)),)
    commands = shell_commands.parse(str(call.tool_input.get("command", "")), call.folder)
    return tuple(" ".join(words).replace(shell_commands.UNKNOWN, "?") for words, *_ in commands)


def _why(guard: Guard, call: Call, found: str, parts: Sequence[str]) -> str:
    wanted = in_words(guard.rule)
    if found:
        return f"the call {wanted}: {found.replace(shell_commands.UNKNOWN, '?')}"
    if call.tool not in guard.rule.tools:
        return f"the guard holds calls of {', '.join(guard.rule.tools)}, not of {call.tool}"
    if call.tool == SHELL_TOOL and not parts:
        return "the line runs no command"
    return f"no part of the call {wanted}"
