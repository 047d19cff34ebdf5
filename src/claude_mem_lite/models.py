"""Values that travel between modules. Frozen; made at a border, never changed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Literal, get_args

from claude_mem_lite.values import frozen

# Limits of a memory and of queries.
MAX_TITLE_LENGTH = 200
MAX_DETAIL_LENGTH = 2_000
MAX_TEXT_LENGTH = 20_000
"""Maximum of a text that a user enters."""
MAX_PROMPT_LENGTH = 4_000
"""Maximum of a prompt used as a query: the rest is pasted text, and tells little about the request."""
MAX_FACTS = 12
MAX_FILES = 20
MAX_ANCHORS = 24
MAX_MEMORIES_PER_TURN = 12
"""Maximum of memories that rules make from one turn."""
COMPOSER_VERSION = 3
"""Increased when the same turn gives other memories than before: `rebuild --memories` rebuilds the memories of older
versions. 0 stands for all turns stored before the version existed."""
REVERT_LEAD = "After the agent's change the code was found as it had been before"
"""Beginning of the summary of a correction without words. An edit of the summary makes the correction a statement."""
REQUEST_LEAD = "Asked: "
"""Prefix of the request of a prompt, at the end of a summary."""

JsonValue = None | bool | int | float | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"]
JsonObject = Mapping[str, JsonValue]


def load_json(written: str) -> JsonValue:
    """Return the value of a JSON text; ValueError for invalid JSON."""
    value: JsonValue = json.loads(written)
    if "\\ud" in written or "\\uD" in written:
        # Clients cut strings inside a surrogate pair; a lone surrogate fits no database and no request.
        whole = json.dumps(value, ensure_ascii=False).encode("utf-16-le", "surrogatepass")
        value = json.loads(whole.decode("utf-16-le", "replace"))
    return value


def text(value: JsonValue) -> str:
    """Return a string unchanged, and any other value as '': the input of agents is untrusted."""
    return value if isinstance(value, str) else ""


def request_headline(request: str) -> str:
    """Return the headline of a session without an outcome."""
    return f"{REQUEST_LEAD}{request}"


def is_request(text: str) -> bool:
    """Return True if a line of a session's summary repeats the user's request."""
    return text.startswith(REQUEST_LEAD)


def without_request(summary: str) -> str:
    """Return a summary without its request: the same work may be requested in other words."""
    return summary.partition(REQUEST_LEAD)[0].rstrip()


def is_users_wording(made_by: str) -> bool:
    """Return whether a memory of `origin` user has the user's own words, not the words of an agent or a model."""
    return made_by != SAVED_BY_AGENT and "/" not in made_by


def user_origin_label(made_by: str, trust: float) -> str:
    """Return the label of a memory of `origin` user: "stated" only for the user's own words."""
    if is_users_wording(made_by):
        return "stated by the user"
    if trust >= TRUST["user"]:
        return "accepted by the user"
    worded = "saved by the agent" if made_by == SAVED_BY_AGENT else "worded by a model"
    return f"{worded} after the user said so"


def texts(value: JsonValue) -> tuple[str, ...]:
    """Return the strings of a list; () for any other value."""
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


SymbolAction = Literal["new", "modified", "deleted"]
WorkKind = Literal["decision", "bugfix", "feature", "refactor", "change", "discovery"]
GuidanceKind = Literal[
    "preference", "rule", "anti_pattern", "correction", "convention", "gotcha", "architecture", "pattern"
]
HelpKind = Literal["failure", "handoff", "goal", "note", "project_fact"]
Kind = WorkKind | GuidanceKind | HelpKind
WORK_KINDS: tuple[WorkKind, ...] = get_args(WorkKind)
GUIDANCE_KINDS: tuple[GuidanceKind, ...] = get_args(GuidanceKind)
HELP_KINDS: tuple[HelpKind, ...] = get_args(HelpKind)
KINDS: tuple[Kind, ...] = (*WORK_KINDS, *GUIDANCE_KINDS, *HELP_KINDS)
REPLACEABLE_KINDS: tuple[Kind, ...] = (
    "decision",
    "architecture",
    "preference",
    "rule",
    "convention",
    "correction",
    "anti_pattern",
    "gotcha",
    "note",
)
"""Kinds that make claims. Descriptions of finished work stay true."""

