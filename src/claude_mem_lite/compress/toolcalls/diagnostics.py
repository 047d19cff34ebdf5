"""The lines of a command's output that say what went wrong, most telling first.

The words of an error that may be told again: anybody may have written them, so none that tell their reader what to
do. Of such an error its class and place are left."""

import re

from claude_mem_lite.compress.toolcalls.multiline_errors import problems
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.safety.injection import looks_like_instructions
from claude_mem_lite.text import within

_MAX_LINE_LENGTH = 240
_MAX_LOOKED_AT_LENGTH = 2_000

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
# What a task runner prints before it runs something.
_ECHO = lazy(r"(?:\[[^\]]+\] )?[$>+] ")
_SURE_LEVEL = 2
_TOLD_AS_ERROR = lazy(r"(?i)\b(?:error|fatal|panic)(?:\[[\w-]+\])?:|[:(]\d+[:,]\d+")
_LOCATION = lazy(r"^\s*-->\s*(\S+:\d+:\d+)\s*$")
# What a compiler of Java says below an error that is the same for every name.
_SYMBOL = lazy(r"\s*symbol:\s+(\S.*)$")
_SYMBOL_WITHIN = 4
_STACK_FRAME = lazy(r"^\s*(?:at |File \"|from |in |\d+: |#\d+ |\.\.\. )")
_PLACE_ALONE = lazy(r"^(?:ERROR in )?((?:\./)?[\w./@\[\]()-]+\.\w{1,6}(?::\d+(?::\d+)?|\(\d+,\d+\)))(?: [\d:-]+)?:?$")
# What carriers put before each line: image builds, boxes, container logs, log times.
_CARRIED = lazy(
    r"(?m)^(?:#\d+ (?:\d+\.\d+ ?)?|[│┃╷╵] ?|[\w.-]+-\d+ +\| |\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,]*Z? ?"
    r"|npm (?:ERR!|error) ?)[ \t]*"
)


def first_error(output: str) -> str:
    """The one line that tells most, or '' when nothing looks like an error."""
    lines = error_lines(output, 1)
    return lines[0] if lines else ""


def error_lines(output: str, limit: int) -> list[str]:
    """Up to `limit` different errors: those of tools known by their shape, else the lines of the most telling sort."""
    bare = _CARRIED.sub("", output)
    found = problems(bare) or _telling_lines(bare.split("\n"), limit)
    return list(dict.fromkeys(_one_line(error) for error in found))[:limit]


def names_errors(output: str) -> bool:
    """Whether an output holds errors that are told as such, not just words that could mean one."""
    bare = _CARRIED.sub("", output)
    return bool(problems(bare)) or any(
        level < _SURE_LEVEL or (level == _SURE_LEVEL and _TOLD_AS_ERROR.search(told))
        for level, _, told in _candidates(bare.split("\n"))
    )


def last_line(output: str) -> str:
    """The last line with words in it: what an error is when nothing names itself one."""
    for line in reversed(output[-8_000:].split("\n")):
        stripped = line.strip()
        is_telling = len(stripped) > 3 and re.search(r"[A-Za-z]{3}", stripped) and not _EMPTY_WORDS.match(stripped)
        if is_telling and not _ECHO.match(stripped):
            return stripped[:_MAX_LINE_LENGTH]
    return ""


def _telling_lines(lines: list[str], limit: int) -> list[str]:
    """The first different lines of the most telling sort that occurs, in the order they were printed."""
    best = len(_LEVELS)
    found: dict[str, None] = {}
    for level, at, line in _candidates(lines):
        if level > best or (level == best and len(found) == limit):
            continue
        if level < best:
            best, found = level, {}
        found[_tidy(line, lines, at)] = None
    return list(found)


def _candidates(lines: list[str]) -> "list[tuple[int, int, str]]":
    """How telling a line is (0 the most), its number and itself, for every line that may speak of an error."""
    found: list[tuple[int, int, str]] = []
    for at, line in enumerate(lines):
        stripped = line.strip()[:_MAX_LOOKED_AT_LENGTH]
        if len(stripped) < 4 or not _MAYBE.search(stripped) or _EMPTY_WORDS.match(stripped) or _STACK_FRAME.match(line):
            continue
        level = next((level for level, pattern in enumerate(_LEVELS) if pattern.search(stripped)), None)
        if level is not None:
            found.append((level, at, stripped))
    return found


def _tidy(line: str, lines: list[str], at: int) -> str:
    line = re.sub(r"^E\s{2,}", "", line)
    line = re.sub(r"^(?:e: (?:file://)?)?(\S+:\d+:\d+)(?: -)? (?=\S)", r"\1: ", line)
    if at + 1 < len(lines) and (place := _LOCATION.match(lines[at + 1])):
        line = f"{line} ({place[1]})"
    if line.endswith("cannot find symbol"):
        below = (_SYMBOL.match(one) for one in lines[at + 1 : at + 1 + _SYMBOL_WITHIN])
        line += next((f": {symbol[1].strip()}" for symbol in below if symbol), "")
    before = lines[at - 1].strip() if at else ""
    if place := _PLACE_ALONE.match(before[:300]):
        line = f"{place[1]}: {line}"
    return line


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_MAX_LINE_LENGTH]


_LONGEST = 4_000
_MAX_PLACE_LENGTH = 80
# A program to run, or where to get it from: "To fix this, run: pip install --index-url https://…". What is joined by
# signs is read as words, since a path or an address can say it too.
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
# What a program that fetches says itself when it gets no answer.
_NO_ANSWER = lazy(
    r"curl: \(\d{1,3}\) (?:Failed|Could|Couldn't|Connection|Operation|SSL|Recv|Send|Empty|The requested URL)\b"
    r"|wget: unable"
)
_PLACE = lazy(r"(?<![\w/])[\w@.-]*(?:/[\w@.-]+)*\.\w{1,5}:\d{1,6}(?!\w)")


def tells_what_to_do(error: str) -> bool:
    """Whether an error has words for its reader: orders to an agent, or something to run, fetch or send."""
    flat = _JOINED.sub(" ", error)
    return bool(_ADVICE.search(error) or _ADVICE.search(flat) or looks_like_instructions(error))


def told_error(error: str, *, is_foreign: bool = False) -> str:
    """An error as it may be told: as it is, unless others wrote it or it tells what to do."""
    error = error[:_LONGEST]
    if (not is_foreign or _NO_ANSWER.match(error)) and not tells_what_to_do(error):
        return error
    kind = _CLASS.search(error)
    place = _PLACE.search(error)
    told = within(place[0], _MAX_PLACE_LENGTH) if place and not tells_what_to_do(place[0]) else ""
    name = kind[0] if kind else "an error"
    return f"{name} in {told}" if told else name
