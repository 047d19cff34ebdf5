"""What lay between a failure and the run that went well: which of it is the repair, and how that is told.

In doubt nothing is one: a wrong fix is worse than none. Pure; called for every turn, and when a command fails."""

from collections.abc import Sequence
from dataclasses import dataclass

from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.toolcalls.edits import FileChange, is_manifest, merge
from claude_mem_lite.compress.toolcalls.steps import Edited, Ran, Step
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Memory
from claude_mem_lite.text import overlap

AD_HOC = lazy(r"\s-[ce]\s|\s-$|<<|^\S*(?:bash|sh|zsh) -c\b")
"""Code that was typed for once."""
_LOOKS = lazy(
    r"(?i)(?:^|[\s/:-])(?:status|ps|logs?|list|ls|show|get|info|version|help|ping|dry-run|(?:debug|inspect|check|print"
    r"|dump|probe|test|lint|format|fmt|tsc|verify|validate|audit)\w*|pre-commit|prek|psql|mysql|sqlite3)(?![a-z])"
)
"""A command that looks at something or checks it, and makes nothing pass."""
_MAX_COMMANDS = 3
_MISSING = lazy(
    r"(?i)\bno module named\b|\bcannot find (?:module|package)\b|\bcan't resolve '|\bfailed to resolve import\b"
    r"|\bcommand not found\b|sh: (?:\d+: )?\S+: not found|\bexecutable file not found\b|\bno required module provides\b"
    r"|\bunresolved import\b|\bcan't find crate\b|\bcannot load such file\b|\bcannot open shared object\b"
    r"|\bis not recognized as an internal\b|\bmissing go\.sum entry\b"
)
_WORD = lazy(r"\w+")
_PLACE_BEHIND = lazy(r"\s\([^()\s]*:\d+(?::\d+)?\)$")
_PROSE = lazy(r"(?i)(?:^|/)(?:[^/]*\.(?:md|mdx|rst|adoc)|license[^/]*|changelog[^/]*)$")
_PROOF = lazy(r"(?:^|(?<=[.!?] ))((?:[^.!?\n]|[.!?](?! )){1,160}?) passes now( \([^()]{1,80}\))?\.$")
_NAMES_TEST = lazy(r"Fix (?:failing \S|\S.* to make \S.* pass$|(?:test|build|lint|install|run) failure: )")
_NAMES_ERROR = lazy(r"Fix \S.*?: (\S.*)")
"""Titles as `title_of_fix` makes them. Others may name an error, too: the words tell it apart."""
_ERROR_TOLD = lazy(r"(?:\bfailed(?: \([^()]*\))?|^Failing test|^Error): (.*)")
_MIN_QUOTED = 0.6
_MAX_SHOWN = 120
"""Most characters of lines that are told as what was replaced by what."""
_ONE_LINE = lazy(r"(\S.* -> \S.*) \(\+1 -1\)")
_RECORDED = lazy(r"Fixed by (editing \S.{0,400} and )?running (\S.{0,300}?)( and editing \S.{0,400})?\.")


@dataclass(frozen=True, slots=True)
class Repair:
    """What was done about a failure."""

    changes: tuple[FileChange, ...]
    commands: tuple[str, ...]
    """Installs, and where no file was edited other commands."""

    def told(self) -> str:
        """Return the commands that were run, and the places that were edited."""
        running = f"running {' and '.join(self.commands)}" if self.commands else ""
        places = [(change.path, [symbol.name for symbol in change.symbols]) for change in self.changes]
        return " and ".join(part for part in (running, _editing(places) if places else "") if part)


def find_repair(failure: Ran, between: Sequence[Step]) -> Repair | None:
    """Return what put a failure right, of the steps between it and the success; None when nothing did.

    Where something was missing and was installed, only edits of manifests and of what was missing belong to it."""
    set_back = [at for at, step in enumerate(between) if isinstance(step, Ran) and step.set_back and not step.failed]
    # Edits before `git stash` or `git checkout` may not be in the checkout any more.
    lasting = between[set_back[-1] :] if set_back else between
    changes = merge(step.change for step in lasting if isinstance(step, Edited))
    if all(_PROSE.search(change.path) and not _is_named(change, failure) for change in changes):
        changes = []
    ran = [step for step in between if isinstance(step, Ran) and step.role == "install" and not step.failed]
    installs = tuple(dict.fromkeys(step.command for step in ran if step.command != failure.command))[:_MAX_COMMANDS]
    if installs and (missing := _missing(failure)):
        changes = [change for change in changes if is_manifest(change.path) or not missing.isdisjoint(_stems(change))]
    helping = () if changes or installs else _helping(failure, between)
    return Repair(tuple(changes), installs or helping) if changes or installs or helping else None


