"""cargo, nextest, ctest, maven, gradle, dotnet, rspec, minitest, phpunit and deno."""

import re

from claude_mem_lite.compress.toolcalls.test_runners.test_run import (
    TestRun,
    failed_tests,
    first_lines,
    number,
    one_line,
    sections,
)
from claude_mem_lite.lazy_regex import lazy

_CARGO_END = lazy(r"(?m)^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored")
_NEXTEST_END = lazy(
    r"(?m)^[ \t]*Summary \[[^\]\n]*\] [^\n]*?(\d+) passed[^\n,]*(?:, (\d+) failed)?(?:, (\d+) skipped)?"
)
_CARGO_FAILED = lazy(
    r"(?m)^(?:test (\S+)(?: - [^\n]*?)? \.\.\. FAILED|[ \t]*FAIL \[[^\]\n]*\] (?:\([^)\n]*\) )?\S+ (\S+))"
)
_CARGO_PANIC = lazy(r"(?m)^thread '([^'\n]+)'[^\n]* panicked at ([^\n]*)\n((?:(?!note:|\n|thread )[^\n]+\n?){0,6})")

_CTEST_END = lazy(r"(?m)^\d+% tests passed, (\d+) tests? failed out of (\d+)")
_CTEST_RESULT = lazy(r"(?m)^[ \t]*\d+/\d+ Test[ \t]+#\d+: (\S+) \.*[^\n]*$")
_CTEST_FAILED = lazy(r"(?m)^[ \t]+\d+ - (\S+) \(([^)\n]+)\)")
_CTEST_START = lazy(r"(?m)^[ \t]+Start[ \t]+\d+: ")

_MAVEN_END = lazy(
    r"(?m)^(?:\[\w+\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+)(?:, Skipped: (\d+))?(, Time elapsed)?"
)
_MAVEN_FAILED = lazy(r"(?m)^\[ERROR\][ ]{2,}(?:\S+\.)?(\w+\.\w+(?:\[[^\]\n]*\])?(?:->\S+)?):\d+(?:->\S+)? (\S[^\n]*)$")
_MAVEN_CLASS = lazy(r"(?m)^\[ERROR\] (?:[\w.$]+\.)?(\w+\.\w+)(?:\(\))?[^\n]*<<< (?:FAILURE|ERROR)!$")

_GRADLE_END = lazy(r"(?m)^(?P<total>\d+) tests? completed(?:, (?P<failed>\d+) failed)?(?:, (?P<skipped>\d+) skipped)?")
_GRADLE_FAILED = lazy(r"(?m)^(\S[^\n]* > [^\n]*?) FAILED$")

_DOTNET_END = lazy(r"Failed:[ \t]+(\d+), Passed:[ \t]+(\d+)(?:, Skipped:[ \t]+(\d+))?")
_DOTNET_FAILED = lazy(r"(?m)^[ \t]{1,4}Failed (\S[^\n]*?) \[[^\]\n]*\]$")
_DOTNET_ERROR = lazy(r"Error Message:\n(.*?)(?:\n[ \t]*Stack Trace:|\Z)", re.DOTALL)
_RSPEC_END = lazy(r"(?m)^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?")
_RSPEC_FAILED = lazy(r"(?m)^rspec (\S+) # ([^\n]*)$")
_RSPEC_SECTION = lazy(r"(?m)^[ ]{1,4}\d{1,4}\) (\S[^\n]*)$")
_RSPEC_ERROR = lazy(r"Failure/Error: [^\n]*\n(.*?)(?:\n[ \t]+# |\Z)", re.DOTALL)
_MINITEST_END = lazy(
    r"(?m)^(?P<total>\d+) (?:runs|tests), \d+ assertions, (?P<failed>\d+) failures, (?P<errors>\d+) errors"
    r"(?:, (?P<skipped>\d+) skips)?"
)
_MINITEST_SECTION = lazy(r"(?m)^(?:[ \t]*\d+\) )?(?:Failure|Error):\n([^\n]*?)(?: \[[^\]\n]*\])?:?$")
_PHPUNIT_END = lazy(
    r"(?m)^Tests: (?P<total>\d+), Assertions: \d+(?:, Errors: (?P<errors>\d+))?(?:, Failures: (?P<failed>\d+))?"
    r"(?:[^\n]*?, Skipped: (?P<skipped>\d+))?"
)
_PHPUNIT_OK = lazy(r"(?m)^OK \((\d+) tests?, \d+ assertions?\)")
_PHPUNIT_SECTION = lazy(r"(?m)^\d{1,4}\) ([\w\\]+::[^\n]+)$")
_DENO_END = lazy(r"\| (\d+) passed(?: \([^)\n]*\))? \| (\d+) failed(?: \([^)\n]*\))?(?: \| (\d+) ignored)?")


