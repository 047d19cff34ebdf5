"""The composition root: opens the databases and puts the job loop together."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from claude_mem_lite.compress.model.provider_setup import make_provider
from claude_mem_lite.db import change_counter, file_marks
from claude_mem_lite.db.checkpoints import Checkpoints
from claude_mem_lite.db.connection import Counting, Watched, open_for_writing, open_to_hold
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, MEMORY_MIGRATIONS, migrate
from claude_mem_lite.db.open_files import OpenFiles
from claude_mem_lite.embed.embedder import shared_table
from claude_mem_lite.models import Embedder
from claude_mem_lite.paths import Home
from claude_mem_lite.timestamps import Clock, utc_now
from claude_mem_lite.worker import recovery_startup
from claude_mem_lite.worker.loop import Loop
from claude_mem_lite.worker.models.scheduler import MakeProvider
from claude_mem_lite.worker.recovery_replay import Databases, back_up_before_migrating, catch_up, mend_words


@contextmanager
def open_loop(
    home: Home,
    clock: Clock = utc_now,
    make_provider: MakeProvider = make_provider,
    embedder: Embedder | None = None,
) -> Iterator[Loop]:
    """A job loop over sound and up-to-date databases, which are closed at the end."""
    has_record = home.open_files.exists()
    had_damage = recovery_startup.prepare(home, clock())
    with (
        ExitStack() as after_databases,
        closing(_open(home.inbox_db, Watched)) as inbox_db,
        closing(_open(home.memory_db, Counting)) as memory_db,
    ):
        databases = {home.inbox_db: inbox_db, home.memory_db: memory_db}
        migrate(inbox_db, INBOX_MIGRATIONS, clock())
        back_up_before_migrating(home, clock(), memory_db)
        migrate(memory_db, MEMORY_MIGRATIONS, clock())
        was_suspect = mend_words(home, memory_db)  # first: what is forgotten again leaves the indexes too
        is_caught_up = catch_up(home, Databases(inbox_db, memory_db), clock())
        change_counter.begin(memory_db)
        files = after_databases.enter_context(closing(OpenFiles(home)))
        files.write_record(home.open_files, change_counter.lineage_of(memory_db))
        checkpoints = after_databases.enter_context(closing(Checkpoints(files, databases)))
        holding = [after_databases.enter_context(closing(open_to_hold(path))) for path in databases]
        if has_record or had_damage or not all(map(file_marks.of, databases.values())):
            checkpoints.make_all()  # else a copy of before may have the same mark
        loop = Loop(home, files, checkpoints, inbox_db, memory_db, clock, make_provider, embedder or shared_table())
        if is_caught_up:
            loop.backing_up.want_soon()
        if was_suspect and not (had_damage or is_caught_up):
            loop.note_unfounded()
        with closing(loop.readers), closing(loop.inbox_readers):
            yield loop
        has_ended_well = not files.trouble()
        if has_ended_well:
            for db in databases.values():
                file_marks.renew(db)
        if not files.is_overwritten():  # else closing would bring pages of the log into another database
            for connection in holding:
                connection.close()
    if has_ended_well:  # else the next worker has to know which logs are of which database
        home.open_files.unlink(missing_ok=True)


def _open(path: Path, kind: type[Watched]) -> Watched:
    connection = open_for_writing(path, kind)
    assert isinstance(connection, Watched)
    return connection
