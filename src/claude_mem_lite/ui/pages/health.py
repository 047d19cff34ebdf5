"""How things stand: the worker, its queue and errors, the model and what it takes, and how all that went by day."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from claude_mem_lite.client.responses import number, objects, part, whole
from claude_mem_lite.models import OUTCOMES, JsonObject, text
from claude_mem_lite.scopes import project_name
from claude_mem_lite.text import counted
from claude_mem_lite.ui.plots import DOLLARS, WIDTH, Plot, Series, bars_by_day, bars_by_name, dollars, shares_by_day
from claude_mem_lite.ui.templating import Asked, render

_DAYS = (7, 30, 90, 180)
_USUAL_DAYS = 30
_MAX_PROJECTS = 12
_MAX_RECOVERIES = 5


def health(asked: Asked) -> str:
    """The page, or only what may have changed a moment ago."""
    if asked.chosen("only") == "now":
        return render("health_now.html", **_now(asked))
    days = next((one for one in _DAYS if str(one) == asked.chosen("days")), _USUAL_DAYS)
    projects = asked.client.projects()
    project = asked.chosen("project")
    project = project if project in [one.get("id") for one in projects] else ""
    stats = asked.client.stats(days)
    by_day = asked.client.days(days, project=project)
    return render(
        "health.html",
        **_now(asked),
        days=days,
        day_choices=_DAYS,
        project=project,
        projects=projects,
        retold=stats.get("retold"),
        plots=_plots(by_day),
        stored=_stored(stats),
        plot_width=WIDTH,
    )


def _now(asked: Asked) -> dict[str, object]:
    told = asked.client.health().told
    counts = asked.client.queue_counts()
    up = timedelta(seconds=number(told, "uptime_s"))
    errors = asked.client.failed_events()
    is_off = asked.client.home.off_switch.exists()
    spend, cap = number(told, "spend_today"), number(told, "daily_usd")
    return {
        "told": told,
        "since": (datetime.now(UTC) - up).isoformat(),
        "counts": counts,
        "errors": errors,
        "spend": spend,
        "cap": cap,
        "spend_shown": dollars(spend),
        "cap_shown": dollars(cap),
        "troubles": _troubles(told, errors, is_off=is_off),
        "recoveries": list(reversed(asked.client.recoveries()))[:_MAX_RECOVERIES],
    }


def _troubles(told: JsonObject, errors: Sequence[JsonObject], *, is_off: bool) -> list[str]:
    """Return what needs the user, a sentence each; none means that all is well."""
    model = ": ".join(filter(None, (text(told.get("model_problem")), text(told.get("model_next_step")))))
    failed = counted(len(errors), "event is", "events are")
    found = (
        "Memory is switched off: nothing is captured or given until you run `claude-mem-lite on`." if is_off else "",
        _sentence(text(told.get("problem"))),
        f"{failed} in error: the reasons are below." if errors else "",
        _sentence(text(told.get("index_problem"))),
        _sentence(model),
        _sentence(text(told.get("backup_problem"))),
    )
    return list(dict.fromkeys(filter(None, found)))


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:].rstrip('.')}." if words else ""


def _plots(days: Sequence[JsonObject]) -> list[Plot]:
    dates = [text(one.get("day")) for one in days]

    def series(name: str, key: str) -> Series:
        return Series(name, [number(one, key) for one in days])

    return [
        bars_by_day("given", "How often something was given", dates, [series("given", "given")]),
        bars_by_day("used", "What came of it", dates, [series(name, name) for name in OUTCOMES]),
        shares_by_day("rate", "Share of it used at least", dates, Series("used", [_rate(one) for one in days])),
        bars_by_day("tokens", "Tokens given", dates, [series("tokens", "tokens_given")]),
        bars_by_day("saved", "Tokens given and saved at starts", dates, _savings(days)),
        bars_by_day("spend", "Spent on models", dates, [series("dollars", "cost_usd")], DOLLARS),
        bars_by_day("model", "Tokens of models", dates, [series("in", "tokens_in"), series("out", "tokens_out")]),
        bars_by_day("new", "New memories", dates, [series("memories", "memories")]),
        bars_by_day("sessions", "Sessions", dates, [series("sessions", "sessions")]),
    ]


def _rate(day: JsonObject) -> float | None:
    judged = sum(whole(day, outcome) for outcome in OUTCOMES)
    return whole(day, "used") / judged if judged else None


def _savings(days: Sequence[JsonObject]) -> list[Series]:
    """What was given, and how much more was said in the sessions that this sums up."""
    retold = [part(one, "retold") for one in days]
    given = [whole(one, "given_tokens") for one in retold]
    said = [whole(one, "said_tokens") for one in retold]
    saved = [max(said - given, 0) for given, said in zip(given, said, strict=True)]
    return [Series("given", given), Series("saved", saved)]


def _stored(stats: JsonObject) -> list[Plot]:
    """What is stored now, by kind and by project; few projects have most of it."""
    memories = part(stats, "memories")
    by_kind = part(memories, "by_kind")
    kinds = [(kind.replace("_", " "), number(by_kind, kind)) for kind in by_kind]
    found = [
        (text(one.get("name")) or project_name(text(one.get("project"))) or "everywhere", number(one, "memories"))
        for one in objects(memories, "by_project")
        if whole(one, "memories")
    ]
    others = sum(count for _, count in found[_MAX_PROJECTS:])
    projects = [*found[:_MAX_PROJECTS], *([(counted(len(found) - _MAX_PROJECTS, "other"), others)] if others else [])]
    return [
        bars_by_name("kinds", "Memories by kind", "Kind", kinds),
        bars_by_name("projects", "Memories by project", "Project", projects),
    ]
