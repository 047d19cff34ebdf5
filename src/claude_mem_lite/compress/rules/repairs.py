"""What lay between a failure and the run that went well: which of it is the repair, and how that is told.

In doubt nothing is one: a wrong fix is worse than none. Pure; called for every turn, and when a command fails."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from claude_mem_lite.compress.tools import diagnostics, shell
from claude_mem_lite.compress.tools.edits import FileChange, merge
from claude_mem_lite.compress.tools.steps import Edited, Ran, Step
from claude_mem_lite.models import Memory
from claude_mem_lite.patterns import lazy

AD_HOC = lazy(r"\s-[ce]\s|\s-$|<<|^\S*(?:bash|sh|zsh) -c\b")
"""Code that was typed for once."""
_MOST_COMMANDS = 3
_MISSING = lazy(
    r"(?i)\bno module named\b|\bcannot find (?:module|package)\b|\bcan't resolve '|\bfailed to resolve import\b"
    r"|\bcommand not found\b|sh: (?:\d+: )?\S+: not found|\bexecutable file not found\b|\bno required module provides\b"
    r"|\bunresolved import\b|\bcan't find crate\b|\bcannot load such file\b|\bcannot open shared object\b"
    r"|\bis not recognized as an internal\b|\bmissing go\.sum entry\b"
)
_MISSING_NAME = lazy(
    r"(?i)(?:named|module(?! named| provid)|package|resolve|import|crate for|such file --) [`'\"]?([\w@.][\w@./-]*)"
    r"|([\w.-]+): (?:command )?not found"
)
_MANIFEST = lazy(
    r"(?:^|/)(?:pyproject\.toml|requirements[\w.-]*\.txt|setup\.(?:py|cfg)|Pipfile|environment\.ya?ml|package\.json"
    r"|go\.mod|Cargo\.toml|Gemfile|composer\.json|pom\.xml|build\.gradle(?:\.kts)?|mix\.exs|Podfile|Package\.swift"
    r"|Dockerfile[\w.-]*|[\w.-]+\.(?:csproj|gemspec))$"
)
# What is the matter with the machine, its services or its rights: no slip of who has just edited something.
_OF_SURROUNDINGS = lazy(
    r"(?i)\b(?:connection refused|econnrefused|could not connect|no such table|relation \S+ does not exist"
    r"|unknown database|permission denied|eacces|address already in use|eaddrinuse|no space left|out of memory"
    r"|certificate verify failed|authentication failed|unsupported engine|glibc\w*|environment variable)\b"
)
# What may be gone the next time whatever was done.
_PASSING = lazy(
    r"(?i)\b(?:timed? ?out|timeout|try again|temporar\w+|rate limit\w*|too many requests|connection reset|econnreset"
    r"|killed|not done after|bad gateway|service unavailable)\b"
)
_CHANGES_CHECKOUT = lazy(r"git (?:-\S+ \S+ )*(?:pull|merge|rebase|submodule|lfs|apply)\b")
_ONLY_LOOKS = lazy(
    r"(?:ping|nc|dig|nslookup|host|telnet|netstat|ss|open|code|watch|psql|mysql|sqlite3|mongosh|redis-cli)\b"
    r"(?!.*(?i:\b(?:create|insert|update|delete|alter|drop|grant|flushall|flushdb)\b|\s-f\s|\.read))"
    r"|(?:\S+ ){1,3}(?:-{0,2}(?:dry-run|status|ping|ps|logs?|config|current|history|show|list|ls|get|info|version"
    r"|help))\b"
    r"|(?:\S+ )?(?:\S*/)?(?:debug|inspect|check|print|dump|show|list|probe|explore|tmp|scratch)\w*"
)
# Linters, formatters and checks: they tell of a fault or move white space, and make no test pass.
_CHECKS = lazy(
    r"(?:\S*/)?(?:pre-commit|prek|lefthook|husky|hk|lint-staged)\b|.*\s--check\b"
    r"|(?:npm|pnpm|yarn|bun|deno|make|just|task|mise|hatch|pdm|invoke|rake|nx|turbo)(?: -\S+)*(?: run| r)? "
    r"\S*(?:check|lint|tsc|types?|tests?|fmt|format|verify|validate|audit|prettier|eslint)(?![a-z])\S*"
)
_PROSE = lazy(r"(?i)(?:^|/)(?:[^/]*\.(?:md|mdx|rst|adoc)|license[^/]*|changelog[^/]*)$")
_RAN = lazy(r"\bFixed by running (\S.{0,300}?)\.(?= |$)")
_RECORDED = lazy(r"Fixed by (editing \S.{0,400} and )?running (\S.{0,300}?)( and editing \S.{0,400})?\.")


@dataclass(frozen=True, slots=True)
class Repair:
    """What was done about a failure."""

    changes: tuple[FileChange, ...]
    commands: tuple[str, ...]
    """Those that changed something: installs, and where no file was edited others too."""
    is_install: bool = False
    """Something was missing and was installed: that comes first."""

    def told(self) -> str:
        """The places that were edited, and the commands that were run."""
        running = f"running {' and '.join(self.commands)}"
        if not self.changes:
            return running
        editing = _editing([(change.path, [symbol.name for symbol in change.symbols]) for change in self.changes])
        if not self.commands:
            return editing
        return f"{running} and {editing}" if self.is_install else f"{editing} and {running}"


def find_repair(failure: Ran, success: Ran, between: Sequence[Step], since: Sequence[Step]) -> Repair | None:
    """What put a failure right, of the steps between the first failure and the success; None when nothing did.

    `since` are those after the failure that is told: what was installed before did not help it."""
    changes = tuple(merge(_lasting(between)))
    if all(_PROSE.search(change.path) and not _is_named(change, failure) for change in changes):
        changes = ()
    commands = _changing([step for step in since if isinstance(step, Ran)], failure, success)
    installs = [command for command in commands if shell.role(command) == "install"]
    missing = _missing_names(failure)
    if missing and installs:
        named = [command for command in installs if any(name in command.lower() for name in missing)]
        related = tuple(change for change in changes if _is_about(change, missing))
        # The missing module itself was written: that it was, and not what was installed beside it, comes first.
        is_written = not named and any(not _MANIFEST.search(change.path) for change in related)
        return Repair(related, tuple((named or installs)[:_MOST_COMMANDS]), is_install=not is_written)
    if changes or installs:
        return Repair(changes, tuple(installs[:_MOST_COMMANDS]))
    return Repair((), tuple(commands)) if _is_by_command(commands, failure, success) else None


def _lasting(steps: Sequence[Step]) -> list[FileChange]:
    """The edits of some steps that are in the checkout after them: not put away, and not set back."""
    kept: list[FileChange] = []
    put_away: list[FileChange] = []
    for step in steps:
        if isinstance(step, Edited):
            kept = _with(kept, step.change)
        for command in step.set_back if isinstance(step, Ran) and not step.failed else ():
            if shell.brings_back(command):
                kept, put_away = [*put_away, *kept], []
            elif " stash" in command:
                kept, put_away = [], [*put_away, *kept]
            else:
                named = [change for change in kept if any(change.path.endswith(word) for word in command.split()[2:])]
                kept = [change for change in kept if change not in named] if named else []
    return kept


def _with(kept: Sequence[FileChange], change: FileChange) -> list[FileChange]:
    """Edits with one more; of a file that was made and deleted again nothing is left."""
    same = [before for before in kept if before.path == change.path]
    if change.action == "deleted" and any(before.action == "new" for before in same):
        return [before for before in kept if before not in same]
    return [*kept, change]


def _is_named(change: FileChange, failure: Ran) -> bool:
    """Return whether the failure speaks of a file that was edited."""
    name = change.path.rpartition("/")[2]
    return name in failure.output or name in failure.typed


def is_no_slip(failure: Ran, repair: Repair) -> bool:
    """Whether a failure cannot be of the making of who had just edited something, by its class and what helped."""
    if repair.commands and (repair.is_install or not repair.changes):
        return True
    if _missing_names(failure):
        return any(_MANIFEST.search(change.path) for change in repair.changes)
    return any(_OF_SURROUNDINGS.search(error) for error in _errors(failure))


def repair_told(fix: Memory) -> str:
    """What a memory of a fix says was done, in words that are none of the error's: as rules noted it, else its places,
    else its commands. '' when it says neither."""
    names: dict[str, list[str]] = {file: [] for file in fix.files}
    for symbol in fix.symbols:
        names.setdefault(symbol.file, []).append(symbol.name)
    editing = _editing(list(names.items())) if names else ""
    # The facts that tell an error begin with another word; in the summary its words stand before the commands.
    if noted := next((found for fact in fix.facts if (found := _RECORDED.fullmatch(fact))), None):
        running = f"running {noted[2]}"
        if not editing or not (noted[1] or noted[3]):
            return f"Fixed by {running}"
        return f"Fixed by {editing} and {running}" if noted[1] else f"Fixed by {running} and {editing}"
    if editing:
        return f"Fixed by {editing}"
    ran = _RAN.findall(fix.summary)
    return f"Fixed by running {ran[-1]}" if ran else ""


def _changing(runs: Sequence[Ran], failure: Ran, success: Ran) -> list[str]:
    """The commands that may have changed what the failing one met with."""
    found = (
        step.command
        for step in runs
        if not step.failed
        and step.goal != success.goal
        and (step.role == "install" or (step.role in ("run", "git") and _may_change(step)))
        and not _is_variation(step.command, failure.command)
    )
    return list(dict.fromkeys(found))


def _may_change(step: Ran) -> bool:
    if step.role == "git":
        return _CHANGES_CHECKOUT.match(step.command) is not None
    program = shell.unwrapped(step.command)
    only_looks = _ONLY_LOOKS.match(program) or _CHECKS.match(program)
    return not (step.fetched or AD_HOC.search(step.command) or only_looks)


def _is_variation(command: str, other: str) -> bool:
    """Whether one command is the other with more words: `python load.py --limit 5` tries the same."""
    one, two = command.split(), other.split()
    least = min(len(one), len(two))
    return one[:least] == two[:least]


def _is_by_command(commands: Sequence[str], failure: Ran, success: Ran) -> bool:
    """Whether commands that install nothing are what helped."""
    if not commands or len(commands) > _MOST_COMMANDS or success.role not in ("test", "build", "run"):
        return False
    if any(_PASSING.search(error) for error in _errors(failure)):
        return False
    # Of a program of any kind it is known only by what it prints that it went well.
    return success.role != "run" or not diagnostics.names_errors(success.output)


def _errors(ran: Ran) -> tuple[str, ...]:
    """The errors of a run, word for word."""
    tests = tuple(test.error for test in ran.run.failures) if ran.run else ()
    return (*tests, *(ran.printed_errors or ran.errors))


def _missing_names(failure: Ran) -> list[str]:
    """The names of the modules and commands that a failure says are missing; of parts of the project none."""
    lines = [error for error in _errors(failure) if _MISSING.search(error)]
    found = [first or second for error in lines for first, second in _MISSING_NAME.findall(error)]
    if any(name.startswith(("./", "../", "/")) for name in found):
        return []
    parts = (part.lower() for name in found for part in re.split(r"[./]", name) if len(part) > 1)
    return list(dict.fromkeys(parts)) or (["?"] if lines else [])


def _is_about(change: FileChange, missing: Sequence[str]) -> bool:
    """Whether an edit belongs to an install: of the list of what is needed, or of the module that was missing."""
    parts = {part.partition(".")[0].lower() for part in change.path.split("/")}
    return _MANIFEST.search(change.path) is not None or not parts.isdisjoint(missing)


def _editing(places: Sequence[tuple[str, Sequence[str]]]) -> str:
    told = [f"{', '.join(names[:3])} in {path}" if names else path for path, names in places[:3]]
    more = f" and {len(places) - 3} more files" if len(places) > 3 else ""
    return f"editing {'; '.join(told)}{more}"
