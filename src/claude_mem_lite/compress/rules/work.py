"""Edits, commits and fixes of a turn -> the memories of what was done, each with the title that tells most."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from claude_mem_lite.compress.language import titles
from claude_mem_lite.compress.language.closing import Closing
from claude_mem_lite.compress.language.drafts import as_list, make_draft, prompt_text, whole_sentences, why
from claude_mem_lite.compress.language.prose import passages, sentences
from claude_mem_lite.compress.language.sentence_kinds import is_check_result, is_talk
from claude_mem_lite.compress.language.verbs import impersonal, reported
from claude_mem_lite.compress.rules import fixes
from claude_mem_lite.compress.rules.fixes import Fix
from claude_mem_lite.compress.rules.parts import Part, beyond_symbols
from claude_mem_lite.compress.rules.work_titles import best_title, title_of_changes
from claude_mem_lite.compress.tools.edits import FileChange, describe
from claude_mem_lite.compress.tools.fingerprints import anchors_of_run
from claude_mem_lite.compress.tools.shell import Commit
from claude_mem_lite.models import Draft, WorkKind
from claude_mem_lite.patterns import lazy
from claude_mem_lite.words import overlap, within

_COMMIT_KINDS: dict[str, WorkKind] = {
    "fix": "bugfix", "bugfix": "bugfix", "hotfix": "bugfix", "feat": "feature", "feature": "feature",
    "refactor": "refactor", "perf": "refactor",
}  # fmt: skip
_BUG = lazy(
    r"(?i)\b(?:fix(?:e[sd])?|bugs?|broken|crash(?:es|ed)?|fail(?:s|ed|ing|ure)?|error|regression|wrong|doesn't work"
    r"|not working|race condition"
    r"|leak|hotfix|repair|correct)\b"
)
_FIX_VERB = lazy(r"(?i)^(?:fix|repair|correct|resolve|prevent|handle|patch|guard|avoid|stop)\b")
_REFACTOR_VERB = lazy(
    r"(?i)^(?:refactor|rename|move|extract|simplify|consolidate|deduplicate|dedupe|inline|split|reorganize"
    r"|restructure|clean|cleanup|unify"
    r"|decouple|flatten|merge|replace|rewrite|convert|migrate)\b"
)
_FEATURE_VERB = lazy(r"(?i)^(?:add|implement|create|introduce|build|support|enable|expose|integrate|allow|generate)\b")
_SMALL_MATTER = lazy(
    r"(?i)\b(?:tests?|docs?|documentation|comments?|readme|changelog|license|typos?|\S+\.(?:md|rst|txt)|ci|workflow"
    r"|lint\w*|config\w*)\b"
)
_LONGEST_WHAT = 260
_LONGEST_BEYOND = 120
_MOST_LONE_FILES = 4
_TOLD_ALREADY = 0.9


@dataclass(frozen=True, slots=True)
class Piece:
    """Work that belongs together: edits, and the commit that closed them when there was one."""

    changes: tuple[FileChange, ...]
    commit: Commit | None = None
    parts: tuple[Part, ...] = ()
    """The files that have a memory of their own."""

    @property
    def rest(self) -> list[FileChange]:
        """The changes that have none."""
        told = [part.change for part in self.parts]
        return [change for change in self.changes if change not in told]

    @property
    def said_of_parts(self) -> list[str]:
        return [text for part in self.parts for text in part.said]


def work_draft(piece: Piece, prompt: str, closing: Closing, *, whole: bool) -> Draft:
    """The memory of one piece of work; `whole` when the closing message speaks of this piece alone."""
    said = closing if whole else Closing()
    title, kind = _title_and_kind(piece, prompt, said, whole=whole)
    decided = said.decisions()
    told = _without_title([text for text in said.told if text not in decided], title)
    causes = [cause for cause in said.causes() if cause not in told[:2] and not is_check_result(cause)]
    body = whole_sentences(_body(piece.commit), _LONGEST_WHAT)
    what = (
        body
        or whole_sentences(map(impersonal, told[:2]), _LONGEST_WHAT)
        or whole_sentences([point for point in said.points if point not in piece.said_of_parts][:2], _LONGEST_WHAT)
        or _what_changed(piece.rest or piece.changes)
    )
    return make_draft(
        kind,
        title,
        what if body else f"{what} {why(prompt, f'{title} {what}')}",
        detail=_beyond(said, piece, f"{what} {title}"),
        facts=[*causes[:2], *_file_facts(piece.rest, what), *_commit_facts(piece.commit)],
        files=[change.path for change in piece.changes],
        symbols=[symbol for change in piece.rest for symbol in change.symbols],
        origin="command" if piece.commit and not piece.changes else "assistant" if said.said else "code",
        confidence=0.8 if piece.commit else 0.7,
    )


def is_bugfix(piece: Piece, prompt: str, closing: Closing) -> bool:
    """Whether the work of a whole turn is that of putting a bug right."""
    return _title_and_kind(piece, prompt, closing, whole=True)[1] == "bugfix"


def fix_draft(fix: Fix, piece: Piece, prompt: str, closing: Closing) -> Draft:
    """The one memory of a turn that put a bug right: its cause and its fix, as the closing message tells them."""
    asked = prompt if _BUG.search(prompt_text(prompt)) else ""
    title = _commit_title(piece.commit)[0] or best_title(asked, closing, bug=True) or fixes.title_of_fix(fix)
    explained = list(dict.fromkeys([*closing.findings(), *closing.causes()]))
    adding = [text for text in closing.told if text not in explained and overlap(text, title) < 0.8]
    done = [text for text in adding if reported(text) and titles.weight(text) >= 3]
    other = [] if done else _without_title(closing.told, title)[:1]
    summary = " ".join(
        (
            whole_sentences(explained[:1], 330) or f"{_what_failed(fix)} {whole_sentences(other, 330)}".strip(),
            whole_sentences([impersonal(text) for text in done[:1]], 260) or _what_helped(fix),
            _what_passes(fix),
        )
    )
    return make_draft(
        "bugfix",
        title,
        f"{summary} {why(prompt, f'{title} {summary}')}",
        detail=_beyond(closing, piece, summary),
        facts=[
            *_noted(fix, summary, piece.changes),
            *_causes(fix, summary),
            *explained[1:2],
            *_file_facts(piece.rest),
            *_commit_facts(piece.commit),
        ],
        files=[change.path for change in piece.changes],
        symbols=[symbol for change in piece.rest for symbol in change.symbols],
        anchors=anchors_of_run(fix.failure),
        confidence=0.8,
    )


def side_fix_draft(fix: Fix) -> Draft:
    """The memory of a failure put right on the way to something else, which the closing message speaks of."""
    summary = f"{_what_failed(fix)} {_what_helped(fix)} {_what_passes(fix)}"
    return make_draft(
        "bugfix",
        fixes.title_of_fix(fix),
        summary,
        facts=[*_noted(fix, summary, fix.changes), *_causes(fix, summary), *_file_facts(fix.changes)],
        files=[change.path for change in fix.changes],
        symbols=[symbol for change in fix.changes for symbol in change.symbols],
        anchors=anchors_of_run(fix.failure),
        confidence=0.6 if fix.own_work else 0.8,
    )


def _what_failed(fix: Fix) -> str:
    count = len(fix.failure.run.failures) if fix.failure.run else 0
    more = f" (and {count - 1} more)" if count > 1 else ""
    return f"{fix.failure.command} failed: {within(fixes.cause_of(fix.failure), 300).rstrip('.')}{more}."


def _what_helped(fix: Fix) -> str:
    return f"Fixed by {fix.repair.told()}."


def _noted(fix: Fix, told: str, changes: Sequence[FileChange]) -> list[str]:
    """What was run for a fix, where the summary or the files tell something else: `repair_told` reads it."""
    is_told = not changes and _what_helped(fix) in told
    return [_what_helped(fix)] if fix.repair.commands and not is_told else []


def _what_passes(fix: Fix) -> str:
    return f"{fix.success.command} passes now" + (f" ({fix.success.run.totals()})." if fix.success.run else ".")


def _causes(fix: Fix, told: str) -> list[str]:
    """What went wrong, test by test or error by error, as far as it is not told already."""
    errors = fix.failure.errors
    found = fixes.failing_tests(fix.failure) or [
        f"Cause: {fixes.cause_of(fix.failure)}",
        *(f"Error: {error}" for error in errors[1:3]),
    ]
    return [fact for fact in found if fact.partition(": ")[2].rstrip(".") not in told]


def _what_changed(changes: Sequence[FileChange]) -> str:
    return whole_sentences(map(describe, changes[:3]), _LONGEST_WHAT)


def _without_title(told: Sequence[str], title: str) -> list[str]:
    """Sentences that add to a title; the one it was made from stays when it says more."""
    return [said for said in told if len(said) > len(title) + 40 or overlap(said, title) < 0.7]


def _title_and_kind(piece: Piece, prompt: str, closing: Closing, *, whole: bool) -> tuple[str, WorkKind]:
    title, prefix = _commit_title(piece.commit)
    if not title:
        bug = whole and _BUG.search(prompt_text(prompt)) is not None
        title = best_title(prompt if whole else "", closing, bug=bug) or title_of_changes(piece.changes)
    return title, _COMMIT_KINDS.get(prefix) or _kind(title, prompt, closing, piece.changes)


def _commit_title(commit: Commit | None) -> tuple[str, str]:
    """The title a commit gives and its prefix; '' for the title when it tells nothing."""
    title, prefix = titles.from_commit(commit.subject) if commit else ("", "")
    return title if titles.weight(title) >= 2 else "", prefix


def _kind(title: str, prompt: str, closing: Closing, changes: Sequence[FileChange]) -> WorkKind:
    asked = prompt_text(prompt)[:400]
    if any(
        re.search(r"(?i)\b(?:that was|was|is) a (?:real )?bug\b|^fixed the (?:bug|issue)", said)
        for said in closing.told[:4]
    ):
        return "bugfix"
    if _FIX_VERB.match(title) and (title.lower().startswith("fix") or _BUG.search(asked)):
        return "bugfix"
    if _REFACTOR_VERB.match(title):
        return "refactor"
    if _FEATURE_VERB.match(title) and not _SMALL_MATTER.search(title):
        asked_to_add = _FEATURE_VERB.match(titles.from_prompt(asked.partition(". ")[0])) is not None
        of_a_bug = re.search(r"(?i)\b(?:fix|bugs?|broken|crash\w*|regression)\b", asked[:200])
        return "bugfix" if of_a_bug and not asked_to_add else "feature"
    if re.search(r"(?i)\bbug\b|\bfix\b", asked) and not _FEATURE_VERB.match(title):
        return "bugfix"
    new_code = any(change.action == "new" and change.symbols for change in changes)
    return "feature" if new_code and not _SMALL_MATTER.search(title) else "change"


def _commit_facts(commit: Commit | None) -> list[str]:
    if not commit or not commit.hash:
        return []
    place = f" on {commit.branch}" if commit.branch else ""
    notes = [commit.size, f"picked from {commit.source}" if commit.source else ""]
    more = "; ".join(note for note in notes if note)
    return [f"Commit {commit.hash}{place}: {commit.subject}{f' ({more})' if more else ''}"]


def _body(commit: Commit | None) -> list[str]:
    """The sentences and list items of a commit's message below its subject."""
    found = passages(commit.body) if commit else []
    return [text for passage in found for text in sentences(passage.text)]


def _file_facts(changes: Sequence[FileChange], told: str = "") -> list[str]:
    """A line for each of the first few files, unless it is told already or says no more than the symbols do."""
    lines = [line for change in changes[:_MOST_LONE_FILES] if (line := beyond_symbols(change))]
    more = [f"and {len(changes) - _MOST_LONE_FILES} more files"] if len(changes) > _MOST_LONE_FILES else []
    return [line for line in (*lines, *more) if line not in told]


def _beyond(closing: Closing, piece: Piece, told: str) -> str:
    """What the closing message says beyond what is told already and beyond single files, as a list."""
    elsewhere = {*closing.next_steps(), *piece.said_of_parts}
    kept = [
        said.text
        for said in closing.said
        if said.text not in elsewhere
        and said.text.rstrip(".") not in told
        and overlap(said.text, told) < _TOLD_ALREADY
        and len(said.text.split()) > 2
        and not said.text.endswith(":")
        and not is_check_result(said.text)
        and not (said.kind == "text" and is_talk(said.text))
    ]
    return as_list(kept, _LONGEST_BEYOND)
