"""Draws facts from recorded tool outputs and edits, by rules that know nothing of how the product compresses.

Only turns that changed something are drawn from: a file was edited or written, or a commit was made. Looked at are
what shell commands printed and what edits changed; not file reads, searches, or the client's own complaints about a
wrongly used tool. Six kinds, told as a reader of the log would:

- `failing test`: the name of a test reported as failed, as printed by its runner.
- `error`: the message of an error line (compiler, linter, assertion, exception) without its place in the file.
- `function`: a function or class defined in changed lines, or the one around them.
- `version`: a name with a version, in a changed line of a file or in the output of a command.
- `command`: a command that worked and ran something (a build, tests, a script; not one that only looks at things
  or moves them about); a commit counts by the subject of its message.
- `number`: a count with what it counts in a result (tests, issues, files, coverage); no times.

Of one call at most one fact of a kind is taken, whichever; then kinds share the number evenly as far as they go,
and within a kind sessions take turns, all in an order made by the seed."""

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.transcripts import EDITING_TOOLS, Call, RawTurn

KINDS = ("failing test", "error", "function", "version", "command", "number")
_LONGEST = 90
_MIN_NAME_LENGTH = 4
_WORDS_OF_PROMPT = 12

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_FAILED_TESTS = (
    re.compile(r"^\s*--- FAIL: (\S+)", re.MULTILINE),  # go test
    re.compile(r"^FAILED (\S+::\S+)", re.MULTILINE),  # pytest
    re.compile(r"^(?:FAIL|ERROR): (\w+ \([\w.]+\))", re.MULTILINE),  # unittest
    re.compile(r"^test (\S+) \.\.\. FAILED", re.MULTILINE),  # cargo test
    re.compile(r"^rspec \S+ # (.+)$", re.MULTILINE),
)
_FAILED_IN_SUITE = re.compile(r"^\s*[✕×✗] (.+?)(?: \(?\d+ ?m?s\)?)?$", re.MULTILINE)  # jest, vitest
_IS_SUITE = re.compile(r"^\s*(?:Test Suites|Test Files|Tests):? ", re.MULTILINE)
_ERRORS = (
    re.compile(r"^\s*[\w./@-]+\.\w+:\d+:\d+:? +(?:(?:error|fatal error): +)?([\w`'\"].{8,})$", re.MULTILINE),
    re.compile(r"^\s*(?:error|fatal|panic)(?:\[\w+\])?: +([\w`'\"].{8,})$", re.MULTILINE | re.IGNORECASE),
    re.compile(r"^(?:E +)?[\w.]*(?:Error|Exception): +([\w`'\"].{8,})$", re.MULTILINE),
)
# A test's own line may be a plain remark, so it must speak of something that is wrong.
_ASSERTION = re.compile(
    r"^\s+[\w./-]+\.\w+:\d+: (?=.*\b(?:fail|error|expect|want|got\b|should|not\b|cannot|missing|invalid|unexpected))"
    r"(?!.*(?:\d\d:\d\d:\d\d|\b(?:got|received|as) expected\b)|note:)([\w`'\"].{8,})$",
    re.MULTILINE | re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"^(\s*)(?:(?:export|default|public|private|protected|static|async|pub|final|override)(?:\([a-z]+\))? +)*"
    r"(?:func(?: \([^)]*\))?|def|class|function\*?|fn) +([A-Za-z_]\w*)"
)
_VERSION = re.compile(
    r"([@A-Za-z][\w./@-]*[A-Za-z][\w-]*)(?:[\"']? *[:=]+ *[\"']?|@| +|-)[\^~]?(v?\d+\.\d+\.\d+)(?![\w.])"
    r"|\b([A-Za-z][\w-]+) (?:version )?(v\d+\.\d+|go\d+\.\d+(?:\.\d+)?)(?![\w.])"
    r"|\b([\w-]*version)[\"']? *[:=] *[\"']?(\d+\.\d+)(?![\w.])"
)
_COUNTED = re.compile(
    r"(?<![\w.:/#-])([1-9]\d{0,4}) (passed|failed|passing|failing|skipped|pending|ignored|failures?|errors?|warnings?"
    r"|issues?|problems?|tests?|examples?|assertions?|packages?|modules?|files? changed|insertions?|deletions?)\b"
)
_SHARE = re.compile(r"\b(coverage|total|statements)\b.{0,40}?(\d+(?:\.\d+)?%)")
# Programs, alone or with what they are told to do, that look at things or move them about.
_LOOKING = frozenset(
    """ls cat head tail grep rg find wc echo pwd cd which type sed awk tree du df ps env printenv file stat jq date
    sleep true test [ export source set sort uniq diff less more printf xxd od open kill pkill
    rm mkdir cp mv touch chmod ln""".split()  # noqa: SIM905
)
_LOOKING_AS = re.compile(
    r"git (?:add|status|diff|log|show|branch|rev-parse|ls-files|ls-tree|remote|blame|reflog|grep|stash|fetch)\b"
    r"|gh (?:pr|issue|run|api|repo)\b|docker (?:ps|logs|images|inspect)\b|kubectl (?:get|describe|logs)\b"
)
_SUBJECTS = (
    re.compile(r"git commit\b[^\n]*? -\w*m +\"?\$\(cat <<-?[\"']?\w+[\"']?\n\s*([^\n]{8,})"),
    re.compile(r"git commit\b[^\n]*? -\w*m +\"([^\n\"$]{8,})"),
    re.compile(r"git commit\b[^\n]*? -\w*m +'([^\n']{8,})"),
)
_CUTS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'[^']*'|(&&|\|\||[;\n])|(\||\d?>|<)")
_NO_PROGRAM = re.compile(r"[#({})\[]|(?:if|for|while|do|done|then|else|fi|case|esac|function)\b")


