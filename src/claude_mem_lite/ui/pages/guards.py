"""Pages of guards: the list, one guard with its replay, ledger and plot, and the user's decisions.

A decision also puts the hook of the guards into the settings of the project's folders, or takes it out."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from claude_mem_lite.client.client import Client
from claude_mem_lite.client.queries import Where
from claude_mem_lite.guard_modes import MODES, mode_in_words
from claude_mem_lite.install.guard_change import follow, hindrances
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.responses.guards import GuardDetail, GuardMatch, GuardSession, ShownGuard
from claude_mem_lite.ui.plots import WIDTH, Plot, Series, bars_by_day
from claude_mem_lite.ui.templating import Action, Asked, View, id_of, render

_MAX_SHOWN = 200
_MODES = {mode: mode_in_words(mode) for mode in MODES}
_NOT_HELD = "Accepted, but not in force"
_STATUSES = {
    "active": "In force",
    "paused": "Paused",
    "proposed": "Proposed, not in force",
    "doubtful": "Doubtful, not proposed",
}
_TITLES = (_STATUSES["active"], _NOT_HELD, *list(_STATUSES.values())[1:])


def guards(asked: Asked) -> str:
    """Return the page, or only its list."""
    found = asked.client.guards(Where("", all_projects=True)).guards
    names = asked.client.project_names()
    stopped = hindrances(asked.client.home, found)
    lines = [_line(guard, names, stopped.get(guard.id, "")) for guard in found]
    groups = [(title, [line for line in lines if line.status_words == title]) for title in _TITLES]
    values = {"groups": [(title, listed) for title, listed in groups if listed], "modes": _MODES}
    return render("guards_list.html" if asked.chosen("only") == "list" else "guards.html", **values)


def guard(asked: Asked) -> str:
    """Return the page of one guard."""
    found = asked.client.guard(asked.path["id"], limit=_MAX_SHOWN)
    names = asked.client.project_names()
    return render(
        "guard.html",
        guard=_line(found.guard, names, hindrances(asked.client.home, [found.guard]).get(found.guard.id, "")),
        detail=found,
        sessions=_by_session(found.matches),
        more=found.guard.would_have_fired - len(found.matches),
        plot=_plot(found),
        width=WIDTH,
        modes=_MODES,
    )


def _line(guard: ShownGuard, names: Mapping[str, str], hindrance: str) -> View:
    status = _NOT_HELD if hindrance else _STATUSES.get(guard.status, guard.status.capitalize())
    return View(
        guard,
        project_name=names.get(guard.project, guard.project),
        status_words=status,
        hindrance=hindrance,
        mode_words=mode_in_words(guard.mode),
    )


def _by_session(matches: Sequence[GuardMatch]) -> list[tuple[str, list[GuardMatch]]]:
    return [(session, list(found)) for session, found in groupby(matches, key=lambda match: match.session)]


def _plot(detail: GuardDetail) -> Plot:
    """Return the calls against the rule by day, before and since the guard was accepted."""
    days = sorted({one.at[:10] for one in detail.occasions})
    before, after = (
        Series(name, [_sum(detail.occasions, day, is_after=is_after) for day in days])
        for name, is_after in (("before it was accepted", False), ("since then", True))
    )
    return bars_by_day("guard-plot", "Calls against the rule, on days when it came up", days, [before, after])


def _sum(occasions: Sequence[GuardSession], day: str, *, is_after: bool) -> float:
    return sum(one.violations for one in occasions if one.at[:10] == day and one.is_after == is_after)


def _change(client: Client, given: JsonObject, change: str, done: str) -> JsonObject:
    changed = client.change_guard(id_of(given), change, mode=text(given.get("mode")) or None)
    followed = follow(client.home, changed)
    if followed.trouble is None:
        return {"message": " ".join((done, *followed.lines))}
    said = "Stored." if changed.guard.status == "active" else done
    return {"message": f"{said} But {followed.trouble}"}


def _accept(client: Client, given: JsonObject) -> JsonObject:
    return _change(client, given, "accept", "In force.")


def _dismiss(client: Client, given: JsonObject) -> JsonObject:
    return _change(client, given, "dismiss", "Dismissed: it is not proposed again.")


def _pause(client: Client, given: JsonObject) -> JsonObject:
    return _change(client, given, "pause", "Paused: calls pass.")


def _resume(client: Client, given: JsonObject) -> JsonObject:
    return _change(client, given, "resume", "In force again.")


def _remove(client: Client, given: JsonObject) -> JsonObject:
    return {**_change(client, given, "remove", "Removed."), "go": "/guards"}


def _false(client: Client, given: JsonObject) -> JsonObject:
    return _change(client, given, "false", "Counted as a false firing.")


GUARD_ACTIONS: Mapping[str, Action] = {
    "accept_guard": _accept,
    "dismiss_guard": _dismiss,
    "pause_guard": _pause,
    "resume_guard": _resume,
    "remove_guard": _remove,
    "false_guard": _false,
}
