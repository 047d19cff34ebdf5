"""Headlines of the sessions in one list, each told once: by what came of a session before what was asked in it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.context.render import session_by_files
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
    times = Counter(file for told in summaries for file in {*told.files_edited, *told.files_read})
    said: set[tuple[str, ...]] = set()
    headlines = []
    for told in summaries:
        fresh = (one for one in _candidates(told, times) if one.text and _words(one) not in said)
        chosen = next(fresh, Headline(""))
        said.add(_words(chosen))
        headlines.append(chosen)
    return headlines


def _candidates(told: SessionSummary, times: Counter[str]) -> Iterator[Headline]:
    """Yield what a session may be called, the best first; `times` has how many sessions changed or read each file."""
    stated = Headline(told.headline)
    yield from () if stated.is_only_asked else (stated,)
    yield from map(Headline, (*sentences(told.completed), *sentences(told.learned)))
    verb, files = ("Changed", told.files_edited) if told.files_edited else ("Read", told.files_read)
    rarest_first = sorted(dict.fromkeys(files), key=lambda file: times[file])
    yield Headline(session_by_files(verb, rarest_first), names_files=True)
    yield stated


def _words(headline: Headline) -> tuple[str, ...]:
    return tuple(_WORD.findall(headline.text.removeprefix(REQUEST_LEAD).lower()))
