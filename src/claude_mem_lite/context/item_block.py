"""Chosen items -> the injected text, in the same form for prompts, failures, files and answers.

The user's standing rules have a separate frame; all other items are for reference. Never over budget; no memory can
close the block or begin a line of the frame."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.context import render
from claude_mem_lite.context.layers.contradictions import group_contradictions
from claude_mem_lite.context.render import estimate_tokens, fits
from claude_mem_lite.context.selection import groups
from claude_mem_lite.context.user_rules import is_users_rule
from claude_mem_lite.models import Memory, ReceiptItem, without_request
from claude_mem_lite.text import counted, time_ago, unframed
from claude_mem_lite.values import frozen

MORE_LINE = "More of these: `claude-mem-lite show ID`."
_FOLLOW = "to be followed unless the user says otherwise"
_MAX_HEAD_LENGTH = 200
_MAX_WHOLE_LENGTH = 320
_MAX_SHORT_HEAD_LENGTH = 120
_MAX_LINE_LENGTH = 300
_MAX_NOTE_LENGTH = 160
_MAX_EXCERPT_LENGTH = 1000
_MAX_FILES = 3
# Only the beginning of a huge text is read: cleaning megabytes would exceed every deadline.
_READ_FACTOR = 20


@frozen
class BlockItem:
    """Memory chosen for an injection."""

    memory: Memory
    reason: str
    """Reason of the choice, for the receipt and for explanations."""
    score: float | None
    source: str
    """Group for hit rates: `guidance`, `decision`, `failure`, `fix`, `file` …"""
    note: str = ""
    """Note after the head: number of successes, conflicts."""
    is_stale: bool = False
    is_dated: bool = False
    """Shows the date instead of the age, for comparison with another memory."""
    with_next: bool = False
    """Shown together with the next item, or not at all."""
    line: str = ""
    """Text instead of title and summary, if those must not be repeated."""
    label: str = ""
    """Text instead of the kind."""
    excerpt: str = ""
    """Text instead of the summary: the sentences that answer a question."""


@frozen
class Block:
    """Text with its receipt items in order; empty if no item fits."""

    text: str = ""
    items: tuple[ReceiptItem, ...] = ()
    tokens: int = 0


def block(
    items: Sequence[BlockItem], now: datetime, budget_tokens: int, title: str = "memory", root: str = ""
) -> Block:
    """Return as many items as fit, first items first: a line each, and in full while room remains.

    `root` is the folder of the project; the path is removed from texts."""
    forms = [_Forms(tuple(_form(item, now, root) for item in group)) for group in groups(items)]
    selected: list[_Forms] = []
    for group in forms:
        if fits(_assemble([*selected, group], title), budget_tokens):
            selected.append(group)
    for index, group in enumerate(selected):
        fuller = [*selected[:index], replace(group, is_full=True), *selected[index + 1 :]]
        if fits(_assemble(fuller, title), budget_tokens):
            selected = fuller
    if not selected:
        return Block()
    text = _assemble(selected, title)
    return Block(text, tuple(item for group in selected for item in group.receipts()), estimate_tokens(text))


def with_relations(db: sqlite3.Connection, items: Sequence[BlockItem]) -> list[BlockItem]:
    """Return the items with notes about contradictions and replacements, contradicting items together."""
    by_id = {item.memory.id: item for item in items}
    memories = [item.memory for item in by_id.values()]
    annotated: list[BlockItem] = []
    for group in group_contradictions(db, memories, memories):
        for related in group:
            item = by_id[related.memory.id]
            note = "; ".join(part for part in (item.note, related.note) if part)
            annotated.append(replace(item, note=note, is_dated=related.is_dated, with_next=related is not group[-1]))
    return annotated


@frozen
class _Form:
    """Item in its full and short form."""

    item: BlockItem
    full: str
    short: str

    @property
    def is_rule(self) -> bool:
        return is_users_rule(self.item.memory)


@frozen
class _Forms:
    """Items that are shown together."""

    forms: tuple[_Form, ...]
    is_full: bool = False

    def lines(self, *, rules: bool) -> list[str]:
        """Return the lines of the user's standing rules, or of all other items."""
        chosen = [form for form in self.forms if form.is_rule is rules]
        return [form.full if self.is_full else form.short for form in chosen]

    def is_cut(self) -> bool:
        return not self.is_full and any(form.full != form.short for form in self.forms)

    def receipts(self) -> Iterator[ReceiptItem]:
        for form in self.forms:
            item, line = form.item, form.full if self.is_full else form.short
            yield ReceiptItem(item.memory.id, item.source, item.reason, estimate_tokens(line), item.score)


