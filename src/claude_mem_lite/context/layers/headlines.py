"""Headlines of the sessions in one list, each told once: by what came of a session before what was asked in it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.context.render import changed_files
from claude_mem_lite.models import REQUEST_LEAD, SessionSummary

_WORD = re.compile(r"\w+")


class Headline(NamedTuple):
    """What a session is called; '' where others are called by all that is known of it."""

    text: str
    names_files: bool = False

    @property
    def is_only_asked(self) -> bool:
        """Whether it tells no outcome."""
        return self.text.startswith(REQUEST_LEAD)


def told_as(summaries: Sequence[SessionSummary]) -> list[Headline]:
    """Return a headline for each session, newest first, no two with the same words."""
    changed = Counter(file for told in summaries for file in set(told.files_edited))
    said: set[tuple[str, ...]] = set()
    headlines = []
    for told in summaries:
        fresh = (one for one in _candidates(told, changed) if one.text and _words(one) not in said)
        chosen = next(fresh, Headline(""))
        said.add(_words(chosen))
        headlines.append(chosen)
    return headlines


def _candidates(told: SessionSummary, changed: Counter[str]) -> Iterator[Headline]:
    """Yield what a session may be called, the best first; `changed` has how many sessions changed each file."""
    stated = Headline(told.headline)
    yield from () if stated.is_only_asked else (stated,)
    yield from map(Headline, (*sentences(told.completed), *sentences(told.learned)))
    rarest_first = sorted(dict.fromkeys(told.files_edited), key=lambda file: changed[file])
    yield Headline(changed_files(rarest_first), names_files=True)
    yield stated


def _words(headline: Headline) -> tuple[str, ...]:
    return tuple(_WORD.findall(headline.text.removeprefix(REQUEST_LEAD).lower()))
