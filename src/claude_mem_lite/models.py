"""The values that travel between modules. Frozen; made at a border, never changed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, get_args

from claude_mem_lite.code.syntax.changes import CodeChange, SymbolAction

# The limits of a memory, and of what is asked for.
MAX_TITLE_LENGTH = 200
MAX_DETAIL_LENGTH = 2_000
MAX_TEXT_LENGTH = 20_000
"""What a user may give as the text of one."""
MAX_PROMPT_LENGTH = 4_000
"""Of a prompt that something is looked for by: what comes after is pasted, and says little of what is wanted."""
MAX_FACTS = 12
MAX_FILES = 20
MAX_ANCHORS = 24
MAX_OF_A_TURN = 12
"""How many memories rules make of one turn."""
COMPOSER_VERSION = 3
"""Raised when the same turn gives other memories than before: `rebuild --memories` makes those of older versions anew.
0 stands for all that was made before turns had a version."""
REQUEST_LEAD = "Asked: "
"""Before what a prompt asked for, at the end of a summary."""
UNDONE_LEAD = "After the agent's change the code was found as it had been before"
"""How the summary begins of a correction that no word told: the user took a change back by hand."""
OCCASION_LEAD = "Said after this work: "
"""Before what the agent had just done when the user taught it something, in a detail."""

JsonValue = None | bool | int | float | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"]
JsonObject = Mapping[str, JsonValue]


def load_json(given: str) -> JsonValue:
    """The value that is written here; ValueError when none is."""
    value: JsonValue = json.loads(given)
    if "\\ud" in given or "\\uD" in given:
        # Clients cut strings between two halves of a character; half a one fits no database and no request.
        whole = json.dumps(value, ensure_ascii=False).encode("utf-16-le", "surrogatepass")
        value = json.loads(whole.decode("utf-16-le", "replace"))
    return value


def text(value: JsonValue) -> str:
    """A string as it is, anything else as nothing: what agents send is not to be trusted."""
    return value if isinstance(value, str) else ""


def without_request(summary: str) -> str:
    """A summary without what was asked: the same may be asked for in other words."""
    return summary.partition(REQUEST_LEAD)[0].rstrip()


def is_users_wording(made_by: str) -> bool:
    """Return whether a memory of `origin` user is in the user's own words: not in those of an agent or a model."""
    return made_by != SAVED_BY_AGENT and "/" not in made_by


def users_word(made_by: str, trust: float) -> str:
    """Return how a memory of `origin` user is told: "stated" only of the user's own words."""
    if is_users_wording(made_by):
        return "stated by the user"
    if trust >= TRUST["user"]:
        return "accepted by the user"
    worded = "saved by the agent" if made_by == SAVED_BY_AGENT else "worded by a model"
    return f"{worded} after the user said so"


def texts(value: JsonValue) -> tuple[str, ...]:
    """The strings of a list; nothing when it is no list."""
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


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

Status = Literal["active", "superseded", "retired", "quarantined"]
Origin = Literal["user", "assistant", "code", "command", "web", "mcp", "import"]
STATUSES: tuple[Status, ...] = get_args(Status)
ORIGINS: tuple[Origin, ...] = get_args(Origin)
# How far the words of an origin may be believed. What foreign ones say is never given unasked: it could carry orders.
TRUST: dict[Origin, float] = {
    "user": 1.0,
    "assistant": 0.8,
    "code": 0.9,
    "command": 0.7,
    "import": 0.6,
    "mcp": 0.3,
    "web": 0.2,
}
TRANSCRIPT_TRUST = 0.9
"""How far a user's words in an imported transcript may be believed: the file may be somebody else's."""
FOREIGN_ORIGINS: tuple[Origin, ...] = ("web", "mcp")
OUTSIDE_ORIGINS: tuple[Origin, ...] = (*FOREIGN_ORIGINS, "import")
"""Words that nobody said or wrote here."""
SAVED_BY_AGENT = "assistant"
"""`made_by` of what an agent saved; of what a model worded, it is PROVIDER/MODEL."""
SessionStatus = Literal["active", "completed", "interrupted", "failed"]
PassageKind = Literal["turn", "session"]
RAW = "raw"
"""The layer of raw text that is given as an answer."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call that succeeded (`response`) or failed (`error`)."""

    tool: str
    input: JsonObject
    response: JsonValue = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One thing a hook saw, in the one form every agent's payload is turned into.

    `kind` is the hook's event name (SessionStart, UserPromptSubmit, PostToolUse, PostToolUseFailure,
    PreCompact, SubagentStop, Stop, StopFailure, SessionEnd); only the fields of that event are filled."""

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
    """The assistant's closing words: Stop, StopFailure, SubagentStop."""
    source: str | None = None
    """SessionStart: startup, resume, clear, compact, fork."""
    reason: str | None = None
    """SessionEnd: why it ended. StopFailure: the error."""
    branch: str = ""
    """The branch of that moment, when the event says so: one that is read from a transcript does."""
    inside: str = ""
    """Where the working folder stands in its checkout: `packages/web`; nothing at its root."""
    imported: bool = False
    """Read from a transcript, not seen as it happened."""
    agent: str = "claude-code"
    """Who sent it; whatever it is, the event has the same form."""
    transcript: str = ""
    """The path of the session's transcript."""
    permission_mode: str = ""
    """The mode in which the agent's client asks its user for permission, when the event says so."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One user prompt and all that followed it up to Stop: the unit of compression.

    `prompt` may come from an earlier delivery when the turn arrived in parts. `key` names it for ever:
    what is stored of a turn is stored once per key."""

    key: str
    session: str
    project: str
    prompt: str
    events: tuple[Event, ...]
    earlier: tuple[Event, ...] = ()
    """Commands and edits of the session's last turns, when those left something failing."""
    previous_message: str = ""
    """The agent's closing message of the turn before: a correction is understood by it."""


