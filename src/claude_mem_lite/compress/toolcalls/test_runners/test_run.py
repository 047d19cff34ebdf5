"""A test run, and helpers to read the output of test runners."""

import re
from collections.abc import Iterable

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.values import frozen

_MAX_FAILURES = 12
_MAX_ERROR_LENGTH = 240
_COUNT = lazy(r"(\d+) ([a-z]+)")
_COMPARED = lazy(r"(?im)^[ \t]*(expected|received|actual|got|but was)\b *[^:\n]{0,40}:[ \t]*(\S[^\n]*)$")
_REMARK = lazy(r"\s*// Object\.is equality|\s*// deep equality")


@frozen
class FailedTest:
    name: str
    error: str = ""


@frozen
class TestRun:
    """One run; `what` is the counted thing (go counts packages unless verbose)."""

    __test__ = False

    runner: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: tuple[FailedTest, ...] = ()
    what: str = ""
    xfailed: int = 0
    """Tests with an expected failure."""

    def totals(self) -> str:
        """Return the totals: "2 failed, 10 passed"."""
        parts = [f"{self.failed} failed"] if self.failed else []
        what = f" {self.what}".rstrip("s" if self.passed == 1 else "") if self.what else ""
        parts += [f"{self.passed}{what} passed"] if self.passed or not parts else []
        parts += [f"{self.skipped} skipped"] if self.skipped else []
        return ", ".join(parts)


def failed_tests(named: Iterable[tuple[str, str]]) -> tuple[FailedTest, ...]:
    """Return the first dozen failing tests with errors, each name once."""
    errors: dict[str, str] = {}
    for name, error in named:
        name = one_line(name)
        if name and not errors.get(name):
            errors[name] = one_line(error)
    return tuple(FailedTest(name, error) for name, error in list(errors.items())[:_MAX_FAILURES])


def sections(output: str, heading: re.Pattern[str]) -> list[tuple[str, str]]:
    """Return the first group of each heading with the text up to the next heading."""
    headings = list(heading.finditer(output))[: _MAX_FAILURES * 4]
    stops = [*(match.start() for match in headings), len(output)][1:]
    return [(match[1], output[match.end() : stop]) for match, stop in zip(headings, stops, strict=True)]


def counts(text: str) -> dict[str, int]:
    """Return the numbers of "2 failed, 10 passed" by word."""
    return {name: int(number[:9]) for number, name in _COUNT.findall(text)}


def number(text: str | None) -> int:
    """Return the number of a group of digits; 0 for no group."""
    return int(text[:9]) if text else 0


def first_number(pattern: re.Pattern[str], output: str) -> int:
    """Return the number in the first group of a pattern; 0 for no match."""
    match = pattern.search(output)
    return number(match[1]) if match else 0


def first_lines(text: str, limit: int = 1) -> str:
    """Return the first lines with text, up to a blank line."""
    kept: list[str] = []
    for line in text[:8_000].split("\n"):
        if line.strip():
            kept.append(line.strip())
        elif kept:
            break
        if len(kept) == limit:
            break
    return " ".join(kept)


def with_values(error: str, section: str) -> str:
    """Return an error with the compared values that the runner prints below."""
    values = [f"{word[:1].upper()}{word[1:]}: {value}" for word, value in _COMPARED.findall(section[:8_000])[:2]]
    error = _REMARK.sub("", error)
    missing = [value for value in values if value.lower() not in error.lower()]
    return "; ".join((error.rstrip(":;, "), *missing)) if error else "; ".join(missing)


def one_line(text: str) -> str:
    return " ".join(text[: _MAX_ERROR_LENGTH * 4].split())[:_MAX_ERROR_LENGTH]
