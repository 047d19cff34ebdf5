"""The API of backups: have one made now, and hear what was restored."""

from dataclasses import asdict

from claude_mem_lite.db import backup_files, recovery_log
from claude_mem_lite.db.backup_files import Backup
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.worker.api.routing import Router
from claude_mem_lite.worker.api.status import Running

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
        "recoveries": [
            {**asdict(one), "sentence": recovery_log.sentence(one)} for one in recovery_log.all_of(loop.home)
        ]
    }


def _told(backup: Backup) -> dict[str, object]:
    contents = backup_files.contents_of(backup.path)
    return {
        "path": str(backup.path),
        "bytes": backup.size,
        "made_at": backup.made_at.isoformat(),
        "memories": contents.memories,
        "sessions": contents.sessions,
        "last_event_at": contents.last_event_at or None,
    }
