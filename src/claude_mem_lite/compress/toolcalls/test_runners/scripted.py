"""rspec, minitest, phpunit and deno."""

import re

from claude_mem_lite.compress.toolcalls.test_runners.test_run import (
    TestRun,
    failed_tests,
    first_lines,
    number,
    sections,
)
from claude_mem_lite.lazy_regex import lazy

_RSPEC_END = lazy(r"(?m)^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?")
_RSPEC_FAILED = lazy(r"(?m)^rspec (\S+) # ([^\n]*)$")
_RSPEC_SECTION = lazy(r"(?m)^[ ]{1,4}\d{1,4}\) (\S[^\n]*)$")
_RSPEC_ERROR = lazy(r"Failure/Error: [^\n]*\n(.*?)(?:\n[ \t]+# |\Z)", re.DOTALL)

_MINITEST_END = lazy(r"(?m)^(\d+) (?:runs|tests), \d+ assertions, (\d+) failures, (\d+) errors(?:, (\d+) skips)?")
_MINITEST_SECTION = lazy(r"(?m)^(?:[ \t]*\d+\) )?(?:Failure|Error):\n([^\n]*?)(?: \[[^\]\n]*\])?:?$")

_PHPUNIT_END = lazy(
    r"(?m)^Tests: (\d+), Assertions: \d+(?:, Errors: (\d+))?(?:, Failures: (\d+))?(?:[^\n]*?, Skipped: (\d+))?"
)
_PHPUNIT_OK = lazy(r"(?m)^OK \((\d+) tests?, \d+ assertions?\)")
_PHPUNIT_SECTION = lazy(r"(?m)^\d{1,4}\) ([\w\\]+::[^\n]+)$")

_DENO_END = lazy(r"\| (\d+) passed(?: \([^)\n]*\))? \| (\d+) failed(?: \([^)\n]*\))?(?: \| (\d+) ignored)?")


def rspec(output: str) -> TestRun | None:
    end = _RSPEC_END.search(output)
    if not end:
        return None
    at = max(output.find("\nFailures:"), 0)
    errors = {
        name: error[1]
        for name, section in sections(output[at:], _RSPEC_SECTION)
        if (error := _RSPEC_ERROR.search(section[:8_000]))
    }
    named = [
        (name, f"{errors.get(name, '')} ({place.removeprefix('./')})") for place, name in _RSPEC_FAILED.findall(output)
    ]
    failed, pending = number(end[2]), number(end[3])
    return TestRun(
        "rspec", max(number(end[1]) - failed - pending, 0), failed, pending, failed_tests(named or errors.items())
    )


def minitest(output: str) -> TestRun | None:
    end = _MINITEST_END.search(output)
    if not end:
        return None
    named = [(name, first_lines(section, 2)) for name, section in sections(output, _MINITEST_SECTION)]
    failed, skipped = number(end[2]) + number(end[3]), number(end[4])
    return TestRun("minitest", max(number(end[1]) - failed - skipped, 0), failed, skipped, failed_tests(named))


def phpunit(output: str) -> TestRun | None:
    if fine := _PHPUNIT_OK.search(output):
        return TestRun("phpunit", number(fine[1]))
    end = _PHPUNIT_END.search(output)
    if not end:
        return None
    named = [(name, first_lines(section)) for name, section in sections(output, _PHPUNIT_SECTION)]
    failed, skipped = number(end[2]) + number(end[3]), number(end[4])
    return TestRun("phpunit", max(number(end[1]) - failed - skipped, 0), failed, skipped, failed_tests(named))


def deno(output: str) -> TestRun | None:
    end = _DENO_END.search(output)
    return TestRun("deno test", number(end[1]), number(end[2]), number(end[3])) if end else None
