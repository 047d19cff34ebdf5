"""The API of settings: what is in force in a folder and who said so, and a trial of the model that they name.

The API of the index: how much of it is still to be made, and having it made anew.

The API of backups: have one made now, and hear what was restored."""

import os
from contextlib import closing
from dataclasses import asdict

from claude_mem_lite.config_loader import settings_told
from claude_mem_lite.db import backup_files, recovery_log
from claude_mem_lite.db.backup_files import Backup
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import JsonObject
from claude_mem_lite.store.index import fts, index_queue, passages, vectors
from claude_mem_lite.worker.api.routing import Router
from claude_mem_lite.worker.api.status import Running, wait

_ANSWER_WITHIN_S = 125.0
router = Router(prefix="/api")


@router.get("/settings")
def settings(loop: Running, cwd: str) -> JsonObject:
    """Every setting as this worker has it, with its own environment, in a folder."""
    return settings_told(loop.home.config, os.environ, cwd)


@router.post("/model/try")
def try_model(loop: Running) -> dict[str, object]:
    """Ask the model for one word, within the caps; what came of it."""
    tried = loop.call(lambda _: loop.modelling.try_out()).result(_ANSWER_WITHIN_S).result(_ANSWER_WITHIN_S)
    return asdict(tried)


@router.get("/index")
def index(loop: Running) -> dict[str, object]:
    """How many documents are to be worked on, of how many, and why there are no vectors, or nothing goes on."""
    with closing(loop.readers.open()) as db:
        return {
            "waiting": loop.indexing.waiting(db),
            "documents": vectors.count_documents(db),
            "problem": loop.indexing.problem,
            "failure": loop.failure,
        }


@router.get("/index/damage")
def damage(loop: Running) -> dict[str, object]:
    """Which word indexes are damaged. By the job thread, because to SQLite this check is a write."""
    are_damaged = wait(loop.call(lambda db: {"memories": fts.is_corrupt(db), "passages": passages.is_corrupt(db)}))
    return {"damaged": [name for name, is_so in are_damaged.items() if is_so]}


@router.post("/rebuild")
def rebuild(loop: Running) -> dict[str, object]:
    """Have everything derived made anew; answers when that has begun, be it earlier."""
    with closing(loop.readers.open()) as db:
        joined = index_queue.count(db, words_only=True) > 0
    if not joined:
        wait(loop.rebuild())
    return {**index(loop), "joined": joined}


_MAX_S = 600.0


@router.post("/backup")
def make(loop: Running) -> dict[str, object]:
    """A backup made now; answers when it is complete and checked."""
    future = loop.backing_up.make_soon()
    loop.wake()
    try:
        return _told(future.result(_MAX_S))
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
