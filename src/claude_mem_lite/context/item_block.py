"""What was chosen for a moment of need -> the text that is given: one form for prompts, failures, files and answers.

The user's standing rules have a frame of their own; all else is for reference. Never over its budget; nothing that a
memory says can close the block or begin a line of its frame."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from claude_mem_lite.context import render
from claude_mem_lite.context.layers.contradictions import side_by_side
from claude_mem_lite.context.render import estimate_tokens, fits
from claude_mem_lite.context.selection import groups
from claude_mem_lite.context.user_rules import is_users_rule
from claude_mem_lite.models import Memory, ReceiptItem, without_request
from claude_mem_lite.text import counted, time_ago, unframed

LOOK_DEEPER = "More of these: `claude-mem-lite show ID`."
_FOLLOW = "to be followed unless the user says otherwise"
_MAX_HEAD_LENGTH = 200
_MAX_TOLD_LENGTH = 320
_MAX_SHORT_HEAD_LENGTH = 120
_MAX_LINE_LENGTH = 300
_MAX_NOTE_LENGTH = 160
_MAX_EXCERPT_LENGTH = 1000
_MAX_FILES = 3
# Of a text of megabytes only the beginning is looked at: cleaning all of it takes longer than anybody waits.
_LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class Given:
    """One memory chosen for a moment."""

    memory: Memory
    reason: str
    """Why it won, for the receipt and for whoever wants it explained."""
    score: float | None
    source: str
    """What hit rates are counted by: `guidance`, `decision`, `failure`, `fix`, `file` …"""
    note: str = ""
    """Further words after the head: how often it worked, what it conflicts with."""
    is_stale: bool = False
    is_dated: bool = False
    """Its date is told instead of its age: it is to be compared with another."""
    with_next: bool = False
    """It is told together with the one after it, or not at all."""
    told: str = ""
    """What is told in place of its title and summary, when those are not to be repeated."""
    label: str = ""
    """What it is called in place of its kind."""
    excerpt: str = ""
    """What is told in place of its summary: the sentences of it that answer a question."""


@dataclass(frozen=True, slots=True)
class Block:
    """The text, and what is in it, in its order; all empty when nothing fits."""

    text: str = ""
    items: tuple[ReceiptItem, ...] = ()
    tokens: int = 0


def block(items: Sequence[Given], now: datetime, budget_tokens: int, title: str = "memory", root: str = "") -> Block:
    """As many of the items as fit, the first ones first: one line each, and in full as far as there is room.

    `root` is the folder of the project: its path is left out."""
    forms = [_Forms(tuple(_form(one, now, root) for one in group)) for group in groups(items)]
    told: list[_Forms] = []
    for group in forms:
        if fits(_assemble([*told, group], title), budget_tokens):
            told.append(group)
    for at, group in enumerate(told):
        fuller = [*told[:at], replace(group, is_full=True), *told[at + 1 :]]
        if fits(_assemble(fuller, title), budget_tokens):
            told = fuller
    if not told:
        return Block()
    text = _assemble(told, title)
    return Block(text, tuple(item for group in told for item in group.receipts()), estimate_tokens(text))


def with_relations(db: sqlite3.Connection, items: Sequence[Given]) -> list[Given]:
    """The items with what is to be said of others: what they contradict, next to each other, and what they replaced."""
    by_id = {one.memory.id: one for one in items}
    memories = [one.memory for one in by_id.values()]
    told: list[Given] = []
    for group in side_by_side(db, memories, memories):
        for one in group:
            given = by_id[one.memory.id]
            note = "; ".join(part for part in (given.note, one.note) if part)
            told.append(replace(given, note=note, is_dated=one.is_dated, with_next=one is not group[-1]))
    return told


@dataclass(frozen=True, slots=True)
class _Form:
    """An item as it can be told."""

    given: Given
    full: str
    short: str

    @property
    def is_rule(self) -> bool:
        return is_users_rule(self.given.memory)


@dataclass(frozen=True, slots=True)
class _Forms:
    """Items that are told together."""

    forms: tuple[_Form, ...]
    is_full: bool = False

    def lines(self, *, rules: bool) -> list[str]:
        """Their lines: of the user's standing rules, or of all others."""
        chosen = [form for form in self.forms if form.is_rule is rules]
        return [form.full if self.is_full else form.short for form in chosen]

    def is_cut(self) -> bool:
        return not self.is_full and any(form.full != form.short for form in self.forms)

    def receipts(self) -> Iterator[ReceiptItem]:
        for form in self.forms:
            one, line = form.given, form.full if self.is_full else form.short
            yield ReceiptItem(one.memory.id, one.source, one.reason, estimate_tokens(line), one.score)


