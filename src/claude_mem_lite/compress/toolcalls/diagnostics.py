"""Errors in the output of a command, best lines first, in a form that is safe to repeat.

Errors over several lines are found by their form, because `make`, `npm run` and `docker build` hide the tool. Anybody
may have written the text of an error. An error that advises the reader is reduced to class and place."""

import re
from collections.abc import Callable, Iterator
from itertools import islice

from claude_mem_lite.compress.toolcalls.test_runners.go import panic
from claude_mem_lite.compress.toolcalls.test_runners.test_run import sections
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.safety.injection import looks_like_instructions
from claude_mem_lite.text import within

_MAX_ERRORS = 8
_MAX_PROBLEM_LENGTH = 600

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
_MAX_LINE_LENGTH = 240
_MAX_READ_LENGTH = 2_000

_MAYBE = lazy(
    r"(?i)error|fail|fatal|panic|exception|fault|kill|abort|denied|reject|refus|can'?t|cannot|unable|invalid|undefined"
    r"|not |no |does|missing|conflict|time|memory|unrecogni|already|too many|read-only|is a dir|unreach|problem|:\d+"
    r"|\(\d+,\d+\)|[✗✘×❌⨯]|^E\s|^e: "
)
_LEVELS = tuple(
    lazy(pattern)
    for pattern in (
        r"^E\s{2,}\S|undefined reference to|undefined symbols?\b|multiple definition of|duplicate symbol",
        r"^(?:\w+\.)*\w*(?:Error|Exception|Panic|Fault)(?:\[[^\]]*\])?\b\s*(?::|\()",
        r"^(?:\[[^\]]+\] )?(?:error|fatal|panic|ERROR|Error|FATAL|CRITICAL|FAIL)(?:\[[\w-]+\])?:? \S|: ERROR: +\S"
        r"|^! \[(?:remote )?rejected\]|^CONFLICT \(|^[eE]: \S|(?i:\berror (?:TS|CS|MSB|NU)\d+:)"
        r"|^\S+?[:(]\d+(?:[:,]\d+)?\)?:?(?: -)? +(?:fatal )?(?:error|undefined|cannot|not|missing|unused|invalid"
        r"|expected|unexpected|declared)\b"
        r"|^\S+\.\w{1,5}:\d+:\d+:? (?!(?:- )?(?:note|warning|info|hint|remark)\b)\S"
        r"|^curl: \(\d+\) \S|^\w*make(?:\[\d+\])?: \*\*\* ",
        r"(?i)command not found|no such file or directory|permission denied|connection refused"
        r"|address already in use|already allocated|cannot find module"
        r"|no module named|module not found|out of memory|timed? ?out|not found|does not exist"
        r"|is not recognized|unrecognized|missing script"
        r"|no space left on device|too many open files|read-only file system|operation not permitted|is a directory"
        r"|not a directory|could not resolve host|name or service not known|no route to host|network is unreachable"
        r"|^(?:Segmentation fault|Killed|Aborted|Bus error|Illegal instruction|Terminated)\b",
        r"(?i)\b(?:error|failed|failure|fatal|exception|denied|rejected|refused|unable to|cannot|can't|invalid)\b",
        r"^[✗✘×❌⨯]\s",
    )
)  # fmt: skip
_EMPTY_WORDS = lazy(
    r"(?i)^(?:\[?[\w:-]+\]? )?(?:ERROR task failed|FAIL$|FAILED$|Error: Process completed|error: script .* exited"
    r"|\w*make(?:\[\d+\])?: \*\*\* (?:\[|Waiting for)|error Command failed|Found \d+ errors?"
    r"|\d+ (?:errors?|problems?|issues?)\b"
    r"|Traceback \(most recent|exit status \d+|ERROR: \"?\S+\"? exited|For more information|Some errors? "
    r"|error: aborting due to|error: could not compile|hint: |error: test failed, to rerun|Errors while running CTest"
    r"|error: subprocess-exited-with-error|\S+: error: linker command failed|collect2: error|build failed\W*$"
    r"|Failed to compile\W*$|FAILURE: Build failed with|error: failed to push some refs|Errors?:? +Files$|Errors? +\d+$"
    r"|\S*ERR_PNPM_RECURSIVE|ELIFECYCLE|error: recipe|fatal: Could not read from remote repository"
    r"|\[INFO\] BUILD FAILURE|\[ERROR\] (?:COMPILATION ERROR|-> \[Help|Failed to execute goal .*Compilation failure$))"
)
# Prefix of a command that a task runner prints before running it.
_ECHO = lazy(r"(?:\[[^\]]+\] )?[$>+] ")
_SURE_LEVEL = 2
_EXPLICIT_ERROR = lazy(r"(?i)\b(?:error|fatal|panic)(?:\[[\w-]+\])?:|[:(]\d+[:,]\d+")
_LOCATION = lazy(r"^\s*-->\s*(\S+:\d+:\d+)\s*$")
# Name below an error of the Java compiler, which is the same for every name.
_SYMBOL = lazy(r"\s*symbol:\s+(\S.*)$")
_SYMBOL_WITHIN = 4
_STACK_FRAME = lazy(r"^\s*(?:at |File \"|from |in |\d+: |#\d+ |\.\.\. )")
_PLACE_ALONE = lazy(r"^(?:ERROR in )?((?:\./)?[\w./@\[\]()-]+\.\w{1,6}(?::\d+(?::\d+)?|\(\d+,\d+\)))(?: [\d:-]+)?:?$")
# Prefixes of each line: image builds, boxes, container logs, log times.
_CARRIED = lazy(
    r"(?m)^(?:#\d+ (?:\d+\.\d+ ?)?|[│┃╷╵] ?|[\w.-]+-\d+ +\| |\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,]*Z? ?"
    r"|npm (?:ERR!|error) ?)[ \t]*"
)
_MAX_ERROR_LENGTH = 4_000
_MAX_PLACE_LENGTH = 80
# A program to run, or a download: "To fix this, run: pip install --index-url https://…". Signs are also read as blanks,
# because a path or an address can contain the same words.
_PROGRAM = (
    r"(?:pip3?|pipx|uvx?|npm|npx|pnpm|yarn|bunx?|curl|wget|bash|sh|zsh|sudo|python3?|node|deno|git|docker|brew|apt|apk"
    r"|gem|cargo|go|rm|chmod|chown|eval|powershell|iwr|make|kubectl|ssh|scp|nc|the following|this command|https?)"
)
_ADVICE = lazy(
    rf"(?i)\b(?:run|running|execute|executing|install|installing|download|fetch|visit|paste|type|enter|use|try|via"
    rf"|exec|invoke|call)\b[^\w\n]{{0,4}}(?:\w{{1,12}} ){{0,2}}?[^\w\n]{{0,4}}{_PROGRAM}\b(?!')"
    r"|\b(?:pip3?|npm|gem|cargo|go|brew|apt(?: get)?) (?:install|i|add|get|exec)\b (?:\w+ ){0,3}?"
    r"(?:index|registry|url|http)"
    r"|\b(?:extra )?index url\b|\btrusted host\b|\b(?:npx|uvx|bunx) \w"
    r"|\b(?:please|you (?:must|should|need to|have to)|be sure to|make sure)\b.{0,60}\b(?:run|execute|install|download"
    r"|send|push|upload|delete|disable|visit|open|set|add|paste)\b"
    r"|\b(?:send|push|upload|post|mail|copy)\b.{0,60}\b(?:https?|[\w-]+\.(?:com|org|net|io|example|dev|ru|cn))\b"
    r"|\bset \w+ ?=? ?\S+ and\b"
)
_JOINED = lazy(r"[-_./+:%=]+")
_CLASS = lazy(
    r"(?:\b(?:\w{1,40}\.){0,5}[A-Z]\w{0,60}(?:Error|Exception|Warning|Interrupt|Failure|Exit)\b"
    r"|\berror\[\w{1,10}\]|\bcurl: \(\d{1,3}\)|\bnpm (?:ERR!|error)(?: code \w{1,20})?|\bHTTP (?:error )?\d{3}\b"
    r"|\b(?:E[A-Z]{4,15}|[A-Z]{2,6}\d{3,5})\b)"
)
# Errors of programs that download, when no server answers.
_NO_ANSWER = lazy(
    r"curl: \(\d{1,3}\) (?:Failed|Could|Couldn't|Connection|Operation|SSL|Recv|Send|Empty|The requested URL)\b"
    r"|wget: unable"
)
_PLACE = lazy(r"(?<![\w/])[\w@.-]*(?:/[\w@.-]+)*\.\w{1,5}:\d{1,6}(?!\w)")


