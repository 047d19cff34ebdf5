"""The API of what happened day by day: the figures behind the plots. Writes nothing."""

from contextlib import closing
from dataclasses import asdict
from datetime import timedelta

from claude_mem_lite.store.days import Day, by_day
from claude_mem_lite.worker.api.analytics import Days
from claude_mem_lite.worker.api.routing import Router
from claude_mem_lite.worker.api.status import Running
from claude_mem_lite.worker.models import limits

router = Router(prefix="/api")


@router.get("/days")
def days_so_far(loop: Running, days: Days = 30, project: str = "") -> dict[str, object]:
    """The last days in UTC, today included, oldest first, everywhere or in a project."""
    first = limits.start_of_day(loop.clock()) - timedelta(days=days - 1)
    with closing(loop.readers.open()) as db:
        found = by_day(db, first, project)
    dates = [(first + timedelta(days=number)).date().isoformat() for number in range(days)]
    return {"days": [{"day": date, **asdict(found.get(date, Day()))} for date in dates]}
