"""jest, vitest, mocha (and cypress), playwright, and the test runners of node and bun."""

import re

from claude_mem_lite.compress.toolcalls.test_runners.test_run import (
    TestRun,
    counts,
    failed_tests,
    first_lines,
    first_number,
    number,
    one_line,
    sections,
    with_values,
)
from claude_mem_lite.lazy_regex import lazy

_JEST_END = lazy(r"(?m)^[ \t]{0,12}Tests:[ \t]+((?:\d+ [a-z]+(?:, )?)+)$")
_JEST_SECTION = lazy(r"(?m)^[ \t]{0,12}(● (?!Console)\S[^\n]*|FAIL [ ]?\S+)$")
_NO_START = "● Test suite failed to run"

_VITEST_END = lazy(r"(?m)^[ \t]{0,12}(?:Tests|Test Files)[ \t]+((?:\d+ [a-z]+(?: \| )?)+)[ \t]+\(\d+\)")
_VITEST_SECTION = lazy(r"(?m)^[ \t]{0,12}FAIL[ \t]{1,3}(?:\|[^|\n]{1,60}\| )?(\S+ (?:> |\[ )[^\n]*?)[ \t]*$")
_VITEST_ERROR = lazy(r"(?m)^[ \t]{0,12}((?:\w*Error|Error|Caused by): [^\n]*)$")

_PASSING = lazy(r"(?m)^[ \t]{0,12}(\d+) passing\b")
_FAILING = lazy(r"(?m)^[ \t]{0,12}(\d+) failing\b")
_PENDING = lazy(r"(?m)^[ \t]{0,12}(\d+) pending\b")
_MOCHA_SECTION = lazy(r"(?m)^[ ]{1,6}\d{1,4}\) (\S[^\n]*)$")

_PLAYWRIGHT_PASSED = lazy(r"(?m)^[ \t]{0,12}(\d+) passed \([\d.]+m?s?\)")
_PLAYWRIGHT_FAILED = lazy(r"(?m)^[ \t]{0,12}(\d+) failed$")
_PLAYWRIGHT_SKIPPED = lazy(r"(?m)^[ \t]{0,12}(\d+) skipped$")
_PLAYWRIGHT_SECTION = lazy(r"(?m)^[ ]{1,6}\d{1,4}\) (?:\[[^\]\n]{1,60}\] › )?(\S[^\n]*?)[ ─]*$")

_NODE_END = lazy(r"(?m)^(?:#|ℹ) pass (\d+)\n(?:#|ℹ) fail (\d+)(?:\n(?:#|ℹ) cancelled \d+\n(?:#|ℹ) skipped (\d+))?")
_NODE_SECTION = lazy(r"(?m)^(?:✖ (?!failing tests)|[ \t]{0,12}not ok \d+ - )([^\n]*?)(?: \([\d.]+ms\))?$")
_NODE_ERROR = lazy(r"(?m)^[ \t]+(\S[^\n]*)$")
_TAP_ERROR = lazy(r"(?m)^[ \t]+error: (?:\|-\n[ \t]*|['\"])?(\S[^\n]*)$")

_BUN_END = lazy(r"(?m)^[ \t]{0,12}(\d+) pass\n(?:[ \t]{0,12}(\d+) skip\n)?[ \t]{0,12}(\d+) fail")
_BUN_RESULT = lazy(r"(?m)^(?:✓|✗|\(pass\)|\(fail\)|»)[ ]([^\n]*?)(?: \[[\d.]+m?s\])?$")
_BUN_ERROR = lazy(r"(?m)^error: ([^\n]*)$")


