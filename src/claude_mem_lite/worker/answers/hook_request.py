"""Request of a hook that waits for an answer: its event, its deadline, and whether it may get an answer."""

import json
import os
import re
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from functools import cached_property

from claude_mem_lite.agents.adapters import adapted, is_foreign, takes_context
from claude_mem_lite.agents.claude_code import event_from_payload, why_skipped
from claude_mem_lite.agents.client_settings import has_own_hooks
from claude_mem_lite.code.freshness.checkout_view import ChangeState, Checkout
from claude_mem_lite.code.freshness.time_budget import CpuBudget
from claude_mem_lite.code.freshness.verdicts import Freshness
from claude_mem_lite.code.syntax.changes import CodeChange
from claude_mem_lite.config import Config, in_folder, is_excluded
from claude_mem_lite.config_loader import load_config
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import ConfigError, PayloadError
from claude_mem_lite.event_names import time_of
from claude_mem_lite.inbox import queue as inbox
from claude_mem_lite.inbox.payload import STORED_LIMIT, parse
from claude_mem_lite.models import Event, JsonObject, Location, Memory
from claude_mem_lite.store.branches import Hidden
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.services import Services

WAY_BACK_S = 0.03
"""Time that an answer needs to reach the hook."""
_TOOL = re.compile(rb'"tool_name"\s*:\s*("(?:[^"\\]|\\.){1,200}")')


@frozen
class HookRequest:
    """Waiting hook; its time counts from the time in the name of the event."""

    services: Services
    name: str
    waits_s: float
    way_back_s: float = WAY_BACK_S

    def age_s(self) -> float:
        """Return for how long the hook has waited."""
        return (self.services.clock() - time_of(self.name)).total_seconds()

    def left_s(self) -> float:
        """Return the time that is left for building the answer."""
        # A clock that was set back must not make the worker wait for ever.
        waits_s = min(self.waits_s - self.way_back_s - self.age_s(), self.waits_s)
        return waits_s + self.services.limits.hook_grace_s

    def deadline(self) -> Deadline:
        """Return the end of the time for building the answer."""
        return Deadline.after(self.left_s())

    def is_over(self) -> bool:
        return self.left_s() <= 0


def settings(services: Services) -> Config | None:
    """Return the settings in force, even if changed a moment ago; None while config.toml is invalid."""
    if services.settings.is_current():
        return None if services.settings.problem else services.settings.config
    try:
        return load_config(services.home.config, os.environ)
    except ConfigError:
        return None


@frozen
class RawEvent:
    """Bytes of an event, as sent by the hook or as stored in the inbox."""

    raw: bytes = b""
    is_adapted: bool = False

    def payload(self, name: str) -> JsonObject:
        """Return the payload in the form of Claude Code."""
        given = parse(self.raw)
        return given if self.is_adapted else adapted(name, given)[0]


def find_raw(services: Services, name: str, body: bytes) -> RawEvent:
    """Return the bytes of an event: from the request, else from the spool, else from the inbox. Empty when the event is
    missing or too large."""
    if body:
        return RawEvent(body if len(body) <= STORED_LIMIT else b"")
    try:
        with open(services.home.spool_new / name, "rb", buffering=0) as file:
            return RawEvent(file.read() if os.fstat(file.fileno()).st_size <= STORED_LIMIT else b"")
    except OSError:  # taken in already, or kept elsewhere
        with closing(services.inbox_readers.open()) as db:
            row = inbox.find(db, name)
    return RawEvent(row.payload.encode(), is_adapted=True) if row else RawEvent()


def tool_of(raw: bytes) -> str:
    """Return the tool of an event without parsing the payload; '' when no tool is named."""
    found = _TOOL.search(raw)
    try:
        return str(json.loads(found[1])) if found else ""
    except ValueError:
        return ""


def read_event(services: Services, found: RawEvent, name: str, kinds: Collection[str], config: Config) -> Event | None:
    """Return the event, or None when it gets no answer: unreadable, of another kind, in an excluded folder, ignored."""
    try:
        payload = found.payload(name)
        event = event_from_payload(name, payload)
    except PayloadError:
        return None
    if event.kind not in kinds or why_skipped(event, payload) or is_excluded(config, event.cwd):
        return None
    if event.tool and event.tool.tool in in_folder(config, event.cwd).ignored_tools:
        return None
    return event if takes_answer(services, event, payload) else None


def takes_answer(services: Services, event: Event, payload: JsonObject) -> bool:
    """Return whether the sender of an event takes an answer, and gets none by another hook."""
    if not takes_context(event) or (
        is_foreign(event.name, event.agent) and has_own_hooks(services.home, event.agent, event.cwd)
    ):
        return False
    return not services.duplicate_hooks.is_duplicate(event.name, payload)


class LazyCheckoutView:
    """Checkout view that is opened at first use: most answers need none."""

    def __init__(self, services: Services, db: sqlite3.Connection, location: Location) -> None:
        self._services = services
        self._db = db
        self._location = location

    @cached_property
    def _seen(self) -> Checkout:
        return self._open(with_branches=False)

    @cached_property
    def hidden(self) -> Hidden:
        return self._open(with_branches=True).hidden

    def _open(self, *, with_branches: bool) -> Checkout:
        # Wall-clock time: tools wait for a moment only.
        limit_s = self._services.limits.hint_check_s
        cpu_budget = CpuBudget(limit_s, limit_s)
        return self._services.scanner.checkout(self._db, self._location, cpu_budget, with_branches=with_branches)

    def freshness(self, memories: Sequence[Memory]) -> Mapping[str, Freshness]:
        return self._seen.freshness(memories) if memories else {}

    def states(self, changes: Sequence[CodeChange]) -> Sequence[ChangeState]:
        return self._seen.states(changes) if changes else ()
