"""Error fingerprints: one short name for the same failure on any day, machine and folder.

Stored with a failure or a fix. `failed_step` and `anchors_of_step` make the fingerprints of a tool call that has just
failed, for a lookup."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.compress.toolcalls import diagnostics, shell
from claude_mem_lite.compress.toolcalls.steps import Called, Ran
from claude_mem_lite.compress.toolcalls.tool_calls import read_steps
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Event, ToolCall

_ANCHOR = "error:"
_LENGTH = 12
_MAX_ERRORS = 6
_MAX_ERROR_LENGTH = 1_000
# An error with fewer words is identified by the program, too.
_FEW_WORDS = 2
_NO_TIME = datetime.fromtimestamp(0, UTC)

_QUOTES = str.maketrans("‘’“”`", "''\"\"'")
_URL = lazy(r"\b(?:https?|wss?|ftp|ssh|git|postgres(?:ql)?|mysql|redis|amqp|mongodb)://(\S+)")
_PATH = lazy(
    r"(?<![\w<])(?:file://)?(?:~|\.{1,2}|[a-z]:)?(?:[/\\][\w.@+~{}$-]+)+[/\\]?"
    r"|(?<![\w<./])\.[\w-]+(?:[/\\][\w.@+~-]+)+"
    r"|\b(?:[\w.@+-]+[/\\])+[\w@+-]+(?:\.[\w-]+)*\.[a-z]\w{0,5}\b"
)
_CHANCE_NAME = lazy(
    r"(?:tmp|temp|pytest-|go-build|build-|run-)[\w.-]*"
    r"|[\w-]*(?:[a-z]\d|\d[a-z])[\w-]*(?:[a-z]\d|\d[a-z])[\w-]*\d[\w-]*|[\d.-]+"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
# Parts that differ between two sightings of a failure, with replacements, in the order of replacing.
_VARYING: tuple[tuple[re.Pattern[str], str], ...] = (
    (lazy(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"), "<id>"),
    (lazy(r"\b\d{4}[-/]\d\d[-/]\d\d(?:[t ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?)?(?:z|[+-]\d\d:?\d\d)?(?!\w)"), "<time>"),
    (lazy(rf"\b(?:\d{{1,2}} {_MONTH}|{_MONTH} \d{{1,2}})(?:,? \d{{4}})?(?: \d\d:\d\d(?::\d\d)?)?\b"), "<time>"),
    (lazy(r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"), "<time>"),
    (lazy(r"\b0x[0-9a-f]+\b"), "<address>"),
    (lazy(r"\[(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}\](?=:\d)|(?<![\w:])::1?(?=:\d)"), "<host>"),
    (lazy(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])|\blocalhost(?=:\d)"), "<host>"),
    (lazy(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b(?:-[0-9a-f]{4,12}\b)*"), "<hash>"),
    # A random name: letters and digits alternate five times and more.
    (lazy(r"\b(?=\w{8,})(?:[a-z]+\d+){3,}[a-z]*\b|\b(?=\w{8,})(?:\d+[a-z]+){3,}\d*\b"), "<id>"),
)
# Ephemeral ports differ each time; 5432 and 6379 are two services.
_PORT = lazy(r"(?:(?<=<host>)(?::|['\"], ?(?:port )?)|\bport[ :=]+)(\d{1,5})\b")
_FIRST_EPHEMERAL_PORT = 32_768
_CODE = lazy(
    r"\b(status(?: code)?|code|http(?:/\d(?:\.\d)?)?|errno|signal)[ :=#]+(\d{1,5})\b"
    r"|\b(error|returned|response)[ :=]+([45]\d\d)\b"
)
# A shell prints the end of a job between the number of the job and the command line.
_JOB = lazy(
    r"(?P<shell>\S*sh: (?:line \d+: )?(?:\d+ )?|\d+ )?"
    r"(?P<end>segmentation fault|killed|aborted|abort trap|bus error|illegal instruction|terminated)"
    r"(?:: \d+)?(?: \(core dumped\))?(?P<command> .*)?"
)
_PLACE_AT_END = lazy(r"(.+) \(([\w.@+-]+\.\w{1,6})")
_UNIT = r"(?:ns|[µu]s|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?|days?|[kmgt]i?b|bytes|%)"
_NUMBER = lazy(
    rf"(?<![\w.])[+-]?\d[\d_,]*(?:\.\d+)*(?:e[+-]?\d+)?{_UNIT}?(?!\w)|\bv\d+(?:\.\d+)+[\w.-]*|(?<=\w)@[\w.-]*\d[\w.-]*"
)
_PLACE = lazy(r"[:(]<n>(?:[:,]<n>)*\)?")
_SIGNS = lazy(r"['\"]|\s+")

_COMPARED = lazy(
    r"(?i)\b(?:assert\b|expect(?:ed)?\b|want(?:ed)?\b|got\b|received\b|actual\b|left:|values? differ|not equal).*"
)
_WORD = lazy(r"[a-z_][\w.:/-]{2,}")
_EMPTY_WORDS = """error errors err failed fail failure fatal exception panic exit status code with the and for not was
    segmentation fault core dumped killed abort aborted trap terminated bus illegal instruction
    timed timeout out"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
# Lines that are the same for every unresolved dependency; the lines below name the dependency.
_HEADING = lazy(r"eresolve\b|found: ")


_NAMED = lazy(r"\b(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)\b: \S[^\n`]*")
# Continuations of a sentence behind an error.
_GOES_ON = lazy(
    r"[.;:,] (?=\S)|\s(?:[–—-]|=>|->|→|\(|means?|comes?|happens?|is|was|when|if|because|on|in|unless|until)\s"
)
PLACE_BEHIND = lazy(r"\s\([^()\s]*:\d+(?::\d+)?\)$")
_MAX_LINES = 20