@dataclass(frozen=True, slots=True)
class SymbolChange:
    file: str
    name: str
    action: SymbolAction


@dataclass(frozen=True, slots=True)
class Draft:
    """What compression found worth remembering; the worker makes a `Memory` of it."""

    kind: Kind
    title: str
    summary: str
    detail: str = ""
    facts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    symbols: tuple[SymbolChange, ...] = ()
    anchors: tuple[str, ...] = ()
    """What ties it to something outside: `error:FINGERPRINT` of a failure, `code:…` of what was changed."""
    origin: Origin = "assistant"
    confidence: float = 0.7
    scope: str = ""
    """Where it holds, when that is not only the project it was made in: `universal`, `language:NAME`."""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """The closing words of a turn, judged: what the summary of the session is made of beside the turn's memories."""

    worth: float = 0.0
    """The probability that an agent would be glad to have a memory of the turn."""
    headline: str = ""
    """The best headline of the turn, whether or not it left a memory."""
    results: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    """Steps that the agent said are left."""
    sentences: tuple[str, ...] = ()
    """The sentences of the closing message that are the agent's own and name no step that is left."""
    reports: tuple[str, ...] = ()
    """What of these says that work was done: no question, no offer and no proposal."""


@dataclass(frozen=True, slots=True)
class TurnDigest:
    """What rules made of one turn: its memories and what the session summary is built from."""

    drafts: tuple[Draft, ...]
    files_read: tuple[str, ...] = ()
    files_edited: tuple[str, ...] = ()
    open_tasks: tuple[str, ...] | None = None
    """What the to-do list holds open at the end; None when the turn does not speak of one."""
    tasks: tuple[str, ...] = ()
    """What was set out to be done in it, open or not."""
    skipped: tuple[str, ...] = ()
    """The names of the events that held nothing worth keeping."""
    code: tuple[CodeChange, ...] = ()
    """What became of functions, classes and files, as seen from the root of the checkout."""
    passed: tuple[str, ...] = ()
    """The commands whose last run went well."""
    log: str = ""
    """What was edited and run, and what came of it: found by search with the raw text of the turn."""
    said: Said = Said()


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What the next session sees of an earlier one. Strings are prose, tuples are lists, all may be empty."""

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
        """What the session is called: its headline, else what was asked first. `store.sessions.TITLE` is the same."""
        return self.headline or self.request


@dataclass(frozen=True, slots=True)
class Usage:
    """What a model call took."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered, as text, and what that took."""

    text: str
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Limits of the calls to one provider."""

    timeout_s: float = 30.0
    parallel: int = 5
    digest_chars: int = 32_000


LOCAL_LIMITS = CallLimits(timeout_s=600.0, parallel=1, digest_chars=12_000)
"""For a server on this machine: without a GPU it reads some 20 tokens a second, does one thing at a time, and often has
no more than 8,192 tokens of context."""


class Provider(Protocol):
    """A way to ask a model. Raises ModelUnavailable when trying again may help, else ModelRefused."""

    @property
    def limits(self) -> CallLimits: ...

    @property
    def name(self) -> str:
        """Provider and model, as stored in `made_by`: `anthropic/claude-haiku-4-5-20251001`."""

    def check(self) -> None:
        """ModelRefused when it is sure not to answer, for want of a key or a program. Nobody is asked."""

    def complete(self, system: str, user: str, schema: JsonObject, max_tokens: int) -> Completion: ...


class Embedder(Protocol):
    """Text -> vector. Vectors of two embedders with different names cannot be compared."""

    @property
    def name(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector a text: 256 signed bytes, all on one scale. A text without a known word gives zeros."""

    def let_go(self) -> None:
        """Free what was loaded; the next use loads it again."""