def _assemble(groups: Sequence[_Forms], title: str) -> str:
    """Return the text: the user's standing rules in a separate frame, then all other items for reference."""
    rules = [line for group in groups for line in group.lines(rules=True)]
    others = [line for group in groups for line in group.lines(rules=False)]
    more = [MORE_LINE] if any(group.is_cut() for group in groups) else []
    framed: list[str] = []
    if rules:
        head = f"--- the user's standing rules ({counted(len(rules), 'item')}, {_FOLLOW}) ---"
        framed += [head, *rules, *([] if others else more), "--- end rules ---"]
    if others:
        head = f"--- {title} ({counted(len(others), 'item')}, for reference) ---"
        framed += [head, *others, *more, f"--- end {title} ---"]
    return "\n".join((render.OPENING, *framed, render.CLOSING))


def _form(item: BlockItem, now: datetime, root: str) -> _Form:
    memory = item.memory
    if item.line:
        title = _safe(item.line, _MAX_WHOLE_LENGTH, root)
        return _Form(item, *[_head(item, title, now, root)] * 2)
    title = _closed(render.labelled_once(_safe(memory.title, _MAX_HEAD_LENGTH, root)).rstrip("."))
    lines = [_safe(item.excerpt, _MAX_EXCERPT_LENGTH, root)] if item.excerpt else _summary(memory, root)
    if lines and render.opens_with(lines[0], title):
        # The summary repeats the title, so the summary becomes the head.
        title, lines = (lines[0].rstrip("."), []) if len(lines[0]) <= _MAX_HEAD_LENGTH else (title, lines)
    body = "\n".join((title, *lines))
    files = unframed(render.named_files(memory.files, body, _MAX_FILES))
    full = _head(item, title + files, now, root)
    whole = "\n".join((full, *(f"  {line}" for line in lines if line)))
    if item.label:  # the head of raw text says nothing
        return _Form(item, whole, whole)
    short = _head(item, _closed(render.safe_line(title, _MAX_SHORT_HEAD_LENGTH)), now, root)
    return _Form(item, whole, short)


def _head(item: BlockItem, title: str, now: datetime, root: str) -> str:
    memory = item.memory
    stale = "[may be stale] " if item.is_stale else ""
    note = f" [{_safe(item.note, _MAX_NOTE_LENGTH, root)}]" if item.note else ""
    return f"[{item.label or memory.kind}] {stale}{title} ({_seen(item, now)}){note}  #{memory.id}"


def _seen(item: BlockItem, now: datetime) -> str:
    """Return the source of a memory, the number of sightings and the last date or age."""
    memory = item.memory
    when = f"{memory.last_seen_at:%Y-%m-%d}" if item.is_dated else time_ago(memory.last_seen_at, now)
    often = f"seen {memory.times_seen}x, last " if memory.times_seen > 1 else ""
    return " ".join(part for part in (render.origin_label(memory), often + when) if part)


def _summary(memory: Memory, root: str) -> list[str]:
    # A request of the past would read like a request of the present.
    text = without_request(memory.summary[: _MAX_LINE_LENGTH * _READ_FACTOR])
    return [line] if (line := render.labelled_once(_safe(text, _MAX_LINE_LENGTH, root))) else []


def _closed(title: str) -> str:
    """Return a title with a closing quote, if the title was cut within a quotation."""
    return f'{title}"' if title.endswith("…") and title.count('"') % 2 else title


def _safe(text: str, limit: int, root: str) -> str:
    """Return text on one line that can neither begin nor end a block."""
    shown = render.without_root(text[: limit * _READ_FACTOR], root)
    return unframed(render.safe_line(shown, limit))
