"""Error fingerprints: one short name for the same failure, whatever the day, the machine and the folder.

Made when a failure or its fix is stored. `failed_step` and `anchors_of_step` make the same of a tool call that has just
failed, to look it up by."""

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
_MOST = 6
_MAX_ERROR_LENGTH = 1_000
# An error that says less than this is told apart by the program it came from.
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
# What differs between two sightings of one failure, with what stands for it, in the order it is looked for.
_VARYING: tuple[tuple[re.Pattern[str], str], ...] = (
    (lazy(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"), "<id>"),
    (
        lazy(r"\b\d{4}[-/]\d\d[-/]\d\d(?:[t ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?)?(?:z|[+-]\d\d:?\d\d)?(?!\w)"),
        "<time>",
    ),
    (lazy(rf"\b(?:\d{{1,2}} {_MONTH}|{_MONTH} \d{{1,2}})(?:,? \d{{4}})?(?: \d\d:\d\d(?::\d\d)?)?\b"), "<time>"),
    (lazy(r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"), "<time>"),
    (lazy(r"\b0x[0-9a-f]+\b"), "<address>"),
    (lazy(r"\[(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}\](?=:\d)|(?<![\w:])::1?(?=:\d)"), "<host>"),
    (lazy(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])|\blocalhost(?=:\d)"), "<host>"),
    (lazy(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b(?:-[0-9a-f]{4,12}\b)*"), "<hash>"),
    # Letters and digits that change places five times and more: nobody chose that name.
    (lazy(r"\b(?=\w{8,})(?:[a-z]+\d+){3,}[a-z]*\b|\b(?=\w{8,})(?:\d+[a-z]+){3,}\d*\b"), "<id>"),
)
# Ports that the system gives out differ each time; 5432 and 6379 are two services.
_PORT = lazy(r"(?:(?<=<host>)(?::|['\"], ?(?:port )?)|\bport[ :=]+)(\d{1,5})\b")
_FIRST_GIVEN_PORT = 32_768
_CODE = lazy(
    r"\b(status(?: code)?|code|http(?:/\d(?:\.\d)?)?|errno|signal)[ :=#]+(\d{1,5})\b"
    r"|\b(error|returned|response)[ :=]+([45]\d\d)\b"
)
# A shell tells how a job of its own ended with its number before and the command line after.
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
# What is the same whatever could not be resolved; the lines after it tell.
_HEADING = lazy(r"eresolve\b|found: ")


_NAMED = lazy(r"\b(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)\b: \S[^\n`]*")
# Where a sentence may go on behind an error that it names.
_GOES_ON = lazy(
    r"[.;:,] (?=\S)|\s(?:[–—-]|=>|->|→|\(|means?|comes?|happens?|is|was|when|if|because|on|in|unless|until)\s"
)
_PLACE_BEHIND = lazy(r"\s\([^()\s]*:\d+(?::\d+)?\)$")
_MAX_LINES = 20


def fingerprint(error: str, command: str = "") -> str:
    """The same for one failure wherever and whenever it is seen, different for another one.

    `command` counts only when the error by itself says next to nothing."""
    told = normalised(error)
    if command and not _tells(told):
        told = f"{shell.tool(shell.main_part(command)[0]).lower()}: {told}"
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:_LENGTH]


def normalised(error: str) -> str:
    """An error without what changes from one sighting to the next; the words that tell it apart stay."""
    text = " ".join(clean(error[:_MAX_ERROR_LENGTH]).translate(_QUOTES).lower().split())
    if (job := _JOB.fullmatch(text)) and (job["shell"] or not job["command"]):
        return job["end"]
    text = _URL.sub(lambda found: found[1].replace("/", " "), text)
    text = _PATH.sub(lambda found: _name_of(found[0]), text)
    for pattern, stands_for in _VARYING:
        text = pattern.sub(stands_for, text)
    text = _PORT.sub(lambda found: "" if int(found[1]) >= _FIRST_GIVEN_PORT else f" port{found[1]}", text)
    text = _CODE.sub(lambda found: f"{found[1] or found[3]} n{found[2] or found[4]}", text)
    text = _PLACE.sub("", _NUMBER.sub("<n>", text))
    text = " ".join(_SIGNS.sub(" ", text).split()).strip(" .:,;-")
    # One tool names the place before the error, another version of it behind.
    return _PLACE_AT_END.sub(r"\2: \1", text) if _PLACE_AT_END.fullmatch(text) else text


def _tells(told: str) -> bool:
    words = {word.rstrip(".:/-") for word in _WORD.findall(told)}
    return len(words - _EMPTY) >= _FEW_WORDS


def anchors_of_run(ran: Ran) -> tuple[str, ...]:
    """What a failed command is known by: its failing tests, else its errors."""
    failures = ran.run.failures[:_MOST] if ran.run else ()
    found = [fingerprint(f"{test.name}: {_COMPARED.sub('', test.error)}", ran.command) for test in failures]
    found = found or [fingerprint(error, ran.command) for error in _telling((ran.printed_errors or ran.errors)[:_MOST])]
    return tuple(dict.fromkeys(f"{_ANCHOR}{one}" for one in found))


def _telling(errors: Sequence[str]) -> Sequence[str]:
    """The errors that tell one failure from another; the first one, when none does."""
    told = [(error, normalised(error)) for error in errors]
    telling = [error for error, bare in told if _tells(bare) and not _HEADING.match(bare)]
    if telling and not _tells(told[0][1]):
        # After how a command ended there may be a last line that is no error: how far it came by then.
        telling = [error for error in telling if diagnostics.first_error(error)]
    return telling or errors[:1]


def anchor_of_tool(called: Called) -> str:
    """What the failure of somebody else's tool is known by."""
    return f"{_ANCHOR}{fingerprint(f'{called.tool}: {called.error}')}"


def failed_step(call: ToolCall, cwd: str) -> Ran | Called | None:
    """What a tool call that has just failed amounts to; None when it was stopped or refused, or says nothing.

    Its input is all that is needed, with its error text; of a call that only looks as if it went well, its answer."""
    for step in read_steps(Event("", "PostToolUseFailure", "", _NO_TIME, cwd=cwd, tool=call)):
        if (isinstance(step, Ran) and step.failed) or (isinstance(step, Called) and step.error):
            return step
    return None


def anchors_of_step(step: Ran | Called) -> tuple[str, ...]:
    """What a failed step is known by."""
    return anchors_of_run(step) if isinstance(step, Ran) else (anchor_of_tool(step),)


def anchors_named(told: str) -> tuple[str, ...]:
    """What the errors are known by that somebody wrote down, each by itself or in a sentence that goes on behind it:
    "ModuleNotFoundError: No module named 'lxml' means that …". `anchors_of_words` finds them again."""
    found: dict[str, None] = {}
    for line in told.split("\n")[:_MAX_LINES]:
        for named in _NAMED.finditer(line[:_MAX_ERROR_LENGTH]):
            ends = [end.start() for end in _GOES_ON.finditer(named[0])][:_MOST]
            found |= dict.fromkeys(named[0][:end].strip(" .") for end in (*ends, len(named[0])))
    return _anchors(found)


def anchors_of_words(step: Ran | Called) -> tuple[str, ...]:
    """What the errors of a failed step are known by wherever they come from: without their place."""
    if isinstance(step, Called):
        return _anchors([step.error])
    tests = [test.error for test in step.run.failures[:_MOST]] if step.run else []
    bare = (_PLACE_BEHIND.sub("", error) for error in (*tests, *(step.printed_errors or step.errors)[:_MOST]))
    return _anchors([named[0] for error in bare if (named := _NAMED.search(error))])


def _anchors(errors: Iterable[str]) -> tuple[str, ...]:
    telling = (error for error in errors if _tells(normalised(error)))
    return tuple(dict.fromkeys(f"{_ANCHOR}{fingerprint(error)}" for error in telling))[:_MOST]


def _name_of(path: str) -> str:
    """The last part of a path, unless chance has named it."""
    name = re.split(r"[/\\]", path.rstrip("/\\"))[-1]
    return "<name>" if _CHANCE_NAME.fullmatch(name.partition(".")[0]) else name