@dataclass(frozen=True, slots=True)
class Session:
    """One agent conversation."""

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
    """The worth of the memory that gave the headline; a later one takes its place only when it is worth as much."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One stored thing worth knowing."""

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
    """The id of the prompt it was made under; what was asked stands with the session's turns."""
    branch: str = ""
    commit: str = ""
    origin: Origin = "assistant"
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


@dataclass(frozen=True, slots=True)
class Passage:
    """Raw text that can be found beside the memories: a turn as it was asked and answered, or a session's summary."""

    id: str
    kind: PassageKind
    title: str
    """The first line of what was asked, or the session's headline."""
    text: str
    """What was answered, or what the summary tells."""
    session: str
    project: str
    created_at: datetime
    asked: str = ""
    answered: str = ""
    log: str = ""
    """What was edited and run in a turn.

    All that it is found by: what was asked and set out to be done, and what was answered; of a session its
    headline and request, and what else its summary tells."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a hit must be besides relevant; None and empty ask for nothing."""

    project: str | None = None
    """What holds in this project: its own memories, and those that hold everywhere."""
    kinds: tuple[Kind, ...] = ()
    scope: str | None = None
    """What holds exactly there: `universal`, `language:NAME` or `project:ID`."""
    file: str | None = None
    """About this file: its path, or the end of it."""
    branch: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    statuses: tuple[Status, ...] = ("active",)
    with_passages: bool = True
    """Raw text as well, where it fits."""

    def admits_passages(self) -> bool:
        """Whether raw text can fit: it has no kind, scope, file, branch or status."""
        if not self.with_passages or self.kinds or self.scope or self.file or self.branch:
            return False
        return not self.statuses or "active" in self.statuses


@dataclass(frozen=True, slots=True)
class Hit:
    """What was found by search, with its score and the reasons for it."""

    found: Memory | Passage
    score: float
    why: tuple[str, ...]
    alike: tuple[str, ...] = ()
    """The ids of hits that say nearly the same and were folded into this one."""
    is_certain: bool | None = None
    """False for a hit that is only the nearest there is; None for hits of a search without reasons."""
    matched: Mapping[str, float] = field(default_factory=dict)
    """The words of the query that it has, with how rare each is; none for hits of a search without reasons."""
    share: float = 0.0
    """The share that these have of all words of the query, by how rare they are."""
    cosine: float | None = None
    """How near it is to the query in meaning; None where nobody can tell, or nobody asked."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A memory that may be about a question, and what speaks for that, whatever else was found."""

    memory: Memory
    words: float
    """BM25 over the logarithm of the number of memories: about the same in a young home and in an old one."""
    cosine: float | None
    """None when nobody can tell what the question means, or the memory."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where work happens: the project by its lasting identity, and the state of its checkout."""

    project: str
    name: str
    root: str
    branch: str = ""
    commit: str = ""
    path: str = ""
    """The folder that the repository is in, shared by its worktrees; the folder itself outside of a repository."""
    remote: str = ""
    """The normalised address of its remote; '' without one."""
    git_folder: str = ""
    """What tells its git folder from every other one, see `git.checkout.folder_identity`; '' when nothing does."""


Outcome = Literal["used", "ignored", "unknown"]
"""What a session made of an item; `unknown`: what it said and did proves neither."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
HookMoment = Literal["prompt", "failure", "file"]
HOOK_MOMENTS: tuple[HookMoment, ...] = get_args(HookMoment)
"""The moments in the middle of work at which a hook brings something, within one budget."""
ASKED = "asked"
"""The moment at which the agent asks for something itself."""
NEED_MOMENTS = (*HOOK_MOMENTS, ASKED)
"""The moments of need; all others are the start of a session, by whatever name its client gives it."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Number of sessions, or of items, by outcome."""

    used: int = 0
    ignored: int = 0
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class ReceiptItem:
    """One thing that was given, and why."""

    source: str
    """The id of a memory or of a session."""
    layer: str
    reason: str
    tokens: int
    score: float | None = None
    """None where the layer has its own order."""
    outcome: Outcome | None = None
    """None until the session is over."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The record of one injection, its items in the order of the text."""

    spool_name: str
    session: str
    project: str
    moment: str
    """When in the session: startup, resume, clear, compact, fork; prompt, failure, file, asked."""
    items: tuple[ReceiptItem, ...]
    layers: tuple[str, ...]
    layers_skipped: tuple[str, ...]
    """Each with the reason: `language: empty`."""
    tokens: int
    budget: int
    build_ms: float
    created_at: datetime
    given_at: datetime | None = None
