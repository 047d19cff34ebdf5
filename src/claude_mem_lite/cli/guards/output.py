"""Guards as lines for people."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby

import click

from claude_mem_lite.cli.output import bold, dim, plain
from claude_mem_lite.cli.times import ago
from claude_mem_lite.guard_modes import mode_in_words
from claude_mem_lite.responses.guards import GuardCounts, GuardDetail, GuardMatch, GuardRate, GuardTrial, ShownGuard
from claude_mem_lite.text import counted, one_line, within

_MAX_REASON = 160
_STATUS = {
    "active": "In force",
    "paused": "Paused",
    "proposed": "Proposed, not in force",
    "doubtful": "Doubtful, not proposed",
    "dismissed": "Dismissed",
    "removed": "Removed",
}
_NOT_HELD = "Accepted, but not in force"
_OUTCOMES = {"open": "not decided yet", "got_round": "got round"}


def print_guards(guards: Sequence[ShownGuard], names: Mapping[str, str], hindrances: Mapping[str, str]) -> None:
    """Print a list of guards by status, with the next step for proposals, and for guards that do not hold."""
    if not guards:
        click.echo(
            "No guards here. Rules that you state, and that name a command, path, import or branch, are proposed; "
            '`claude-mem-lite guards add "use pnpm, not npm"` adds one at once.'
        )
        return
    for status, title in _STATUS.items():
        found = [guard for guard in guards if guard.status == status]
        _print_group(title, [guard for guard in found if guard.id not in hindrances], names)
        stopped = [guard for guard in found if guard.id in hindrances]
        _print_group(_NOT_HELD, stopped, names)
        for reason in dict.fromkeys(hindrances[guard.id] for guard in stopped):
            click.echo(reason)
    if any(guard.status == "proposed" for guard in guards):
        click.echo(
            "`claude-mem-lite guards show ID` lists the past calls, `guards accept ID` puts one in force, "
            "`guards dismiss ID` drops it."
        )


def _print_group(title: str, guards: Sequence[ShownGuard], names: Mapping[str, str]) -> None:
    if guards:
        click.echo(bold(f"{title}:"))
    for guard in guards:
        _print_line(guard, names.get(plain(guard.project), ""))


def _print_line(guard: ShownGuard, project: str) -> None:
    mode = mode_in_words(plain(guard.mode))
    details = ", ".join(filter(None, (mode, _figures(guard), project)))
    click.echo(f"{click.style(plain(guard.id), fg='cyan')}  {plain(guard.words)}  {dim(f'[{details}]')}")
    click.echo(dim(f"    {_short(guard.reason)}"))
    if guard.note:
        click.echo(f"    {plain(guard.note)}")


def _figures(guard: ShownGuard) -> str:
    if guard.counts.fired or guard.status == "active":
        return _counts(guard.counts)
    if not guard.is_replayed:
        return "not yet run over your earlier sessions"
    if not guard.replayed_calls:
        return "no earlier session to try it on"
    if not guard.would_have_fired:
        return "would never have fired"
    return f"would have fired {_times(guard.would_have_fired)} in {counted(guard.in_sessions, 'session')}"


def _counts(counts: GuardCounts) -> str:
    if not counts.fired:
        return "has not fired yet"
    parts = (
        ("followed", counts.followed),
        ("overridden", counts.overridden),
        ("got round", counts.got_round),
        ("false", counts.false),
        ("unknown", counts.unknown),
    )
    shown = ", ".join(f"{number} {name}" for name, number in parts if number)
    return f"fired {_times(counts.fired)}: {shown}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def print_detail(detail: GuardDetail, hindrance: str) -> None:
    """Print one guard in full; a hindrance says why it does not hold."""
    guard, now = detail.guard, datetime.now(UTC)
    status = _NOT_HELD if hindrance else _STATUS.get(guard.status, plain(guard.status))
    click.echo(f"{click.style(plain(guard.id), fg='cyan')}  {bold(status)}")
    if hindrance:
        click.echo(hindrance)
    click.echo(f"fires when a call {plain(guard.words)}")
    click.echo(f"mode: {mode_in_words(plain(guard.mode))}; tools: {', '.join(map(plain, guard.tools))}")
    click.echo(f"reason: {plain(guard.reason)}")
    for name, value in (("instead", guard.instead), ("note", guard.note), ("from memory", guard.memory)):
        if value:
            click.echo(f"{name}: {plain(value)}")
    accepted = f", accepted {ago(guard.accepted_at, now)}" if guard.accepted_at else ""
    click.echo(f"stated {ago(guard.created_at, now)}{accepted}")
    click.echo(f"fires on: {plain(detail.fires_on.text)}; not on: {plain(detail.passes_on.text)}")
    _print_replay(detail, now)
    _print_ledger(detail, now)


def _print_replay(detail: GuardDetail, now: datetime) -> None:
    replay, guard = detail.replay, detail.guard
    click.echo(bold("Replay over your earlier sessions"))
    if replay is None:
        click.echo("  has not run yet")
        return
    if not replay.calls:
        click.echo("  no call of an earlier session is known, so there is nothing to try it on")
        return
    older = "" if replay.is_whole else "; older ones were left out"
    click.echo(
        f"  {counted(replay.calls, 'call')} of {counted(replay.sessions, 'session')}{older}: "
        f"would have fired {_times(guard.would_have_fired) if guard.would_have_fired else 'never'}"
    )
    for session, matches in groupby(detail.matches, key=lambda match: match.session):
        click.echo(f"  session {plain(session)}")
        for match in matches:
            click.echo(f"    {_match(match, now)}")
    if len(detail.matches) < guard.would_have_fired:
        left = guard.would_have_fired - len(detail.matches)
        click.echo(f"  … and {left:,} more; --limit shows more of them.")


def _match(match: GuardMatch, now: datetime) -> str:
    when = "after you stated the rule" if match.is_after else "before you stated the rule"
    outcome = plain(match.outcome) + (", let pass" if match.was_let_pass else "")
    return f"{plain(match.text)}  {dim(f'[{plain(match.tool)}, {outcome}, {ago(match.at, now)}, {when}]')}"


def _print_ledger(detail: GuardDetail, now: datetime) -> None:
    guard = detail.guard
    click.echo(bold("Ledger"))
    click.echo(f"  {_counts(guard.counts)}")
    for firing in detail.firings:
        outcome = _OUTCOMES.get(firing.outcome, plain(firing.outcome))
        details = f"{plain(firing.decision)}, {ago(firing.at, now)}, session {plain(firing.session)}"
        click.echo(f"  {outcome}: {plain(firing.text) or plain(firing.tool)}  {dim(f'[{details}]')}")
    for failure in detail.failures:
        click.echo(f"  could not be checked: {plain(failure.reason)}  {dim(f'[{ago(failure.at, now)}]')}")
    click.echo(f"  before it was accepted: {_rate(guard.before)}")
    if guard.accepted_at:
        click.echo(f"  since then: {_rate(guard.after)}")


def _rate(rate: GuardRate) -> str:
    if not rate.sessions:
        return "no session with an occasion"
    share = rate.violations / rate.sessions
    calls = counted(rate.violations, "call")
    return f"{calls} against the rule in {counted(rate.sessions, 'session')} with an occasion ({share:.1f} each)"


def print_trial(trial: GuardTrial) -> None:
    """Print whether a guard would fire, and why."""
    click.echo(f"{bold('fires' if trial.fires else 'does not fire')}: {plain(trial.why)}")
    for part in trial.parts:
        click.echo(f"  part: {plain(part)}")
    if trial.fires and trial.guard.status != "active":
        click.echo(f"The guard is {plain(trial.guard.status)}, so such a call passes until it is in force.")


def _short(reason: str) -> str:
    return within(one_line(plain(reason)), _MAX_REASON)
