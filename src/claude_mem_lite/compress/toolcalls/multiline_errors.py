"""Errors that a tool prints over several lines -> one line each, with the place.

Found by their form, because `make`, `npm run` and `docker build` hide the tool."""

import re
from collections.abc import Callable, Iterator
from itertools import islice

from claude_mem_lite.compress.toolcalls.test_runners.go import panic
from claude_mem_lite.compress.toolcalls.test_runners.test_run import sections
from claude_mem_lite.lazy_regex import lazy

_MAX_ERRORS = 8
_MAX_ERROR_LENGTH = 600

_TRACEBACK = lazy(r"Traceback \(most recent call last\):\n((?:[ \t][^\n]*\n|\n(?=[ \t]))*)(\S[^\n]*)")
_PYTHON_FRAME = lazy(r"File \"([^\"\n]+)\", line (\d+)")
_PYTHON_LIBRARY = lazy(r"site-packages|dist-packages|/lib/python|^<")
_MAX_TRACEBACKS = 3

_THROWN = lazy(
    r"(?:Uncaught |Unhandled exception\. |Exception in thread \"[^\"\n]*\" |Caused by: )?"
    r"([\w$.]+(?:Error|Exception)\b[^\n]*)$"
)
_FRAME = lazy(r"[ \t]+at [^\n]*?\(?((?:file://)?[^\s()]+:\d+(?::\d+)?)\)?$")
_LIBRARY_FRAME = lazy(r"node_modules|node:|internal/|java\.base|^native")

_RUST = lazy(r"(?m)^((?:error(?:\[E\d+\])?: |[A-Z]{1,4}\d{2,4} (?:\[\*\] )?)[^\n]+)\n[ \t]*--> (\S+:\d+:\d+)")
_RUST_PANIC = lazy(r"(?m)^thread '[^'\n]+'[^\n]* panicked at ([^\n]+?):?\n([^\n]*)")

_ESLINT_FILE = lazy(r"(?:/|\.{0,2}/)?[\w@./\[\]()-]+\.\w{1,6}$")
_ESLINT_ROW = lazy(r"[ \t]+(\d+:\d+)[ \t]+error[ \t]+(\S[^\n]*)$")
_SHELLCHECK = lazy(r"(?m)^In (\S+ line \d+):\n")
_SHELLCHECK_CODE = lazy(r"(?m)^[ \t]*\^[-^ ]*(SC\d+[^\n]*)$")

_CMAKE = lazy(r"(?m)^CMake Error at ([^\n]+?):?\n\n?((?:[ \t]+[^\n]+\n){1,4})")
_WEBPACK = lazy(r"(?m)^ERROR in (\S+)[^\n]*\n([^\n]+)$")
_NPM = lazy(r"(?m)^(ERESOLVE|E\d{3}|ENOENT|EACCES|ETARGET|notarget|Missing script)[^\n]*$")
_NPM_PEER = lazy(r"(?m)^[ \t]*(?:peer \S+ from \S+|Found: \S+)[^\n]*$")
_PIP = lazy(r"(?m)^ERROR: (Cannot install [^\n]*)$")
_PIP_CAUSES = lazy(r"The conflict is caused by:\n((?:[ \t]+[^\n]+\n?){1,4})")
_SOLVING = lazy(r"(?ms)^[ \t]*(Because .{1,2000}?version solving (?:has )?failed)")
_UNFORMATTED = lazy(r"(?mi)^(?:\[warn\]|would reformat:?|unformatted:?) (\S+\.\w+)$")
_UNFORMATTED_END = lazy(r"(?mi)^(?:\[warn\] )?((?:Code style issues|\d+ files? would be reformatted)[^\n.,]*)")
_TERRAFORM = lazy(
    r"(?m)^[ \t]*Error: ([^\n]+)\n[ \t]*\n(?:[ \t]*with [^\n]+\n)?[ \t]*on (\S+) line (\d+)[^\n]*\n"
    r"(?:[ \t]*\d+:[^\n]*\n)*[ \t]*\n?[ \t]*([^\n]+)"
)
_GRADLE = lazy(r"\* What went wrong:\n([^\n]+)\n(?:[> \t]*([^\n]+))?")
_GRADLE_DETAIL = lazy(r"(?m)^(?:e: |\S+\.(?:java|kt|kts|groovy):\d+: error)")


def problems(output: str) -> list[str]:
    """Return the errors of the first tool with a known form, best errors first."""
    for mark, read in _READERS:
        if mark in output and (errors := list(islice(read(output), _MAX_ERRORS))):
            return [error[:_MAX_ERROR_LENGTH] for error in errors]
    return []


