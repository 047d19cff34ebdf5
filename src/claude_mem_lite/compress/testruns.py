"""What a test runner printed -> its totals, the failing tests and the first error of each.

Told by the output, not by the command: `make check` and `npm test` hide which runner they call."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_MOST_FAILURES = 12
_LONGEST_ERROR = 240


@dataclass(frozen=True, slots=True)
class FailedTest:
    name: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class TestRun:
    """One run; `what` is the thing counted (go counts packages unless it is told to be verbose)."""

    __test__ = False

    runner: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: tuple[FailedTest, ...] = ()
    what: str = ""
    unbuilt: bool = False
    """Nothing failed but the build: no test got to run where it matters."""

    def totals(self) -> str:
        """ "2 failed, 10 passed" """
        parts = [f"{self.failed} failed"] if self.failed else []
        what = f" {self.what}".rstrip("s" if self.passed == 1 else "") if self.what else ""
        parts += [f"{self.passed}{what} passed"] if self.passed or not parts else []
        parts += [f"{self.skipped} skipped"] if self.skipped else []
        return ", ".join(parts)


def read_run(output: str) -> TestRun | None:
    """The test run that a command's (cleaned) output shows, or None."""
    for parse in _PARSERS:
        if run := parse(output):
            return run
    return None


_COUNT = re.compile(r"(\d+) ([a-z]+)")
_PYTEST_END = re.compile(r"(?m)^=*[ ]?((?:\d+ [a-z]+(?:, )?)+) in [\d.:]+(?:s|m)\b.*$")
_PYTEST_SUMMARY = re.compile(r"(?m)^(?:FAILED|ERROR) (\S+(?:\[[^\n]*?\])?)(?: - ([^\n]*))?$")
_PYTEST_SECTION = re.compile(r"(?m)^_{3,} (?:ERROR (?:at|collecting) )?(?:setup of )?([^\n_].*?) _{3,}$")
_PYTEST_ERROR = re.compile(r"(?m)^E[ \t]{2,}(\S[^\n]*)$")


def _pytest(output: str) -> TestRun | None:
    ends = _PYTEST_END.findall(output)
    if not ends:
        return None
    counts = _counts(ends[-1])
    if not counts.keys() & {"passed", "failed", "error", "errors", "skipped", "deselected", "xfailed"}:
        return None
    errors = _errors_by_section(output, _PYTEST_SECTION, _PYTEST_ERROR)
    failures = [
        FailedTest(name, _line(errors.get(_last_part(name), "") or reason))
        for name, reason in _PYTEST_SUMMARY.findall(output)
    ]
    failures = failures or [FailedTest(name, _line(error)) for name, error in errors.items()]
    failed = counts.get("failed", 0) + counts.get("error", 0) + counts.get("errors", 0)
    unbuilt = failed > 0 and not counts.get("failed", 0) and not counts.get("passed", 0)
    return TestRun("pytest", counts.get("passed", 0), failed, counts.get("skipped", 0), _few(failures), "", unbuilt)


_UNITTEST_END = re.compile(r"(?m)^Ran (\d+) tests? in [\d.]+s\s{1,4}(OK|FAILED|NO TESTS RAN)(?: \(([^)\n]*)\))?")
_UNITTEST_SECTION = re.compile(r"(?m)^(?:FAIL|ERROR): (\S+)(?: \(([^)\n]*)\))?$")
_PYTHON_ERROR = re.compile(r"(?m)^([\w.]*(?:Error|Exception|Failure|Exit|Interrupt|Warning)\b[^\n]*)$")