def first_error(output: str) -> str:
    """Return the best line, or '' when nothing looks like an error."""
    return next(iter(error_lines(output, 1)), "")


def error_lines(output: str, limit: int) -> list[str]:
    """Return up to `limit` distinct errors: errors of tools with a known form, else the lines of the best level."""
    bare = _CARRIED.sub("", output)
    errors = problems(bare) or _best_lines(bare.split("\n"), limit)
    return list(dict.fromkeys(" ".join(error.split())[:_MAX_LINE_LENGTH] for error in errors))[:limit]


def names_errors(output: str) -> bool:
    """Return whether an output has explicit errors, not just words that could mean an error."""
    bare = _CARRIED.sub("", output)
    return bool(problems(bare)) or any(
        level < _SURE_LEVEL or (level == _SURE_LEVEL and _EXPLICIT_ERROR.search(line))
        for level, _, line in _candidates(bare.split("\n"))
    )


def last_line(output: str) -> str:
    """Return the last line with words: the error when no line is explicitly an error."""
    for line in reversed(output[-8_000:].split("\n")):
        stripped = line.strip()
        has_words = len(stripped) > 3 and re.search(r"[A-Za-z]{3}", stripped) and not _EMPTY_WORDS.match(stripped)
        if has_words and not _ECHO.match(stripped):
            return stripped[:_MAX_LINE_LENGTH]
    return ""


