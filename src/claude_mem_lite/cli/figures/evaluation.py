"""The `eval` command: the user's own sessions, walked in time through the product on a temporary home."""

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

import click

from claude_mem_lite.cli import times
from claude_mem_lite.cli.figures.stop_signals import stopped_by_signals
from claude_mem_lite.cli.options import (
    WholeNumber,
    all_projects_option,
    asking_agent,
    chosen_home,
    connect_to_find,
    is_anything_stored,
    json_option,
    place_options,
    require_there,
    where,
)
from claude_mem_lite.cli.output import bold, plain, print_json, progress
from claude_mem_lite.client.queries import Where
from claude_mem_lite.evaluation.intervals import Measured
from claude_mem_lite.evaluation.measurement import MIN_SESSIONS, PRODUCT, MeasuredSessions, StartFigures
from claude_mem_lite.evaluation.project_recordings import OTHER_PATHS, of_paths, of_sessions
from claude_mem_lite.evaluation.prompt_use import Rates
from claude_mem_lite.evaluation.report import ProjectRecording, ProjectReport, Report, keep_report
from claude_mem_lite.evaluation.report import evaluate as evaluate_project
from claude_mem_lite.evaluation.session_walk import FIRST
from claude_mem_lite.evaluation.variants import Variant, check_variant
from claude_mem_lite.text import counted, one_line, within
from claude_mem_lite.timestamps import utc_now

_MAX_SESSIONS = 1000
_MAX_UNUSED = 10
_MAX_TITLE_LENGTH = 80
_BAR_WIDTH = 30


@click.command(name="eval", short_help="Measure on your own sessions how much memory helps.")
@click.argument("paths", metavar="[PATH...]", nargs=-1, type=click.Path(path_type=Path))
@place_options
@all_projects_option
@click.option(
    "--since", metavar="WHEN", help="Measure only sessions that began after WHEN; earlier ones fill the memory."
)
@click.option("--budget", metavar="N", type=WholeNumber(1, 100_000), help="Compare with a budget of N tokens.")
@click.option("--preset", metavar="NAME", default="", help="Compare with another preset: layers, or codes.")
@click.option("--without", metavar="LAYER", multiple=True, help="Compare with a context without a layer: handoff, say.")
@json_option
def evaluate(
    paths: tuple[Path, ...],
    cwd: str | None,
    project: str | None,
    all_projects: bool,
    since: str | None,
    budget: int | None,
    preset: str,
    without: tuple[str, ...],
    as_json: bool,
) -> None:
    """Measure on your own sessions how much memory helps.

    Goes through recorded sessions in the order of time, with a worker of its own in a temporary folder: the first ten
    only fill the memory; each later session is given what it would have been given at its start and with each prompt.
    A PATH is a transcript or a folder of transcripts; without PATH, the stored sessions of the project whose
    transcripts Claude Code still has. 50 MB of transcripts take a minute or more. Changes nothing but evaluation.json
    in the data folder, where the page finds the last report.

    Each of --budget, --preset and --without is compared with the usual start context by itself; they are not combined.

    \b
    Examples:
      claude-mem-lite eval
      claude-mem-lite eval --without sessions
      claude-mem-lite eval --budget 500 --json
    """
    variants = _variants(budget, preset, without)
    measured_since = datetime.fromisoformat(times.since(since)) if since else None
    for path in paths:
        require_there(path)
    now = utc_now()
    _refuse_control_session()
    try:
        if not as_json:
            click.echo(f"Reading the transcripts. The first {FIRST} sessions of a project fill the memory.", err=True)
        projects = _recordings(paths, lambda: where(cwd, project, all_projects), now)
    except KeyboardInterrupt:
        click.echo("Stopped. Nothing was measured.", err=True)
        raise
    with stopped_by_signals():
        report = _report(projects, variants, measured_since, now, is_quiet=as_json)
    _print(report, as_json)
    is_measured = any(project.whole.sessions for project in report.projects)
    if is_measured and is_anything_stored():  # after the output, which must not depend on a full disk
        keep_report(report, chosen_home())