def jest(output: str) -> TestRun | None:
    end = _JEST_END.search(output)
    if not end:
        return None
    seen = counts(end[1])
    named: list[tuple[str, str]] = []
    unstarted = 0
    file = ""
    for heading, section in sections(output, _JEST_SECTION):
        if not heading.startswith("●"):
            file = heading.split()[-1]
        elif heading == _NO_START:
            named.append((file or heading.removeprefix("● "), first_lines(section)))
            unstarted += 1
        else:
            named.append((heading.removeprefix("● "), with_values(first_lines(section), section)))
    # A suite that does not start has no counted tests, but failed.
    failed = seen.get("failed", 0) + min(unstarted, len({name for name, _ in named}))
    skipped = seen.get("skipped", 0) + seen.get("todo", 0)
    return TestRun("jest", seen.get("passed", 0), failed, skipped, failed_tests(named))


def vitest(output: str) -> TestRun | None:
    ends = _VITEST_END.findall(output)
    if not ends:
        return None
    seen = counts(ends[-1])
    named = []
    for heading, section in sections(output, _VITEST_SECTION):
        error = _VITEST_ERROR.search(section)
        named.append((re.sub(r" \[ \S+ \]$", "", heading), with_values(error[1], "") if error else ""))
    failed = max(seen.get("failed", 0), counts(ends[0]).get("failed", 0))
    skipped = seen.get("skipped", 0) + seen.get("todo", 0)
    return TestRun("vitest", seen.get("passed", 0), failed, skipped, failed_tests(named))


def mocha(output: str) -> TestRun | None:
    passing, failing = _PASSING.search(output), _FAILING.search(output)
    if not passing:
        return None
    named = (
        [_mocha_failure(*section) for section in sections(output[failing.end() :], _MOCHA_SECTION)] if failing else []
    )
    return TestRun(
        "mocha", number(passing[1]), first_number(_FAILING, output), first_number(_PENDING, output), failed_tests(named)
    )


def _mocha_failure(heading: str, section: str) -> tuple[str, str]:
    """Return name and error of a test: titles are on separate lines, the last with a colon, before the error."""
    names = [heading]
    lines = section[:4_000].split("\n")
    at = 0
    while not names[-1].endswith(":") and at < len(lines):
        names += [lines[at].strip()] if lines[at].strip() else []
        at += 1
    return " ".join(names).rstrip(":"), first_lines("\n".join(lines[at:]))


def playwright(output: str) -> TestRun | None:
    passed, failed = _PLAYWRIGHT_PASSED.search(output), _PLAYWRIGHT_FAILED.search(output)
    if not passed and not (failed and "›" in output):
        return None
    patterns = (_PLAYWRIGHT_PASSED, _PLAYWRIGHT_FAILED, _PLAYWRIGHT_SKIPPED)
    passes, failures, skips = (first_number(pattern, output) for pattern in patterns)
    named = [(name, first_lines(section)) for name, section in sections(output, _PLAYWRIGHT_SECTION)]
    return TestRun("playwright", passes, failures, skips, failed_tests(named))


def node(output: str) -> TestRun | None:
    end = _NODE_END.search(output)
    if not end:
        return None
    # The list of failures comes after the totals; TAP lists failures in order.
    at = output.find("✖ failing tests:")
    named = []
    for name, section in sections(output[max(at, 0) :], _NODE_SECTION):
        error = _TAP_ERROR.search(section) or _NODE_ERROR.search(section)
        message = error[1].rstrip("'\"") if error else ""
        if error and message.endswith(":"):
            message = f"{message} {first_lines(section[error.end() :])}"
        named.append((name, message))
    return TestRun("node --test", number(end[1]), number(end[2]), number(end[3]), failed_tests(named))


def bun(output: str) -> TestRun | None:
    end = _BUN_END.search(output)
    if not end:
        return None
    named: list[tuple[str, str]] = []
    after = 0
    for result in _BUN_RESULT.finditer(output):
        if result[0].startswith(("✗", "(fail)")):
            before = output[max(after, result.start() - 8_000) : result.start()]
            error = _BUN_ERROR.search(before)
            named.append((result[1], with_values(one_line(error[1]), before) if error else ""))
        after = result.end()
    return TestRun("bun test", number(end[1]), number(end[3]), number(end[2]), failed_tests(named))
