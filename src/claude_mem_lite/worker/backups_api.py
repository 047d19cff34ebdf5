"""The API of backups: have one made now, and hear what was restored."""

from dataclasses import asdict

from claude_mem_lite.db import backups, recoveries
from claude_mem_lite.db.backups import Backup
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.worker.api import Running
from claude_mem_lite.worker.routing import Router

_LONGEST_S = 600.0
router = Router(prefix="/api")


@router.post("/backup")
def make(loop: Running) -> dict[str, object]:
    """A backup made now; answers when it is complete and checked."""
    future = loop.backing_up.make_soon()
    loop.wake()
    try:
        return _told(future.result(_LONGEST_S))
    except TimeoutError:
        raise MemoryLiteError(
            "the backup takes long", "`claude-mem-lite backup --list` shows it when it is made"
        ) from None


@router.get("/recoveries")
def recovered(loop: Running) -> dict[str, object]:
    """What was restored or could not be, oldest first."""
    return {
        "recoveries": [{**asdict(one), "sentence": recoveries.sentence(one)} for one in recoveries.all_of(loop.home)]
    }


def _told(backup: Backup) -> dict[str, object]:
    contents = backups.contents_of(backup.path)
    return {
        "path": str(backup.path),
        "bytes": backup.size,
        "made_at": backup.made_at.isoformat(),
        "memories": contents.memories,
        "sessions": contents.sessions,
        "last_event_at": contents.last_event_at or None,
    }