def _recordings(paths: Sequence[Path], place: Callable[[], Where], now: datetime) -> list[ProjectRecording]:
    """Return the sessions in given paths, or else the stored sessions of a place."""
    if paths:
        return of_paths([path.expanduser().absolute() for path in paths], now)
    return of_sessions(connect_to_find(OTHER_PATHS).sessions(place(), limit=_MAX_SESSIONS), os.environ, now)


def _print(report: Report, as_json: bool) -> None:
    if as_json:
        print_json(report.as_json())
        return
    if not report.projects:
        click.echo(
            "There is no stored session to evaluate. Name a folder of transcripts as PATH, or give --all-projects."
        )
    for line in (line for measured in report.projects for line in _lines(measured)):
        click.echo(line)


def _refuse_control_session() -> None:
    """Raise MemoryLiteError for the agent of a control session: the report lists titles of memories. The worker, which
    knows the arms, refuses the question."""
    if asking_agent("") is not None and is_anything_stored():
        connect_to_find().sessions(where(None, None, True), limit=1)


def _variants(budget: int | None, preset: str, without: tuple[str, ...]) -> list[Variant]:
    """Return one variant for each option; each is compared alone. ConfigError for an unknown name."""
    found = [Variant(f"without {layer}", without=(layer,)) for layer in without]
    if budget:
        found.append(Variant(f"within {budget} tokens", budget_tokens=budget))
    if preset:
        found.append(Variant(f"preset {preset}", preset=preset))
    for variant in found:
        check_variant(variant)
    return found


def _report(
    projects: list[ProjectRecording],
    variants: list[Variant],
    since: datetime | None,
    now: datetime,
    *,
    is_quiet: bool,
) -> Report:
    reports: list[ProjectReport] = []
    for project in projects:
        total = max(len(project.recording.listed), 1)
        with progress(f"{plain(project.name)}: sessions", total, in_bytes=False, shown=not is_quiet) as advance:
            reports.append(evaluate_project(project, variants, since, advance))
        if reports[-1].is_partial:
            break
    return Report(now.isoformat(), reports)


def _left_out(project: ProjectReport) -> str:
    gone = project.not_walked - project.of_other_agents
    reasons = [f"{gone} without a transcript on this machine (deleted, mostly)"] if gone else []
    reasons += [f"{project.of_other_agents} of another agent"] if project.of_other_agents else []
    total = counted(project.not_walked, "stored session was", "stored sessions were")
    return f"{total} left out: {', '.join(reasons)}."


def _nothing_measured(sessions: int) -> str:
    if not sessions:
        return (
            "Nothing to measure: eval reads only transcripts of Claude Code, and none of this project was found. Name "
            "a folder of transcripts as PATH, or give --all-projects."
        )
    if sessions > FIRST:
        later = counted(sessions - FIRST, "session")
        return (
            f"Nothing to measure: none of the {later} after the first {FIRST} began after --since; choose an earlier "
            "time."
        )
    return (
        f"Nothing to measure: {counted(sessions, 'session')}, and the first {FIRST} only fill the memory. Run this "
        "again after more sessions, or name a folder with more transcripts as PATH."
    )


