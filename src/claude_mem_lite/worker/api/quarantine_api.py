"""The API of the quarantine: what waits there for the user's word, and that word. Writes through the inbox."""

from contextlib import closing
from dataclasses import asdict

from pydantic import ConfigDict

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.knowledge import quarantine
from claude_mem_lite.models import Filters
from claude_mem_lite.store import memories
from claude_mem_lite.store.listing import listed
from claude_mem_lite.worker.api.routing import Body, Router
from claude_mem_lite.worker.api.status import Limit, Running, project_of, wait

router = Router(prefix="/api")


class Named(Body):
    """The memories that are meant, by their ids or the beginnings of them."""

    model_config = ConfigDict(extra="forbid")

    ids: list[str]


@router.get("/quarantine")
def waiting(
    loop: Running, cwd: str = "", all_projects: bool = True, project: str = "", limit: Limit = 50
) -> dict[str, object]:
    """What waits, newest first, each with the reason: of all projects, or what holds in a folder's."""
    wanted = Filters(project=project_of(loop, cwd, all_projects, project), statuses=("quarantined",))
    with closing(loop.readers.open()) as db:
        found = listed(db, wanted, limit)
    return {"memories": [{**asdict(one), "reason": quarantine.reason_of(one)} for one in found]}


@router.post("/quarantine/approve")
def approve(named: Named, loop: Running) -> dict[str, object]:
    """Let them out: they are found and told when asked."""
    ids = _in_quarantine(named, loop)
    for id_ in ids:
        wait(loop.command({"command": "approve", "id": id_}))
    return {"approved": ids}


@router.post("/quarantine/drop")
def drop(named: Named, loop: Running) -> dict[str, object]:
    """Forget them for good."""
    ids = _in_quarantine(named, loop)
    return {"dropped": wait(loop.command({"command": "drop", "ids": list(ids)}))}


def _in_quarantine(named: Named, loop: Running) -> list[str]:
    """Their whole ids: the beginning of one may fit another when the command is replayed."""
    if not named.ids:
        raise MemoryLiteError("no memory is named", "`claude-mem-lite quarantine` lists what waits")
    with closing(loop.readers.open()) as db:
        found = [memories.get(db, id_) for id_ in dict.fromkeys(named.ids)]
    for memory in found:
        quarantine.must_wait(memory)
    return [memory.id for memory in found]
