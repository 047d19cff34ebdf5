"""API of settings, the trial of a model, the search index, backups and recoveries."""

import os
from contextlib import closing

from claude_mem_lite.config_loader import settings_in_force
from claude_mem_lite.db import backup_files, recovery_log
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.responses.encoding import response_from
from claude_mem_lite.responses.status import (
    CorruptIndexes,
    IndexState,
    ModelTrial,
    NewBackup,
    RebuildStarted,
    Recoveries,
    Settings,
    ShownRecovery,
)
from claude_mem_lite.store.index import fts, index_queue, passages, vectors
from claude_mem_lite.worker.api.routing import Router, Running, wait

_MODEL_TIMEOUT_S = 125.0
_BACKUP_TIMEOUT_S = 600.0
router = Router(prefix="/api")


@router.get("/settings")
def settings(services: Running, cwd: str) -> Settings:
    """Return every setting in force in a folder, with the environment of this worker."""
    return settings_in_force(services.home.config, os.environ, cwd)


@router.post("/model/try")
def try_model(services: Running) -> ModelTrial:
    """Ask the model for one word, within the caps."""
    started = services.writes.execute_write(lambda _: services.models.probe())
    return started.result(_MODEL_TIMEOUT_S).result(_MODEL_TIMEOUT_S)


@router.get("/index")
def index(services: Running) -> IndexState:
    """Return the progress of indexing."""
    with closing(services.readers.open()) as db:
        return IndexState(
            waiting=services.indexing.waiting(db),
            documents=vectors.count_documents(db),
            problem=services.indexing.problem,
            failure=services.passes.failure,
        )


@router.get("/index/damage")
def damage(services: Running) -> CorruptIndexes:
    """Return the corrupt word indexes. The job thread checks them, because the check is a write for SQLite."""
    is_corrupt = wait(
        services.writes.execute_write(lambda db: {"memories": fts.is_corrupt(db), "passages": passages.is_corrupt(db)})
    )
    return CorruptIndexes(tuple(name for name, corrupt in is_corrupt.items() if corrupt))


@router.post("/rebuild")
def rebuild(services: Running) -> RebuildStarted:
    """Start a rebuild of all derived data, or join a running rebuild."""
    with closing(services.readers.open()) as db:
        joined = index_queue.count(db, words_only=True) > 0
    if not joined:
        wait(services.rebuild_derived())
    return response_from(RebuildStarted, index(services), joined=joined)


@router.post("/backup")
def make(services: Running) -> NewBackup:
    """Make a backup, and respond when the backup is complete and checked."""
    future = services.backups.make_soon()
    services.writes.wake()
    try:
        backup = future.result(_BACKUP_TIMEOUT_S)
    except TimeoutError:
        raise MemoryLiteError(
            "the backup takes long", "`claude-mem-lite backup --list` shows it when it is made"
        ) from None
    contents = backup_files.contents_of(backup.path)
    return NewBackup(
        path=str(backup.path),
        bytes=backup.size,
        made_at=backup.made_at.isoformat(),
        memories=contents.memories,
        sessions=contents.sessions,
        last_event_at=contents.last_event_at or None,
    )


@router.get("/recoveries")
def recovered(services: Running) -> Recoveries:
    """Return successful and failed recoveries, oldest first."""
    recoveries = recovery_log.all_of(services.home)
    return Recoveries(
        tuple(response_from(ShownRecovery, each, sentence=recovery_log.sentence(each)) for each in recoveries)
    )
