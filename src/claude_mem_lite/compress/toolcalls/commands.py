"""A shell command that an agent ran -> what it was for, whether it failed and why, what it did.

What a test runner printed -> its totals, the failing tests and the first error of each.

Told by the output, not by the command: `make check` and `npm test` hide which runner they call."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeGuard

from claude_mem_lite.compress.prose.clean import clean, clip
from claude_mem_lite.compress.prose.sentence_types import reads_like_an_order
from claude_mem_lite.compress.toolcalls import diagnostics, shell
from claude_mem_lite.compress.toolcalls.command_results import results_of
from claude_mem_lite.compress.toolcalls.diagnostics import told_error
from claude_mem_lite.compress.toolcalls.edits import is_scratch
from claude_mem_lite.compress.toolcalls.payload_fields import Folder, fields, flatten, line, typed_command
from claude_mem_lite.compress.toolcalls.shell_edits import read_shell_edits
from claude_mem_lite.compress.toolcalls.steps import Edited, Ran, Step
from claude_mem_lite.compress.toolcalls.test_runners import go, javascript, others, python
from claude_mem_lite.compress.toolcalls.test_runners.test_run import FailedTest, TestRun
from claude_mem_lite.compress.toolcalls.test_selection import Selection, read_selection
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import JsonValue, ToolCall, text

_PARSERS: tuple[Callable[[str], TestRun | None], ...] = (
    python.pytest,
    python.unittest,
    javascript.jest,
    javascript.vitest,
    others.cargo,
    go.go,
    others.rspec,
    javascript.mocha,
    javascript.playwright,
    others.maven,
    others.gradle,
    others.minitest,
    others.phpunit,
    others.dotnet,
    others.ctest,
    javascript.node,
    javascript.bun,
    others.deno,
)


def read_run(output: str) -> TestRun | None:
    """The test run that a command's (cleaned) output shows, or None."""
    for parse in _PARSERS:
        if run := parse(output):
            return run
    return None


# What the inbox lets through is looked at whole: the one line that matters may stand in the middle.
_MAX_OUTPUT_LENGTH = 600_000
_MAX_ERRORS = 6
_SHOWING = ("explore", "files", "commit")
_SIGNALS = {124: "timed out", 134: "aborted", 137: "killed", 139: "segmentation fault", 143: "terminated"}
_ALL_FINE = lazy(r"(?i)\b(?:0|no) (?:issues|errors|problems|remaining)|all checks passed|^success", re.MULTILINE)

# What the client adds to the output of a command.
_OF_CLIENT = lazy(r"(?m)^Shell cwd was reset to [^\n]*\n?")

# How the traceback of a program ends that nobody has caught.
_RAISED = lazy(r"(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:: .*)?$")


@dataclass(frozen=True, slots=True)
class _End:
    """How a command ended: its exit code, what it printed, and whether the client gave up waiting for it."""

    code: int | None
    printed: str
    failed: bool
    late: str = ""


def read_command(call: ToolCall, folder: Folder) -> list[Step]:
    """The run of a command, after the changes it made to files; nothing when it was refused, stopped or is running."""
    command = typed_command(call)
    end = _ended(call)
    if not command.strip() or end is None:
        return []
    output = folder.shorten(clip(_OF_CLIENT.sub("", clean(end.printed)), _MAX_OUTPUT_LENGTH))
    ran = _read(command, output, end, folder.path)
    # What is done there, and committed, is another project's.
    if ran.failed or shell.folders_outside(command, folder.path, folder.root):
        return [ran]
    made = tuple(shell.commits(command, output)) if ran.role == "commit" else ()
    written = [Edited(change) for change in read_shell_edits(command, folder) if not is_scratch(change.path)]
    return [*written, replace(ran, commits=made, results=_results(command, output))]


def _ended(call: ToolCall) -> _End | None:
    """How it ended; None when the command was not let run, was interrupted or goes on in the background."""
    if call.error is not None:
        code, printed = shell.exit_code(call.error)
        return None if shell.was_refused(call.error) else _End(code, printed, failed=True)
    response = fields(call.response)
    waited_ms = response.get("timedOutAfterMs")
    late = f"not done after {waited_ms / 1000:.0f} s, it went on in the background" if _is_number(waited_ms) else ""
    if response.get("interrupted") is True or (response.get("backgroundTaskId") and not late):
        return None
    return _End(None, _printed(call.response), bool(late), late)


