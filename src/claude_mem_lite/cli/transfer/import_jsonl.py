"""The command `import jsonl`: memories of a file, which is checked completely before the first memory is sent."""

import sys
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial

import click

from claude_mem_lite.cli.options import connect, json_option, place_options, require_there, where
from claude_mem_lite.cli.output import plain, print_json, progress
from claude_mem_lite.cli.transfer.send_with_retry import Sending, interrupted_after
from claude_mem_lite.client.client import Client
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.importers.memory_file import CheckResult, MemoryFile, MemoryLine, open_memories
from claude_mem_lite.models import JsonObject
from claude_mem_lite.responses.imports import ImportedMemories, ImportStart
from claude_mem_lite.text import counted

MAX_IDS_SHOWN = 20


@dataclass(slots=True)
class JsonlReport:
    """Result of an import."""

    lines: int = 0
    imported: int = 0
    known: int = 0
    different: list[str] = field(default_factory=list)
    forgotten: int = 0
    redacted: int = 0
    quarantined: int = 0
    disbelieved: int = 0
    lines_done: int = 0
    projects: set[str] = field(default_factory=set)
    """Projects of the memories that do not hold everywhere."""

    def add(self, lines: int, batch: ImportedMemories) -> None:
        """Add the counts of one batch."""
        self.lines_done += lines
        self.projects |= set(batch.projects)
        self.imported += batch.imported
        self.known += batch.known
        self.different += batch.different
        self.forgotten += batch.forgotten
        self.redacted += batch.redacted
        self.quarantined += batch.quarantined
        self.disbelieved += batch.disbelieved

    def as_json(self) -> JsonObject:
        return {
            "lines": self.lines,
            "imported": self.imported,
            "known": self.known,
            "different": self.different,
            "forgotten": self.forgotten,
            "redacted": self.redacted,
            "quarantined": self.quarantined,
            "disbelieved": self.disbelieved,
        }


@click.command(short_help="Import memories from a file, one a line.")
@click.argument("file", metavar="FILE", type=click.Path(readable=False, allow_dash=True))
@place_options
@click.option("--trust", is_flag=True, help="Trust what the file marks as your statement or as pinned.")
@click.option("--dry-run", is_flag=True, help="Only check the file.")
@json_option
def jsonl(file: str, cwd: str | None, project: str | None, trust: bool, dry_run: bool, as_json: bool) -> None:
    """Import memories from a file, one a line.

    Each line is a JSON object with the fields that `export` writes; only kind and title are required. Missing fields
    get defaults: the current folder's project, the present time, an id made from the line. FILE may be compressed by
    gzip; - reads standard input.

    The whole file is checked first: if one line is wrong, nothing is imported. Memories are stored unchanged and are
    not merged; only secrets and private passages are removed. A memory with a known id is left as it is, and a
    forgotten memory stays forgotten. So importing a file twice adds nothing, and running a stopped import again
    completes it.

    Anybody can write a file that claims to hold your statements. So memories marked as stated or pinned by you count as
    imported, unless you give --trust, as for an export of your own. Text of pages and foreign tools is never pinned by
    an import.

    \b
    Examples:
      claude-mem-lite import jsonl my-own-export.jsonl --trust
      claude-mem-lite import jsonl team-rules.jsonl --dry-run
      echo '{"kind": "rule", "title": "Never commit to main"}' | claude-mem-lite import jsonl -
    """
    if file != "-":
        require_there(file)
    with open_memories(file) as memories:
        checked = _check(memories)
        if not checked.lines:
            raise MemoryLiteError(f"there are no memories in {plain(memories.name)}")
        _refuse(checked, as_json)
        client = connect()
        start = client.start_import(where(cwd, project), list(checked.scopes))
        for scope, line in checked.scopes.items():
            if scope in start.unknown:
                checked.report(line, f"scope {scope}: {start.unknown[scope]}; or say which by `project`")
        _refuse(checked, as_json)
        report = JsonlReport(checked.lines)
        if dry_run:
            _print(report, as_json, dry_run=True)
            return
        try:
            _send(client, start, memories, checked, report, trust)
        except KeyboardInterrupt:
            _print(report, as_json, stopped=True)
            done = f"{report.lines_done:,} of {counted(report.lines, 'line')}"
            click.echo(f"Stopped after {done}; run it again to go on.", err=True)
            raise
    _print(report, as_json)
    if not as_json and report.imported and (sentence := _whose(report.projects, start.project)):
        click.echo(sentence)