def fingerprint(error: str, command: str = "") -> str:
    """Return the same name for every sighting of a failure; `command` counts only for an error of few words."""
    text = normalised(error)
    if command and not _is_specific(text):
        text = f"{shell.tool(shell.main_part(command)[0]).lower()}: {text}"
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_LENGTH]


def normalised(error: str) -> str:
    """Return an error without the parts that differ between two sightings."""
    text = " ".join(clean(error[:_MAX_ERROR_LENGTH]).translate(_QUOTES).lower().split())
    if (job := _JOB.fullmatch(text)) and (job["shell"] or not job["command"]):
        return job["end"]
    text = _URL.sub(lambda match: match[1].replace("/", " "), text)
    text = _PATH.sub(lambda match: _name_of(match[0]), text)
    for pattern, stands_for in _VARYING:
        text = pattern.sub(stands_for, text)
    text = _PORT.sub(lambda match: "" if int(match[1]) >= _FIRST_EPHEMERAL_PORT else f" port{match[1]}", text)
    text = _CODE.sub(lambda match: f"{match[1] or match[3]} n{match[2] or match[4]}", text)
    text = _PLACE.sub("", _NUMBER.sub("<n>", text))
    text = " ".join(_SIGNS.sub(" ", text).split()).strip(" .:,;-")
    # Versions of a tool name the place before or behind the error.
    return _PLACE_AT_END.sub(r"\2: \1", text) if _PLACE_AT_END.fullmatch(text) else text


def _is_specific(normalised_error: str) -> bool:
    words = {word.rstrip(".:/-") for word in _WORD.findall(normalised_error)}
    return len(words - _EMPTY) >= _FEW_WORDS


def anchors_of_run(ran: Ran) -> tuple[str, ...]:
    """Return the anchors of a failed command: from failing tests, else from errors."""
    failures = ran.run.failures[:_MAX_ERRORS] if ran.run else ()
    errors = [f"{test.name}: {_COMPARED.sub('', test.error)}" for test in failures]
    errors = errors or [*_specific((ran.printed_errors or ran.errors)[:_MAX_ERRORS])]
    return tuple(dict.fromkeys(f"{_ANCHOR}{fingerprint(error, ran.command)}" for error in errors))


def _specific(errors: Sequence[str]) -> Sequence[str]:
    """Return the errors that identify a failure, else the first error."""
    pairs = [(error, normalised(error)) for error in errors]
    specific = [error for error, bare in pairs if _is_specific(bare) and not _HEADING.match(bare)]
    if specific and not _is_specific(pairs[0][1]):
        # Behind a special end of a command, the last line may be progress instead of an error.
        specific = [error for error in specific if diagnostics.first_error(error)]
    return specific or errors[:1]


def anchor_of_tool(called: Called) -> str:
    """Return the anchor of a failed call of a foreign tool."""
    return f"{_ANCHOR}{fingerprint(f'{called.tool}: {called.error}')}"


def failed_step(call: ToolCall, cwd: str) -> Ran | Called | None:
    """Return the failed step of a tool call; None for a stopped or refused call, and for a call without an error.

    The input and the error are enough; a call with a hidden failure needs the response."""
    for step in read_steps(Event("", "PostToolUseFailure", "", _NO_TIME, cwd=cwd, tool=call)):
        if (isinstance(step, Ran) and step.failed) or (isinstance(step, Called) and step.error):
            return step
    return None


def anchors_of_step(step: Ran | Called) -> tuple[str, ...]:
    return anchors_of_run(step) if isinstance(step, Ran) else (anchor_of_tool(step),)


def anchors_named(text: str) -> tuple[str, ...]:
    """Return the anchors of errors in prose, alone or in a sentence that continues behind the error:
    "ModuleNotFoundError: No module named 'lxml' means that …". `anchors_of_words` makes the same anchors."""
    errors: dict[str, None] = {}
    for line in text.split("\n")[:_MAX_LINES]:
        for named in _NAMED.finditer(line[:_MAX_ERROR_LENGTH]):
            ends = [end.start() for end in _GOES_ON.finditer(named[0])][:_MAX_ERRORS]
            errors |= dict.fromkeys(named[0][:end].strip(" .") for end in (*ends, len(named[0])))
    return _anchors(errors)


def anchors_of_words(step: Ran | Called) -> tuple[str, ...]:
    """Return the anchors of the errors of a failed step, without the place of each error."""
    if isinstance(step, Called):
        return _anchors([step.error])
    tests = [test.error for test in step.run.failures[:_MAX_ERRORS]] if step.run else []
    bare = (PLACE_BEHIND.sub("", error) for error in (*tests, *(step.printed_errors or step.errors)[:_MAX_ERRORS]))
    return _anchors([named[0] for error in bare if (named := _NAMED.search(error))])


def _anchors(errors: Iterable[str]) -> tuple[str, ...]:
    specific = (error for error in errors if _is_specific(normalised(error)))
    return tuple(dict.fromkeys(f"{_ANCHOR}{fingerprint(error)}" for error in specific))[:_MAX_ERRORS]


def _name_of(path: str) -> str:
    """Return the last part of a path, or a placeholder for a random name."""
    name = re.split(r"[/\\]", path.rstrip("/\\"))[-1]
    return "<name>" if _CHANCE_NAME.fullmatch(name.partition(".")[0]) else name
