"""Repairs: the steps between a failure and a success that fixed the failure, and their description.

In doubt a step is no repair: a wrong fix is worse than none. Pure; called for every turn, and when a command fails."""

from collections.abc import Sequence

from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.toolcalls.edits import FileChange, is_manifest, merge
from claude_mem_lite.compress.toolcalls.error_fingerprints import PLACE_BEHIND
from claude_mem_lite.compress.toolcalls.steps import FileEdited, Ran, Step
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Memory
from claude_mem_lite.text import overlap
from claude_mem_lite.values import frozen

AD_HOC = lazy(r"\s-[ce]\s|\s-$|<<|^\S*(?:bash|sh|zsh) -c\b")
"""Code typed for a single use."""
_INSPECTS = lazy(
    r"(?i)(?:^|[\s/:-])(?:status|ps|logs?|list|ls|show|get|info|version|help|ping|dry-run|(?:debug|inspect|check|print"
    r"|dump|probe|test|lint|format|fmt|tsc|verify|validate|audit)\w*|pre-commit|prek|psql|mysql|sqlite3)(?![a-z])"
)
"""A command that only inspects or checks."""
_MAX_COMMANDS = 3
_MISSING = lazy(
    r"(?i)\bno module named\b|\bcannot find (?:module|package)\b|\bcan't resolve '|\bfailed to resolve import\b"
    r"|\bcommand not found\b|sh: (?:\d+: )?\S+: not found|\bexecutable file not found\b|\bno required module provides\b"
    r"|\bunresolved import\b|\bcan't find crate\b|\bcannot load such file\b|\bcannot open shared object\b"
    r"|\bis not recognized as an internal\b|\bmissing go\.sum entry\b"
)
_WORD = lazy(r"\w+")
_PROSE = lazy(r"(?i)(?:^|/)(?:[^/]*\.(?:md|mdx|rst|adoc)|license[^/]*|changelog[^/]*)$")
_PROOF = lazy(r"(?:^|(?<=[.!?] ))((?:[^.!?\n]|[.!?](?! )){1,160}?) passes now( \([^()]{1,80}\))?\.$")
_NAMES_TEST = lazy(r"Fix (?:failing \S|\S.* to make \S.* pass$|(?:test|build|lint|install|run) failure: )")
_NAMES_ERROR = lazy(r"Fix \S.*?: (\S.*)")
"""Titles in the form of `title_of_fix`. Other titles may have the form, too: the words of the error decide."""
_QUOTED_ERROR = lazy(r"(?:\bfailed(?: \([^()]*\))?|^Failing test|^Error): (.*)")
_MIN_QUOTED = 0.6
_MAX_SHOWN = 120
"""Maximum of characters of a replaced line and the replacement."""
_ONE_LINE = lazy(r"(\S.* -> \S.*) \(\+1 -1\)")
_FIXED_BY = "Fixed by "
_RAN, _AND_EDITED = f"{_FIXED_BY}running ", " and editing "
_RECORDED = lazy(rf"{_FIXED_BY}(editing \S.{{0,400}} and )?running (\S.{{0,300}}?)({_AND_EDITED}\S.{{0,400}})?\.")


@frozen
class Repair:
    """Work that fixed a failure."""

    changes: tuple[FileChange, ...]
    commands: tuple[str, ...]
    """Installs; other commands only without edited files."""

    def describe(self) -> str:
        """Return the commands and the edited places in words."""
        running = f"running {' and '.join(self.commands)}" if self.commands else ""
        places = [(change.path, [symbol.name for symbol in change.symbols]) for change in self.changes]
        return " and ".join(part for part in (running, _editing(places) if places else "") if part)


def fact_of(repair: Repair) -> str:
    """Return the fact under a memory that records a repair. `describe_fix` and `recorded_commands` read the fact."""
    return f"{_FIXED_BY}{repair.describe()}."


def recorded_commands(fix: Memory) -> str:
    """Return the recorded commands of a fix; '' if the repair also edited files, because the files may belong to other
    work. Earlier versions recorded the repair in the summary."""
    recorded = next((fact for fact in fix.facts if fact.startswith(_RAN)), "" if fix.files else fix.summary)
    commands = recorded.partition(_FIXED_BY)[2].partition(". ")[0].rstrip(".")
    return "" if _AND_EDITED in commands else commands


