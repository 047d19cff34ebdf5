"""`import claude-mem`: what another product has kept, taken over row by row."""

import difflib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click

from claude_mem_lite import pauses
from claude_mem_lite.cli.options import (
    also_paused_option,
    chosen_home,
    connect,
    folders_option,
    json_option,
    require_named,
    require_there,
)
from claude_mem_lite.cli.output import Advance, items, plain, progress
from claude_mem_lite.cli.transfer.claude_mem_report import ProjectTold, Report, tell
from claude_mem_lite.cli.transfer.send_with_retry import Sending, interrupted_after
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.responses import part
from claude_mem_lite.config import Config, is_excluded
from claude_mem_lite.config_loader import load_config
from claude_mem_lite.errors import MemoryLiteError, unreadable
from claude_mem_lite.importers.claude_mem_db import TABLES, Kept, KeptRow, KeptSession, NotTaken, RowKind, left_tables
from claude_mem_lite.importers.claude_mem_file import NAME, open_copy, own_database
from claude_mem_lite.importers.claude_mem_projects import KnownSession, Mapped, Projects, parents
from claude_mem_lite.importers.claude_mem_rows import key_of, to_memory, to_said, to_session
from claude_mem_lite.importers.transcripts import own_folders
from claude_mem_lite.models import JsonObject
from claude_mem_lite.text import counted

# A batch is stored in one go, and a hook that wants an answer waits meanwhile.
BATCH_ROWS = 100
BATCH_CHARACTERS = 1_000_000
_ASKED_AT_ONCE = 1_000
_KINDS: tuple[RowKind, ...] = tuple(TABLES)


@click.command("claude-mem", short_help="Import the database of claude-mem, another product.")
@click.argument("database", metavar="[DB]", required=False, type=click.Path(readable=False, path_type=Path))
@folders_option("The folder of a project that claude-mem knows by this name; may be repeated.")
@click.option("--dry-run", is_flag=True, help="Only tell what would be imported, and to which projects.")
@also_paused_option
@json_option
def claude_mem(
    database: Path | None, chosen: Mapping[str, str], dry_run: bool, also_paused: bool, as_json: bool
) -> None:
    """Import the database of claude-mem, another product.

    Takes over its observations as memories, its session summaries and your prompts, with their dates and projects.
    DB is the file, or the folder it is in; ~/.claude-mem if not given. It is read from a copy: neither the file nor
    anything beside it is changed, and claude-mem's worker may run meanwhile.

    claude-mem knows a project by the name of its folder alone. Which project of yours that is follows from where its
    sessions worked, as far as that is known from claude-mem itself, from your own sessions or from Claude Code's
    transcripts, or is said by --project. What nothing is known of becomes a project of that name; run it again with
    --project, and what came in by that name goes over to that folder's.

    Secrets and private passages are taken out, what gives orders to an agent waits in quarantine, what you have
    forgotten stays so, and folders you have excluded are left out. So is what was kept while this memory was off, or
    the folder was excluded, unless you name DB and give --also-paused. Running it again adds only what is new. Exits 1
    when there was nothing that could be read.

    \b
    Examples:
      claude-mem-lite import claude-mem --dry-run
      claude-mem-lite import claude-mem
      claude-mem-lite import claude-mem ~/backup/claude-mem.db --project shop=. --json
    """
    require_named(also_paused, database)
    path = _find(database)
    if not sys.stderr.isatty():
        click.echo(f"Reading {plain(path)}, {path.stat().st_size / 1e6:.1f} MB.", err=True)
    with open_copy(path) as db:
        kept = Kept(db)
        importing = Importing(kept, Sending(connect()), chosen, also_paused=also_paused)
        report = importing.report
        report.database = str(path)
        report.is_dry_run = dry_run
        try:
            importing.run()
        except KeyboardInterrupt:
            tell(report, as_json, stopped=True)
            click.echo("Stopped. What is imported is kept; run it again to go on.", err=True)
            raise
        finally:
            importing.finish()
        report.left = left_tables(kept)
    tell(report, as_json)
    if report.is_in_vain:
        raise MemoryLiteError(f"nothing in {plain(path)} could be read")


