"""What is held back until the user has seen it: words of others that give orders to an agent."""

from claude_mem_lite.client.responses import Where
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.ui.actions_memory import said
from claude_mem_lite.ui.templating import Asked, render

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
