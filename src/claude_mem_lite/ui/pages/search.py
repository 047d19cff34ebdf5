"""Search as one types: memories and raw text, each with its score and what that is made of.

What is held back until the user has seen it: words of others that give orders to an agent."""

from urllib.parse import urlencode

from claude_mem_lite.client.responses import NOTHING_CERTAIN, Wanted, Where, is_uncertain, part
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.scopes import called
from claude_mem_lite.ui import templating
from claude_mem_lite.ui.actions import said
from claude_mem_lite.ui.repeated_text import listed
from claude_mem_lite.ui.templating import EVERY_PROJECT, Asked, chosen_of, render, some, statuses_of, with_project_name

_FIRST, _MOST = 25, 200
_MAX_QUERY_LENGTH = 1_000
_RAW = ("turn", "session")
"""The kinds of a passage: it is text of a session, and no memory."""


def search(asked: Asked) -> str:
    """The page, or only what was found."""
    query = asked.chosen("query")[:_MAX_QUERY_LENGTH]
    asked_for = chosen_of(asked, "project", "kind", "status")
    chosen = {**asked_for, "project": templating.chosen(asked)}
    is_all = asked.chosen("limit") == str(_MOST)
    limit = _MOST if is_all else _FIRST
    hits = _found(asked, query, chosen, limit) if query else []
    names = asked.client.project_names()
    given = {name: value for name, value in {"query": query, **asked_for}.items() if value}
    values = {
        "query": query,
        "hits": [with_project_name(_hit(one), names) for one in hits],
        "nothing_certain": NOTHING_CERTAIN if hits and all(map(is_uncertain, hits)) else "",
        "is_narrow": any(chosen.values()),
        "where": called(chosen["project"], names),
        "everywhere": f"/search?{urlencode({'query': query, 'project': EVERY_PROJECT})}",
        "more": f"/search?{urlencode({**given, 'limit': _MOST})}" if len(hits) == _FIRST and not is_all else "",
        "most": _MOST,
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


def _found(asked: Asked, query: str, chosen: dict[str, str], limit: int) -> list[JsonObject]:
    wanted = Wanted(kinds=some(chosen["kind"]), statuses=statuses_of(chosen["status"]))
    where = Where("", project=chosen["project"]) if chosen["project"] else Where("", all_projects=True)
    return list(asked.client.search(query, where, wanted, limit=limit))


def _hit(hit: JsonObject) -> JsonObject:
    """A hit, and whether it is raw text, which leads to the session it was said in."""
    return {
        **listed(hit),
        "is_raw": hit.get("kind") in _RAW,
        "is_uncertain": is_uncertain(hit),
        "said": "a session's summary" if hit.get("kind") == "session" else "said in a session, word for word",
        "status": text(hit.get("status")) or "active",
        "pinned": hit.get("pinned") is True,
        "verdict": text(part(hit, "freshness").get("verdict")),
    }


_AT_ONCE = 50
_LONGEST = 2_000


def quarantine(asked: Asked) -> str:
    """The page, or only its list."""
    waiting = asked.client.quarantine(Where("", all_projects=True), limit=_AT_ONCE + 1)
    values = {
        "waiting": [_shown(one) for one in waiting[:_AT_ONCE]],
        "ids": [text(one.get("id")) for one in waiting[:_AT_ONCE]],
        "has_more": len(waiting) > _AT_ONCE,
    }
    is_list = asked.chosen("only") == "list"
    return render("quarantine_list.html" if is_list else "quarantine.html", **values)


def _shown(memory: JsonObject) -> JsonObject:
    whole = said(memory)
    return {**memory, "said": whole[:_LONGEST], "is_cut": len(whole) > _LONGEST}
