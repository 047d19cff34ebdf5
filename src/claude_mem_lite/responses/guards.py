"""Responses about guards: lists, single guards with replay and ledger, changes, trials."""

from claude_mem_lite.responses.encoding import Response, response


@response
class GuardRule(Response):
    """Words and path patterns of a rule; a list that is empty narrows nothing."""

    commands: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    excepts: tuple[str, ...] = ()


@response
class GuardCounts(Response):
    """Number of firings, in total and by outcome."""

    fired: int = 0
    followed: int = 0
    overridden: int = 0
    got_round: int = 0
    false: int = 0
    unknown: int = 0
    """Firings of which the turn proves nothing, or whose turn is not over."""


@response
class GuardRate(Response):
    """Sessions with an occasion, and the calls in them that the guard matched."""

    sessions: int = 0
    violations: int = 0


@response
class ShownGuard(Response):
    """Guard with its figures."""

    id: str = ""
    project: str = ""
    status: str = ""
    mode: str = ""
    rule: GuardRule = GuardRule()
    words: str = ""
    """The rule in words: what a call must do for the guard to fire."""
    reason: str = ""
    instead: str = ""
    note: str = ""
    """Reason why the guard is doubtful or paused."""
    memory: str = ""
    tools: tuple[str, ...] = ()
    created_at: str = ""
    accepted_at: str = ""
    is_replayed: bool = False
    """False until the guard was run over past calls."""
    replayed_calls: int = 0
    """Past calls that the guard was run over; 0 without any history."""
    would_have_fired: int = 0
    """Past calls that the guard would have fired on."""
    in_sessions: int = 0
    counts: GuardCounts = GuardCounts()
    before: GuardRate = GuardRate()
    """Sessions before it was accepted, from the replay."""
    after: GuardRate = GuardRate()
    """Sessions since it was accepted, from the ledger."""


@response
class GuardList(Response):
    """Guards of a project or of all, those in force first."""

    guards: tuple[ShownGuard, ...] = ()


@response
class GuardReplay(Response):
    """Past calls that a guard was run over."""

    at: str = ""
    calls: int = 0
    sessions: int = 0
    since: str = ""
    until: str = ""
    is_whole: bool = True
    """False if older calls were left out."""


@response
class GuardMatch(Response):
    """Past call that a guard would have fired on."""

    session: str = ""
    at: str = ""
    tool: str = ""
    text: str = ""
    matched: str = ""
    outcome: str = ""
    is_after: bool = False
    """True if the user had stated the rule before."""
    was_let_pass: bool = False


@response
class GuardFiring(Response):
    """Firing of a guard in the ledger."""

    session: str = ""
    at: str = ""
    tool: str = ""
    decision: str = ""
    outcome: str = ""
    text: str = ""
    ms: float = 0.0


@response
class GuardFailure(Response):
    """Call that passed because the guard could not be checked."""

    at: str = ""
    reason: str = ""


@response
class GuardExample(Response):
    """Call that a guard keeps to test itself."""

    tool: str = ""
    text: str = ""


@response
class GuardSession(Response):
    """Session with an occasion, for the plot."""

    session: str = ""
    at: str = ""
    violations: int = 0
    is_after: bool = False
    """True for a session since the guard was accepted."""


@response
class GuardDetail(Response):
    """One guard with its replay, ledger and examples."""

    guard: ShownGuard = ShownGuard()
    replay: GuardReplay | None = None
    matches: tuple[GuardMatch, ...] = ()
    firings: tuple[GuardFiring, ...] = ()
    failures: tuple[GuardFailure, ...] = ()
    fires_on: GuardExample = GuardExample()
    passes_on: GuardExample = GuardExample()
    occasions: tuple[GuardSession, ...] = ()


@response
class GuardHooks(Response):
    """Project whose hook follows a change, and its folders."""

    project: str = ""
    folders: tuple[str, ...] = ()


@response
class GuardChange(Response):
    """Guard after a change, and where its hook follows."""

    guard: ShownGuard = ShownGuard()
    hooks: GuardHooks = GuardHooks()


@response
class GuardTrial(Response):
    """Answer of a guard to a call that was not made."""

    fires: bool = False
    matched: str = ""
    why: str = ""
    parts: tuple[str, ...] = ()
    """Simple commands that the line consists of."""
    guard: ShownGuard = ShownGuard()
