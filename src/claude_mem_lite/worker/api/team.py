"""API of the team: membership, sharing, preview, state, synchronisation, search on the server.

Connection strings and keys come in requests and never go through the inbox, which keeps its events for days. The
modules behind the handlers are imported on use: they import the driver of PostgreSQL."""

from typing import Annotated, Literal

from pydantic import Field

from claude_mem_lite.deadline import Deadline
from claude_mem_lite.responses.team import (
    TeamChoice,
    TeamHits,
    TeamInit,
    TeamInvitation,
    TeamLeft,
    TeamMembers,
    TeamPreview,
    TeamRepaired,
    TeamRevoked,
    TeamShared,
    TeamStatus,
    TeamSynced,
)
from claude_mem_lite.worker.api.routing import Body, Router, Running

SERVER_S = 20.0
"""Time for a command that asks the server."""
SYNC_S = 150.0
router = Router(prefix="/api/team")
Limit = Annotated[int, Field(ge=1, le=100)]


class Init(Body):
    url: str
    sealed: bool = False


class Administer(Body):
    url: str = ""
    """Address of the administrator; '' for the one of `init`."""


class Invite(Administer):
    name: str
    projects: list[str]
    new_password: bool = False


class Revoke(Administer):
    name: str


class Join(Body):
    url: str


class Leave(Body):
    purge: bool = False


class ShareProject(Body):
    project: str
    handoffs: bool = False


class UnshareProject(Body):
    project: str


class SetKey(Body):
    key: str


class Choose(Body):
    choice: Literal["share", "keep"]


@router.get("")
def status(services: Running, check: bool = False) -> TeamStatus:
    """Return the state of the team; with `check`, log in to the server now."""
    if not services.team.is_set_up():
        return TeamStatus()
    from claude_mem_lite.worker.team.state import team_status

    if not check:
        return team_status(services, check=False, deadline=Deadline.after(SERVER_S))
    with services.team.asking():
        return team_status(services, check=True, deadline=Deadline.after(SERVER_S))


@router.post("/init")
def init(wanted: Init, services: Running) -> TeamInit:
    from claude_mem_lite.worker.team import membership

    with services.team.asking():
        return membership.init(services, wanted.url, sealed=wanted.sealed, deadline=Deadline.after(SERVER_S))


@router.post("/invite")
def invite(wanted: Invite, services: Running) -> TeamInvitation:
    from claude_mem_lite.worker.team import membership

    with services.team.asking():
        return membership.invite(
            services,
            wanted.name,
            wanted.projects,
            url=wanted.url,
            new_password=wanted.new_password,
            deadline=Deadline.after(SERVER_S),
        )


@router.post("/revoke")
def revoke(wanted: Revoke, services: Running) -> TeamRevoked:
    from claude_mem_lite.worker.team import membership

    with services.team.asking():
        return membership.revoke(services, wanted.name, url=wanted.url, deadline=Deadline.after(SERVER_S))


@router.post("/members")
def members(wanted: Administer, services: Running) -> TeamMembers:
    from claude_mem_lite.worker.team import membership

    with services.team.asking():
        return membership.all_members(services, url=wanted.url, deadline=Deadline.after(SERVER_S))


@router.post("/join")
def join(wanted: Join, services: Running) -> TeamStatus:
    from claude_mem_lite.worker.team import membership, state

    with services.team.asking():
        membership.join(services, wanted.url, deadline=Deadline.after(SERVER_S))
        return state.team_status(services, check=True, deadline=Deadline.after(SERVER_S))


@router.post("/key")
def key(wanted: SetKey, services: Running) -> TeamStatus:
    from claude_mem_lite.worker.team import membership, state

    with services.team.asking():
        membership.set_key(services, wanted.key, deadline=Deadline.after(SERVER_S))
        services.team.request()
        return state.team_status(services, check=True, deadline=Deadline.after(SERVER_S))


@router.post("/leave")
def leave(wanted: Leave, services: Running) -> TeamLeft:
    from claude_mem_lite.worker.team import membership

    with services.team.asking():
        return membership.leave(services, purge=wanted.purge, deadline=Deadline.after(SYNC_S))


@router.post("/share")
def share(wanted: ShareProject, services: Running) -> TeamShared:
    from claude_mem_lite.worker.team import sharing

    with services.team.asking():
        return sharing.share(services, wanted.project, handoffs=wanted.handoffs, deadline=Deadline.after(SERVER_S))


@router.post("/unshare")
def unshare(wanted: UnshareProject, services: Running) -> TeamShared:
    from claude_mem_lite.worker.team import sharing

    return sharing.unshare(services, wanted.project)


@router.get("/preview")
def preview(services: Running, project: str = "") -> TeamPreview:
    from claude_mem_lite.worker.team import sharing

    with services.team.asking():
        return sharing.preview(services, project, deadline=Deadline.after(SERVER_S))


@router.post("/sync")
def sync(services: Running) -> TeamSynced:
    """Synchronise now and return the result."""
    with services.team.asking():
        done = services.team.wait_for_round(SYNC_S)
        return TeamSynced(done.pushed, done.pulled, done.code, done.message, done.next_step)


@router.post("/repair")
def repair(services: Running) -> TeamRepaired:
    from claude_mem_lite.worker.team import sharing

    with services.team.asking():
        return sharing.repair(services, deadline=Deadline.after(SYNC_S))


@router.get("/memories/{memory}")
def choice(memory: str, services: Running) -> TeamChoice:
    from claude_mem_lite.worker.team import sharing

    return sharing.choice(services, memory)


@router.post("/memories/{memory}")
def choose(memory: str, wanted: Choose, services: Running) -> TeamChoice:
    from claude_mem_lite.worker.team import sharing

    return sharing.choose(services, memory, wanted.choice)


@router.get("/search")
def search(services: Running, q: str, limit: Limit = 10) -> TeamHits:
    from claude_mem_lite.worker.team import sharing

    with services.team.asking():
        return sharing.search(services, q, limit, deadline=Deadline.after(SERVER_S))
