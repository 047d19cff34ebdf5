"""Team: state, preview, members, and results of the commands."""

from dataclasses import field

from claude_mem_lite.responses.encoding import Response, response


@response
class TeamProject(Response):
    """Project of the team, as seen from this device."""

    name: str = ""
    """Name of the local project; the name on the server if there is no local one."""
    project: str = ""
    """Id of the local project; '' if the project is not on this machine."""
    key: str = ""
    is_granted: bool = False
    """True if this member may read and write the project on the server."""
    is_shared: bool = False
    """True if the user shares the project from this device."""
    handoffs: bool = False
    """True if open work is shared too."""
    sent: int = 0
    received: int = 0
    """Number of received memories that are stored."""


@response
class TeamAuthor(Response):
    """Member whose memories this device has received."""

    name: str = ""
    memories: int = 0
    last_at: str = ""


@response
class ParkedEntry(Response):
    """Entry that could not be sent or applied."""

    uid: str = ""
    direction: str = ""
    """`out` or `in`."""
    device: str = ""
    seq: int = 0
    author: str = ""
    code: str = ""
    next_step: str = ""


@response
class TeamStatus(Response):
    """State of the team on this device."""

    is_joined: bool = False
    member: str = ""
    device: str = ""
    is_sealed: bool = False
    has_key: bool = False
    reached: bool = False
    """True if the server accepted the login a moment ago."""
    code: str = ""
    """Reason code of the failure; '' without one."""
    message: str = ""
    next_step: str = ""
    waiting_out: int = 0
    """Number of changes that are not on the server yet."""
    waiting_in: int = 0
    """Number of entries on the server that are not here yet; 0 if the server was not reached."""
    parked: tuple[ParkedEntry, ...] = ()
    projects: tuple[TeamProject, ...] = ()
    authors: tuple[TeamAuthor, ...] = ()
    last_sync_at: str | None = None
    last_failure_at: str | None = None


@response
class PreviewedMemory(Response):
    """Memory that would be sent, with its body exactly as sent."""

    id: str = ""
    project: str = ""
    kind: str = ""
    title: str = ""
    body: str = ""
    is_sent: bool = False
    """True if the server has this very body already."""


@response
class HeldBack(Response):
    """Number of memories that stay here for one reason."""

    code: str = ""
    reason: str = ""
    memories: int = 0
    examples: tuple[str, ...] = ()
    """Ids of some of the memories."""


@response
class TeamPreview(Response):
    """Everything that would leave this device."""

    memories: tuple[PreviewedMemory, ...] = ()
    held_back: tuple[HeldBack, ...] = ()
    more: int = 0
    """Number of further memories that would be sent and are not listed."""


@response
class TeamInit(Response):
    """Result of `team init`."""

    team: str = ""
    migrations: tuple[str, ...] = ()
    """Applied steps of the schema."""
    has_vectors: bool = False
    is_sealed: bool = False
    key: str = ""
    """New team key, shown once; '' for an open team."""


@response
class TeamInvitation(Response):
    """Result of `team invite`. `url` is shown once and stored nowhere."""

    name: str = ""
    url: str = ""
    """Connection string; '' if the member keeps the password."""
    projects: tuple[str, ...] = ()


@response
class TeamMember(Response):
    """Member of the team."""

    name: str = ""
    projects: tuple[str, ...] = ()
    invited_at: str = ""
    revoked_at: str | None = None
    devices: int = 0
    synchronised_at: str | None = None
    """Time of the last synchronisation of any device."""


@response
class TeamMembers(Response):
    """All members of the team."""

    members: tuple[TeamMember, ...] = ()


@response
class TeamRevoked(Response):
    """Result of `team revoke`."""

    name: str = ""


@response
class TeamSynced(Response):
    """Result of a synchronisation."""

    pushed: int = 0
    pulled: int = 0
    code: str = ""
    message: str = ""
    next_step: str = ""


@response
class TeamShared(Response):
    """Result of `team share` and `team unshare`."""

    project: str = ""
    name: str = ""
    remote: str = ""
    is_shared: bool = False
    handoffs: bool = False
    marked: int = 0
    """Number of memories that are considered at the next synchronisation."""


@response
class TeamRepaired(Response):
    """Result of `team repair`."""

    requeued: int = 0
    """Number of parked entries that will be sent again."""
    applied: int = 0
    """Number of parked received entries that could be applied."""
    still_parked: int = 0


@response
class TeamLeft(Response):
    """Result of `team leave`."""

    purged: int = 0
    """Number of memories that were removed from the server."""
    forgotten: int = 0
    """Number of received memories that were removed here."""


@response
class TeamChoice(Response):
    """Choice of the user about one memory: the result of `share` and `keep`, and the state on the memory's page."""

    id: str = ""
    title: str = ""
    choice: str = ""
    """`share`, `keep`, or '' without a choice."""
    reason: str = ""
    """Reason why the memory stays here all the same; '' if it may go."""


@response
class TeamHitRow(Response):
    """Hit of `search --team`."""

    uid: str = ""
    project: str = ""
    kind: str = ""
    title: str = ""
    summary: str = ""
    author: str = ""
    created_at: str = ""
    score: float = 0.0
    facts: tuple[str, ...] = field(default=())


@response
class TeamHits(Response):
    """Hits of `search --team`, best first."""

    hits: tuple[TeamHitRow, ...] = ()
    is_sealed: bool = False
