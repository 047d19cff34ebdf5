"""The page of evaluation: the last report that `claude-mem-lite eval` kept, as plots and numbers."""

import json

from claude_mem_lite.models import JsonObject, JsonValue, text
from claude_mem_lite.ui.plots import SHARE, WIDTH, Plot, bars_by_name
from claude_mem_lite.ui.templating import Asked, render


def evaluation(asked: Asked) -> str:
    """Return the page; without a readable report, how to make one."""
    report = _read(asked)
    projects = [project for project in _list(report.get("projects")) if isinstance(project, dict)]
    plots = [_plots(number, project) for number, project in enumerate(projects)]
    return render(
        "evaluation.html",
        made_at=text(report.get("made_at")),
        projects=list(zip(projects, plots, strict=True)),
        plot_width=WIDTH,
    )


def _read(asked: Asked) -> JsonObject:
    try:
        report = json.loads(asked.client.home.evaluation.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return report if isinstance(report, dict) else {}


def _plots(number: int, project: JsonObject) -> list[Plot]:
    starts = _coverage(project.get("whole"))
    months = [
        (month, share)
        for month, figures in _dict(project.get("months")).items()
        for name, share in _coverage(figures)[:1]
    ]
    return [
        bars_by_name(f"starts-{number}", "Touched files that the start context covers", "Way", starts, SHARE),
        bars_by_name(f"months-{number}", "The same by month", "Month", months, SHARE),
    ]


def _coverage(figures: JsonValue) -> list[tuple[str, float]]:
    """Return the mean coverage of each selection."""
    shares = []
    for name, start in _dict(_dict(figures).get("starts")).items():
        mean = _dict(_dict(start).get("coverage")).get("mean")
        shares.append((name, float(mean) if isinstance(mean, int | float) else 0.0))
    return shares


def _dict(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
