"""Report of an import of claude-mem's database: imported rows, other rows, and reasons."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field

import click

from claude_mem_lite.cli.output import plain, print_json, print_some
from claude_mem_lite.importers.claude_mem_db import RowKind, SkippedRow, SkippedTable
from claude_mem_lite.importers.claude_mem_rows import How
from claude_mem_lite.models import JsonObject
from claude_mem_lite.responses.imports import ImportedRows, ImportedSessions
from claude_mem_lite.text import counted
from claude_mem_lite.values import frozen

_NOUNS: Mapping[RowKind, tuple[str, str]] = {
    "observation": ("observation", "observations"),
    "summary": ("summary", "summaries"),
    "prompt": ("prompt", "prompts"),
}
_HOW: Mapping[How, str] = {
    "option": "by --project",
    "session": "by the folder of its sessions",
    "name": "the one project of that name",
    "own": "a project of that name: its folder is not known",
    "there": "where they were already",
}


@dataclass(slots=True)
class RowCounts:
    """Counts of the rows of one kind."""

    imported: int = 0
    known: int = 0
    forgotten: int = 0
    excluded: int = 0
    paused: int = 0
    """Rows of a time in which memory was off, or their folder was excluded."""
    quarantined: int = 0


@frozen
class ProjectMapping:
    """Project of the rows of one name, how it was found, and other candidates."""

    name: str
    project: str
    how: How
    candidates: tuple[str, ...] = ()


@dataclass(slots=True)
class ClaudeMemReport:
    schema: int
    found: Mapping[RowKind, int]
    database: str = ""
    is_dry_run: bool = False
    sessions: int = 0
    moved: int = 0
    """Sessions of an earlier import without a known project, whose project is known by now."""
    redacted: int = 0
    counts: dict[RowKind, RowCounts] = field(default_factory=lambda: {kind: RowCounts() for kind in _NOUNS})
    projects: dict[ProjectMapping, int] = field(default_factory=dict)
    """Projects with the number of their rows."""
    not_taken: list[SkippedRow] = field(default_factory=list)
    left: list[SkippedTable] = field(default_factory=list)

    @property
    def is_in_vain(self) -> bool:
        return bool(self.not_taken) and not self.projects and not any(map(_left_out, self.counts.values()))

    @property
    def has_changed(self) -> bool:
        """Return True if anything was stored, or moved to another project."""
        stored = any(counts.imported or counts.quarantined for counts in self.counts.values())
        return stored or bool(self.sessions or self.moved)

    def note(self, mapping: ProjectMapping) -> None:
        """Count a row of a project."""
        self.projects[mapping] = self.projects.get(mapping, 0) + 1

    def add_sessions(self, batch: ImportedSessions) -> None:
        """Add the counts of a batch of sessions."""
        self.sessions += batch.imported
        self.moved += batch.moved

    def add(self, kind: RowKind, batch: ImportedRows) -> None:
        """Add the counts of a batch of rows; quarantined rows do not count as imported, because search leaves them
        out."""
        counts = self.counts[kind]
        counts.imported += batch.imported
        counts.known += batch.known
        counts.forgotten += batch.forgotten
        counts.quarantined += batch.quarantined
        self.redacted += batch.redacted

    def as_json(self) -> JsonObject:
        rows = {
            _NOUNS[kind][1]: {
                "found": self.found[kind],
                **asdict(counts),
                "not_taken": sum(row.kind == kind for row in self.not_taken),
            }
            for kind, counts in self.counts.items()
        }
        return {
            "database": self.database,
            "schema": self.schema,
            **rows,
            "sessions": self.sessions,
            "moved": self.moved,
            "redacted": self.redacted,
            "projects": [{**_project(mapping), "rows": number} for mapping, number in _listed(self.projects)],
            "not_taken": [{"row": row.what, "reason": row.reason} for row in self.not_taken],
            "left": [asdict(table) for table in self.left],
            "dry_run": self.is_dry_run,
        }


def print_report(report: ClaudeMemReport, as_json: bool, *, stopped: bool = False) -> None:
    """Print the result of an import, complete or stopped."""
    if as_json:
        print_json(report.as_json())
        return
    for sentence in _sentences(report, stopped):
        click.echo(sentence)
    if report.projects:
        click.echo("Projects:")
        print_some([_project_line(mapping, number) for mapping, number in _listed(report.projects)])
    unmapped = sorted({mapping.name for mapping in report.projects if mapping.how == "own"})
    if unmapped:
        click.echo(f"To bring one to its folder, run it again with --project {plain(unmapped[0])}=FOLDER.")
    if report.not_taken:
        click.echo(f"{counted(len(report.not_taken), 'row')} could not be taken:")
        print_some([f"{plain(row.what)}: {plain(row.reason)}" for row in report.not_taken])
    if report.left:
        click.echo("Not taken, by its nature:")
        for table in report.left:
            click.echo(f"  {plain(table.table)}, {counted(table.rows, 'row')}: {table.reason}")


def _sentences(report: ClaudeMemReport, stopped: bool) -> Iterator[str]:
    if report.is_dry_run:
        found = [counted(number, *_NOUNS[kind]) for kind, number in report.found.items()]
        yield f"There are {_joined(found)} (schema {report.schema}). Nothing was imported, because of --dry-run."
    else:
        new = [counted(each.imported, *_NOUNS[kind]) for kind, each in report.counts.items() if each.imported]
        if new:
            yield f"Imported {_joined(new)}, of {counted(report.sessions, 'new session')}."
        elif not stopped:
            yield "There was nothing new to import."
    if report.moved:
        went = counted(report.moved, "session that was there went", "sessions that were there went")
        yield f"{went} over to the project of the folder, with all that belongs to it."
    every = report.counts.values()
    if number := sum(counts.known for counts in every):
        yield f"{counted(number, 'row was', 'rows were')} there already."
    if number := sum(counts.forgotten for counts in every):
        yield f"{counted(number, 'row was forgotten earlier and stays', 'rows were forgotten earlier and stay')} so."
    if number := sum(counts.excluded for counts in every):
        yield f"{counted(number, 'row was', 'rows were')} from excluded folders and left out."
    if number := sum(counts.paused for counts in every):
        yield (
            f"{counted(number, 'row was', 'rows were')} left out, of a time in which this memory was off or the folder "
            "was excluded. To import them all the same, name the database and give --also-paused."
        )
    if report.redacted:
        yield f"Secrets or private passages were taken out of {counted(report.redacted, 'value')}."
    if number := sum(counts.quarantined for counts in every):
        held = counted(number, "row is", "rows are")
        yield f"{held} held back for giving orders to an agent: `claude-mem-lite quarantine` shows which."


def _left_out(counts: RowCounts) -> int:
    return counts.forgotten + counts.excluded + counts.paused


def _listed(projects: Mapping[ProjectMapping, int]) -> list[tuple[ProjectMapping, int]]:
    return sorted(projects.items(), key=lambda item: (item[0].name, item[0].project))


def _project(mapping: ProjectMapping) -> JsonObject:
    candidates = list(mapping.candidates)
    return {"name": mapping.name, "project": mapping.project, "how": mapping.how, "candidates": candidates}


def _project_line(mapping: ProjectMapping, number: int) -> str:
    how = _HOW[mapping.how]
    if mapping.candidates:
        how = f"a project of that name: its sessions were in {', '.join(map(plain, mapping.candidates))}"
    return f"{plain(mapping.name)} -> {plain(mapping.project)}, {counted(number, 'row')} ({how})"


def _joined(parts: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1]))) if parts else "nothing"
