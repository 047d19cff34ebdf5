"""The API of the index: how much of it is still to be made, and having it made anew."""

from fastapi import APIRouter

from claude_mem_lite.store import unindexed
from claude_mem_lite.worker.api import Running, opened, wait

router = APIRouter(prefix="/api")


@router.get("/index")
def index(loop: Running) -> dict[str, object]:
    """How many documents are to be worked on, of how many, and why there are no vectors."""
    with opened(loop.home.memory_db) as db:
        return {
            "waiting": loop.indexing.waiting(db),
            "documents": unindexed.count_documents(db),
            "problem": loop.indexing.problem,
        }


@router.post("/rebuild")
def rebuild(loop: Running) -> dict[str, object]:
    """Have everything derived made anew; answers when that has begun."""
    wait(loop.rebuild())
    return index(loop)
