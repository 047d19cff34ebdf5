"""The page of health: the worker, its queue and errors, the model and its cost, and figures by day."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from claude_mem_lite.models import OUTCOMES
from claude_mem_lite.responses.analytics import Day, StoredMemories
from claude_mem_lite.responses.status import FailedEvent, Health
from claude_mem_lite.scopes import project_name
from claude_mem_lite.text import counted
from claude_mem_lite.ui.plots import DOLLARS, WIDTH, Plot, Series, bars_by_day, bars_by_name, dollars, shares_by_day
from claude_mem_lite.ui.templating import Asked, render, sentence

_DAYS = (7, 30, 90, 180)
_USUAL_DAYS = 30
_MAX_PROJECTS = 12
_MAX_RECOVERIES = 5


def health(asked: Asked) -> str:
    """Return the page, or only the part that changes often."""
    if asked.chosen("only") == "now":
        return render("health_now.html", **_now(asked))
    days = next((count for count in _DAYS if str(count) == asked.chosen("days")), _USUAL_DAYS)
    projects = asked.client.projects()
    project = asked.chosen("project")
    project = project if project in [listed.id for listed in projects] else ""
    stats = asked.client.stats(days)
    by_day = asked.client.days(days, project=project)
    return render(
        "health.html",
        **_now(asked),
        days=days,
        day_choices=_DAYS,
        project=project,
        projects=projects,
        savings=stats.savings,
        plots=_plots(by_day),
        stored=_stored(stats.memories),
        plot_width=WIDTH,
    )


def _now(asked: Asked) -> Mapping[str, object]:
    health = asked.client.health()
    errors = asked.client.failed_events()
    is_off = asked.client.home.off_switch.exists()
    spend, cap = health.spend_today, health.daily_usd or 0.0
    return {
        "health": health,
        "since": (datetime.now(UTC) - timedelta(seconds=health.uptime_s)).isoformat(),
        "counts": asked.client.queue_counts(),
        "errors": errors,
        "spend": spend,
        "cap": cap,
        "spend_shown": dollars(spend),
        "cap_shown": dollars(cap),
        "troubles": _troubles(health, errors, is_off=is_off),
        "recoveries": list(reversed(asked.client.recoveries()))[:_MAX_RECOVERIES],
    }


def _troubles(health: Health, errors: Sequence[FailedEvent], *, is_off: bool) -> list[str]:
    """Return the problems that need the user, a sentence each."""
    model = ": ".join(filter(None, (health.model_problem, health.model_next_step)))
    failed = counted(len(errors), "event is", "events are")
    found = (
        "Memory is switched off: nothing is captured or given until you run `claude-mem-lite on`." if is_off else "",
        sentence(health.problem),
        f"{failed} in error: the reasons are below." if errors else "",
        sentence(health.index_problem),
        sentence(model),
        sentence(health.backup_problem),
    )
    return list(dict.fromkeys(filter(None, found)))


def _plots(days: Sequence[Day]) -> list[Plot]:
    dates = [day.day for day in days]

    def series(name: str, field: str) -> Series:
        return Series(name, [getattr(day, field) for day in days])

    return [
        bars_by_day("given", "How often memories were given", dates, [series("times", "given")]),
        bars_by_day("used", "Outcomes of what was given", dates, [series(name, name) for name in OUTCOMES]),
        shares_by_day("rate", "Share that was used, at least", dates, Series("used", [_rate(day) for day in days])),
        bars_by_day("tokens", "Tokens given", dates, [series("tokens", "tokens_given")]),
        bars_by_day("saved", "Tokens given and saved at starts", dates, _savings(days)),
        bars_by_day("spend", "Spent on models", dates, [series("dollars", "cost_usd")], DOLLARS),
        bars_by_day("model", "Tokens of models", dates, [series("sent", "tokens_in"), series("back", "tokens_out")]),
        bars_by_day("new", "New memories", dates, [series("memories", "memories")]),
        bars_by_day("sessions", "Sessions", dates, [series("sessions", "sessions")]),
    ]


def _rate(day: Day) -> float | None:
    judged = day.used + day.ignored + day.unknown
    return day.used / judged if judged else None


def _savings(days: Sequence[Day]) -> list[Series]:
    """Return the sizes of injected contexts, and how much larger the conversations behind them are."""
    given = [day.savings.given_tokens for day in days]
    saved = [max(day.savings.said_tokens - day.savings.given_tokens, 0) for day in days]
    return [Series("given", given), Series("saved", saved)]


def _stored(memories: StoredMemories) -> list[Plot]:
    """Return plots of the stored memories by kind and by project; small projects are one bar."""
    kinds = [(kind.replace("_", " "), float(count)) for kind, count in memories.by_kind.items()]
    found = [
        (project.name or project_name(project.project) or "everywhere", float(project.memories))
        for project in memories.by_project
        if project.memories
    ]
    others = sum(count for _, count in found[_MAX_PROJECTS:])
    projects = [*found[:_MAX_PROJECTS], *([(counted(len(found) - _MAX_PROJECTS, "other"), others)] if others else [])]
    return [
        bars_by_name("kinds", "Memories by kind", "Kind", kinds),
        bars_by_name("projects", "Memories by project", "Project", projects),
    ]