def _read(command: str, output: str, end: _End, cwd: str) -> Ran:
    part, role = shell.main_part(command)
    run = read_run(output) if role not in _SHOWING else None
    if run and role == "run":
        role = "test"
    failed = end.failed or _failed_unseen(command, role, run, output)
    errors = _errors(output, end.late or _signal(end.code, output)) if failed else ()
    errors, run = _without_orders(_not_of_tests(errors, run), run)
    fetched = shell.fetches(command)
    told = tuple(dict.fromkeys(told_error(error, is_foreign=fetched) for error in errors))
    shown = line(shell.key(part)) or line(command)
    return Ran(
        shown,
        role,
        _goal(part, role, run),
        output,
        end.code,
        failed,
        _told_run(run, fetched),
        told,
        typed=line(part) or shown,
        printed_errors=errors,
        fetched=fetched,
        selection=read_selection(command, cwd) if role not in _SHOWING else Selection(),
        is_sure=_is_sure(command, role, run),
        set_back=shell.setting_back(command),
    )


def _is_sure(command: str, role: shell.Role, run: TestRun | None) -> bool:
    """Return whether the end of a command is known: by totals of tests, else by an exit code that nothing hides.

    Only compilers and linters have their errors found in what they printed, so that a clean end proves something."""
    if run:
        return bool(run.passed or run.failed)
    return not shell.hides_exit(command) or (role in ("build", "lint") and shell.shows_end(command))


def _told_run(run: TestRun | None, fetched: bool) -> TestRun | None:
    """A run of tests with what may be told of their errors."""
    if run is None:
        return None
    failures = (FailedTest(test.name, told_error(test.error, is_foreign=fetched)) for test in run.failures)
    return replace(run, failures=tuple(failures))


def _results(command: str, output: str) -> tuple[str, ...]:
    """Return what the parts of a command line did, without lines that speak to the reader."""
    found = (result for part in shell.parts(command) for result in results_of(shell.unwrapped(part), output))
    return tuple(result for result in dict.fromkeys(found) if not reads_like_an_order(result))


def _failed_unseen(command: str, role: shell.Role, run: TestRun | None, output: str) -> bool:
    """Whether a command has failed though it ended well: `make test | tail` succeeds whatever the tests do."""
    if run:
        return bool(run.failed)
    if role == "run":
        is_raised = _RAISED.match(output.rstrip().rpartition("\n")[2]) is not None
        return is_raised and shell.hides_exit(command) and not shell.fetches(command)
    if role not in ("test", "build", "lint") or not shell.hides_exit(command) or _ALL_FINE.search(output):
        return False
    return diagnostics.names_errors(output)


def _errors(output: str, ended: str) -> tuple[str, ...]:
    """How a command ended, when that is special, and the errors it printed; a few words that are none, when it has."""
    errors = diagnostics.error_lines(output, _MAX_ERRORS)
    few = not errors and output.count("\n") < 5
    told = [ended, *errors, diagnostics.last_line(output) if few else ""]
    return tuple(error for error in told if error)


def _signal(code: int | None, output: str) -> str:
    """What an exit code says that the output does not."""
    word = _SIGNALS.get(code or 0, "")
    return "" if word.split(" ")[0] in output.lower() else word


def _not_of_tests(errors: tuple[str, ...], run: TestRun | None) -> tuple[str, ...]:
    """The errors of a command whose failing tests do not tell theirs."""
    return () if run and run.failures and all(test.error for test in run.failures) else errors


def _without_orders(errors: tuple[str, ...], run: TestRun | None) -> tuple[tuple[str, ...], TestRun | None]:
    """What a command printed, without lines that speak to the reader: anything may have put them there."""
    kept = tuple(error for error in errors if not reads_like_an_order(error))
    if run is None:
        return kept, None
    failures = tuple(
        FailedTest(test.name, "" if reads_like_an_order(test.error) else test.error)
        for test in run.failures
        if not reads_like_an_order(test.name)
    )
    return kept, replace(run, failures=failures)


def _goal(part: str, role: shell.Role, run: TestRun | None) -> str:
    if role == "test" and run:
        return f"test {run.runner}"
    if role in ("test", "build", "lint", "git"):
        return f"{role} {shell.tool(part)}"
    return shell.key(part)


def _is_number(value: JsonValue) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _printed(response: JsonValue) -> str:
    if isinstance(response, Mapping):
        return "\n".join(part for part in (text(response.get("stdout")), text(response.get("stderr"))) if part.strip())
    return flatten(response)