def _assemble(told: Sequence[_Forms], title: str) -> str:
    """The user's standing rules in a frame of their own, then everything else for reference."""
    rules = [line for group in told for line in group.lines(rules=True)]
    others = [line for group in told for line in group.lines(rules=False)]
    more = [LOOK_DEEPER] if any(group.is_cut() for group in told) else []
    framed: list[str] = []
    if rules:
        head = f"--- the user's standing rules ({counted(len(rules), 'item')}, {_FOLLOW}) ---"
        framed += [head, *rules, *([] if others else more), "--- end rules ---"]
    if others:
        head = f"--- {title} ({counted(len(others), 'item')}, for reference) ---"
        framed += [head, *others, *more, f"--- end {title} ---"]
    return "\n".join((render.OPENING, *framed, render.CLOSING))


def _form(given: Given, now: datetime, root: str) -> _Form:
    memory = given.memory
    if given.told:
        title = _safe(given.told, _MAX_TOLD_LENGTH, root)
        return _Form(given, *[_head(given, title, now, root)] * 2)
    title = _closed(render.labelled_once(_safe(memory.title, _MAX_HEAD_LENGTH, root)).rstrip("."))
    lines = [_safe(given.excerpt, _MAX_EXCERPT_LENGTH, root)] if given.excerpt else _summary(memory, root)
    if lines and render.opens_with(lines[0], title):
        # The summary says it all: as a head of its own the title would be told twice.
        title, lines = (lines[0].rstrip("."), []) if len(lines[0]) <= _MAX_HEAD_LENGTH else (title, lines)
    told = "\n".join((title, *lines))
    files = unframed(render.named_files(memory.files, told, _MAX_FILES))
    full = _head(given, title + files, now, root)
    short = _head(given, _closed(render.safe_line(title, _MAX_SHORT_HEAD_LENGTH)), now, root)
    return _Form(given, "\n".join((full, *(f"  {line}" for line in lines if line))), short)


def _head(given: Given, title: str, now: datetime, root: str) -> str:
    memory = given.memory
    stale = "[may be stale] " if given.is_stale else ""
    note = f" [{_safe(given.note, _MAX_NOTE_LENGTH, root)}]" if given.note else ""
    return f"[{given.label or memory.kind}] {stale}{title} ({_seen(given, now)}){note}  #{memory.id}"


def _seen(given: Given, now: datetime) -> str:
    """How often and when it was last seen, and who says so, unless the agent told it."""
    memory = given.memory
    when = f"{memory.last_seen_at:%Y-%m-%d}" if given.is_dated else time_ago(memory.last_seen_at, now)
    often = f"seen {memory.times_seen}x, last " if memory.times_seen > 1 else ""
    return " ".join(part for part in (render.origin_label(memory), often + when) if part)


def _summary(memory: Memory, root: str) -> list[str]:
    # What was asked for then would read like a request of now.
    told = without_request(memory.summary[: _MAX_LINE_LENGTH * _LOOKED_AT])
    return [line] if (line := render.labelled_once(_safe(told, _MAX_LINE_LENGTH, root))) else []


def _closed(title: str) -> str:
    """Return a title that was cut within a quotation with the end of that."""
    return f'{title}"' if title.endswith("…") and title.count('"') % 2 else title


def _safe(text: str, limit: int, root: str) -> str:
    """Text on one line that can begin or end no block, ours included."""
    shown = render.without_places(text[: limit * _LOOKED_AT], root)
    return unframed(render.safe_line(shown, limit))
