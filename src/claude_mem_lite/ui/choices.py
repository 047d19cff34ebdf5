"""What can be chosen to narrow the feed and a search; a choice that nobody offered is none."""

from collections.abc import Sequence

from claude_mem_lite.models import KINDS, ORIGINS, STATUSES
from claude_mem_lite.ui.templating import Asked

_ANY_STATUS = "any"
_OFFERED: dict[str, Sequence[str]] = {
    "kind": KINDS,
    "origin": ORIGINS,
    # What is active is shown unless another is chosen: that is no choice.
    "status": [*(one for one in STATUSES if one != "active"), _ANY_STATUS],
}


def chosen_of(asked: Asked, *names: str) -> dict[str, str]:
    """What was chosen by each of these names, '' where nothing was."""
    chosen = {name: asked.chosen(name) for name in names}
    return {name: one if one in _OFFERED.get(name, (one,)) else "" for name, one in chosen.items()}


def statuses_of(chosen: str) -> tuple[str, ...]:
    """The statuses to ask the worker for; none leaves it to the worker, which takes the active ones."""
    return STATUSES if chosen == _ANY_STATUS else some(chosen)


def some(one: str) -> tuple[str, ...]:
    return (one,) if one else ()
