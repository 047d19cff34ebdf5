"""The composition root: opens the databases and puts the job loop together."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from claude_mem_lite.compress.model.providers.choose import make_provider
from claude_mem_lite.db.connection import open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, MEMORY_MIGRATIONS, migrate
from claude_mem_lite.embed.table import StaticTable
from claude_mem_lite.models import Embedder
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.clock import Clock, utc_now
from claude_mem_lite.worker.loop import Loop
from claude_mem_lite.worker.modelling import MakeProvider


@contextmanager
def open_loop(
    home: Home,
    clock: Clock = utc_now,
    make_provider: MakeProvider = make_provider,
    embedder: Embedder | None = None,
) -> Iterator[Loop]:
    """A job loop over up-to-date databases, which are closed at the end."""
    with (
        closing(open_for_writing(home.inbox_db)) as inbox_db,
        closing(open_for_writing(home.memory_db)) as memory_db,
    ):
        migrate(inbox_db, INBOX_MIGRATIONS, clock())
        migrate(memory_db, MEMORY_MIGRATIONS, clock())
        loop = Loop(home, inbox_db, memory_db, clock, make_provider, embedder or StaticTable())
        with closing(loop.readers):
            yield loop
