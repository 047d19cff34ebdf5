"""The command `import claude-mem`: rows of the database of another product."""

import difflib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Literal

import click

from claude_mem_lite import pauses
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.cli.options import (
    also_paused_option,
    chosen_home,
    connect,
    folders_option,
    json_option,
    require_named,
    require_there,
)
from claude_mem_lite.cli.output import Advance, plain, progress
from claude_mem_lite.cli.transfer.claude_mem_report import ClaudeMemReport, ProjectMapping, print_report
from claude_mem_lite.cli.transfer.send_with_retry import Sending, interrupted_after
from claude_mem_lite.client.client import Client
from claude_mem_lite.config import Config, is_excluded
from claude_mem_lite.config_loader import load_config
from claude_mem_lite.errors import MemoryLiteError, unreadable
from claude_mem_lite.importers.claude_mem_db import (
    TABLES,
    ClaudeMemDatabase,
    ClaudeMemRow,
    ClaudeMemSession,
    RowKind,
    SkippedRow,
    skipped_tables,
)
from claude_mem_lite.importers.claude_mem_file import NAME, open_copy, own_database
from claude_mem_lite.importers.claude_mem_rows import (
    ProjectLookup,
    ProjectMatch,
    key_of,
    parents,
    to_memory,
    to_session,
    to_statement,
)
from claude_mem_lite.importers.discovery import folders_of
from claude_mem_lite.models import JsonObject
from claude_mem_lite.responses.imports import KnownSession
from claude_mem_lite.text import counted

# The worker stores a batch in one go, and hooks wait meanwhile.
BATCH_ROWS = 100
BATCH_CHARACTERS = 1_000_000
_ASKED_AT_ONCE = 1_000
_KINDS: tuple[RowKind, ...] = tuple(TABLES)