@dataclass(frozen=True, slots=True)
class Fact:
    """Something a log says. `needles` must all be readable for it to be left; `query` asks for it by its own words."""

    kind: str
    session: str
    query: str
    needles: tuple[str, ...]
    wanted: str = ""
    """The first words of what the user wanted in that turn."""


def draw(turns: Iterable[RawTurn], number: int, seed: int) -> list[Fact]:
    """`number` facts, evenly over kinds and sessions as far as they go."""
    order = random.Random(seed)
    pool = pools(turns, order)
    lists = {kind: _in_turns(pool[kind], order) for kind in KINDS}
    drawn: list[Fact] = []
    while len(drawn) < number and any(lists.values()):
        drawn += [lists[kind].pop() for kind in KINDS if lists[kind]]
    return drawn[:number]


def pools(turns: Iterable[RawTurn], order: random.Random) -> dict[str, list[Fact]]:
    """All facts that may be drawn, by kind; each is there once in a session."""
    found: dict[str, dict[tuple[str, ...], Fact]] = {kind: {} for kind in KINDS}
    for turn in turns:
        if not turn.changed_something():
            continue
        wanted = " ".join(turn.prompt.split()[:_WORDS_OF_PROMPT])
        for call in turn.calls:
            by_kind = defaultdict(list)
            for fact in facts_of(turn.session, call):
                by_kind[fact.kind].append(replace(fact, wanted=wanted))
            for kind, facts in by_kind.items():
                fact = order.choice(facts)
                found[kind].setdefault((fact.session, *fact.needles), fact)
    return {kind: list(facts.values()) for kind, facts in found.items()}


def facts_of(session: str, call: Call) -> Iterator[Fact]:
    """Every fact that a call tells."""
    if call.tool == "Bash":
        yield from _of_command(session, call)
    elif call.tool in EDITING_TOOLS and not call.failed:
        yield from _of_edit(session, call)


def _in_turns(facts: Sequence[Fact], order: random.Random) -> list[Fact]:
    """The facts so that taking from the end takes one of each session, then a second of each, and so on."""
    by_session: dict[str, list[Fact]] = defaultdict(list)
    for fact in order.sample(facts, len(facts)):
        by_session[fact.session].append(fact)
    sessions = order.sample(sorted(by_session), len(by_session))
    rounds = max(map(len, by_session.values()), default=0)
    taken = [by_session[each][at] for at in range(rounds) for each in sessions if at < len(by_session[each])]
    return taken[::-1]


