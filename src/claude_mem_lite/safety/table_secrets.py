"""Secrets in tables: CSV, Markdown, and database output. The name is the column header, or the cell before.

Called by `named_secrets` once for a text; each line is read at most twice."""

from collections.abc import Callable, Iterator
from itertools import pairwise

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.safety.secret_values import is_made_up, looks_real
from claude_mem_lite.safety.unescaped_view import body_of_line

_SEPARATORS = ("|", "\t", ",", ";")
_RULER = lazy(r"[^\n]{0,60}?[-=+|: ]{3,}$")
_CELL = lazy(r"[\w .#/()*-]{1,40}$")
_STRING_START = lazy(r"[\"'`<>\\]")
_AROUND = " \t\"'`*\\"
_VALUE = lazy(r"[^\s\"'`<>\\|]{4,300}")
_MAX_ROWS = 5_000
_MAX_LINE = 2_000
Span = tuple[int, int]
IsName = Callable[[str], bool]


def secrets_in_tables(text: str, positions: list[int], is_name: IsName) -> Iterator[Span]:
    """Yield the secrets of tables with a name at one of these positions in the header or in the first cells."""
    done = -1
    for at in positions:
        if at < done:
            continue
        start, end = text.rfind("\n", max(0, at - _MAX_LINE), at) + 1, text.find("\n", at, at + _MAX_LINE)
        done = len(text) if end < 0 else end
        if done - start > _MAX_LINE:
            continue
        line = body_of_line(text, start, done)
        separator = next((sign for sign in _SEPARATORS if sign in text[line:done]), "")
        if not separator:
            continue
        cells = list(_cells(text, line, done, separator))
        if separator in "|\t" and (beside := _beside(text, cells, is_name)):
            yield beside
        elif columns := _columns(text, cells, is_name):
            for end, span in _rows(text, done, separator, *columns):
                done = end
                if span:
                    yield span


def _columns(text: str, cells: list[Span], is_name: IsName) -> tuple[int, dict[int, str]] | None:
    """Return the number of cells of a header, and its secret columns by number."""
    words = [text[start:end].strip(_AROUND) for start, end in cells]
    # The header may be the beginning of a string, behind a call or a tag.
    words[0] = _STRING_START.split(text[slice(*cells[0])])[-1].strip()
    words[-1] = _STRING_START.split(words[-1])[0].strip()
    if len(words) < 2 or not all(not word or _CELL.match(word) for word in words):
        return None
    names = {number: word for number, word in enumerate(words) if word and is_name(word.replace(" ", "_"))}
    return (len(words), names) if names else None


def _rows(text: str, at: int, separator: str, count: int, names: dict[int, str]) -> Iterator[tuple[int, Span | None]]:
    """Yield the end of each row with its secrets, up to the first line that is no row."""
    is_sure = False  # without a ruler, any words may be between separators
    for _ in range(_MAX_ROWS):
        start = at + 1
        if start >= len(text):
            return
        at = text.find("\n", start, start + _MAX_LINE)
        at = at if at >= 0 else min(len(text), start + _MAX_LINE)
        if _RULER.match(text, start, at):
            is_sure = True
            continue
        cells = list(_cells(text, body_of_line(text, start, at), at, separator))
        if len(cells) != count:
            return
        for number, name in names.items():
            a, b = cells[number]
            yield at, _secret(text, a, b, name, is_sure=is_sure)


def _beside(text: str, cells: list[Span], is_name: IsName) -> Span | None:
    """Return the secret in the cell behind its name: a line of a settings table."""
    for (a, b), (start, end) in pairwise(cells):
        name = text[a:b].strip(_AROUND).replace(" ", "_")
        if name and len(name) <= 40 and is_name(name):
            return _secret(text, start, end, name, is_sure=False)
    return None


def _secret(text: str, start: int, end: int, name: str, *, is_sure: bool) -> Span | None:
    value = _VALUE.search(text, start, end)
    if not value or " " in text[start:end].strip(_AROUND):
        return None
    is_secret = looks_real(name, value[0], quoted=True, tight=True) if is_sure else is_made_up(value[0], strict=True)
    return value.span() if is_secret else None


def _cells(text: str, start: int, end: int, separator: str) -> Iterator[Span]:
    while start <= end:
        stop = text.find(separator, start, end)
        stop = stop if stop >= 0 else end
        yield start, stop
        start = stop + 1