@click.command("claude-mem", short_help="Import the database of claude-mem, another product.")
@click.argument("database", metavar="[DB]", required=False, type=click.Path(readable=False, path_type=Path))
@folders_option("The folder of a project that claude-mem knows by this name; may be repeated.")
@click.option("--dry-run", is_flag=True, help="Only show what would be imported, and into which projects.")
@also_paused_option
@json_option
def claude_mem(
    database: Path | None, chosen: Mapping[str, str], dry_run: bool, also_paused: bool, as_json: bool
) -> None:
    """Import the database of claude-mem, another product.

    Imports observations as memories, session summaries and your prompts, with their dates and projects. DB is the file
    or its folder; without DB, ~/.claude-mem. The import reads a copy: the file and its folder do not change, and
    claude-mem's worker may run meanwhile.

    claude-mem knows a project only by the name of its folder. The import finds your project by the folders of its
    sessions, as far as claude-mem, your own sessions or Claude Code's transcripts know them, or by --project. Rows of
    an unknown folder go to a project of the same name; run the import again with --project to move them to the project
    of a folder.

    Secrets and private passages are removed, texts that give orders to an agent wait in quarantine, forgotten text
    stays forgotten, and excluded folders are left out. Rows from a time when memory was off, or the folder was
    excluded, are left out too, unless you name DB and give --also-paused. Running the import again adds only new rows.
    Exits 1 when nothing could be read.

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
        kept = ClaudeMemDatabase(db)
        importing = ClaudeMemImport(kept, Sending(connect()), chosen, also_paused=also_paused)
        report = importing.report
        report.database = str(path)
        report.is_dry_run = dry_run
        try:
            importing.run()
        except KeyboardInterrupt:
            print_report(report, as_json, stopped=True)
            click.echo("Stopped. Imported memories are kept; run the import again to continue.", err=True)
            raise
        finally:
            importing.finish()
        report.left = skipped_tables(kept)
    print_report(report, as_json)
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
        asked = "name the file or the folder it is in" if given is None else "check the path"
        raise MemoryLiteError(f"there is no database of claude-mem at {plain(path)}", asked)
    return path


class ClaudeMemImport:
    """Import under way: sessions first, then prompts and summaries, then observations."""

    def __init__(
        self, database: ClaudeMemDatabase, sending: Sending, chosen: Mapping[str, str], *, also_paused: bool
    ) -> None:
        self._database = database
        self._sending = sending
        self._config: Config = load_config(chosen_home().config, os.environ)
        self.report = ClaudeMemReport(schema=database.version, found={kind: database.count(kind) for kind in _KINDS})
        self._excluded: dict[str, bool] = {}
        self._forgotten: set[str] = set()
        self._projects = self._map(chosen)
        self._sent_sessions: set[str] = set()
        # Loaded after a call to the worker, which records pauses that no hook has seen.
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
        """Have contexts rendered again, also after an import that was stopped."""
        if self.report.has_changed:
            self._sending.ask(Client.finish_import)

    @contextmanager
    def _watched(self, total: int) -> Iterator[Advance]:
        what = "Looking through" if self.report.is_dry_run else "Importing"
        with progress(f"{what} {counted(total, 'row')}", total, in_bytes=False) as advance:
            yield advance

    def _map(self, chosen: Mapping[str, str]) -> ProjectLookup:
        sessions = list(self._database.sessions.values())
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
            known = self._sending.ask(ask)
            seen |= known.sessions
            imported |= known.imported
            named |= known.projects
            self._forgotten |= set(known.forgotten)
        return ProjectLookup(chosen, sessions, seen, named, folders_of(CLAUDE_CODE, os.environ), imported)

    def _wanted(self, kind: RowKind) -> Iterator[tuple[ClaudeMemRow, ProjectMatch]]:
        for row in self._database.rows(kind):
            if isinstance(row, SkippedRow):
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

    def _is_of_a_pause(self, kind: RowKind, row: ClaudeMemRow, folder: str) -> bool:
        """Return True if a row, or the session of a summary, lies in a time in which memory was off or the folder
        excluded."""
        session = self._database.sessions.get(row.session) if kind == "summary" else None
        began_at = min(session.started_at, row.at) if session and session.started_at else row.at
        began_ns, ended_ns = (int(at.timestamp() * 1e9) for at in (began_at, row.at))
        return pauses.covering(self._pauses, began_ns, ended_ns, [folder] if folder else []) is not None

    def _is_excluded(self, folder: str) -> bool:
        if folder not in self._excluded:
            self._excluded[folder] = is_excluded(self._config, folder)
        return self._excluded[folder]

    def _note(self, row: ClaudeMemRow, mapped: ProjectMatch, is_in: str = "") -> None:
        """Report the project of a row; a row that was stored before may belong to another project."""
        if is_in and is_in != mapped.project:
            self.report.note(ProjectMapping(row.project, is_in, "there"))
        else:
            self.report.note(ProjectMapping(row.project, mapped.project, mapped.how, self._candidates(row, mapped)))

    def _candidates(self, row: ClaudeMemRow, mapped: ProjectMatch) -> tuple[str, ...]:
        return tuple(self._projects.candidates(row.project)) if mapped.how == "own" else ()

    def _send(self, kind: RowKind, batch: Sequence[tuple[ClaudeMemRow, ProjectMatch]]) -> None:
        sessions = [made for row, mapped in batch if (made := self._session(row, mapped))]
        rows: list[JsonObject] = []
        for row, mapped in batch:
            if kind == "observation":
                rows.append({"key": key_of(row), "memory": to_memory(row, mapped.project, mapped.root)})
            else:
                title = self._database.sessions[row.session].title if row.session in self._database.sessions else ""
                rows.append({**to_statement(row, mapped.root), "project": mapped.project, "title": title})
        with interrupted_after():
            if sessions:
                self.report.add_sessions(self._sending.ask(partial(Client.import_claude_mem_sessions, rows=sessions)))
            what: Literal["observations", "said"] = "observations" if kind == "observation" else "said"
            imported = self._sending.ask(partial(Client.import_claude_mem_rows, what=what, rows=rows))
            self.report.add(kind, imported)
        for (row, mapped), project in zip(batch, imported.projects, strict=True):
            self._note(row, mapped, project)

    def _session(self, row: ClaudeMemRow, mapped: ProjectMatch) -> JsonObject | None:
        """Return the session of a row, or None if an earlier row of the session was sent."""
        if not row.session or row.session in self._sent_sessions:
            return None
        self._sent_sessions.add(row.session)
        kept = self._database.sessions.get(row.session) or ClaudeMemSession(row.session, row.project)
        made = to_session(kept, kept.project or row.project, mapped.project, mapped.root, self._folder(row, mapped))
        is_chosen = mapped.how == "option" and row.project == (kept.project or row.project)
        return {**made, "started_at": made["started_at"] or row.at.isoformat(), "is_chosen": is_chosen}

    def _folder(self, row: ClaudeMemRow, mapped: ProjectMatch) -> str:
        worked_in = "" if mapped.how == "option" else self._projects.folders.get(row.session)
        return worked_in or mapped.root


def _batches(rows: Iterator[tuple[ClaudeMemRow, ProjectMatch]]) -> Iterator[list[tuple[ClaudeMemRow, ProjectMatch]]]:
    """Yield rows in batches for one request each."""
    batch: list[tuple[ClaudeMemRow, ProjectMatch]] = []
    size = 0
    for row, mapped in rows:
        batch.append((row, mapped))
        size += sum(map(len, row.texts.values())) + sum(len(one) for found in row.lists.values() for one in found)
        if len(batch) >= BATCH_ROWS or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
