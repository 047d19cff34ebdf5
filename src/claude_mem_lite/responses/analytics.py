"""Statistics, figures by day, and receipts."""

from collections.abc import Mapping
from dataclasses import field

from claude_mem_lite.providers import Spend
from claude_mem_lite.responses.context import SkippedLayer
from claude_mem_lite.responses.encoding import Response, response
from claude_mem_lite.values import frozen


@response
class ProjectCounts(Response):
    """Number of active memories and of sessions of a project."""

    project: str = ""
    name: str = ""
    memories: int = 0
    sessions: int = 0


@response
class StoredMemories(Response):
    """Number of memories by kind, status and project, most first; by kind and project only active memories."""

    by_kind: Mapping[str, int] = field(default_factory=dict)
    by_status: Mapping[str, int] = field(default_factory=dict)
    by_project: tuple[ProjectCounts, ...] = ()


@response
class TriggerUse(Response):
    """Answers built for a trigger, answers received by an agent, and the outcomes of the items."""

    moment: str = ""
    made: int = 0
    reached: int = 0
    tokens: int = 0
    """Sum over the answers that reached an agent."""
    used: int = 0
    ignored: int = 0
    unknown: int = 0
    hit_rate: float | None = None
    """Share of used items, a lower bound: an unknown item may have been used."""


@response
class SourceUse(Response):
    """Injections of a source at a trigger, and the outcomes of the items."""

    moment: str = ""
    source: str = ""
    items: int = 0
    tokens: int = 0
    used: int = 0
    ignored: int = 0
    unknown: int = 0
    hit_rate: float | None = None


@response
class HitRates(Response):
    """Outcomes of injections by trigger, and by trigger and source."""

    days: int = 0
    given: tuple[TriggerUse, ...] = ()
    sources: tuple[SourceUse, ...] = ()


@response
class SilentItem(Response):
    """Memory or session omitted at session start, because no session used the item."""

    id: str = ""
    kind: str = ""
    title: str = ""
    used: int = 0
    ignored: int = 0
    unknown: int = 0
    hit_rate: float | None = None


@response
class SilentItems(Response):
    """Items omitted at session start."""

    items: tuple[SilentItem, ...] = ()


@response
class TokenEstimate(Response):
    """Input tokens of a model by our estimate and by the count of the model."""

    made_by: str = ""
    calls: int = 0
    estimated: int = 0
    counted: int = 0
    ratio: float = 0.0


@frozen
class ModelUse(Spend):
    """Calls of models, in total and by outcome."""

    by_outcome: Mapping[str, Spend] = field(default_factory=dict)
    estimates: tuple[TokenEstimate, ...] = ()


@response
class ContextSavings(Response):
    """Size of injected contexts, and size of the conversations behind them, in estimated tokens."""

    given_tokens: int = 0
    said_tokens: int = 0


@response
class GuardUse(Response):
    """Guards in force, proposals, and firings over some days by outcome."""

    active: int = 0
    paused: int = 0
    proposed: int = 0
    fired: int = 0
    followed: int = 0
    overridden: int = 0
    got_round: int = 0
    false: int = 0


@response
class Stats(Response):
    """Statistics of all projects over some days; stored memories and silent items are the present ones."""

    days: int = 0
    since: str = ""
    memories: StoredMemories = StoredMemories()
    given: tuple[TriggerUse, ...] = ()
    sources: tuple[SourceUse, ...] = ()
    silent: SilentItems = SilentItems()
    model: ModelUse = ModelUse()
    savings: ContextSavings = ContextSavings()
    guards: GuardUse = GuardUse()


@response
class Day(Response):
    """Figures of one day."""

    day: str = ""
    memories: int = 0
    sessions: int = 0
    given: int = 0
    """Number of contexts that reached an agent."""
    tokens_given: int = 0
    used: int = 0
    ignored: int = 0
    unknown: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    savings: ContextSavings = ContextSavings()


@response
class Days(Response):
    """Days in order, oldest first."""

    days: tuple[Day, ...]


@response
class ShownReceiptItem(Response):
    """Injected item; kind and title are None once the memory or session is gone."""

    source: str = ""
    layer: str = ""
    reason: str = ""
    tokens: int = 0
    score: float | None = None
    outcome: str | None = None
    """None until the session is over."""
    kind: str | None = None
    title: str | None = None


@response
class ShownReceipt(Response):
    """Receipt with a short id. The other fields are the fields of `models.Receipt`."""

    id: str = ""
    spool_name: str = ""
    session: str = ""
    project: str = ""
    moment: str = ""
    items: tuple[ShownReceiptItem, ...] = ()
    layers: tuple[str, ...] = ()
    layers_skipped: tuple[SkippedLayer, ...] = ()
    tokens: int = 0
    budget: int = 0
    build_ms: float = 0.0
    created_at: str = ""
    given_at: str | None = None
    """None if the injection did not reach an agent."""


@response
class Receipts(Response):
    """Receipts, newest first."""

    receipts: tuple[ShownReceipt, ...]