Status = Literal["active", "superseded", "retired", "quarantined"]
Origin = Literal["user", "assistant", "code", "command", "web", "mcp", "import", "team"]
STATUSES: tuple[Status, ...] = get_args(Status)
ORIGINS: tuple[Origin, ...] = get_args(Origin)
# How far an origin is believed. Foreign text is never injected unasked, because foreign text may carry orders.
TRUST: dict[Origin, float] = {
    "user": 1.0,
    "assistant": 0.8,
    "code": 0.9,
    "command": 0.7,
    "import": 0.6,
    "team": 0.5,
    "mcp": 0.3,
    "web": 0.2,
}
TRANSCRIPT_TRUST = 0.9
"""Trust in a user's words in an imported transcript: the file may belong to somebody else."""
FOREIGN_ORIGINS: tuple[Origin, ...] = ("web", "mcp")
OUTSIDE_ORIGINS: tuple[Origin, ...] = (*FOREIGN_ORIGINS, "import", "team")
"""Origins of text that nobody said or wrote on this machine."""
SAVED_BY_AGENT = "assistant"
"""`made_by` of a memory that an agent saved; a model's memory has PROVIDER/MODEL."""
SessionStatus = Literal["active", "completed", "interrupted", "failed"]
PassageKind = Literal["turn", "session"]
RAW = "raw"
"""Layer of raw text that is injected as an answer."""


@frozen
class ToolCall:
    """Tool call that succeeded (`response`) or failed (`error`)."""

    tool: str
    input: JsonObject
    response: JsonValue = None
    error: str | None = None


@frozen
class Event:
    """Hook event, in the form that the payloads of all agents are converted to.

    `kind` is the hook's event name (SessionStart, UserPromptSubmit, PostToolUse, PostToolUseFailure, PreCompact,
    SubagentStop, Stop, StopFailure, SessionEnd); only the fields of the event are filled."""

    name: str
    kind: str
    session: str
    at: datetime
    cwd: str = ""
    prompt_id: str | None = None
    agent_id: str | None = None
    prompt: str | None = None
    tool: ToolCall | None = None
    message: str | None = None
    """Closing message of the assistant: Stop, StopFailure, SubagentStop."""
    source: str | None = None
    """SessionStart: startup, resume, clear, compact, fork."""
    reason: str | None = None
    """SessionEnd: the reason. StopFailure: the error."""
    branch: str = ""
    """Branch at the time of the event, if known: events of transcripts have it."""
    inside: str = ""
    """Working folder relative to its checkout, as `packages/web`; '' at the root."""
    imported: bool = False
    """True if read from a transcript, not captured live."""
    agent: str = "claude-code"
    """Sender; the form of the event does not depend on the sender."""
    transcript: str = ""
    """Path of the session's transcript."""
    permission_mode: str = ""
    """Mode in which the agent's client asks its user for permission, if known."""


@frozen
class Turn:
    """One user prompt and everything up to Stop: the unit of compression.

    `prompt` may come from an earlier delivery when the turn arrived in parts. `key` names the turn for ever: a turn is
    stored once per key."""

    key: str
    session: str
    project: str
    prompt: str
    events: tuple[Event, ...]
    earlier: tuple[Event, ...] = ()
    """Commands and edits of the session's last turns, if a command was left failing."""
    previous_message: str = ""
    """Closing message of the previous turn: a correction refers to this message."""


@frozen
class SymbolChange:
    file: str
    name: str
    action: SymbolAction


@frozen
class Draft:
    """Memory as compressed, before the worker makes a `Memory`."""

    kind: Kind
    title: str
    summary: str
    detail: str = ""
    facts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    symbols: tuple[SymbolChange, ...] = ()
    anchors: tuple[str, ...] = ()
    """Links to something outside: `error:FINGERPRINT` of a failure, `code:…` of changed code."""
    origin: Origin = "assistant"
    confidence: float = 0.7
    scope: str = ""
    """Scope, if wider than the project: `universal`, `language:NAME`."""
    tags: tuple[str, ...] = ()


@frozen
class SessionSummary:
    """Summary of a session, for the next session. Strings are prose, tuples are lists, all may be empty."""

    headline: str = ""
    request: str = ""
    investigated: str = ""
    learned: str = ""
    completed: str = ""
    next_steps: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_edited: tuple[str, ...] = ()
    notes: str = ""
    key_decisions: tuple[str, ...] = ()

    def title(self) -> str:
        """Return the title of the session: headline, else first request. `store.sessions.TITLE` is the same."""
        return self.headline or self.request