def _unittest(output: str) -> TestRun | None:
    end = _UNITTEST_END.search(output)
    if not end:
        return None
    counts = {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", end[3] or "")}
    failed = counts.get("failures", 0) + counts.get("errors", 0)
    errors = _errors_by_section(output, _UNITTEST_SECTION, _PYTHON_ERROR)
    failures = [FailedTest(name, _line(error)) for name, error in errors.items()]
    skipped = counts.get("skipped", 0)
    return TestRun("unittest", max(int(end[1]) - failed - skipped, 0), failed, skipped, _few(failures))


_JEST_END = re.compile(r"(?m)^[ \t]{0,12}Tests:[ \t]+((?:\d+ [a-z]+(?:, )?)+)$")
_JEST_SECTION = re.compile(r"(?m)^[ \t]{0,12}● (?!Console)(\S[^\n]*?)[ \t]*$")
_FIRST_LINE = re.compile(r"(?m)^[ \t]{0,12}(\S[^\n]*)$")


def _jest(output: str) -> TestRun | None:
    end = _JEST_END.search(output)
    if not end:
        return None
    counts = _counts(end[1])
    errors = _errors_by_section(output, _JEST_SECTION, _FIRST_LINE)
    failures = [FailedTest(name, _line(error)) for name, error in errors.items()]
    return TestRun("jest", counts.get("passed", 0), counts.get("failed", 0), counts.get("skipped", 0), _few(failures))


_VITEST_END = re.compile(r"(?m)^[ \t]{0,12}Tests[ \t]+((?:\d+ [a-z]+(?: \| )?)+)[ \t]+\(\d+\)")
_VITEST_SECTION = re.compile(r"(?m)^[ \t]{0,12}(?:FAIL|❯)[ \t]{1,3}(\S+ > [^\n]*?)[ \t]*$")
_VITEST_ERROR = re.compile(r"(?m)^[ \t]{0,12}((?:\w*Error|Error|Caused by): [^\n]*)$")


def _vitest(output: str) -> TestRun | None:
    end = _VITEST_END.search(output)
    if not end:
        return None
    counts = _counts(end[1])
    errors = _errors_by_section(output, _VITEST_SECTION, _VITEST_ERROR)
    failures = [FailedTest(name, _line(error)) for name, error in errors.items()]
    return TestRun("vitest", counts.get("passed", 0), counts.get("failed", 0), counts.get("skipped", 0), _few(failures))


_GO_PACKAGE = re.compile(r"(?m)^(ok|FAIL)[ \t]+(\S+/\S+|\S+\.\S+|[a-z]\w*)[ \t]+(\(cached\)|[\d.]+s|\[[^\]\n]*\])")
_GO_RESULT = re.compile(r"(?m)^[ \t]{0,12}--- (PASS|FAIL|SKIP): (\S+)")
_GO_SECTION = re.compile(
    r"(?m)^[ \t]{0,12}(?:--- FAIL:|=== RUN|=== CONT|=== NAME)[ \t]+(Test\S+|Example\S+|Fuzz\S+|Benchmark\S+)"
)
_GO_ERROR = re.compile(r"(?m)^[ \t]+(\w[\w./-]*\.go:\d+: [^\n]*)$|^(panic: [^\n]*)$")
_GO_TELLING = re.compile(
    r"(?i)\b(?:want|wanted|got|expected?|should|fail\w*|error|unexpected|must|mismatch|missing|timed? ?out|panic|nil"
    r"|incorrect\w*|invalid|cannot)\b"
)
_GO_COMPILE = re.compile(r"(?m)^(?:\./)?(\S+\.go:\d+:\d+: [^\n]*)$")


def _go(output: str) -> TestRun | None:
    packages = _GO_PACKAGE.findall(output)
    results = _GO_RESULT.findall(output)
    if not packages and not results:
        return None
    failed_names = list(dict.fromkeys(name for result, name in results if result == "FAIL"))
    # A parent fails with its sub-test; the sub-test is the one that tells.
    leaves = [name for name in failed_names if not any(other.startswith(name + "/") for other in failed_names)]
    errors = _go_errors(output)
    failures = [FailedTest(name, _line(errors.get(name, ""))) for name in leaves]
    unbuilt = [package for result, package, note in packages if result == "FAIL" and "failed]" in note]
    if unbuilt:
        compile_error = _GO_COMPILE.search(output)
        failures += [
            FailedTest(package, _line(compile_error[1] if compile_error else "does not build")) for package in unbuilt
        ]
    if any(result == "PASS" for result, _ in results):
        passed = sum(1 for result, name in results if result == "PASS" and "/" not in name)
        skipped = sum(1 for result, _ in results if result == "SKIP")
        return TestRun("go test", passed, len(failures), skipped, _few(failures), unbuilt=not leaves and bool(unbuilt))
    ok = sum(1 for result, *_ in packages if result == "ok")
    broken = len(failures) or sum(1 for result, *_ in packages if result == "FAIL")
    unbuilt_only = not leaves and bool(unbuilt)
    return TestRun("go test", ok, broken, 0, _few(failures), "" if broken else "packages", unbuilt_only)


def _go_errors(output: str) -> dict[str, str]:
    """The telling line of each test: go prints logs and errors alike, and an error that stops the test comes last."""
    logged: dict[str, list[str]] = {}
    name = ""
    for line in output.split("\n"):
        if section := _GO_SECTION.match(line):
            name = section[1]
        elif name and (error := _GO_ERROR.match(line)):
            logged.setdefault(name, []).append(error[1] or error[2])
    return {
        test: next((line for line in lines if _GO_TELLING.search(line)), lines[-1]) for test, lines in logged.items()
    }


_CARGO_END = re.compile(r"(?m)^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored")
_CARGO_FAILED = re.compile(r"(?m)^test (\S+)(?: - [^\n]*?)? \.\.\. FAILED")
_CARGO_PANIC = re.compile(r"(?m)^thread '([^'\n]+)'[^\n]* panicked at ([^\n]*)\n?([^\n]*)$")


def _cargo(output: str) -> TestRun | None:
    ends = _CARGO_END.findall(output)
    if not ends:
        return None
    panics = {
        name: f"{after} ({where.rstrip(':')})" if after else where
        for name, where, after in _CARGO_PANIC.findall(output)
    }
    failures = [FailedTest(name, _line(panics.get(name, ""))) for name in dict.fromkeys(_CARGO_FAILED.findall(output))]
    passed, failed, ignored = (sum(int(end[at]) for end in ends) for at in range(3))
    return TestRun("cargo test", passed, failed, ignored, _few(failures))


_MOCHA_PASSING = re.compile(r"(?m)^[ \t]{0,12}(\d+) passing\b")
_MOCHA_FAILING = re.compile(r"(?m)^[ \t]{0,12}(\d+) failing\b")
_RSPEC_END = re.compile(r"(?m)^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?")
_RSPEC_FAILED = re.compile(r"(?m)^rspec (\S+) # ([^\n]*)$")
_OTHERS = tuple(
    (runner, re.compile(pattern))
    for runner, pattern in (
        ("maven", r"Tests run: (?P<total>\d+), Failures: (?P<failed>\d+), Errors: (?P<errors>\d+)"),
        (
            "phpunit",
            r"(?m)^Tests: (?P<total>\d+), Assertions: \d+(?:, Errors: (?P<errors>\d+))?"
            r"(?:, Failures: (?P<failed>\d+))?",
        ),
        ("phpunit", r"(?m)^OK \((?P<total>\d+) tests?, \d+ assertions?\)"),
        ("dotnet test", r"Failed:[ \t]+(?P<failed>\d+), Passed:[ \t]+(?P<passed>\d+)"),
        ("node --test", r"(?m)^(?:#|ℹ) pass (?P<passed>\d+)\n(?:#|ℹ) fail (?P<failed>\d+)"),
        ("deno test", r"\| (?P<passed>\d+) passed(?: \([^)]*\))? \| (?P<failed>\d+) failed"),
        ("bun test", r"(?m)^[ \t]{0,12}(?P<passed>\d+) pass\n[ \t]{0,12}(?P<failed>\d+) fail"),
    )
)


def _mocha(output: str) -> TestRun | None:
    passing = _MOCHA_PASSING.search(output)
    if not passing:
        return None
    failing = _MOCHA_FAILING.search(output)
    return TestRun("mocha", int(passing[1]), int(failing[1]) if failing else 0)


def _rspec(output: str) -> TestRun | None:
    end = _RSPEC_END.search(output)
    if not end:
        return None
    failures = [FailedTest(place, name) for place, name in _RSPEC_FAILED.findall(output)]
    failed, pending = int(end[2]), int(end[3] or 0)
    return TestRun("rspec", max(int(end[1]) - failed - pending, 0), failed, pending, _few(failures))


_PLAYWRIGHT_PASSED = re.compile(r"(?m)^[ \t]{0,12}(\d+) passed \([\d.]+m?s\)")
_PLAYWRIGHT_FAILED = re.compile(r"(?m)^[ \t]{0,12}(\d+) failed$")


def _playwright(output: str) -> TestRun | None:
    passed = _PLAYWRIGHT_PASSED.search(output)
    if not passed:
        return None
    failed = _PLAYWRIGHT_FAILED.search(output)
    return TestRun("playwright", int(passed[1]), int(failed[1]) if failed else 0)


def _other(output: str) -> TestRun | None:
    for runner, pattern in _OTHERS:
        if ends := list(pattern.finditer(output)):
            numbers = {name: int(value or 0) for name, value in ends[-1].groupdict().items()}
            failed = numbers.get("failed", 0) + numbers.get("errors", 0)
            passed = numbers.get("passed", max(numbers.get("total", 0) - failed, 0))
            return TestRun(runner, passed, failed)
    return None


_PARSERS: tuple[Callable[[str], TestRun | None], ...] = (
    _pytest, _unittest, _jest, _vitest, _cargo, _go, _rspec, _mocha, _playwright, _other,
)  # fmt: skip


def _errors_by_section(output: str, section: re.Pattern[str], error: re.Pattern[str]) -> dict[str, str]:
    """The first error line after each section's heading, by the last part of the heading's name."""
    headings = list(section.finditer(output))[: _MOST_FAILURES * 4]
    errors: dict[str, str] = {}
    for at, heading in enumerate(headings):
        stop = headings[at + 1].start() if at + 1 < len(headings) else len(output)
        name = _last_part(heading[1])
        found = error.search(output, heading.end(), stop)
        if name not in errors:
            errors[name] = found[1] if found else ""
    return errors


def _last_part(name: str) -> str:
    return name.rsplit("::", 1)[-1].rsplit(".", 1)[-1] if "::" in name or re.fullmatch(r"[\w.]+", name) else name


def _counts(text: str) -> dict[str, int]:
    return {name: int(number) for number, name in _COUNT.findall(text)}


def _few(failures: Iterable[FailedTest]) -> tuple[FailedTest, ...]:
    return tuple(dict.fromkeys(failures))[:_MOST_FAILURES]


def _line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_ERROR]
