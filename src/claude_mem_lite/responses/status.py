"""State of the worker, its settings, its queue, its search index, its backups and the model."""

from dataclasses import dataclass

from claude_mem_lite.models import JsonValue, SessionSummary
from claude_mem_lite.responses.encoding import Response, response
from claude_mem_lite.text import counted
from claude_mem_lite.values import frozen


@dataclass(frozen=True, slots=True, kw_only=True)
class Health(Response):
    """State of the worker. Problems are sentences, '' without a problem."""

    status: str = ""
    problem: str = ""
    settings_problem: str = ""
    version: str = ""
    pid: int
    uptime_s: float = 0.0
    queue_depth: int = 0
    observations_today: int = 0
    memories: int = 0
    active: int = 0
    quarantined: int = 0
    sessions: int = 0
    unsure_lessons: int = 0
    experiment: float = 0.0
    ask_agent: bool = True
    stale_turns: int = 0
    unindexed: int = 0
    index_problem: str = ""
    model: str = "rules"
    model_problem: str = ""
    model_next_step: str = ""
    model_failed: int = 0
    model_waiting: int = 0
    calls_today: int = 0
    spend_today: float = 0.0
    tokens_today: int = 0
    daily_usd: float | None = None
    """Spend limit of a day; None from a worker that does not know it."""
    daily_tokens: int = 0
    last_context_at: str | None = None
    backups: int = 0
    last_backup_at: str | None = None
    backup_problem: str = ""
    recovered_at: str | None = None
    recovered: str = ""


@frozen
class QueueCounts:
    """Number of events in the inbox by status."""

    raw: int = 0
    processing: int = 0
    done: int = 0
    error: int = 0
    skipped: int = 0
    spooled: int = 0
    """Events that hooks saved and the worker has not read yet."""


@response
class FailedEvent(Response):
    """Failed event, or turn for which the model failed."""

    id: int = 0
    name: str = ""
    event: str = ""
    session: str = ""
    status: str = ""
    reason: str = ""
    attempts: int = 0
    received_at: str = ""


@response
class FailedEvents(Response):
    """Failed events, newest first."""

    events: tuple[FailedEvent, ...]


@response
class Retried(Response):
    """Number of failed events, and of turns for the model, queued again."""

    events: int = 0
    turns: int = 0

    def sentence(self) -> str:
        """Return a description for the user."""
        parts = [counted(self.events, "event")] if self.events or not self.turns else []
        parts += [counted(self.turns, "turn")] if self.turns else []
        return f"{' and '.join(parts)} put back to work."


@frozen
class Drained(QueueCounts):
    """Result of waiting for an empty queue: the counts at the end."""

    drained: bool = False


@response
class SummarizedSession(Response):
    """Summary of a session, and its cost."""

    summary: SessionSummary
    tokens: int
    cost_usd: float
    made_by: str
    reason: str


@response
class Stopping(Response):
    """Confirmation that the worker is about to end."""

    stopping: bool = True


@response
class ModelTrial(Response):
    """Result of one request to the configured model; `problem` is '' if the model answered."""

    model: str = ""
    problem: str = ""
    next_step: str = ""
    ms: float = 0.0
    tokens: int = 0


@response
class IndexState(Response):
    """Progress of indexing."""

    waiting: int = 0
    documents: int = 0
    problem: str = ""
    """Reason why there are no vectors."""
    failure: str = ""
    """Reason why the job loop makes no progress."""


@response
class RebuildStarted(IndexState):
    """Progress of indexing when a rebuild of the index begins."""

    joined: bool = False
    """True if the rebuild was under way already."""


@response
class CorruptIndexes(Response):
    """Names of the corrupt word indexes."""

    damaged: tuple[str, ...]


@response
class NewBackup(Response):
    """Backup made on request."""

    path: str = ""
    bytes: int = 0
    made_at: str = ""
    memories: int = 0
    sessions: int = 0
    last_event_at: str | None = None


@response
class ShownRecovery(Response):
    """Recovery of a database, with the fields of `db/recovery_log.py` and the complete description."""

    id: str = ""
    at: str = ""
    text: str = ""
    undo: str = ""
    failed: bool = False
    replayed: int = 0
    shown: bool = False
    sentence: str = ""


@response
class Recoveries(Response):
    """Recoveries, oldest first."""

    recoveries: tuple[ShownRecovery, ...]


@response
class EffectiveSetting(Response):
    """Setting in force, with its sources: default, file, project file, environment."""

    key: str
    value: JsonValue
    sources: tuple[str, ...] = ()
    variable: str = ""
    """Environment variable that overrides the setting."""


@response
class Settings(Response):
    """Settings in force in a folder, and their files."""

    file: str = ""
    project_file: str = ""
    problems: tuple[str, ...] = ()
    """Ignored parts of the project file."""
    settings: tuple[EffectiveSetting, ...] = ()