def _tracebacks(output: str) -> Iterator[str]:
    """Yield exceptions of Python, the last first, then the causes."""
    tracebacks = _TRACEBACK.findall(output)[-_MAX_TRACEBACKS:]
    for frames, error in reversed(tracebacks):
        own = [f"{path}:{line}" for path, line in _PYTHON_FRAME.findall(frames) if not _PYTHON_LIBRARY.search(path)]
        yield f"{error.strip()} ({own[-1]})" if own else error.strip()


def _thrown(output: str) -> Iterator[str]:
    """Yield errors with a stack below: of node, of the JVM, of .NET."""
    lines = output.split("\n")
    for at, line in enumerate(lines):
        error = _THROWN.match(line.strip()) if "Error" in line or "Exception" in line else None
        frames = [frame[1] for below in lines[at + 1 : at + 16] if (frame := _FRAME.match(below))] if error else []
        if error and frames:
            own = next((frame for frame in frames if not _LIBRARY_FRAME.search(frame)), frames[0])
            yield f"{error[1]} ({own.removeprefix('file://')})"


def _rust(output: str) -> Iterator[str]:
    for error, place in _RUST.findall(output):
        yield f"{error} ({place})"


def _rust_panic(output: str) -> Iterator[str]:
    for place, message in _RUST_PANIC.findall(output):
        yield f"{message} ({place})"


def _go_panic(output: str) -> Iterator[str]:
    if message := panic(output):
        yield message


def _eslint(output: str) -> Iterator[str]:
    """Yield rows below the name of a file."""
    file = ""
    for line in output.split("\n"):
        if _ESLINT_FILE.match(line):
            file = line
        elif file and (row := _ESLINT_ROW.match(line)):
            yield f"{file}:{row[1]}: {row[2]}"


def _shellcheck(output: str) -> Iterator[str]:
    for place, section in sections(output, _SHELLCHECK):
        yield from (f"{place}: {message}" for message in _SHELLCHECK_CODE.findall(section))


def _cmake(output: str) -> Iterator[str]:
    for place, message in _CMAKE.findall(output):
        yield f"CMake Error at {place}: {message}"


def _webpack(output: str) -> Iterator[str]:
    for place, message in _WEBPACK.findall(output):
        yield f"{place}: {message}"


def _npm(output: str) -> Iterator[str]:
    """Yield the unresolved package of npm, and the conflicting packages."""
    for match in _NPM.finditer(output):
        if match[0] != match[1]:
            yield match[0]
            break
    for match in _NPM_PEER.finditer(output):
        yield match[0].strip()


def _pip(output: str) -> Iterator[str]:
    error = _PIP.search(output)
    causes = _PIP_CAUSES.search(output)
    if error:
        yield error[1]
    for cause in causes[1].split("\n") if causes else ():
        if cause.strip():
            yield cause.strip()


def _solving(output: str) -> Iterator[str]:
    """Yield why versions conflict: the first reason, to act on, and the last, the conclusion."""
    if match := _SOLVING.search(output):
        reasons = re.split(r"(?:\.|,)\s+(?=So,? because|Thus,|And because)", " ".join(match[1].split()))
        yield from (reasons[0], reasons[-1]) if len(reasons) > 1 else reasons


def _unformatted(output: str) -> Iterator[str]:
    names = _UNFORMATTED.findall(output)
    end = _UNFORMATTED_END.search(output)
    if names:
        yield f"{end[1] if end else 'Not formatted'}: {', '.join(names[:6])}"


def _terraform(output: str) -> Iterator[str]:
    """Yield errors with the text below the heading, which is the same for every name of a block."""
    for error, file, line, message in _TERRAFORM.findall(output):
        yield f"{error}: {message.strip()} ({file}:{line})"


def _gradle(output: str) -> Iterator[str]:
    """Yield the error of a build without errors of a compiler."""
    if not _GRADLE_DETAIL.search(output) and (match := _GRADLE.search(output)):
        yield f"{match[1].rstrip('.')}: {match[2]}" if match[2] else match[1]


_READERS: tuple[tuple[str, Callable[[str], Iterator[str]]], ...] = (
    ("Traceback (most recent", _tracebacks),
    (" --> ", _rust),
    ("panicked at", _rust_panic),
    ("goroutine ", _go_panic),
    ("The conflict is caused by", _pip),
    ("version solving", _solving),
    ("ERESOLVE", _npm),
    ("CMake Error", _cmake),
    ("ERROR in ", _webpack),
    (" line ", _shellcheck),
    (", in ", _terraform),
    ("  error  ", _eslint),
    ("reformat", _unformatted),
    ("[warn]", _unformatted),
    ("* What went wrong:", _gradle),
    (" at ", _thrown),
    ("\tat ", _thrown),
)