@frozen
class Session:
    """Conversation of an agent."""

    id: str
    project: str
    cwd: str
    status: SessionStatus
    started_at: datetime
    last_event_at: datetime
    branch: str = ""
    commit: str = ""
    source: str = "startup"
    ended_at: datetime | None = None
    turns: int = 0
    summary: SessionSummary = field(default_factory=SessionSummary)
    headline_worth: float = 0.0
    """Worth of the memory that gave the headline; a later memory replaces the headline only with at least this
    worth."""


@frozen
class Memory:
    """Stored memory."""

    id: str
    kind: Kind
    title: str
    summary: str
    created_at: datetime
    last_seen_at: datetime
    scope: str
    """`universal`, `language:NAME` or `project:ID`."""
    project: str
    status: Status = "active"
    detail: str = ""
    facts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    symbols: tuple[SymbolChange, ...] = ()
    anchors: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    session: str = ""
    prompt: str = ""
    """Id of the prompt during which the memory was made; the text of the prompt is stored with the session's turns."""
    branch: str = ""
    commit: str = ""
    origin: Origin = "assistant"
    author: str = ""
    """Name of the teammate who shared the memory; empty for every other origin."""
    trust: float = 1.0
    confidence: float = 0.7
    times_seen: int = 1
    pinned: bool = False
    superseded_by: str | None = None
    made_by: str = "rules"
    prompt_version: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0


@frozen
class Passage:
    """Raw text that search finds beside memories: request and answer of a turn, or a session's summary."""

    id: str
    kind: PassageKind
    title: str
    """First line of the request, or the session's headline."""
    text: str
    """The answer, or the text of the summary."""
    session: str
    project: str
    created_at: datetime
    asked: str = ""
    answered: str = ""
    log: str = ""
    """Edits and commands of a turn.

    A passage is found by request, tasks and answer; for a session, by headline, request and the rest of its summary."""


@frozen
class Location:
    """Location of work: the project by its lasting identity, and the state of its checkout."""

    project: str
    name: str
    root: str
    branch: str = ""
    commit: str = ""
    path: str = ""
    """Folder of the repository, shared by its worktrees; the folder itself outside of a repository."""
    remote: str = ""
    """Normalised address of the remote; '' without a remote."""
    git_folder: str = ""
    """Identity of the git folder, see `git.checkout.folder_identity`; '' if unknown."""


Outcome = Literal["used", "ignored", "unknown"]
"""Use of an item by a session; `unknown` if the session proves neither."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
HookTrigger = Literal["prompt", "failure", "file"]
HOOK_TRIGGERS: tuple[HookTrigger, ...] = get_args(HookTrigger)
"""Triggers during work at which a hook injects text, within one budget."""
ASKED = "asked"
"""Trigger of a question by the agent itself."""
WORK_TRIGGERS = (*HOOK_TRIGGERS, ASKED)
"""Triggers during work; all others are the start of a session, by the client's name."""


@frozen
class Tally:
    """Number of sessions, or of items, by outcome."""

    used: int = 0
    ignored: int = 0
    unknown: int = 0


@frozen
class ReceiptItem:
    """Injected item with its reason."""

    source: str
    """Id of a memory or of a session."""
    layer: str
    reason: str
    tokens: int
    score: float | None = None
    """None if the layer has its own order."""
    outcome: Outcome | None = None
    """None until the session is over."""


@frozen
class Receipt:
    """Record of one injection, with items in the order of the text."""

    spool_name: str
    session: str
    project: str
    moment: str
    """Trigger: startup, resume, clear, compact, fork; prompt, failure, file, asked."""
    items: tuple[ReceiptItem, ...]
    layers: tuple[str, ...]
    layers_skipped: tuple[str, ...]
    """Each with the reason: `language: empty`."""
    tokens: int
    budget: int
    build_ms: float
    created_at: datetime
    given_at: datetime | None = None


def is_revert(correction: Draft | Memory) -> bool:
    """Return True for a correction that records a revert and has no words of the user."""
    return correction.summary.startswith(REVERT_LEAD)