def _best_lines(lines: list[str], limit: int) -> list[str]:
    """Return the first distinct lines of the best level that occurs, in order."""
    best = len(_LEVELS)
    kept: dict[str, None] = {}
    for level, at, line in _candidates(lines):
        if level > best or (level == best and len(kept) == limit):
            continue
        if level < best:
            best, kept = level, {}
        kept[_tidy(line, lines, at)] = None
    return list(kept)


def _candidates(lines: list[str]) -> "list[tuple[int, int, str]]":
    """Return level (0 the best), number and text of every line that may be an error."""
    candidates: list[tuple[int, int, str]] = []
    for at, line in enumerate(lines):
        stripped = line.strip()[:_MAX_READ_LENGTH]
        if len(stripped) < 4 or not _MAYBE.search(stripped) or _EMPTY_WORDS.match(stripped) or _STACK_FRAME.match(line):
            continue
        level = next((level for level, pattern in enumerate(_LEVELS) if pattern.search(stripped)), None)
        if level is not None:
            candidates.append((level, at, stripped))
    return candidates


def _tidy(line: str, lines: list[str], at: int) -> str:
    line = re.sub(r"^E\s{2,}", "", line)
    line = re.sub(r"^(?:e: (?:file://)?)?(\S+:\d+:\d+)(?: -)? (?=\S)", r"\1: ", line)
    if at + 1 < len(lines) and (place := _LOCATION.match(lines[at + 1])):
        line = f"{line} ({place[1]})"
    if line.endswith("cannot find symbol"):
        below = (_SYMBOL.match(line_below) for line_below in lines[at + 1 : at + 1 + _SYMBOL_WITHIN])
        line += next((f": {symbol[1].strip()}" for symbol in below if symbol), "")
    before = lines[at - 1].strip() if at else ""
    if place := _PLACE_ALONE.match(before[:300]):
        line = f"{place[1]}: {line}"
    return line


def has_advice(error: str) -> bool:
    """Return whether an error advises the reader: orders to an agent, or something to run, fetch or send."""
    flat = _JOINED.sub(" ", error)
    return bool(_ADVICE.search(error) or _ADVICE.search(flat) or looks_like_instructions(error))


def safe_error(error: str, *, is_foreign: bool = False) -> str:
    """Return an error that is safe to repeat; class and place of a foreign error and of an error with advice."""
    error = error[:_MAX_ERROR_LENGTH]
    if (not is_foreign or _NO_ANSWER.match(error)) and not has_advice(error):
        return error
    kind = _CLASS.search(error)
    place = _PLACE.search(error)
    location = within(place[0], _MAX_PLACE_LENGTH) if place and not has_advice(place[0]) else ""
    name = kind[0] if kind else "an error"
    return f"{name} in {location}" if location else name


def problems(output: str) -> list[str]:
    """Return the errors of the first tool with a known form, best errors first."""
    for mark, read in _READERS:
        if mark in output and (errors := list(islice(read(output), _MAX_ERRORS))):
            return [error[:_MAX_PROBLEM_LENGTH] for error in errors]
    return []
