"""One turn -> digest: memories with code anchors, files, tasks, log. Called by the worker for every turn; pure, and
never raises on odd payloads.

The log has the user's answers, agreed plans, commands, reports of sub-agents, commits and edits. Search finds the log;
it is never injected."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from claude_mem_lite.code.syntax.changes import MAX_CODE_ANCHORS, CodeChange, anchor_to, combined
from claude_mem_lite.compress.compose import headline
from claude_mem_lite.compress.compose.composer import compose
from claude_mem_lite.compress.compose.facts import answer_line, of_commit
from claude_mem_lite.compress.compose.judge import Judge, shipped_judge
from claude_mem_lite.compress.compose.material import material_of, read_closing
from claude_mem_lite.compress.prose.clean import clip
from claude_mem_lite.compress.prose.drafts import make_draft
from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.prose.mentions import CALLED, CODE_NAME, NAME
from claude_mem_lite.compress.prose.sentence_types import reads_like_an_order
from claude_mem_lite.compress.rules.turn_lessons import lesson_drafts, restates_lesson
from claude_mem_lite.compress.toolcalls.commits import Commit
from claude_mem_lite.compress.toolcalls.diagnostics import has_advice, last_line
from claude_mem_lite.compress.toolcalls.edits import describe, merge
from claude_mem_lite.compress.toolcalls.fix_pairing import passed
from claude_mem_lite.compress.toolcalls.payload_fields import closing_message, shorten_paths
from claude_mem_lite.compress.toolcalls.provenance import source_of
from claude_mem_lite.compress.toolcalls.steps import (
    Agreed,
    Answered,
    Called,
    FileEdited,
    Opened,
    Ran,
    Step,
    all_tasks,
    open_tasks,
)
from claude_mem_lite.compress.toolcalls.tool_calls import read_steps
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import MAX_DETAIL_LENGTH, MAX_MEMORIES_PER_TURN, Draft, Event, Turn
from claude_mem_lite.safety.injection import looks_like_instructions
from claude_mem_lite.text import one_line, overlap, within
from claude_mem_lite.turn_digest import ClosingMessage, TurnDigest

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
_MAX_FILES = 60
_MAX_TASKS = 60
_SAME = 0.8


def anchored(draft: Draft, code: Sequence[CodeChange]) -> Draft:
    """Return a draft with code anchors: to the changed functions of the draft; for other files to all changed
    functions, or to a file without changed functions.

    A draft without files, such as a decision, is anchored to changed functions that its text names."""
    changes = list(_by_name(draft, code)) if not draft.files else list(_by_change(draft, code))
    anchors = dict.fromkeys(map(anchor_to, changes[:MAX_CODE_ANCHORS]))
    return replace(draft, anchors=(*draft.anchors, *anchors)) if anchors else draft


def _by_change(draft: Draft, code: Sequence[CodeChange]) -> Iterator[CodeChange]:
    names = {(symbol.file, symbol.name) for symbol in draft.symbols}
    named = [change for change in code if change.name and (change.file, change.name) in names]
    yield from named
    # A memory of a whole piece of work names no functions, and is about all of them.
    files = set(draft.files) - {change.file for change in named}
    rest = [change for change in code if change.file in files]
    read = {change.file for change in rest if change.name}
    yield from (change for change in rest if change.name or change.file not in read)


def _by_name(draft: Draft, code: Sequence[CodeChange]) -> Iterator[CodeChange]:
    text = f"{draft.title} {draft.summary}"
    words, called = set(NAME.findall(text)), set(CALLED.findall(text))
    for change in code:
        name = change.name.rsplit(".", 1)[-1]
        if name in called or change.name in called or (name in words and CODE_NAME.search(name)):
            yield change


def fold(turn: Turn, judge: Judge | None = None) -> TurnDigest:
    """Return the digest of a turn, by default with the judge of the package."""
    by_event = [(event, read_steps(event)) for event in turn.events]
    steps = [step for _, found_steps in by_event for step in found_steps]
    earlier = [step for event in turn.earlier for step in read_steps(event)]
    code = _code(steps)
    files = {change.file for change in code}
    # A fix over several turns is about code of previous turns, too.
    all_code = (*code, *(change for change in _code(earlier) if change.file not in files))
    lessons = lesson_drafts(turn)
    message = shorten_paths(closing_message(turn.events), turn.events)
    material = material_of(turn, message, steps, earlier, judge or shipped_judge())
    composed, closing = compose(material), read_closing(material)
    edited = tuple(dict.fromkeys(step.change.path for step in steps if isinstance(step, FileEdited)))
    drafts = [*composed, *_decisions(closing, composed, edited)]
    own = [draft for draft in drafts if not restates_lesson(draft, lessons)]
    kept = _distinct(_with_trail(own, "\n".join(trail(steps))))[: MAX_MEMORIES_PER_TURN - len(lessons)]
    anchored_drafts = tuple(anchored(draft, all_code if draft.files else code) for draft in kept)
    tasks = open_tasks(steps)
    log = log_of(steps, turn.events)
    read = [step.path for step in steps if isinstance(step, Opened)]
    return TurnDigest(
        # Lessons come last, without anchors to changes of the turn: the worker anchors them to the code they name.
        drafts=(*anchored_drafts, *lessons),
        files_read=tuple(dict.fromkeys(read))[:_MAX_FILES],
        files_edited=edited[:_MAX_FILES],
        open_tasks=tasks,
        tasks=all_tasks(steps)[:_MAX_TASKS],
        skipped=tuple(
            event.name for event, found_steps in by_event if event.tool and not any(map(_leaves_trace, found_steps))
        ),
        code=code,
        passed=passed(steps),
        has_failure=any(isinstance(step, Ran) and step.failed for step in steps),
        log=log,
        said=closing,
    )


def _decisions(closing: ClosingMessage, composed: Sequence[Draft], edited: Sequence[str]) -> list[Draft]:
    """Return the decisions of the closing message that no composed memory has.

    The judge was trained on few decisions, and finds a third of the good ones; of explicitly stated decisions, five of
    six were worth keeping."""
    known_texts = [f"{draft.title} {draft.summary}" for draft in composed]
    new = [text for text in closing.decisions if all(overlap(text, known) < _SAME for known in known_texts)]
    titles = [_instruction(headline.cut(text)) for text in new]
    return [make_draft("decision", title, text, files=edited) for title, text in zip(titles, new, strict=True) if title]


def _instruction(decision: str) -> str:
    """Return a decision as an instruction: "Decided to keep UTC and to log it" -> "Keep UTC and log it"."""
    deed = decision.removeprefix("Decided to ")
    return capital(deed if deed == decision else deed.replace(" and to ", " and "))


def _code(steps: Sequence[Step]) -> tuple[CodeChange, ...]:
    return combined(change for step in steps if isinstance(step, FileEdited) for change in step.change.code)


def _with_trail(drafts: list[Draft], trail: str) -> list[Draft]:
    """Return the drafts, with the commands of the turn in the detail of the first draft that is no decision."""
    at = next((at for at, draft in enumerate(drafts) if draft.kind != "decision"), None)
    if at is None or not trail:
        return drafts
    draft = drafts[at]
    detail = clip(f"{draft.detail}\n{trail}".strip(), MAX_DETAIL_LENGTH)
    return [*drafts[:at], replace(draft, detail=detail), *drafts[at + 1 :]]


def _leaves_trace(step: Step) -> bool:
    """Return whether a step may appear in a memory, the open tasks or the log; steps that only read do not."""
    return not isinstance(step, Opened | Called) and not (isinstance(step, Ran) and step.role in SILENT_ROLES)


def _distinct(drafts: Sequence[Draft]) -> list[Draft]:
    """Return one draft for each kind and title, and none without a title."""
    seen: dict[tuple[str, str], Draft] = {}
    for draft in drafts:
        if len(draft.title) > 3:
            seen.setdefault((draft.kind, draft.title.lower()), draft)
    return list(seen.values())


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
