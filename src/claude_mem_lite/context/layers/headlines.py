"""Headlines of the sessions in one list, each told once: prompts made of a template give many sessions the same."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.models import REQUEST_LEAD, SessionSummary

_WORD = re.compile(r"\w+")


def told_as(summaries: Sequence[SessionSummary]) -> list[str]:
    """Return a headline for each session, newest first, no two with the same words; '' where nothing else is known."""
    asked = Counter(words for told in summaries for words in {_words(one) for one in _asked(told)})
    said: set[tuple[str, ...]] = {()}
    headlines = []
    for told in summaries:
        chosen = next((one for one in _candidates(told, asked) if _words(one) not in said), "")
        said.add(_words(chosen))
        headlines.append(chosen)
    return headlines


def _candidates(told: SessionSummary, asked: Counter[tuple[str, ...]]) -> Iterator[str]:
    """Yield what a session may be called, the best first; of what was asked, what no other was asked comes first."""
    own = [f"{REQUEST_LEAD}{one.rstrip('.')}" for one in _asked(told) if asked[_words(one)] == 1]
    is_template = told.headline.startswith(REQUEST_LEAD) and asked[_words(told.headline)] > 1
    yield from () if is_template else (told.headline,)
    yield from sentences(told.completed)
    yield from own
    yield from (told.headline,) if is_template else ()


def _asked(told: SessionSummary) -> list[str]:
    return sentences(told.request)


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.removeprefix(REQUEST_LEAD).lower()))