def _helping(failure: Ran, between: Sequence[Step]) -> tuple[str, ...]:
    """Return the programs that were run after a failure and may have put it right; none where there are too many."""
    ran = [
        step for step in between if isinstance(step, Ran) and step.role == "run" and not (step.failed or step.fetched)
    ]
    found = dict.fromkeys(
        step.command for step in ran if not (_LOOKS.search(step.command) or AD_HOC.search(step.command))
    )
    others = tuple(command for command in found if not command.startswith(failure.command))
    return others if len(others) <= _MAX_COMMANDS and failure.role in ("test", "build", "run") else ()


def _missing(failure: Ran) -> set[str]:
    """Return the words of the errors that say that a module or a command is missing."""
    tests = [test.error for test in failure.run.failures] if failure.run else []
    lines = [error for error in (*tests, *(failure.printed_errors or failure.errors)) if _MISSING.search(error)]
    return {word for line in lines for word in _WORD.findall(_PLACE_BEHIND.sub("", line).lower())}


def _stems(change: FileChange) -> set[str]:
    return {part.partition(".")[0].lower() for part in change.path.split("/")}


def _is_named(change: FileChange, failure: Ran) -> bool:
    """Return whether the failure speaks of a file that was edited."""
    name = change.path.rpartition("/")[2]
    return name in failure.output or name in failure.typed


def is_no_slip(failure: Ran, repair: Repair) -> bool:
    """Return whether a failure cannot be of the making of who had just edited something: an install put it right."""
    return bool(repair.commands) and (not repair.changes or bool(_missing(failure)))


def describe_fix(fix: Memory) -> str:
    """Return a memory of a fix in one sentence: the cause as somebody put it, what was done, and what proved it.

    '' when it does not say what was done.
    The title tells the cause, but for one that `title_of_fix` made of the error: who knows who wrote that."""
    done = _describe_repair(fix)
    if not done:
        return ""
    proof = _PROOF.search(fix.summary)
    cause = "" if fix.kind != "bugfix" or _is_of_error(fix) else fix.title.rstrip(".")
    told = "; ".join(part for part in (cause, done, f"{proof[1]} passes{proof[2] or ''}" if proof else "") if part)
    return told if cause else capital(told)


def _is_of_error(fix: Memory) -> bool:
    """Return whether a title names only the test or the error that was put right."""
    if _NAMES_TEST.match(fix.title):
        return True
    named = _NAMES_ERROR.match(fix.title)
    told = " ".join(error[1] for text in (fix.summary, *fix.facts) if (error := _ERROR_TOLD.search(text)))
    return named is not None and (named[1] in told or overlap(named[1], told) >= _MIN_QUOTED)


def _describe_repair(fix: Memory) -> str:
    """Return what was done, in words that are none of the error's: as rules noted it, else its places; else ''."""
    names: dict[str, list[str]] = {file: [] for file in fix.files}
    for symbol in fix.symbols:
        names.setdefault(symbol.file, []).append(symbol.name)
    editing = f"{_editing(list(names.items()))}{_replaced(fix)}" if names else ""
    # The facts that tell an error begin with another word.
    noted = next((found for fact in fix.facts if (found := _RECORDED.fullmatch(fact))), None)
    running = f"running {noted[2]}" if noted else ""
    # What was edited beside an install may be work of its own.
    shown = (running, editing if not noted or noted[1] or noted[3] else "")
    parts = [part for part in shown if part]
    return f"fixed by {' and '.join(parts)}" if parts else ""


def _replaced(fix: Memory) -> str:
    """Return the line that was replaced and what replaced it, where a fix was no more than that; else ''."""
    lead = f"{fix.files[0]}: " if len(fix.files) == 1 else ""
    fact = next((fact for fact in fix.facts if lead and fact.startswith(lead)), "")
    shown = _ONE_LINE.fullmatch(fact.removeprefix(lead))
    return f" ({shown[1]})" if shown and len(shown[1]) <= _MAX_SHOWN else ""


def _editing(places: Sequence[tuple[str, Sequence[str]]]) -> str:
    told = [f"{', '.join(names[:3])} in {path}" if names else path for path, names in places[:3]]
    more = f" and {len(places) - 3} more files" if len(places) > 3 else ""
    return f"editing {'; '.join(told)}{more}"
