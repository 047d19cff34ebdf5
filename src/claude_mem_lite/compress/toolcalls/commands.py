"""A shell command that an agent ran -> a step with role, failure, errors, test run, commits, results and changed files.

The output shows the test runner, not the command: `make check` and `npm test` hide the runner."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from claude_mem_lite.compress.prose.clean import clean, clip
from claude_mem_lite.compress.prose.sentence_types import reads_like_an_order
from claude_mem_lite.compress.toolcalls import diagnostics, shell
from claude_mem_lite.compress.toolcalls.commits import read_commits
from claude_mem_lite.compress.toolcalls.diagnostics import safe_error
from claude_mem_lite.compress.toolcalls.edits import FileChange, is_scratch, new_file
from claude_mem_lite.compress.toolcalls.payload_fields import Folder, fields, flatten, line, typed_command
from claude_mem_lite.compress.toolcalls.steps import FileEdited, Ran, Step
from claude_mem_lite.compress.toolcalls.test_runners import go, javascript, others, python
from claude_mem_lite.compress.toolcalls.test_runners.test_run import FailedTest, TestRun
from claude_mem_lite.compress.toolcalls.test_selection import Selection, read_selection
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import JsonValue, ToolCall, text
from claude_mem_lite.text import within
from claude_mem_lite.values import frozen

_FILE_NAME = lazy(r"(?!/|~|tmp/|\.\./|node_modules/|dist/|build/|target/)[\w./@+-]*[\w@+-]\.[A-Za-z]\w{0,9}")
_DOCUMENT = lazy(r"(?m)^([^\n]*)<<-?[ \t]*(['\"]?)(\w+)\2([^\n]*)\n")
_TARGET = lazy(r"(?<![\d&>])(>{1,2})[ \t]*([^\s;&|<>]+)|\btee[ \t]+(-a[ \t]+)?([^\s;&|<>-][^\s;&|<>]*)")
_SUBSTITUTION = lazy(r"s([/|#,@])((?:\\.|(?!\1).)+)\1((?:\\.|(?!\1).)*)\1\w*")
_ESCAPED = lazy(r"\\([^\w\s])")
_MAX_FILES = 20
_MAX_DOCUMENTS = 20
_MAX_COMMAND_LENGTH = 100_000
_MAX_RESULTS = 3
_MAX_RESULT = 160
# program with subcommand; lines of the output with a result
_RULES: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (lazy(command), lazy(f"(?m)^{line}"))
    for command, line in (
        (
            r"git push\b",
            r"[ \t]{0,8}([*+]?[ ]?(?:\[new (?:tag|branch)\]|[0-9a-f]{6,40}\.\.\.?[0-9a-f]{6,40}) {1,20}\S+ -> \S+)",
        ),
        (r"git (?:rebase|pull)\b", r"(Successfully rebased[^\n]*)$"),
        (r"git (?:merge|pull)\b", r"(Merge made by[^\n]*|[ ]\d+ files? changed[^\n]*)$"),
        (r"gh (?:pr|issue|release) create", r"(https://\S+)$"),
    )
)


_VERSIONED = lazy(r"(?m)^[^\w\n]*([^\n]{0,200}\d+\.\d+\.\d+[^\n]{0,200})$")
_BEHIND_NAME = lazy(r"[\[<>=~^@]")
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
# As much as the inbox stores: the decisive line may be in the middle.
_MAX_OUTPUT_LENGTH = 600_000
_MAX_ERRORS = 6
_SHOWING = ("explore", "files", "commit")
_SIGNALS = {124: "timed out", 134: "aborted", 137: "killed", 139: "segmentation fault", 143: "terminated"}
_ALL_FINE = lazy(r"(?i)\b(?:0|no) (?:issues|errors|problems|remaining)|all checks passed|^success", re.MULTILINE)
# A line that the client adds to the output of a command.
_OF_CLIENT = lazy(r"(?m)^Shell cwd was reset to [^\n]*\n?")
# The last line of the traceback of an uncaught exception.
_RAISED = lazy(r"(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:: .*)?$")


def results_of(command: str, output: str) -> tuple[str, ...]:
    """Return the first and the last lines of an output with a result of one simple command."""
    if shell.role(command) == "install":
        return _few(_installed(command, output))
    results = (line.findall(output) for program, line in _RULES if program.match(command))
    return _few(next((lines for lines in results if lines), []))


def _installed(command: str, output: str) -> list[str]:
    """Return the lines with a version; for a command that names packages, only lines about these packages."""
    lines: list[str] = _VERSIONED.findall(output)
    words = [word.strip("'\"@") for word in command.split()[2:] if not word.startswith("-")]
    names = [name for word in words if (name := _BEHIND_NAME.split(word, maxsplit=1)[0])]
    return [line for line in lines if any(name in line for name in names)] if names else lines


def _few(lines: Sequence[str]) -> tuple[str, ...]:
    distinct = list(dict.fromkeys(within(" ".join(line.split()), _MAX_RESULT) for line in lines))
    return tuple(distinct if len(distinct) <= _MAX_RESULTS else (*distinct[: _MAX_RESULTS - 1], distinct[-1]))


def read_run(output: str) -> TestRun | None:
    """Return the test run in the cleaned output of a command, or None."""
    return next((run for parse in _PARSERS if (run := parse(output))), None)


@frozen
class _End:
    """End of a command: exit code, output, failure, and a note if the client stopped waiting."""

    code: int | None
    printed: str
    failed: bool
    late: str = ""


def read_command(call: ToolCall, folder: Folder) -> list[Step]:
    """Return the run of a command, after its changes to files; nothing for a refused, stopped or running command."""
    command = typed_command(call)
    end = _ended(call)
    if not command.strip() or end is None:
        return []
    output = folder.shorten(clip(_OF_CLIENT.sub("", clean(end.printed)), _MAX_OUTPUT_LENGTH))
    ran = _read(command, output, end, folder.path)
    # Edits and commits in other folders belong to another project.
    if ran.failed or shell.folders_outside(command, folder.path, folder.root):
        return [ran]
    commits = tuple(read_commits(command, output)) if ran.role == "commit" else ()
    written = [FileEdited(change) for change in read_shell_edits(command, folder) if not is_scratch(change.path)]
    return [*written, replace(ran, commits=commits, results=_results(command, output))]


def _ended(call: ToolCall) -> _End | None:
    """Return the end of a command; None for a refused, interrupted or background command."""
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
    safe_errors = tuple(dict.fromkeys(safe_error(error, is_foreign=fetched) for error in errors))
    shown = line(shell.key(part)) or line(command)
    return Ran(
        shown,
        role,
        _goal(part, role, run),
        output,
        end.code,
        failed,
        _safe_run(run, fetched),
        safe_errors,
        typed=line(part) or shown,
        printed_errors=errors,
        fetched=fetched,
        selection=read_selection(command, cwd) if role not in _SHOWING else Selection(),
        is_sure=_is_sure(command, role, run),
        set_back=shell.setting_back(command),
    )


def _is_sure(command: str, role: shell.Role, run: TestRun | None) -> bool:
    """Return whether the result of a command is known: by totals of tests, else by an exit code that nothing hides.

    For compilers and linters, the errors in the output are known, so that a clean end proves success."""
    if run:
        return bool(run.passed or run.failed)
    return not shell.hides_exit(command) or (role in ("build", "lint") and shell.shows_end(command))


def _safe_run(run: TestRun | None, fetched: bool) -> TestRun | None:
    if run is None:
        return None
    failures = (FailedTest(test.name, safe_error(test.error, is_foreign=fetched)) for test in run.failures)
    return replace(run, failures=tuple(failures))


def _results(command: str, output: str) -> tuple[str, ...]:
    """Return the results of the parts of a command line, without orders to the reader."""
    results = (result for part in shell.parts(command) for result in results_of(shell.unwrapped(part), output))
    return tuple(result for result in dict.fromkeys(results) if not reads_like_an_order(result))


def _failed_unseen(command: str, role: shell.Role, run: TestRun | None, output: str) -> bool:
    """Return whether a command failed despite exit code 0: `make test | tail` always succeeds."""
    if run:
        return bool(run.failed)
    if role == "run":
        is_raised = _RAISED.match(output.rstrip().rpartition("\n")[2]) is not None
        return is_raised and shell.hides_exit(command) and not shell.fetches(command)
    if role not in ("test", "build", "lint") or not shell.hides_exit(command) or _ALL_FINE.search(output):
        return False
    return diagnostics.names_errors(output)


def _errors(output: str, ended: str) -> tuple[str, ...]:
    """Return a special end of a command and the printed errors; without errors, the last line of a short output."""
    errors = diagnostics.error_lines(output, _MAX_ERRORS)
    few = not errors and output.count("\n") < 5
    lines = [ended, *errors, diagnostics.last_line(output) if few else ""]
    return tuple(error for error in lines if error)


def _signal(code: int | None, output: str) -> str:
    """Return the meaning of an exit code, unless the output mentions the same."""
    word = _SIGNALS.get(code or 0, "")
    return "" if word.split(" ")[0] in output.lower() else word


def _not_of_tests(errors: tuple[str, ...], run: TestRun | None) -> tuple[str, ...]:
    """Return the errors of a command, unless every failing test has an error."""
    return () if run and run.failures and all(test.error for test in run.failures) else errors


def _without_orders(errors: tuple[str, ...], run: TestRun | None) -> tuple[tuple[str, ...], TestRun | None]:
    """Return errors and test run without orders to the reader: any program may have printed them."""
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


def read_shell_edits(command: str, folder: Folder) -> list[FileChange]:
    """Return the changes of a successful command line to files of the project, without folders and patterns."""
    command = command[:_MAX_COMMAND_LENGTH]
    return [*_written(command, folder), *(change for part in shell.parts(command) for change in _changed(part, folder))]


def _changed(part: str, folder: Folder) -> Iterator[FileChange]:
    """Yield the changes of one simple command: `mv`, `rm`, `sed -i`, `perl -i`."""
    try:
        words = shlex.split(part)
    except ValueError:
        return
    words = words[1:] if words[:1] == ["git"] else words
    if not words:
        return
    if words[0] in ("sed", "perl"):
        yield from _substituted(words, folder)
        return
    paths = [folder.name(word) for word in words[1:] if not word.startswith("-")]
    if not paths or not all(_FILE_NAME.fullmatch(path) for path in paths):
        return
    if words[0] == "mv" and len(paths) == 2:
        yield FileChange(paths[1], "new", moved_from=paths[0])
    elif words[0] == "rm":
        yield from (FileChange(path, "deleted") for path in paths[:_MAX_FILES])


def _substituted(words: list[str], folder: Folder) -> Iterator[FileChange]:
    """Yield the changes of `sed -i 's/a/b/' FILE…`, with the texts as typed, also patterns."""
    if not any(re.match(r"-\w*i|--in-place", word) for word in words[1:]):
        return
    samples = [
        (_ESCAPED.sub(r"\1", match[2]), _ESCAPED.sub(r"\1", match[3]))
        for word in words[1:]
        if len(word) < 300
        for match in _SUBSTITUTION.finditer(word)
        if word.lstrip().startswith(("s", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "/", "$"))
    ]
    for word in words[1:]:
        path = folder.name(word)
        if not word.startswith("-") and _FILE_NAME.fullmatch(path) and not _SUBSTITUTION.search(word):
            yield FileChange(path, "modified", samples=tuple(samples[:3]))


def _written(command: str, folder: Folder) -> Iterator[FileChange]:
    """Yield files written from a here-document."""
    at = 0
    for _ in range(_MAX_DOCUMENTS):
        document = _DOCUMENT.search(command, at)
        if not document:
            return
        end = re.compile(rf"(?m)^[ \t]*{document[3]}[ \t]*$").search(command, document.end())
        body = command[document.end() : end.start() if end else len(command)]
        at = end.end() if end else len(command)
        target = _TARGET.search(f"{document[1]} {document[4]}")
        path = folder.name((target[2] or target[4]).strip("\"'")) if target else ""
        if target and _FILE_NAME.fullmatch(path):
            change = new_file(path, body)
            appended = target[1] == ">>" or bool(target[3])
            yield FileChange(path, "modified", change.symbols, change.added) if appended else change
