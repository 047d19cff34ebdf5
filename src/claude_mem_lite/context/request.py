"""For whom and when a context is built: what the layers are told, besides the database."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from claude_mem_lite.code.freshness.checkout_view import Checkout, NoCheckout
from claude_mem_lite.models import Filters, Hit, Place

Search = Callable[[sqlite3.Connection, str, Filters, datetime, int], list[Hit]]
"""As `search.hybrid.Search.search_without_reasons`."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """One moment in one place."""

    place: Place
    now: datetime
    session: str = ""
    """The session that asks; its own work is left out."""
    since: datetime | None = None
    """Only what is newer: for a session that resumes."""
    dated: bool = False
    """Dates instead of ages, for text that is kept."""
    checkout: Checkout = field(default_factory=NoCheckout)
    """How the code stands there now."""
    search: Search | None = None
    """Finds work that is like what was done last; without it, the newest is told."""
    explained: bool = False
    """Whether layers say of what they left out why they did: that takes as long as all the rest."""
    may_save: bool = False
    """Whether the agent may save unasked: then it is told once when to."""
    until: float | None = None
    """When somebody stops waiting, on the monotonic clock: a layer that takes longer is left out."""
