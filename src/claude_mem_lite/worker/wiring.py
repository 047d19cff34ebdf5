"""The composition root: opens the databases and puts the job loop together."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from claude_mem_lite.compress.model.providers.choose import make_provider
from claude_mem_lite.db import lineage, progress
from claude_mem_lite.db.connection import Counting, open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, MEMORY_MIGRATIONS, migrate
from claude_mem_lite.db.open_files import OpenFiles
from claude_mem_lite.embed.table import StaticTable
from claude_mem_lite.models import Embedder
from claude_mem_lite.paths import Home
from claude_mem_lite.worker import recovering
from claude_mem_lite.worker.catching_up import Databases, back_up_before_migrating, catch_up, mend_words
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
    """A job loop over sound and up-to-date databases, which are closed at the end."""
    had_damage = recovering.prepare(home, clock())
    with (
        closing(open_for_writing(home.inbox_db)) as inbox_db,
        closing(open_for_writing(home.memory_db, Counting)) as memory_db,
    ):
        migrate(inbox_db, INBOX_MIGRATIONS, clock())
        back_up_before_migrating(home, clock(), memory_db)
        migrate(memory_db, MEMORY_MIGRATIONS, clock())
        was_suspect = mend_words(home, memory_db)  # first: what is forgotten again leaves the indexes too
        is_caught_up = catch_up(home, Databases(inbox_db, memory_db), clock())
        progress.begin(memory_db)
        files = OpenFiles(home)
        files.write_record(home.open_files, lineage.of(memory_db))
        loop = Loop(home, files, inbox_db, memory_db, clock, make_provider, embedder or StaticTable())
        if is_caught_up:
            loop.backing_up.want_soon()
        if was_suspect and not (had_damage or is_caught_up):
            loop.note_unfounded()
        with closing(loop.readers), closing(loop.inbox_readers):
            yield loop
        has_ended_well = not files.trouble()
    if has_ended_well:  # else the next worker has to know which logs are of which database
        home.open_files.unlink(missing_ok=True)
