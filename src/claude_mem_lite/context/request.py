"""Request for a context: the location, time, session and checkout that layers and hints work with."""

import sqlite3
from collections.abc import Callable
from dataclasses import field
from datetime import datetime

from claude_mem_lite.code.freshness.checkout_view import Checkout, NoCheckout
from claude_mem_lite.deadline import NEVER, Deadline
from claude_mem_lite.limits import LIMITS, Limits
from claude_mem_lite.models import Location
from claude_mem_lite.search_values import Filters, Hit
from claude_mem_lite.store.branches import is_hidden
from claude_mem_lite.values import frozen

Search = Callable[[sqlite3.Connection, str, Filters, datetime, int], list[Hit]]
"""Signature of `search.hybrid.Search.search` and `search_without_reasons`."""


@frozen
class ContextRequest:
    """Input of a context besides the database."""

    location: Location
    now: datetime
    session: str = ""
    """Session that asks; its own work is left out."""
    since: datetime | None = None
    """Lower limit of time, for a session that resumes."""
    dated: bool = False
    """Shows dates instead of ages, for text that is stored."""
    checkout: Checkout = field(default_factory=NoCheckout)
    """State of the code at the location."""
    search: Search | None = None
    """Finds work similar to the last work; without search, layers show the newest work."""
    explained: bool = False
    """Keeps left-out candidates with a reason, which doubles the time."""
    may_save: bool = False
    """Permission of the agent to save unasked; adds a line about when to save."""
    pinned_only: bool = False
    """Leaves out all that the user has not pinned, for sessions that take part in an experiment."""
    deadline: Deadline = NEVER
    """Limit of the caller; a layer that takes longer is left out."""
    limits: Limits = LIMITS

    def is_unmerged(self, branch: str, at: datetime) -> bool:
        """Return whether work of a branch and time is not merged here; reads git for other branches alone."""
        return branch not in ("", self.location.branch) and is_hidden(branch, at, self.checkout.hidden)