def _check(memories: MemoryFile) -> CheckResult:
    name = plain(memories.name)
    if not sys.stderr.isatty():
        click.echo(f"Reading {name}, {memories.size_bytes / 1e6:.1f} MB.", err=True)
    with progress(f"Checking {name}", memories.size_bytes) as advance:
        return memories.check(advance)


def _send(
    client: Client, start: ImportStart, memories: MemoryFile, checked: CheckResult, report: JsonlReport, trust: bool
) -> None:
    sending = Sending(client)
    with progress(f"Importing {plain(memories.name)}", memories.size_bytes) as advance:
        for batch in memories.batches(checked, advance):
            lines = [_sent(line) for line in batch]
            with interrupted_after():
                ask = partial(Client.import_memories, start=start, lines=lines, trust=trust)
                report.add(len(lines), sending.ask(ask))
    sending.ask(Client.finish_import)


def _sent(line: MemoryLine) -> JsonObject:
    return {"memory": line.memory, "nth": line.nth}


def _refuse(checked: CheckResult, as_json: bool) -> None:
    """Print the problems of the file and raise MemoryLiteError, if there are any."""
    number = len(checked.problems) + checked.more_problems
    if not number:
        return
    if as_json:
        problems: list[JsonObject] = [{"line": each.line, "reason": each.reason} for each in checked.problems]
        print_json(
            {**JsonlReport(checked.lines).as_json(), "problems": problems, "more_problems": checked.more_problems}
        )
    else:
        for problem in checked.problems:
            click.echo(f"line {problem.line:,}: {plain(problem.reason)}", err=True)
        if checked.more_problems:
            click.echo(f"and {checked.more_problems:,} more", err=True)
    raise MemoryLiteError(
        f"nothing was imported, because of {counted(number, 'problem')}", "correct the file and try again"
    )


def _print(report: JsonlReport, as_json: bool, *, dry_run: bool = False, stopped: bool = False) -> None:
    if as_json:
        print_json({**report.as_json(), "dry_run": dry_run})
        return
    if dry_run:
        lines = counted(report.lines, "line is", "lines are")
        click.echo(f"{lines} as they should be. Nothing was imported, because of --dry-run.")
        return
    for sentence in _sentences(report, stopped):
        click.echo(sentence)


def _sentences(report: JsonlReport, stopped: bool) -> Iterator[str]:
    new = counted(report.imported, "memory", "memories")
    if report.imported:
        yield f"Imported {new}."
    elif not stopped:
        yield "There was nothing new to import."
    if report.known:
        yield f"{counted(report.known, 'memory was', 'memories were')} there already."
    if report.different:
        different = counted(len(report.different), "memory differs", "memories differ")
        yield f"{different} from what is there by that id, which was left as it is: {_named(report.different)}."
    if report.forgotten:
        stays = counted(
            report.forgotten, "memory was forgotten earlier and stays", "memories were forgotten earlier and stay"
        )
        yield f"{stays} so."
    if report.redacted:
        yield f"Secrets or private passages were taken out of {counted(report.redacted, 'value')}."
    if report.quarantined:
        held = counted(report.quarantined, "memory is", "memories are")
        yield f"{held} held back for giving orders to an agent: `claude-mem-lite quarantine` shows which."
    if report.disbelieved and report.imported:
        claims = counted(report.disbelieved, "memory says", "memories say")
        yield f"{claims} to be your word or pinned; taken as imported. If the file is your own, --trust keeps that."


def _whose(projects: AbstractSet[str], here: str) -> str:
    """Return a sentence about the projects of the memories; '' if all belong to the folder's project."""
    if not projects - {here}:
        return ""
    if here in projects:
        return f"The file has memories of {counted(len(projects), 'project')}, this folder's among them."
    whose = "another project" if len(projects) == 1 else f"{len(projects):,} other projects"
    return f"They belong to {whose}, not to this folder's; `claude-mem-lite list --all-projects` shows them."


def _named(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - MAX_IDS_SHOWN:,} more (--json names them all)" if len(ids) > MAX_IDS_SHOWN else ""
    return ", ".join(ids[:MAX_IDS_SHOWN]) + more