def _lines(project: ProjectReport) -> Iterator[str]:
    whole = project.whole
    yield bold(plain(project.name))
    if project.is_partial:
        yield "Stopped: the figures are of the part that was measured until then."
    if project.not_walked:
        yield _left_out(project)
    if project.problems:
        found = ", ".join(f"{plain(message)} ({count})" for message, count in project.problems.items())
        yield f"The worker of the walk had problems, and what they concern is not measured: {found}."
    if not whole.sessions and project.is_partial:
        yield f"No session was measured yet: the first {FIRST} only fill the memory."
        return
    if not whole.sessions:
        yield _nothing_measured(project.sessions)
        return
    yield (
        f"{counted(whole.sessions, 'session')} measured, {whole.with_files} of which touched files; "
        f"the first {FIRST} of {project.sessions} only fill the memory."
    )
    if not whole.is_enough:
        yield f"Too few sessions to tell: fewer than {MIN_SESSIONS} touched files. The figures may be chance."
    yield from _starts(whole)
    yield from _prompts(whole)
    if len(project.months) > 1:
        yield "By month, share of touched files that the start context covered:"
        for month, figures in project.months.items():
            few = "" if figures.is_enough else ", too few sessions to tell"
            yield _bar(month, figures.starts[PRODUCT]) + f"; {_of_use(figures.prompts)}" + few
    yield from _unused(project)
    yield ""


def _starts(figures: MeasuredSessions) -> Iterator[str]:
    yield "Share of the files a session touched that its start context covered, rare files count more:"
    for name, start in figures.starts.items():
        yield _bar(name, start)
    for name, difference in figures.differences.items():
        by, tokens = difference.coverage, difference.tokens
        if not (by.mean or tokens.low or tokens.high):
            yield f"  {plain(name)}: no difference in any of {counted(figures.sessions, 'session')}"
            continue
        chance = "" if by.low > 0 or by.high < 0 else "; that may be chance"
        verdict = chance if figures.is_enough else "; too few sessions to tell"
        yield (
            f"  {plain(name)}: {by.mean:+.1%} coverage (95 % {by.low:+.1%} to {by.high:+.1%}), "
            f"{tokens.mean:+.0f} tokens (95 % {tokens.low:+.0f} to {tokens.high:+.0f}){verdict}"
        )


def _bar(label: str, start: StartFigures) -> str:
    covered = start.coverage
    bar = "█" * round(covered.mean * _BAR_WIDTH)
    interval = f" (95 % {covered.low:.1%} to {covered.high:.1%})" if covered.low < covered.high else ""
    return f"  {plain(label):24} {bar:{_BAR_WIDTH}} {covered.mean:5.1%}{interval}, {start.tokens:.0f} tokens"


def _prompts(figures: MeasuredSessions) -> Iterator[str]:
    given = figures.prompts
    yield (
        f"Prompts: {given.answered} of {given.prompts} would have been given something; {_of_use(given)}; "
        f"{figures.tokens_per_prompt:.0f} tokens for each prompt."
    )
    yield f"  where the turn changed files: {_of_use(figures.prompts_with_edits)}"
    share = figures.failures_share
    yield (
        f"Failures that came back although an earlier session had fixed them: {figures.failures_repeated}; "
        f"the fix would have been given for {figures.failures_offered}{_share(share, figures.failures_repeated)}."
    )


def _of_use(given: Rates) -> str:
    share = Measured(given.precision, given.low, given.high)
    return f"{given.useful} of {given.items} items of use{_share(share, given.items)}"


def _share(share: Measured, total: int) -> str:
    """Return a share of a total with its interval in brackets; '' of nothing."""
    return f" ({share.mean:.1%}, 95 % {share.low:.1%} to {share.high:.1%})" if total else ""


def _unused(project: ProjectReport) -> Iterator[str]:
    if not project.unused:
        return
    count = counted(len(project.unused), "memory was", "memories were")
    yield f"{count} given and never concerned a file of the session:"
    for memory in project.unused[:_MAX_UNUSED]:
        title = within(one_line(plain(memory.title)), _MAX_TITLE_LENGTH)
        yield f"  {plain(memory.id)}  {title} (given {counted(memory.given, 'time')})"
    if len(project.unused) > _MAX_UNUSED:
        yield f"  and {len(project.unused) - _MAX_UNUSED} more; --json lists them"
    yield "  `claude-mem-lite show ID` shows a memory that is stored here."
