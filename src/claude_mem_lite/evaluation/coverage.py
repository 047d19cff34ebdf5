"""Coverage: how much of the files that a session will touch its start context points to, and at what cost.

Files are weighted by rarity, log(N/df) over all sessions: to know the file that every session touches is worth little.
Coverage is the share of the weight; sessions that touch no file are left out; the mean is over sessions. Two counts:

- covered: a session in the context stands for all files that it touched, a memory for its own files, a function for
  the file above it.
- readable: only files that the text names, by path or by an end of the path that no other file has."""

import math
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from claude_mem_lite.context.render import estimate_tokens, when
from claude_mem_lite.evaluation.recording import ListedSession
from claude_mem_lite.evaluation.session_walk import ContextLine, SessionStart
from claude_mem_lite.values import frozen

_PATH = re.compile(r"[\w.-]*[\w-](?:/[\w.-]*[\w-])*")


class Files:
    """Files of all sessions: their rarity, and a search for the files that a text names."""

    def __init__(self, sessions: Sequence[ListedSession]) -> None:
        self.of = {session.id: session.files for session in sessions}
        touched = Counter(file for session in sessions for file in session.files)
        self._weights = {file: math.log(len(sessions) / times) for file, times in touched.items()}
        ends = ((end, file) for file in touched for end in _ends(file))
        named: dict[str, set[str]] = {}
        for end, file in ends:
            named.setdefault(end, set()).add(file)
        self._named = {end: next(iter(files)) for end, files in named.items() if len(files) == 1}

    def coverage(self, touched: Iterable[str], known: frozenset[str]) -> float:
        """Return the share of the weight of the touched files that is known; 0 for files that all sessions touch."""
        weights = {file: self._weights[file] for file in sorted(touched)}
        total = sum(weights.values())
        return sum(weight for file, weight in weights.items() if file in known) / total if total else 0.0

    def readable(self, text: str) -> frozenset[str]:
        """Return the files that a text names."""
        return frozenset(self._named[path] for path in _PATH.findall(text) if path in self._named)


@frozen
class ShownText:
    """Text that a session is shown: the covered files, and the files of each session or memory in the text."""

    text: str
    files: frozenset[str]
    items: Sequence[frozenset[str]]

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.text)


Select = Callable[[SessionStart], ShownText]


def product_selection(files: Files, text: str, lines: Sequence[ContextLine]) -> ShownText:
    """Return the context of the product as a selection."""
    items: dict[tuple[str, str], frozenset[str]] = {}
    for line in lines:
        if line.files is not None:
            stands_for = line.files
        elif _is_of_code(line):
            stands_for = files.readable(line.line)
        else:
            stands_for = files.of[line.source]
        key = (line.layer, line.source)
        items[key] = items.get(key, frozenset()) | stands_for
    return ShownText(text, frozenset().union(*items.values()), list(items.values()))


def _is_of_code(line: ContextLine) -> bool:
    """Return whether a line is about functions, not about the session that changed them."""
    return line.layer in ("changed code", "function map")


def session_selection(files: Files, start: SessionStart, chosen: Sequence[str]) -> ShownText:
    """Return sessions by their headlines, one line each."""
    lines = []
    for id_ in chosen:
        last_at, headline = start.headlines.get(id_, (start.session.started_at, ""))
        lines.append(f"- [{when(last_at, start.session.started_at, False)}] {headline[:190]}")
    of = {id_: files.of[id_] for id_ in chosen}
    return ShownText("\n".join(lines), frozenset().union(*of.values()), list(of.values()))


def precision(touched: frozenset[str], items: Iterable[frozenset[str]]) -> float | None:
    """Return the share of items that concern a touched file; None without items."""
    useful = [bool(touched & files) for files in items]
    return statistics.fmean(useful) if useful else None


@frozen
class CoverageSample:
    """Measures of one selection over the sessions of a project."""

    covered: Sequence[float]
    """Coverage, one value for each session that touches a file."""
    readable: Sequence[float]
    tokens: Sequence[int]
    use: Sequence[float]
    """Share of items of use, one value for each session that is shown any."""


def sample(files: Files, starts: Sequence[SessionStart], select: Select) -> CoverageSample:
    """Measure a selection at the start of each session."""
    selections = [(start.session.files, select(start)) for start in starts]
    touching = [(touched, selection) for touched, selection in selections if touched]
    use = [precision(touched, selection.items) for touched, selection in touching]
    return CoverageSample(
        covered=[files.coverage(touched, selection.files) for touched, selection in touching],
        readable=[files.coverage(touched, files.readable(selection.text)) for touched, selection in touching],
        tokens=[selection.tokens for _, selection in selections],
        use=[share for share in use if share is not None],
    )


def newest_sessions(files: Files, order: Sequence[str], count: int) -> Select:
    """Return the selection of the newest earlier sessions by headline."""

    def select(start: SessionStart) -> ShownText:
        earlier = order[: order.index(start.session.id)]
        return session_selection(files, start, list(reversed(earlier))[:count])

    return select


def _ends(file: str) -> list[str]:
    parts = file.split("/")
    return ["/".join(parts[place:]) for place in range(len(parts))]
