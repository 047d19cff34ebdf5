"""Digest of a turn for a model, instead of the raw output.

Request, plan, choices of the user, edits, runs with errors, commits and the closing message. Text from the web and from
foreign tools is left out: in the answer of a model, foreign text would look like the agent's own words."""

import re
from collections.abc import Iterator, Mapping, Sequence

from claude_mem_lite.compress.compose.candidates import plan_headings, without_trailers
from claude_mem_lite.compress.prose.clean import clean, clip
from claude_mem_lite.compress.prose.drafts import prompt_text
from claude_mem_lite.compress.prose.sentence_types import reads_like_an_order
from claude_mem_lite.compress.toolcalls import shell
from claude_mem_lite.compress.toolcalls.diagnostics import last_line
from claude_mem_lite.compress.toolcalls.edit_states import read_hunks
from claude_mem_lite.compress.toolcalls.edits import describe, merge
from claude_mem_lite.compress.toolcalls.payload_fields import closing_message, fields, shorten_paths, typed_command
from claude_mem_lite.compress.toolcalls.provenance import ForeignText, only_source, source_of
from claude_mem_lite.compress.toolcalls.steps import Agreed, Answered, Delegated, FileEdited, Ran, Step
from claude_mem_lite.compress.toolcalls.tool_calls import read_steps
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import JsonValue, ToolCall, Turn, text
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.text import one_line, within
from claude_mem_lite.turn_digest import TurnDigest
from claude_mem_lite.values import frozen

MAX_DIGEST = 32_000
# With these values, 229 of 388 turns of real work are sent, with 8 tokens for 100 that the agent saw and wrote.
_MIN_ROOM = 2_000
_SHARE = 0.06
MIN_RAW = 5_000
_MIN_CLOSING = 400
# Shares of the room when all parts exceed it; unused room goes to the next part.
_SHARES = {
    "closing": 0.36, "commits": 0.16, "asked": 0.12, "runs": 0.15, "answers": 0.05, "plan": 0.02, "edits": 0.10,
    "reports": 0.04,
}  # fmt: skip

_MAX_LINE = 120
_MAX_LINES = 400
_MAX_TESTS = 6
_MAX_COMMITS = 12
_REPORTS_PART = 4
"""Part of the room for reports of sub-agents when other parts leave room."""
_SEEN_ELSEWHERE = ("originalFile", "originalFileContents", "oldString", "newString", "structuredPatch", "oldTodos")
_SAYS_NOTHING = lazy(r"[\W_\d]*|(?:import|from|use|using|package|include|require)\b.*")


@frozen
class _Work:
    """One tool call and its steps."""

    call: ToolCall
    steps: Sequence[Step]