def find_repair(failure: Ran, between: Sequence[Step]) -> Repair | None:
    """Return the repair among the steps between a failure and the success; None without a repair.

    After the install of a missing module, only edits of manifests and of the missing module belong to the repair."""
    set_back = [at for at, step in enumerate(between) if isinstance(step, Ran) and step.set_back and not step.failed]
    # Edits before `git stash` or `git checkout` may not be in the checkout any more.
    lasting = between[set_back[-1] :] if set_back else between
    changes = merge(step.change for step in lasting if isinstance(step, FileEdited))
    if all(_PROSE.search(change.path) and not _is_named(change, failure) for change in changes):
        changes = []
    ran = [step for step in between if isinstance(step, Ran) and step.role == "install" and not step.failed]
    installs = tuple(dict.fromkeys(step.command for step in ran if step.command != failure.command))[:_MAX_COMMANDS]
    if installs and (missing := _missing(failure)):
        changes = [change for change in changes if is_manifest(change.path) or not missing.isdisjoint(_stems(change))]
    helping = () if changes or installs else _helping(failure, between)
    return Repair(tuple(changes), installs or helping) if changes or installs or helping else None


def _helping(failure: Ran, between: Sequence[Step]) -> tuple[str, ...]:
    """Return the programs that ran after a failure and may have fixed it; none for too many programs."""
    ran = [
        step for step in between if isinstance(step, Ran) and step.role == "run" and not (step.failed or step.fetched)
    ]
    commands = dict.fromkeys(
        step.command for step in ran if not (_INSPECTS.search(step.command) or AD_HOC.search(step.command))
    )
    others = tuple(command for command in commands if not command.startswith(failure.command))
    return others if len(others) <= _MAX_COMMANDS and failure.role in ("test", "build", "run") else ()


def _missing(failure: Ran) -> set[str]:
    """Return the words of errors about a missing module or command."""
    tests = [test.error for test in failure.run.failures] if failure.run else []
    lines = [error for error in (*tests, *(failure.printed_errors or failure.errors)) if _MISSING.search(error)]
    return {word for line in lines for word in _WORD.findall(PLACE_BEHIND.sub("", line).lower())}


def _stems(change: FileChange) -> set[str]:
    return {part.partition(".")[0].lower() for part in change.path.split("/")}


def _is_named(change: FileChange, failure: Ran) -> bool:
    """Return whether a failure names an edited file."""
    name = change.path.rpartition("/")[2]
    return name in failure.output or name in failure.typed


def is_no_slip(failure: Ran, repair: Repair) -> bool:
    """Return whether earlier edits cannot have caused a failure: an install fixed the failure."""
    return bool(repair.commands) and (not repair.changes or bool(_missing(failure)))


def describe_fix(fix: Memory) -> str:
    """Return a memory of a fix in one sentence: cause, repair and proof; '' for a memory without a repair.

    The title is the cause, except a title of `title_of_fix`: anybody may have written the text of an error."""
    done = _describe_repair(fix)
    if not done:
        return ""
    proof = _PROOF.search(fix.summary)
    cause = "" if fix.kind != "bugfix" or _is_of_error(fix) else fix.title.rstrip(".")
    sentence = "; ".join(part for part in (cause, done, f"{proof[1]} passes{proof[2] or ''}" if proof else "") if part)
    return sentence if cause else capital(sentence)


def _is_of_error(fix: Memory) -> bool:
    """Return whether a title names only the test or the error of a fix."""
    if _NAMES_TEST.match(fix.title):
        return True
    named = _NAMES_ERROR.match(fix.title)
    quoted = " ".join(error[1] for text in (fix.summary, *fix.facts) if (error := _QUOTED_ERROR.search(text)))
    return named is not None and (named[1] in quoted or overlap(named[1], quoted) >= _MIN_QUOTED)


def _describe_repair(fix: Memory) -> str:
    """Return the repair without words of the error: the recorded commands and the edited places, or ''."""
    names: dict[str, list[str]] = {file: [] for file in fix.files}
    for symbol in fix.symbols:
        names.setdefault(symbol.file, []).append(symbol.name)
    editing = f"{_editing(list(names.items()))}{_replaced(fix)}" if names else ""
    # Facts with an error begin with another word.
    noted = next((match for fact in fix.facts if (match := _RECORDED.fullmatch(fact))), None)
    running = f"running {noted[2]}" if noted else ""
    # Edits beside an install may be other work.
    shown = (running, editing if not noted or noted[1] or noted[3] else "")
    parts = [part for part in shown if part]
    return f"fixed by {' and '.join(parts)}" if parts else ""


def _replaced(fix: Memory) -> str:
    """Return the replaced line and the replacement of a fix of a single line, else ''."""
    lead = f"{fix.files[0]}: " if len(fix.files) == 1 else ""
    fact = next((fact for fact in fix.facts if lead and fact.startswith(lead)), "")
    shown = _ONE_LINE.fullmatch(fact.removeprefix(lead))
    return f" ({shown[1]})" if shown and len(shown[1]) <= _MAX_SHOWN else ""


def _editing(places: Sequence[tuple[str, Sequence[str]]]) -> str:
    parts = [f"{', '.join(names[:3])} in {path}" if names else path for path, names in places[:3]]
    more = f" and {len(places) - 3} more files" if len(places) > 3 else ""
    return f"editing {'; '.join(parts)}{more}"
