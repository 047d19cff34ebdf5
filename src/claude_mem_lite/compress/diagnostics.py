"""The lines of a command's output that say what went wrong, most telling first."""

import re

_LONGEST_LINE = 240
_MOST_LINES = 4_000

_TELLING = tuple(
    re.compile(pattern)
    for pattern in (
        r"^E\s{2,}\S",
        r"^(?:\w+\.)*\w*(?:Error|Exception|Panic|Fault)(?:\[[^\]]*\])?\b\s*(?::|\()",
        r"^(?:\[[^\]]+\] )?(?:error|fatal|panic|ERROR|Error|FATAL|CRITICAL)(?:\[[\w-]+\])?:? \S",
        r"^\S+?[:(]\d+(?:[:,]\d+)?\)?:? +(?:fatal )?(?:error|undefined|cannot|not|missing|unused|invalid|expected"
        r"|unexpected|declared)\b",
        r"(?i)\berror TS\d+:|npm (?:ERR!|error) (?!code|A complete log|path|errno|syscall)\S|\bE\d{3,4}\b",
        r"^\S+\.\w{1,5}:\d+:\d+:? \S",
        r"(?i)command not found|no such file or directory|permission denied|connection refused"
        r"|address already in use|cannot find module"
        r"|no module named|module not found|out of memory|timed? ?out|not found|does not exist|CONFLICT"
        r"|is not recognized|unrecognized",
        r"(?i)\b(?:error|failed|failure|fatal|exception|denied|rejected|refused|unable to|cannot|can't|invalid)\b",
        r"^[✗✘×❌⨯]\s",
    )
)
_EMPTY_WORDS = re.compile(
    r"(?i)^(?:\[?[\w:-]+\]? )?(?:ERROR task failed|FAIL$|FAILED$|Error: Process completed|error: script .* exited"
    r"|make(?:\[\d+\])?: \*\*\*|"
    r"error Command failed|Found \d+ errors?|\d+ (?:errors?|problems?|issues?)\b|Traceback \(most recent"
    r"|npm ERR! code|exit status \d+"
    r"|ERROR: \"?\S+\"? exited|For more information|Some errors? |error: aborting due to|error: could not compile)"
)
_LOCATION = re.compile(r"^\s*-->\s*(\S+:\d+:\d+)\s*$")
_STACK_FRAME = re.compile(r"^\s*(?:at |File \"|from |in |\d+: |#\d+ |\.\.\. )")


def first_error(output: str) -> str:
    """The one line that tells most, or '' when nothing looks like an error."""
    lines = error_lines(output, 1)
    return lines[0] if lines else ""


def error_lines(output: str, limit: int) -> list[str]:
    """Up to `limit` different error lines of the most telling sort that occurs, in the order they were printed."""
    lines = output.split("\n")
    lines = lines if len(lines) <= _MOST_LINES else lines[: _MOST_LINES // 2] + lines[-_MOST_LINES // 2 :]
    for pattern in _TELLING:
        found: dict[str, None] = {}
        for at, line in enumerate(lines):
            stripped = line.strip()
            if len(stripped) < 4 or not pattern.search(stripped[:2_000]):
                continue
            if _EMPTY_WORDS.match(stripped) or _STACK_FRAME.match(line):
                continue
            found[_tidy(stripped, lines, at)] = None
            if len(found) == limit:
                break
        if found:
            return list(found)
    return []


def last_line(output: str) -> str:
    """The last line with words in it: what an error is when nothing names itself one."""
    for line in reversed(output[-8_000:].split("\n")):
        stripped = line.strip()
        if len(stripped) > 3 and re.search(r"[A-Za-z]{3}", stripped) and not _EMPTY_WORDS.match(stripped):
            return stripped[:_LONGEST_LINE]
    return ""


def _tidy(line: str, lines: list[str], at: int) -> str:
    line = re.sub(r"^E\s{2,}", "", line)
    # rustc names the place on the next line
    if at + 1 < len(lines) and (place := _LOCATION.match(lines[at + 1])):
        line = f"{line} ({place[1]})"
    return " ".join(line.split())[:_LONGEST_LINE]
