"""go test: plain, verbose, as JSON; with testify, races, and packages that do not build."""

import json
import re

from claude_mem_lite.compress.toolcalls.test_runners.test_run import TestRun, failed_tests, one_line
from claude_mem_lite.lazy_regex import lazy

_PACKAGE = lazy(r"(?m)^(ok|FAIL)[ \t]+(\S+/\S+|\S+\.\S+|[a-z]\w*)[ \t]+(\(cached\)|[\d.]+s|\[[^\]\n]*\])([^\n]*)")
_RESULT = lazy(r"(?m)^[ \t]{0,40}--- (PASS|FAIL|SKIP): (\S+)")
_SECTION = lazy(
    r"[ \t]{0,40}(?:--- (?:FAIL|PASS|SKIP):|=== RUN|=== CONT|=== NAME)[ \t]+((?:Test|Example|Fuzz|Benchmark)\S*)"
)
_ERROR = lazy(r"[ \t]+(\w[\w./-]*\.go:\d+:(?: [^\n]*)?)$|(panic: [^\n]*)$")
_STATES_FAILURE = lazy(
    r"(?i)\b(?:want|wanted|got|expected?|should|fail\w*|error|unexpected|must|mismatch|missing|timed? ?out|panic|nil"
    r"|incorrect\w*|invalid|cannot)\b"
)
_COMPILE = lazy(r"(?:\./|vet: )?(\S+\.go:\d+:\d+: [^\n]*)$")
_PACKAGE_HEADING = lazy(r"# (\S+)")
_TESTIFY = lazy(r"[ \t]+(?:Error:|Messages:)?[ \t]+(\S[^\n]*)$")
_TESTIFY_OTHER = lazy(r"[ \t]+(?:Error Trace|Test):")
_RACE = lazy(r"(Previous )?(write|read) at 0x\w+ by [^\n]*\n[ \t]+(\S+)\(\)\n[ \t]+(\S+:\d+)", re.IGNORECASE)
_FRAME = lazy(r"(?m)^\t(\S+\.go:\d+)")
_LIBRARY = lazy(r"/(?:src|libexec)/(?:runtime|testing|reflect|internal|sync)/|/pkg/mod/")
_MAX_COMPILE_ERRORS = 3
_NOTHING_RUN = "[no tests to run]"


def go(output: str) -> TestRun | None:
    output = _plain(output)
    packages, results = _PACKAGE.findall(output), _RESULT.findall(output)
    if not packages and not results:
        return None
    failed_names = list(dict.fromkeys(name for result, name in results if result == "FAIL"))
    # A parent fails with its sub-test; only the sub-test has the error.
    parents = {name[: slash.start()] for name in failed_names for slash in re.finditer("/", name)}
    leaves = [name for name in failed_names if name not in parents]
    errors = _errors(output) if leaves else {}
    named = [(name, errors.get(name, "")) for name in leaves]
    unbuilt = [package for result, package, note, _ in packages if result == "FAIL" and "failed]" in note]
    named += _unbuilt(output, unbuilt) if unbuilt else []
    if not named:
        named = [(package, panic(output)) for result, package, *_ in packages if result == "FAIL"]
    failures = failed_tests(named)
    if any(result == "PASS" for result, _ in results):
        passed = sum(1 for result, name in results if result == "PASS" and "/" not in name)
        skipped = sum(1 for result, _ in results if result == "SKIP")
        return TestRun("go test", passed, len(named), skipped, failures)
    ok = sum(1 for result, *_, rest in packages if result == "ok" and _NOTHING_RUN not in rest)
    return TestRun("go test", ok, len(named), 0, failures, "" if named else "packages")


def _plain(output: str) -> str:
    """Return the output of `go test -json` as plain output."""
    if not output.lstrip().startswith('{"') or '"Action":' not in output:
        return output
    printed: list[str] = []
    for line in output.split("\n"):
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        text = event.get("Output") if isinstance(event, dict) else None
        printed += [text] if isinstance(text, str) else []
    return "".join(printed)


def _errors(output: str) -> dict[str, str]:
    """Return the best line of each test: go prints logs and errors alike, and an error that stops the test comes
    last."""
    logged: dict[str, list[str]] = {}
    name = ""
    lines = output.split("\n")
    for at, line in enumerate(lines):
        if section := _SECTION.match(line):
            name = section[1]
        elif name and (error := _ERROR.match(line)):
            message = error[1] or f"{error[2]} {_place(lines, at)}"
            more = f" {_testify(lines, at + 1)}" if message.endswith(":") else ""
            logged.setdefault(name, []).append(f"{message}{more}")
    race = _race(output)
    return {
        test: race
        if race and "race detected" in " ".join(messages)
        else next((line for line in messages if _STATES_FAILURE.search(line)), messages[-1])
        for test, messages in logged.items()
    }


def _testify(lines: list[str], at: int) -> str:
    """Return error and message of an assertion of testify, without the trace."""
    texts: list[str] = []
    for line in lines[at : at + 16]:
        if _SECTION.match(line) or _ERROR.match(line):
            break
        match = _TESTIFY.match(line)
        if match and not _TESTIFY_OTHER.match(line) and "\t" in line:
            texts.append(match[1])
    return " ".join(texts)


def _race(output: str) -> str:
    sides = [f"{kind.lower()} in {function} ({place})" for _, kind, function, place in _RACE.findall(output)[:2]]
    return f"DATA RACE: {', '.join(sides)}" if sides else ""


def panic(output: str) -> str:
    """Return the panic of a Go program, with the place in the program's own code, or ''."""
    lines = output.split("\n")
    at = next((at for at, line in enumerate(lines) if line.startswith("panic: ")), None)
    return f"{lines[at]} {_place(lines, at)}".strip() if at is not None else ""


def _place(lines: list[str], at: int) -> str:
    """Return the place of a panic: the first frame of the trace outside of libraries."""
    frames = _FRAME.findall("\n".join(lines[at : at + 60]))
    own = next((frame for frame in frames if not _LIBRARY.search(frame)), "")
    return f"({own})" if own else ""


def _unbuilt(output: str, packages: list[str]) -> list[tuple[str, str]]:
    """Return the packages that do not build, each with the first compile errors."""
    errors: dict[str, list[str]] = {}
    package = ""
    for line in output.split("\n"):
        if heading := _PACKAGE_HEADING.match(line):
            package = heading[1]
        elif match := _COMPILE.match(line):
            errors.setdefault(package, []).append(one_line(match[1]))
    # A package that imports a broken package does not build either; the errors are under the first package.
    first = next(iter(errors.values()), ["does not build"])
    return [
        (name, "; ".join(errors.get(name, ["does not build"] if at else first)[:_MAX_COMPILE_ERRORS]))
        for at, name in enumerate(packages)
    ]
