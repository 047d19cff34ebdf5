"""pytest and unittest."""

import re

from claude_mem_lite.compress.toolcalls.test_runners.test_run import TestRun, counts, failed_tests, number, sections
from claude_mem_lite.lazy_regex import lazy

_PYTEST_END = lazy(r"(?m)^=*[ ]?((?:\d+ [a-z]+(?:, )?)+) in [\d.:]+(?:s|m)\b.*$")
_PYTEST_WORDS = frozenset(("passed", "failed", "error", "errors", "skipped", "deselected", "xfailed"))
_PYTEST_SUMMARY = lazy(r"(?m)^(?:FAILED|ERROR) ([^\s\[]+(?:\[[^\n]*?\])?)(?: - ([^\n]*))?$")
_PYTEST_SECTION = lazy(r"(?m)^_{3,} (?:ERROR (?:at|collecting) )?(?:(?:setup|teardown) of )?([^\n_].*?) _{3,}$")
_PYTEST_ERROR = lazy(r"(?m)^E[ \t]{2,}((?:[\w.]*(?:Error|Exception|Exit|Interrupt|Warning|Failed)\b|assert )[^\n]*)$")
_PYTEST_LINE = lazy(r"(?m)^E[ \t]{2,}(\S[^\n]*)$")

_UNITTEST_END = lazy(r"(?m)^Ran (\d+) tests? in [\d.]+s\s{1,4}(?:OK|FAILED|NO TESTS RAN)(?: \(([^)\n]*)\))?")
_UNITTEST_SECTION = lazy(r"(?m)^(?:FAIL|ERROR): (\S+(?: \([^)\n]*\))?)")
_UNITTEST_ERROR = lazy(r"(?m)^(?!Traceback \(|-{5,}|={5,}|Ran \d)([A-Za-z_][\w.]*(?:: [^\n]*)?)$")
_UNITTEST_NAME = lazy(r"(\S+) \((\S+)\)")


def pytest(output: str) -> TestRun | None:
    ends = _PYTEST_END.findall(output)
    if not ends:
        return None
    seen = counts(ends[-1])
    if not seen.keys() & _PYTEST_WORDS:
        return None
    errors = _pytest_errors(output)
    named = [
        (name, errors.get(_key(name), "") or _whole(reason, output)) for name, reason in _PYTEST_SUMMARY.findall(output)
    ]
    failed = seen.get("failed", 0) + seen.get("error", 0) + seen.get("errors", 0)
    failures = failed_tests(named or errors.items()) if failed else ()
    return TestRun(
        "pytest", seen.get("passed", 0), failed, seen.get("skipped", 0), failures, xfailed=seen.get("xfailed", 0)
    )


def unittest(output: str) -> TestRun | None:
    end = _UNITTEST_END.search(output)
    if not end:
        return None
    seen = {name: number(value) for name, value in re.findall(r"(\w+)=(\d+)", end[2] or "")}
    failed = seen.get("failures", 0) + seen.get("errors", 0)
    skipped = seen.get("skipped", 0)
    named = [
        (_class_and_name(heading), error[1] if (error := _UNITTEST_ERROR.search(section)) else "")
        for heading, section in sections(output, _UNITTEST_SECTION)
    ]
    return TestRun("unittest", max(number(end[1]) - failed - skipped, 0), failed, skipped, failed_tests(named))


def _pytest_errors(output: str) -> dict[str, str]:
    errors: dict[str, str] = {}
    for name, section in sections(output, _PYTEST_SECTION):
        match = _PYTEST_ERROR.search(section) or _PYTEST_LINE.search(section)
        errors.setdefault(name, match[1] if match else "")
    return errors


def _whole(reason: str, output: str) -> str:
    """Return a reason that the summary has cut short as the section has it, even without the section's heading."""
    if not reason.endswith("..."):
        return reason
    return next((line for line in _PYTEST_LINE.findall(output) if line.startswith(reason[:-3])), reason)


def _key(name: str) -> str:
    """Return the name of a test in the headings of failures: `tests/a.py::TestCart::test_b` -> `TestCart.test_b`."""
    _, _, inside = name.partition("::")
    before, bracket, parameters = inside.partition("[")
    return before.replace("::", ".") + bracket + parameters if inside else name


def _class_and_name(heading: str) -> str:
    """Return `CartTest.test_a` for `test_a (tests.test_cart.CartTest.test_a)`, also without the last part."""
    match = _UNITTEST_NAME.match(heading)
    if not match:
        return heading
    parts = match[2].split(".")
    parts = parts[:-1] if parts[-1] == match[1] else parts
    return f"{parts[-1]}.{match[1]}" if parts else match[1]
