"""The API of the index: how much of it is still to be made, and having it made anew."""

from contextlib import closing

from claude_mem_lite.store.index import documents, fts, index_queue, passages
from claude_mem_lite.worker.api.routing import Router
from claude_mem_lite.worker.api.status import Running, wait

router = Router(prefix="/api")


@router.get("/index")
def index(loop: Running) -> dict[str, object]:
    """How many documents are to be worked on, of how many, and why there are no vectors, or nothing goes on."""
    with closing(loop.readers.open()) as db:
        return {
            "waiting": loop.indexing.waiting(db),
            "documents": documents.count(db),
            "problem": loop.indexing.problem,
            "failure": loop.failure,
        }


@router.get("/index/damage")
def damage(loop: Running) -> dict[str, object]:
    """Which word indexes are damaged. By the job thread, because to SQLite this check is a write."""
    are_damaged = wait(loop.call(lambda db: {"memories": fts.is_damaged(db), "passages": passages.is_damaged(db)}))
    return {"damaged": [name for name, is_so in are_damaged.items() if is_so]}


@router.post("/rebuild")
def rebuild(loop: Running) -> dict[str, object]:
    """Have everything derived made anew; answers when that has begun, be it earlier."""
    with closing(loop.readers.open()) as db:
        joined = index_queue.count(db, words_only=True) > 0
    if not joined:
        wait(loop.rebuild())
    return {**index(loop), "joined": joined}
