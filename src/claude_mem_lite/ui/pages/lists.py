"""Pages of lists: search, quarantine, lessons and projects."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from claude_mem_lite.client.queries import NOTHING_CERTAIN, Wanted, Where
from claude_mem_lite.models import user_origin_label
from claude_mem_lite.responses.memories import QuarantinedMemory
from claude_mem_lite.responses.records import SearchHit
from claude_mem_lite.scopes import called
from claude_mem_lite.ui import templating
from claude_mem_lite.ui.actions import said
from claude_mem_lite.ui.repeated_text import title_and_more
from claude_mem_lite.ui.templating import EVERY_PROJECT, Asked, View, chosen_of, render, some, statuses_of

_FIRST, _MAX_HITS = 25, 200
_MAX_QUERY_LENGTH = 1_000
_MAX_LESSONS = 100


def search(asked: Asked) -> str:
    """Return the page, or only the hits."""
    query = asked.chosen("query")[:_MAX_QUERY_LENGTH]
    asked_for = chosen_of(asked, "project", "kind", "status")
    chosen = {**asked_for, "project": templating.chosen(asked)}
    is_all = asked.chosen("limit") == str(_MAX_HITS)
    limit = _MAX_HITS if is_all else _FIRST
    hits = _found(asked, query, chosen, limit) if query else []
    names = asked.client.project_names()
    given = {name: value for name, value in {"query": query, **asked_for}.items() if value}
    values = {
        "query": query,
        "hits": [_hit(hit, names) for hit in hits],
        "nothing_certain": NOTHING_CERTAIN if hits and all(hit.is_uncertain for hit in hits) else "",
        "is_narrow": any(chosen.values()),
        "where": called(chosen["project"], names),
        "everywhere": f"/search?{urlencode({'query': query, 'project': EVERY_PROJECT})}",
        "more": f"/search?{urlencode({**given, 'limit': _MAX_HITS})}" if len(hits) == _FIRST and not is_all else "",
        "most": _MAX_HITS,
    }
    if asked.chosen("only") == "results":
        return render("search_results.html", **values)
    return render(
        "search.html",
        **values,
        chosen=chosen,
        projects=asked.client.projects(),
        longest=_MAX_QUERY_LENGTH,
    )


def _found(asked: Asked, query: str, chosen: dict[str, str], limit: int) -> Sequence[SearchHit]:
    wanted = Wanted(kinds=some(chosen["kind"]), statuses=statuses_of(chosen["status"]))
    where = Where("", project=chosen["project"]) if chosen["project"] else Where("", all_projects=True)
    return asked.client.search(query, where, wanted, limit=limit)


def _hit(hit: SearchHit, names: Mapping[str, str]) -> View:
    title, more = title_and_more(hit)
    return View(
        hit,
        title=title,
        more=more,
        said="a session's summary" if hit.kind == "session" else "said in a session, word for word",
        status=hit.status or "active",
        verdict=hit.freshness.verdict if hit.freshness else "",
        project_name=called(hit.project, names),
    )


_AT_ONCE = 50
_MAX_SHOWN_LENGTH = 2_000


def quarantine(asked: Asked) -> str:
    """Return the page, or only its list."""
    waiting = asked.client.quarantine(Where("", all_projects=True), limit=_AT_ONCE + 1)
    values = {
        "waiting": [_quarantined(memory) for memory in waiting[:_AT_ONCE]],
        "ids": [memory.id for memory in waiting[:_AT_ONCE]],
        "has_more": len(waiting) > _AT_ONCE,
    }
    is_list = asked.chosen("only") == "list"
    return render("quarantine_list.html" if is_list else "quarantine.html", **values)


def _quarantined(memory: QuarantinedMemory) -> View:
    whole = said(memory)
    return View(memory, said=whole[:_MAX_SHOWN_LENGTH], is_cut=len(whole) > _MAX_SHOWN_LENGTH)


_MAX_CHANGES = 10


def projects(asked: Asked) -> str:
    """Return the page, or only its list."""
    changes = [change for change in asked.client.project_changes() if not change.undone_at]
    values = {"projects": asked.client.projects(), "changes": changes[:_MAX_CHANGES]}
    return render("projects_list.html" if asked.chosen("only") == "list" else "projects.html", **values)


def lessons(asked: Asked) -> str:
    """Return the page, or only its list."""
    found = asked.client.lessons(Where("", all_projects=True), limit=_MAX_LESSONS)
    names = asked.client.project_names()
    values = {
        "unsure": [View(lesson, project_name=names.get(lesson.project, lesson.project)) for lesson in found.unsure],
        "learned": [
            View(
                lesson,
                whose=user_origin_label(lesson.made_by, lesson.trust),
                project_name=names.get(lesson.project, lesson.project),
            )
            for lesson in found.learned
        ],
        "more": found.more,
    }
    return render("lessons_list.html" if asked.chosen("only") == "list" else "lessons.html", **values)
