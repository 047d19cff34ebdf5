"""A hook that waits for an answer: which event it is about, how long it still waits, and whether it may have one."""

import json
import os
import re
import sqlite3
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

from claude_mem_lite.agents.adapters import adapted, is_foreign, takes
from claude_mem_lite.agents.claude_code import event_from_payload, why_skipped
from claude_mem_lite.agents.own_hooks import has_own_hooks
from claude_mem_lite.code.freshness.checkout_view import ChangeState, Checkout
from claude_mem_lite.code.freshness.time_budget import LookTime
from claude_mem_lite.code.freshness.verdicts import Freshness
from claude_mem_lite.code.syntax.changes import CodeChange
from claude_mem_lite.config import Config, in_folder, is_excluded
from claude_mem_lite.config_loader import load_config
from claude_mem_lite.errors import ConfigError, PayloadError
from claude_mem_lite.event_names import time_of
from claude_mem_lite.inbox import queue as inbox
from claude_mem_lite.inbox.payload import STORED_LIMIT, parse
from claude_mem_lite.models import Event, JsonObject, Memory, Place
from claude_mem_lite.store.branches import Hidden
from claude_mem_lite.worker.loop import Loop

WAY_BACK_S = 0.03
"""What the answer needs to reach the hook."""
LOOK_AT_NEED_S = 0.03
"""How long the code of what is told may be looked at."""
_TOOL = re.compile(rb'"tool_name"\s*:\s*("(?:[^"\\]|\\.){1,200}")')


@dataclass(frozen=True, slots=True)
class Waiting:
    """A hook that waits for so long, counted from the time in the name of its event."""

    loop: Loop
    name: str
    waits_s: float
    way_back_s: float = WAY_BACK_S

    def age_s(self) -> float:
        """For how long it has waited."""
        return (self.loop.clock() - time_of(self.name)).total_seconds()

    def left_s(self) -> float:
        """How much time is left for making the answer."""
        # A clock that was set back must not make it wait for ever.
        return min(self.waits_s - self.way_back_s - self.age_s(), self.waits_s)

    def until_monotonic(self) -> float:
        """When the answer must be made, on the monotonic clock."""
        return time.monotonic() + self.left_s()

    def is_over(self) -> bool:
        return self.left_s() <= 0


def settings(loop: Loop) -> Config | None:
    """The settings in force, also when they were changed a moment ago; None while they are broken."""
    if loop.knows_settings():
        return None if loop.problem else loop.config
    try:
        return load_config(loop.home.config, os.environ)
    except ConfigError:
        return None


@dataclass(frozen=True, slots=True)
class Found:
    """The bytes of an event: as its hook sent them, or as the inbox keeps them."""

    raw: bytes = b""
    is_adapted: bool = False

    def payload(self, name: str) -> JsonObject:
        """What it tells, in the form of Claude Code's."""
        given = parse(self.raw)
        return given if self.is_adapted else adapted(name, given)[0]


def find_raw(loop: Loop, name: str, body: bytes) -> Found:
    """The bytes of an event: sent along, else in the spool, else in the inbox. Nothing when there are none, or more
    than it is worth to read."""
    if body:
        return Found(body if len(body) <= STORED_LIMIT else b"")
    try:
        with open(loop.home.spool_new / name, "rb", buffering=0) as file:
            return Found(file.read() if os.fstat(file.fileno()).st_size <= STORED_LIMIT else b"")
    except OSError:  # taken in already, or kept elsewhere
        with closing(loop.inbox_readers.open()) as db:
            row = inbox.find(db, name)
    return Found(row.payload.encode(), is_adapted=True) if row else Found()


def tool_of(raw: bytes) -> str:
    """The tool that an event is about, without reading all of it; '' when it names none."""
    found = _TOOL.search(raw)
    try:
        return str(json.loads(found[1])) if found else ""
    except ValueError:
        return ""


def read_event(loop: Loop, found: Found, name: str, kinds: Collection[str], config: Config) -> Event | None:
    """The event, or None when nothing is to be said to it: it is none, its folder is excluded, or it is not used."""
    try:
        payload = found.payload(name)
        event = event_from_payload(name, payload)
    except PayloadError:
        return None
    if event.kind not in kinds or why_skipped(event, payload) or is_excluded(config, event.cwd):
        return None
    if event.tool and event.tool.tool in in_folder(config, event.cwd).ignored_tools:
        return None
    return event if is_to_be_told(loop, event, payload) else None


def is_to_be_told(loop: Loop, event: Event, payload: JsonObject) -> bool:
    """Whether whoever sent an event takes an answer to it, and gets none by another hook."""
    if not takes(event) or (is_foreign(event.name, event.agent) and has_own_hooks(loop.home, event.agent, event.cwd)):
        return False
    return not loop.twins.is_second(event.name, payload)


class LaterCheckout:
    """A checkout that is looked at when somebody asks how the code stands: mostly there is nothing to ask about."""

    def __init__(self, loop: Loop, db: sqlite3.Connection, place: Place) -> None:
        self._loop = loop
        self._db = db
        self._place = place

    @cached_property
    def _seen(self) -> Checkout:
        return self._look(with_branches=False)

    @cached_property
    def hidden(self) -> Hidden:
        return self._look(with_branches=True).hidden

    def _look(self, *, with_branches: bool) -> Checkout:
        # Tools wait for a moment only: here the clock counts.
        look_time = LookTime(LOOK_AT_NEED_S, LOOK_AT_NEED_S)
        return self._loop.looking.checkout(self._db, self._place, look_time, with_branches=with_branches)

    def freshness(self, memories: Sequence[Memory]) -> Mapping[str, Freshness]:
        return self._seen.freshness(memories) if memories else {}

    def states(self, changes: Sequence[CodeChange]) -> Sequence[ChangeState]:
        return self._seen.states(changes) if changes else ()