def _find(given: Path | None) -> Path:
    if given is not None:
        require_there(given)
    path = given or own_database(os.environ)
    try:
        path = path / NAME if path.is_dir() else path
        is_there = path.exists()
    except OSError as error:
        raise unreadable(path, error) from None
    if not is_there:
        asked = "name the file or the folder it is in" if given is None else "look whether the path is right"
        raise MemoryLiteError(f"there is no database of claude-mem at {plain(path)}", asked)
    return path


class Importing:
    """One import under way: sessions first, then what was said in them, then what was observed."""

    def __init__(self, kept: Kept, sending: Sending, chosen: Mapping[str, str], *, also_paused: bool) -> None:
        self._kept = kept
        self._sending = sending
        self._config: Config = load_config(chosen_home().config, os.environ)
        self.report = Report(schema=kept.version, found={kind: kept.count(kind) for kind in _KINDS})
        self._excluded: dict[str, bool] = {}
        self._forgotten: set[str] = set()
        self._projects = self._map(chosen)
        self._sent_sessions: set[str] = set()
        # After the worker was asked: it notes the pauses that nobody else has seen.
        self._pauses = [] if also_paused else pauses.load(chosen_home())

    def run(self) -> None:
        total = sum(self.report.found.values())
        with self._watched(total) as advance:
            done = 0
            for kind in _KINDS:
                for batch in _batches(self._wanted(kind)):
                    if not self.report.is_dry_run:
                        self._send(kind, batch)
                    done += len(batch)
                    advance(done)

    def finish(self) -> None:
        """Contexts that were rendered before it follow, also when it was stopped."""
        if self.report.has_changed:
            self._sending.ask(Client.finish_import)

    @contextmanager
    def _watched(self, total: int) -> Iterator[Advance]:
        what = "Looking through" if self.report.is_dry_run else "Importing"
        with progress(f"{what} {counted(total, 'row')}", total, in_bytes=False) as advance:
            yield advance

    def _map(self, chosen: Mapping[str, str]) -> Projects:
        sessions = list(self._kept.sessions.values())
        names = {session.project for session in sessions}
        for name in chosen:
            if name not in parents(names):
                near = difflib.get_close_matches(name, sorted(parents(names)), n=3, cutoff=0.5) or sorted(names)[:5]
                meant = " or ".join(map(plain, near)) or "another file"
                raise click.UsageError(f"claude-mem has no project {name!r}; did you mean {meant}?")
        seen: dict[str, KnownSession] = {}
        imported: dict[str, KnownSession] = {}
        named: dict[str, str] = {}
        for start in range(0, max(len(sessions), 1), _ASKED_AT_ONCE):
            ids = [session.id for session in sessions[start : start + _ASKED_AT_ONCE]]
            ask = partial(Client.known_of_claude_mem, sessions=ids, names=sorted(parents(names)))
            told = self._sending.ask(ask)
            seen |= _known(told, "sessions")
            imported |= _known(told, "imported")
            named |= {name: str(project) for name, project in part(told, "projects").items()}
            self._forgotten |= set(map(str, items(told, "forgotten")))
        return Projects(chosen, sessions, seen, named, own_folders(os.environ), imported)

    def _wanted(self, kind: RowKind) -> Iterator[tuple[KeptRow, Mapped]]:
        for row in self._kept.rows(kind):
            if isinstance(row, NotTaken):
                self.report.not_taken.append(row)
                continue
            if row.session in self._forgotten:
                self.report.counts[kind].forgotten += 1
                continue
            mapped = self._projects.of(row.project, row.session)
            folder = self._projects.folders.get(row.session) or mapped.root
            if folder and self._is_excluded(folder):
                self.report.counts[kind].excluded += 1
                continue
            if self._is_of_a_pause(kind, row, folder):
                self.report.counts[kind].paused += 1
                continue
            if self.report.is_dry_run:
                self._note(row, mapped)
            yield row, mapped

    def _is_of_a_pause(self, kind: RowKind, row: KeptRow, folder: str) -> bool:
        """Whether a row tells of a time in which memory was off or its folder excluded; a summary, of its session."""
        session = self._kept.sessions.get(row.session) if kind == "summary" else None
        began_at = min(session.started_at, row.at) if session and session.started_at else row.at
        began_ns, ended_ns = (int(at.timestamp() * 1e9) for at in (began_at, row.at))
        return pauses.covering(self._pauses, began_ns, ended_ns, [folder] if folder else []) is not None

    def _is_excluded(self, folder: str) -> bool:
        if folder not in self._excluded:
            self._excluded[folder] = is_excluded(self._config, folder)
        return self._excluded[folder]

    def _note(self, row: KeptRow, mapped: Mapped, is_in: str = "") -> None:
        """Report where a row is, or would go: one that was there may have stayed elsewhere."""
        if is_in and is_in != mapped.project:
            self.report.note(ProjectTold(row.project, is_in, "there"))
        else:
            self.report.note(ProjectTold(row.project, mapped.project, mapped.how, self._candidates(row, mapped)))

    def _candidates(self, row: KeptRow, mapped: Mapped) -> tuple[str, ...]:
        return tuple(self._projects.candidates(row.project)) if mapped.how == "own" else ()

    def _send(self, kind: RowKind, batch: Sequence[tuple[KeptRow, Mapped]]) -> None:
        sessions = [made for row, mapped in batch if (made := self._session(row, mapped))]
        rows: list[JsonObject] = []
        for row, mapped in batch:
            if kind == "observation":
                rows.append({"key": key_of(row), "memory": to_memory(row, mapped.project, mapped.root)})
            else:
                title = self._kept.sessions[row.session].title if row.session in self._kept.sessions else ""
                rows.append({**to_said(row, mapped.root), "project": mapped.project, "title": title})
        with interrupted_after():
            if sessions:
                told = self._sending.ask(_storing("sessions", sessions))
                self.report.add_sessions(told)
            what = _storing("observations" if kind == "observation" else "said", rows)
            told = self._sending.ask(what)
            self.report.add(kind, told)
        for (row, mapped), project in zip(batch, items(told, "projects"), strict=True):
            self._note(row, mapped, str(project))

    def _session(self, row: KeptRow, mapped: Mapped) -> JsonObject | None:
        """The session of a row, the first time that one of its rows is sent."""
        if not row.session or row.session in self._sent_sessions:
            return None
        self._sent_sessions.add(row.session)
        kept = self._kept.sessions.get(row.session) or KeptSession(row.session, row.project)
        made = to_session(kept, kept.project or row.project, mapped.project, mapped.root, self._folder(row, mapped))
        is_chosen = mapped.how == "option" and row.project == (kept.project or row.project)
        return {**made, "started_at": made["started_at"] or row.at.isoformat(), "is_chosen": is_chosen}

    def _folder(self, row: KeptRow, mapped: Mapped) -> str:
        worked_in = "" if mapped.how == "option" else self._projects.folders.get(row.session)
        return worked_in or mapped.root


def _storing(what: str, rows: Sequence[JsonObject]) -> Callable[[Client], JsonObject]:
    return partial(Client.import_of_claude_mem, what=what, rows=rows)  # type: ignore[arg-type]  # one of those it may be


def _known(told: JsonObject, key: str) -> dict[str, KnownSession]:
    return {
        id_: KnownSession(str(one.get("project")), str(one.get("cwd")))
        for id_, one in part(told, key).items()
        if isinstance(one, Mapping)
    }


def _batches(rows: Iterator[tuple[KeptRow, Mapped]]) -> Iterator[list[tuple[KeptRow, Mapped]]]:
    """As many rows as one request takes."""
    batch: list[tuple[KeptRow, Mapped]] = []
    size = 0
    for row, mapped in rows:
        batch.append((row, mapped))
        size += sum(map(len, row.texts.values())) + sum(len(one) for found in row.lists.values() for one in found)
        if len(batch) >= BATCH_ROWS or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