def _of_command(session: str, call: Call) -> Iterator[Fact]:
    output = _ANSI.sub("", call.output)
    core = core_of(call.command)
    subject = next((found[1] for pattern in _SUBJECTS if (found := pattern.search(call.command))), "")
    for name in _failed_tests(output):
        yield Fact("failing test", session, f"{name} failed", (name,))
    if call.failed or core:
        patterns = (*_ERRORS, _ASSERTION) if call.failed or "FAIL" in output else _ERRORS
        for pattern in patterns:
            for message in pattern.findall(output):
                yield Fact("error", session, _cut(message), (_cut(message),))
    if core:
        for line in output.splitlines():
            yield from _numbers(session, subject or core, line)
            if not call.failed:
                yield from _versions(session, line)
    if not call.failed and (subject or core):
        yield Fact("command", session, subject or core, (_cut(subject or core),))


def core_of(command: str) -> str:
    """The first simple command of a command line that does more than look, without pipes and redirections."""
    for part in _simple_commands(command):
        words = [word for word in part.split() if not re.match(r"\w+=", word)]
        if len(words) < 2 or _NO_PROGRAM.match(words[0]):
            continue
        program = words[0].rsplit("/", 1)[-1]
        if program not in _LOOKING and not _LOOKING_AS.match(" ".join(words)):
            return " ".join(part.split())
    return ""


def _simple_commands(command: str) -> Iterator[str]:
    """What stands between `&&`, `;` and line ends, each up to its first pipe or redirection; nothing after a `<<`."""
    command = command.replace("\\\n", " ")
    start, end = 0, None
    for found in _CUTS.finditer(command):
        if found[1]:
            yield command[start : found.start() if end is None else end]
            start, end = found.end(), None
        elif found[2] and end is None:
            end = found.start()
        if command.startswith("<<", found.start()) and found[2]:
            break
    yield command[start:end]


def _failed_tests(output: str) -> Iterator[str]:
    for pattern in _FAILED_TESTS:
        yield from pattern.findall(output)
    if _IS_SUITE.search(output):
        yield from _FAILED_IN_SUITE.findall(output)


def _numbers(session: str, about: str, line: str) -> Iterator[Fact]:
    """Counts and shares in a line of a result; a long line is no result but talk."""
    if len(line) > 160:
        return
    for number, noun in _COUNTED.findall(line):
        yield Fact("number", session, f"{about} {number} {noun}", (number, noun))
    for name, share in _SHARE.findall(line):
        yield Fact("number", session, f"{about} {name} {share}", (share, name))


def _versions(session: str, line: str) -> Iterator[Fact]:
    for found in _VERSION.finditer(line):
        name, version = filter(None, found.groups())
        yield Fact("version", session, f"{name} version {version}", (name, version))


def _of_edit(session: str, call: Call) -> Iterator[Fact]:
    record = call.record if isinstance(call.record, Mapping) else {}
    before, content = record.get("originalFile"), record.get("content")
    old = before.splitlines() if isinstance(before, str) else []
    hunks = [(_texts(hunk.get("lines")), hunk.get("oldStart")) for hunk in call.patch]
    if not hunks and not old and isinstance(content, str):  # a new file
        hunks = [([f"+{line}" for line in content.splitlines()], 1)]
    for lines, start in hunks:
        for name in _functions(lines, old[: start - 1] if isinstance(start, int) else []):
            yield Fact("function", session, f"{name} function", (name,))
        for line in lines:
            if line.startswith("+"):
                yield from _versions(session, line[1:])


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _functions(lines: list[str], before: list[str]) -> Iterator[str]:
    """The functions that changed lines of a hunk define, and those that changed lines stand in."""
    inside, depth = "", 0
    for line in (*(f" {line}" for line in before), *lines):
        is_change, bare = line.startswith(("+", "-")), line[1:]
        found = _DEFINITION.match(bare)
        if found and len(found[2]) >= _MIN_NAME_LENGTH:
            inside, depth = found[2], len(found[1])
        if is_change and inside and bare.strip():
            yield inside
        indent = len(bare) - len(bare.lstrip())
        if inside and not found and bare.strip() and indent <= depth and bare.strip() not in ("{", ") {"):
            inside = ""


def _cut(text: str) -> str:
    """What must be readable of a long text: its beginning, up to the end of a word."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[:_LONGEST].rsplit(" ", 1)[0]
