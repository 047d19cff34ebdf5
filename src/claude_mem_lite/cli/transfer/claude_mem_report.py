"""What an import of claude-mem's database came to: what was taken, what was not, and why."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field

import click

from claude_mem_lite.cli.output import plain, print_json
from claude_mem_lite.client.responses import whole
from claude_mem_lite.importers.claude_mem_db import LeftTable, NotTaken, RowKind
from claude_mem_lite.importers.claude_mem_projects import How
from claude_mem_lite.models import JsonObject
from claude_mem_lite.text import counted

MAX_SHOWN = 20
_NOUNS: Mapping[RowKind, tuple[str, str]] = {
    "observation": ("observation", "observations"),
    "summary": ("summary", "summaries"),
    "prompt": ("prompt", "prompts"),
}
_HOW: Mapping[How, str] = {
    "option": "by --project",
    "session": "by the folder of its sessions",
    "name": "the one project of that name",
    "own": "a project of that name: nothing tells its folder",
    "there": "where they were already",
}


@dataclass(slots=True)
class Counts:
    """What became of the rows of one kind."""

    imported: int = 0
    known: int = 0
    forgotten: int = 0
    excluded: int = 0
    paused: int = 0
    """Of a time in which memory was off, or their folder was excluded."""
    quarantined: int = 0


@dataclass(frozen=True, slots=True)
class ProjectTold:
    """To which project rows of one name went, how that was found out, and what it might have been as well."""

    name: str
    project: str
    how: How
    candidates: tuple[str, ...] = ()


@dataclass(slots=True)
class Report:
    schema: int
    found: Mapping[RowKind, int]
    database: str = ""
    is_dry_run: bool = False
    sessions: int = 0
    moved: int = 0
    """Sessions that had come in by a name alone, and whose project is known by now."""
    redacted: int = 0
    counts: dict[RowKind, Counts] = field(default_factory=lambda: {kind: Counts() for kind in _NOUNS})
    projects: dict[ProjectTold, int] = field(default_factory=dict)
    """With how many rows went there."""
    not_taken: list[NotTaken] = field(default_factory=list)
    left: list[LeftTable] = field(default_factory=list)

    @property
    def is_in_vain(self) -> bool:
        return bool(self.not_taken) and not self.projects and not any(map(_left_out, self.counts.values()))

    @property
    def has_changed(self) -> bool:
        """Anything was stored, or went over to another project."""
        stored = any(one.imported or one.quarantined for one in self.counts.values())
        return stored or bool(self.sessions or self.moved)

    def note(self, told: ProjectTold) -> None:
        self.projects[told] = self.projects.get(told, 0) + 1

    def add_sessions(self, told: JsonObject) -> None:
        self.sessions += whole(told, "imported")
        self.moved += whole(told, "moved")

    def add(self, kind: RowKind, told: JsonObject) -> None:
        """Count what became of one batch; what waits in quarantine is not found, and does not count as imported."""
        counts = self.counts[kind]
        counts.imported += whole(told, "imported")
        counts.known += whole(told, "known")
        counts.forgotten += whole(told, "forgotten")
        counts.quarantined += whole(told, "quarantined")
        self.redacted += whole(told, "redacted")

    def as_json(self) -> JsonObject:
        rows = {
            _NOUNS[kind][1]: {
                "found": self.found[kind],
                **asdict(counts),
                "not_taken": sum(one.kind == kind for one in self.not_taken),
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
            "projects": [{**_project(told), "rows": number} for told, number in _listed(self.projects)],
            "not_taken": [{"row": one.what, "reason": one.reason} for one in self.not_taken],
            "left": [asdict(one) for one in self.left],
            "dry_run": self.is_dry_run,
        }


def tell(report: Report, as_json: bool, *, stopped: bool = False) -> None:
    if as_json:
        print_json(report.as_json())
        return
    for sentence in _sentences(report, stopped):
        click.echo(sentence)
    if report.projects:
        click.echo("Projects:")
        for line in _shortened([_project_line(told, number) for told, number in _listed(report.projects)]):
            click.echo(f"  {line}")
    unmapped = sorted({told.name for told in report.projects if told.how == "own"})
    if unmapped:
        click.echo(f"To bring one to its folder, run it again with --project {plain(unmapped[0])}=FOLDER.")
    if report.not_taken:
        click.echo(f"{counted(len(report.not_taken), 'row')} could not be taken:")
        for line in _shortened([f"{plain(one.what)}: {plain(one.reason)}" for one in report.not_taken]):
            click.echo(f"  {line}")
    if report.left:
        click.echo("Not taken, by its nature:")
        for one in report.left:
            click.echo(f"  {plain(one.table)}, {counted(one.rows, 'row')}: {one.reason}")


def _sentences(report: Report, stopped: bool) -> Iterator[str]:
    if report.is_dry_run:
        found = [counted(number, *_NOUNS[kind]) for kind, number in report.found.items()]
        yield f"There are {_joined(found)} (schema {report.schema}). Nothing was imported, because of --dry-run."
    else:
        new = [counted(one.imported, *_NOUNS[kind]) for kind, one in report.counts.items() if one.imported]
        if new:
            yield f"Imported {_joined(new)}, of {counted(report.sessions, 'new session')}."
        elif not stopped:
            yield "There was nothing new to import."
    if report.moved:
        went = counted(report.moved, "session that was there went", "sessions that were there went")
        yield f"{went} over to the project of the folder, with all that belongs to it."
    for name, told in (("known", "there already"), ("forgotten", "forgotten earlier and stay so")):
        if number := sum(getattr(one, name) for one in report.counts.values()):
            yield f"{counted(number, 'row was', 'rows were')} {told}."
    if number := sum(one.excluded for one in report.counts.values()):
        yield f"{counted(number, 'row was', 'rows were')} from excluded folders and left out."
    if number := sum(one.paused for one in report.counts.values()):
        yield (
            f"{counted(number, 'row was', 'rows were')} left out, of a time in which this memory was off or the folder "
            "was excluded. To import them all the same, name the database and give --also-paused."
        )
    if report.redacted:
        yield f"Secrets or private passages were taken out of {counted(report.redacted, 'value')}."
    if number := sum(one.quarantined for one in report.counts.values()):
        held = counted(number, "row is", "rows are")
        yield f"{held} held back for giving orders to an agent: `claude-mem-lite quarantine` shows which."


def _left_out(counts: Counts) -> int:
    return counts.forgotten + counts.excluded + counts.paused


def _listed(projects: Mapping[ProjectTold, int]) -> list[tuple[ProjectTold, int]]:
    return sorted(projects.items(), key=lambda one: (one[0].name, one[0].project))


def _project(told: ProjectTold) -> JsonObject:
    return {"name": told.name, "project": told.project, "how": told.how, "candidates": list(told.candidates)}


def _project_line(told: ProjectTold, number: int) -> str:
    how = _HOW[told.how]
    if told.candidates:
        how = f"a project of that name: its sessions were in {', '.join(map(plain, told.candidates))}"
    return f"{plain(told.name)} -> {plain(told.project)}, {counted(number, 'row')} ({how})"


def _shortened(lines: list[str]) -> list[str]:
    more = [f"and {len(lines) - MAX_SHOWN:,} more (--json names them all)"] if len(lines) > MAX_SHOWN else []
    return lines[:MAX_SHOWN] + more


def _joined(parts: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1]))) if parts else "nothing"