def cargo(output: str) -> TestRun | None:
    ends = _CARGO_END.findall(output) or _NEXTEST_END.findall(output)
    if not ends:
        return None
    panics: dict[str, str] = {}
    for name, where, message in _CARGO_PANIC.findall(output):
        values = [one_line(line) for line in message.strip().split("\n") if line.strip()]
        panics.setdefault(name, f"{'; '.join(values)} ({where.rstrip(':')})" if values else where)
    names = [plain or nextest for plain, nextest in _CARGO_FAILED.findall(output)]
    passed, failed, ignored = (sum(number(end[at]) for end in ends) for at in range(3))
    return TestRun("cargo test", passed, failed, ignored, failed_tests((name, panics.get(name, "")) for name in names))


def ctest(output: str) -> TestRun | None:
    end = _CTEST_END.search(output)
    if not end:
        return None
    printed = {
        name: first_lines(_CTEST_START.split(section, maxsplit=1)[0])
        for name, section in sections(output, _CTEST_RESULT)
        if not section.startswith("\n\n")
    }
    named = []
    for name, state in _CTEST_FAILED.findall(output):
        message = printed.get(name, "")
        named.append((name, message if state == "Failed" and message else f"{state} {message}".strip()))
    failed = number(end[1])
    return TestRun("ctest", max(number(end[2]) - failed, 0), failed, 0, failed_tests(named))


def maven(output: str) -> TestRun | None:
    ends = _MAVEN_END.findall(output)
    if not ends:
        return None
    # Every class has totals too; only the totals of a module have no time.
    ends = [end for end in ends if not end[4]] or ends
    total, failures, errors, skipped = (sum(number(end[at]) for end in ends) for at in range(4))
    named = _MAVEN_FAILED.findall(output) or [
        (name, first_lines(section)) for name, section in sections(output, _MAVEN_CLASS)
    ]
    failed = failures + errors
    return TestRun("maven", max(total - failed - skipped, 0), failed, skipped, failed_tests(named))


def gradle(output: str) -> TestRun | None:
    return _by_totals("gradle", output, _GRADLE_END, _GRADLE_FAILED)


def minitest(output: str) -> TestRun | None:
    return _by_totals("minitest", output, _MINITEST_END, _MINITEST_SECTION, max_lines=2)


def phpunit(output: str) -> TestRun | None:
    if fine := _PHPUNIT_OK.search(output):
        return TestRun("phpunit", number(fine[1]))
    return _by_totals("phpunit", output, _PHPUNIT_END, _PHPUNIT_SECTION)


def _by_totals(
    runner: str, output: str, totals: re.Pattern[str], heading: re.Pattern[str], max_lines: int = 1
) -> TestRun | None:
    """Return a run of a test runner that prints totals, and each failure below a heading."""
    end = totals.search(output)
    if not end:
        return None
    count = {name: number(digits) for name, digits in end.groupdict().items()}
    failed, skipped = count.get("failed", 0) + count.get("errors", 0), count.get("skipped", 0)
    named = [(name, first_lines(section, max_lines)) for name, section in sections(output, heading)]
    return TestRun(runner, max(count["total"] - failed - skipped, 0), failed, skipped, failed_tests(named))


def dotnet(output: str) -> TestRun | None:
    ends = _DOTNET_END.findall(output)
    if not ends:
        return None
    named = [
        (name, error[1] if (error := _DOTNET_ERROR.search(section[:8_000])) else "")
        for name, section in sections(output, _DOTNET_FAILED)
    ]
    failed, passed, skipped = (sum(number(end[at]) for end in ends) for at in range(3))
    return TestRun("dotnet test", passed, failed, skipped, failed_tests(named))


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


def deno(output: str) -> TestRun | None:
    end = _DENO_END.search(output)
    return TestRun("deno test", number(end[1]), number(end[2]), number(end[3])) if end else None
