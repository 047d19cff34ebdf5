"""The log of a turn: the user's answers, agreed plans, commands, reports of sub-agents, commits and edits.

Search finds the log; it is never injected."""

from collections.abc import Sequence

from claude_mem_lite.compress.compose.facts import answer_line, of_commit
from claude_mem_lite.compress.prose.sentence_types import reads_like_an_order
from claude_mem_lite.compress.toolcalls.commits import Commit
from claude_mem_lite.compress.toolcalls.diagnostics import has_advice, last_line
from claude_mem_lite.compress.toolcalls.edits import describe, merge
from claude_mem_lite.compress.toolcalls.provenance import source_of
from claude_mem_lite.compress.toolcalls.steps import Agreed, Answered, FileEdited, Ran, Step
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Event
from claude_mem_lite.safety.injection import looks_like_instructions
from claude_mem_lite.text import one_line, within

_MAX_LINES = 12
_MAX_COMMAND_LENGTH = 120
_MAX_OUTCOME_LENGTH = 600
_MAX_LINE_LENGTH = 780
_MAX_LAST_LENGTH = 120
_MAX_FAILURES = 5
_MAX_ERRORS = 4
SILENT_ROLES = ("explore", "files")
"""Roles of commands that only read or move files."""
_COUNTED = (
    r"(?:files? changed|insertions?|deletions?|issues?|problems?|errors?|warnings?|packages?|tests?|assertions?|passed"
    r"|failed|skipped|vulnerabilities)"
)
_COUNTS = lazy(rf"(?m)^[^\n]{{0,60}}\b(?:\d+ {_COUNTED}\b|\d+(?:\.\d+)?% of statements)[^\n]{{0,80}}$")
_MAX_COUNTS = 2
_NON_ZERO = lazy(rf"\b[1-9]\d* {_COUNTED}")
_SHARES = (2_600, 800, 900, 900, 400, 400)
"""Room for answers, plans, commands, reports, commits and edits when all exceed it."""
MAX_LOG = sum(_SHARES)
_MAX_EDITS = 20
_MAX_ANSWER = 500
_MAX_BODY = 600
_MAX_PLAN = 1_500
_MIN_REPORT, _MAX_REPORT = 80, 1_500
_MAX_REPORTS = 3


def log_of(steps: Sequence[Step], events: Sequence[Event] = ()) -> str:
    """Return answers and plans of the user, commands, reports of sub-agents, commits and edits, a line each; lines that
    no memory has come first."""
    edits = list(map(describe, merge(step.change for step in steps if isinstance(step, FileEdited))))
    commits = (_commit(commit) for step in steps if isinstance(step, Ran) for commit in step.commits)
    plans = (f"Plan agreed to: {within(one_line(step.plan), _MAX_PLAN)}" for step in steps if isinstance(step, Agreed))
    answers = (answer_line(step, _MAX_ANSWER) for step in steps if isinstance(step, Answered))
    parts = (answers, plans, trail(steps), _reports(events), commits, edits[:_MAX_EDITS])
    return "\n".join(_fitting([list(dict.fromkeys(part)) for part in parts]))


def _fitting(parts: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of all parts that fit: a share of the room for each part, and unused room for the first part
    that needs more. Only the first line of a part may be cut."""
    sizes = [sum(len(line) + 1 for line in part) for part in parts]
    spare = MAX_LOG - sum(map(min, sizes, _SHARES))
    kept: list[str] = []
    for part, size, share in zip(parts, sizes, _SHARES, strict=True):
        own = min(size, share)
        room = own + min(size - own, spare)
        spare -= room - own
        for at, line in enumerate(part):
            text = line if at else within(line, room - 1)
            if len(text) >= room:
                break
            kept.append(text)
            room -= len(text) + 1
        spare += room
    return kept


def _reports(events: Sequence[Event]) -> list[str]:
    """Return the last reports of sub-agents, without reports of foreign text only."""
    ended = [event for event in events if event.kind == "SubagentStop" and event.message]
    own = [one_line(event.message or "") for event in ended if not source_of(event, events)]
    kept = [text for text in own if len(text) >= _MIN_REPORT and not looks_like_instructions(text)]
    return [f"Sub-agent: {within(text, _MAX_REPORT)}" for text in kept[-_MAX_REPORTS:]]


def _commit(commit: Commit) -> str:
    line = next(iter(of_commit(commit)), f"Commit: {commit.subject}")
    return f"{line}. {within(one_line(commit.body), _MAX_BODY)}" if commit.body else line


def trail(steps: Sequence[Step]) -> list[str]:
    """Return one line per command that did more than read, with the outcomes of the runs in order."""
    outcomes: dict[str, list[str]] = {}
    for step in steps:
        if not isinstance(step, Ran) or step.role in SILENT_ROLES:
            continue
        if not step.commits:
            outcome = _outcome(step)
            so_far = outcomes.setdefault(within(step.typed or step.command, _MAX_COMMAND_LENGTH), [])
            # A linter without findings is no news.
            is_news = bool(so_far) or step.failed or step.role != "lint" or _NON_ZERO.search(outcome)
            if outcome and is_news and outcome not in so_far:
                so_far.append(outcome)
    lines = [
        within(f"$ {command}: {', then '.join(results)}" if results else f"$ {command}", _MAX_LINE_LENGTH)
        for command, results in outcomes.items()
    ]
    return lines[-_MAX_LINES:]


def counts(output: str) -> str:
    """Return the lines of an output with counts: "3 issues", "2 files changed, 75 insertions(+)"."""
    lines = [line.strip(" :.=-") for line in _COUNTS.findall(output[-20_000:])]
    return "; ".join(list(dict.fromkeys(lines))[-_MAX_COUNTS:])


def _outcome(ran: Ran) -> str:
    """Return the outcome of one run: totals and failing tests, or counts and errors, else the last line."""
    code = f"exit code {ran.code}" if ran.code not in (None, 0, 1) else ""
    results = "; ".join(ran.results)
    if results or ran.fetched:
        return results or code  # the rest of the output may be foreign text
    failures = [
        f"{test.name} ({test.error})" if test.error else test.name
        for test in (ran.run.failures[:_MAX_FAILURES] if ran.run else ())
    ]
    totals = ran.run.totals() if ran.run else counts(ran.output)
    errors = [] if failures else list(ran.errors[:_MAX_ERRORS])
    last = "" if totals or errors or failures else within(last_line(ran.output), _MAX_LAST_LENGTH)
    last = "" if reads_like_an_order(last) or has_advice(last) else last
    state = "failed" if ran.failed and not (totals or errors or failures) else ""
    return within(
        "; ".join(part for part in (code, totals, *failures, *errors, state, last) if part), _MAX_OUTCOME_LENGTH
    )