def digest_of(turn: Turn, digest: TurnDigest, raw_chars: int | None = None, *, limit: int = MAX_DIGEST) -> str:
    """Return the digest, redacted once more, with long parts clipped; the size follows the size of the turn."""
    raw = raw_size(turn) if raw_chars is None else raw_chars
    room = min(int(_MIN_ROOM + raw * _SHARE), limit)
    work = [_Work(event.tool, read_steps(event)) for event in turn.events if event.tool]
    foreign = ForeignText(turn.events)
    steps = [step for item in work for step in item.steps]
    agreed = [step.plan for step in steps if isinstance(step, Agreed)]
    parts = {
        "asked": ("Asked:", prompt_text(turn.prompt) or one_line(turn.prompt)),
        "plan": ("Plan:", "\n".join(map(one_line, plan_headings(turn.prompt, agreed)))),
        "answers": ("The user chose:", "\n".join(_answers(steps, foreign.own(digest.open_tasks or ())))),
        "edits": ("Edited:", _edits(work, int(room * _SHARES["edits"]))),
        "runs": ("Ran:", "\n".join(_runs(work))),
        "commits": ("Committed:", "\n".join(_commits(steps))),
        "reports": ("Sub-agents reported:", _reports(turn, steps, foreign, room // _REPORTS_PART)),
        "closing": ("Said at the end:", _closing(turn, foreign)),
    }
    limits = _limits({name: len(body) for name, (_, body) in parts.items()}, room)
    written = "\n\n".join(f"{title}\n{clip(body, limits[name])}" for name, (title, body) in parts.items() if body)
    return clip(redact(shorten_paths(written, turn.events)), limit)


def is_worth_asking(turn: Turn, digest: TurnDigest) -> bool:
    """Return whether a turn is large enough for a model to improve the memories of rules.

    A turn with foreign sources only is not sent: its findings keep their origin."""
    if raw_size(turn) < MIN_RAW or only_source(turn.events):
        return False
    return bool(digest.drafts or digest.files_edited) or len(_closing(turn, ForeignText(turn.events))) >= _MIN_CLOSING


def raw_size(turn: Turn) -> int:
    """Return the approximate number of characters that the agent saw and wrote in a turn."""
    messages = sum(len(event.message or "") for event in turn.events)
    calls = [event.tool for event in turn.events if event.tool]
    return (
        len(turn.prompt) + messages + sum(_length(call.input) + _length(call.response or call.error) for call in calls)
    )


def _length(value: JsonValue, depth: int = 0) -> int:
    if isinstance(value, str):
        return len(value)
    if depth > 20:
        return 0
    if isinstance(value, Mapping):
        return sum(_length(item, depth + 1) for name, item in value.items() if name not in _SEEN_ELSEWHERE)
    return sum(_length(item, depth + 1) for item in value) if isinstance(value, Sequence) else 0


def _limits(lengths: Mapping[str, int], room: int) -> dict[str, int]:
    """Return the limit of each part: the share, and unused room in the order of the shares."""
    limits = {name: min(lengths[name], int(room * share)) for name, share in _SHARES.items()}
    left = room - sum(limits.values())
    for name in limits:
        more = min(lengths[name] - limits[name], left)
        limits[name] += more
        left -= more
    return limits


def _edits(work: Sequence[_Work], room: int) -> str:
    """Return each file with the names of changed symbols, and as many changed lines as fit."""
    lines: dict[str, list[str]] = {}
    changes = []
    for item in work:
        for step in item.steps:
            if isinstance(step, FileEdited):
                changes.append(step.change)
                lines.setdefault(step.change.path, []).extend(_changed_lines(item.call))
    merged = merge(changes)
    each = room // max(len(merged), 1)
    return "\n".join("\n".join((describe(change), *_fitting(lines[change.path], each))) for change in merged)


def _changed_lines(call: ToolCall) -> list[str]:
    """Return the removed and added lines of an edit, without empty and moved lines."""
    hunks = read_hunks(fields(call.response).get("structuredPatch"))
    lines = [line for hunk in hunks for line in hunk.lines if line[:1] in ("+", "-")]
    if not lines:
        lines = [f"-{line}" for line in text(call.input.get("old_string")).split("\n")]
        lines += [f"+{line}" for line in text(call.input.get("new_string")).split("\n")]
    short = [f"{line[:1]} {within(one_line(line[1:]), _MAX_LINE)}" for line in lines[:_MAX_LINES]]
    # Moved or reindented lines: the same words on both sides.
    both = {line[1:] for line in short if line[0] == "-"} & {line[1:] for line in short if line[0] == "+"}
    return [line for line in short if line[1:] not in both and not _SAYS_NOTHING.fullmatch(line[2:])]


def _fitting(lines: Sequence[str], room: int) -> Iterator[str]:
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return
        yield line


def _runs(work: Sequence[_Work]) -> Iterator[str]:
    """Yield the results of commands: for each goal, the first failure and the last run."""
    runs = [(item.call, step) for item in work for step in item.steps if isinstance(step, Ran)]
    relevant = [(call, ran) for call, ran in runs if ran.role not in ("explore", "files") and not ran.commits]
    last = {ran.goal: at for at, (_, ran) in enumerate(relevant)}
    failed: dict[str, int] = {}
    for at, (_, ran) in enumerate(relevant):
        if ran.failed:
            failed.setdefault(ran.goal, at)
    for at, (call, ran) in enumerate(relevant):
        if at in (last[ran.goal], failed.get(ran.goal)):
            code = f" (exit {ran.code})" if ran.code else ""
            result = "" if shell.fetches(typed_command(call)) else _result(ran)
            yield f"$ {within(ran.command, 140)}{code}{': ' if result else ''}{result}"


def _result(ran: Ran) -> str:
    if ran.run:
        tests = [f"{test.name}: {test.error}" if test.error else test.name for test in ran.run.failures[:_MAX_TESTS]]
        return "\n  ".join((ran.run.totals(), *(within(test, 240) for test in tests)))
    if ran.failed:
        return "\n  ".join(ran.errors)
    if ran.role in ("lint", "build", "install", "git"):
        return within(last_line(ran.output), 100)
    lines = [one_line(line) for line in ran.output.split("\n") if line.strip() and not reads_like_an_order(line)]
    return one_line(clip("\n".join(lines), 300))


def _commits(steps: Sequence[Step]) -> Iterator[str]:
    """Yield the last commits, each with subject and body."""
    commits = [commit for step in steps if isinstance(step, Ran) for commit in step.commits]
    for commit in commits[-_MAX_COMMITS:]:
        body = _dense(without_trailers(commit.body)).split("\n")
        yield "\n  ".join((f"- {one_line(commit.subject)}", *body)).rstrip()


def _reports(turn: Turn, steps: Sequence[Step], foreign: ForeignText, room: int) -> str:
    """Return the findings of sub-agents in the project: closing messages, else answers to the caller."""
    ends = [event for event in turn.events if event.kind == "SubagentStop" and event.message]
    messages = [("", event.message or "") for event in ends if source_of(event, turn.events) is None]
    tasks = [step for step in steps if isinstance(step, Delegated)]
    reports = messages if ends else [(step.task, step.answer) for step in tasks]
    each = max(room // max(len(reports), 1), 300)
    cleaned = ((task, foreign.without(_dense(answer))) for task, answer in reports[:10])
    return "\n".join(f"- {task}{': ' if task else ''}{clip(answer, each)}" for task, answer in cleaned if answer)


def _answers(steps: Sequence[Step], open_tasks: Sequence[str]) -> Iterator[str]:
    for step in steps:
        if isinstance(step, Answered):
            yield f"- {within(step.question, 200)} -> {within(step.answer, 200)}"
    if open_tasks:
        yield f"- still on the to-do list: {within('; '.join(open_tasks), 300)}"


def _closing(turn: Turn, foreign: ForeignText) -> str:
    return foreign.without(_dense(closing_message(turn.events)))


def _dense(message: str) -> str:
    """Return a message without blank lines and horizontal rules."""
    lines = (" ".join(line.split()) for line in clean(clip(message, 2 * MAX_DIGEST)).split("\n"))
    return "\n".join(line for line in lines if re.search(r"\w", line))
