"""Edits, commits and fixes of a turn -> the memories of what was done."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from claude_mem_lite.compress import titles
from claude_mem_lite.compress.closing import Closing
from claude_mem_lite.compress.drafts import (
    LONGEST_DETAIL,
    make_draft,
    one_line,
    prompt_text,
    whole_sentences,
    why,
    within,
)
from claude_mem_lite.compress.edits import FileChange, describe
from claude_mem_lite.compress.fixes import Fix
from claude_mem_lite.compress.names import best_title, cause_of, title_of_changes, title_of_failure
from claude_mem_lite.compress.sentence_kinds import is_check_result, is_talk
from claude_mem_lite.compress.shell import Commit
from claude_mem_lite.models import Draft, WorkKind

_COMMIT_KINDS: dict[str, WorkKind] = {
    "fix": "bugfix", "bugfix": "bugfix", "hotfix": "bugfix", "feat": "feature", "feature": "feature",
    "refactor": "refactor", "perf": "refactor",
}  # fmt: skip
_BUG = re.compile(
    r"(?i)\b(?:fix(?:e[sd])?|bugs?|broken|crash(?:es|ed)?|fail(?:s|ed|ing|ure)?|error|regression|wrong|doesn't work"
    r"|not working|race condition"
    r"|leak|hotfix|repair|correct)\b"
)
_FIX_VERB = re.compile(r"(?i)^(?:fix|repair|correct|resolve|prevent|handle|patch|guard|avoid|stop)\b")
_REFACTOR_VERB = re.compile(
    r"(?i)^(?:refactor|rename|move|extract|simplify|consolidate|deduplicate|dedupe|inline|split|reorganize"
    r"|restructure|clean|cleanup|unify"
    r"|decouple|flatten|merge|replace|rewrite|convert|migrate)\b"
)
_FEATURE_VERB = re.compile(
    r"(?i)^(?:add|implement|create|introduce|build|support|enable|expose|integrate|allow|generate)\b"
)
_SMALL_MATTER = re.compile(
    r"(?i)\b(?:tests?|docs?|documentation|comments?|readme|changelog|license|typos?|\S+\.(?:md|rst|txt)|ci|workflow"
    r"|lint\w*|config\w*)\b"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """Work that belongs together: edits, and the commit that closed them when there was one."""

    changes: tuple[FileChange, ...]
    commit: Commit | None = None


def work_draft(piece: Piece, prompt: str, closing: Closing, facts: Sequence[str], *, whole: bool) -> Draft:
    """The memory of one piece of work; `whole` when the closing message speaks of this piece alone."""
    said = closing if whole else Closing()
    commit_title, prefix = titles.from_commit(piece.commit.subject) if piece.commit else ("", "")
    commit_title = commit_title if titles.weight(commit_title) >= 2 else ""
    title = commit_title or best_title(prompt if whole else "", said) or title_of_changes(piece.changes)
    decided = said.decisions()
    told = _without_title([text for text in said.told if text not in decided], title)
    causes = [cause for cause in said.causes() if cause not in told[:2]]
    body = whole_sentences(piece.commit.body.split("\n\n")[:2], 400) if piece.commit and piece.commit.body else ""
    what = (
        body or whole_sentences(told[:2], 500) or whole_sentences(said.points[:2], 400) or _what_changed(piece.changes)
    )
    return make_draft(
        _COMMIT_KINDS.get(prefix) or _kind(title, prompt, said, piece.changes),
        title,
        one_line(f"{what} {why(prompt, title)}"),
        detail=_detail(said, f"{what} {title}"),
        facts=[*causes[:2], *map(describe, piece.changes), *facts, *_commit_facts(piece.commit)],
        files=[change.path for change in piece.changes],
        symbols=[symbol for change in piece.changes for symbol in change.symbols],
        origin="command" if piece.commit and not piece.changes else "assistant",
        confidence=0.8 if piece.commit else 0.7,
    )


def fix_draft(fix: Fix, prompt: str, closing: Closing, commit: Commit | None, *, whole: bool) -> Draft:
    """The memory of a failure that was put right: its cause and what fixed it."""
    cause = cause_of(fix)
    repair = _repair(fix)
    explained = list(dict.fromkeys([*closing.findings(), *closing.causes()])) if whole else []
    asked = prompt if _BUG.search(prompt_text(prompt)) else ""
    title = titles.from_commit(commit.subject)[0] if commit else best_title(asked, closing) if whole else ""
    told = [*dict.fromkeys([*explained[:1], *_without_title(closing.told, title)[:1]])] if whole else []
    passes = f" {fix.success.command} passes now" + (f" ({fix.success.run.totals()})." if fix.success.run else ".")
    failed = f"{fix.failure.command} failed: {within(cause, 300).rstrip('.')}."
    summary = f"{failed} {whole_sentences(told, 330)} Fixed by {repair}.{passes}"
    failing = fix.failure.run.failures if fix.failure.run else ()
    return make_draft(
        "bugfix",
        title or title_of_failure(fix),
        one_line(summary if len(summary) > 850 else f"{summary} {why(prompt) if whole else ''}"),
        detail=_detail(closing, whole_sentences(told, 330)) if whole else "",
        facts=[
            f"Cause: {cause}",
            *explained[1:2],
            *(f"Failing test: {test.name}{': ' + test.error if test.error else ''}" for test in failing[1:5]),
            *(f"Error: {error}" for error in fix.failure.errors[:2] if error not in cause and not failing),
            *map(describe, fix.changes),
            *_commit_facts(commit),
        ],
        files=[change.path for change in fix.changes],
        symbols=[symbol for change in fix.changes for symbol in change.symbols],
        confidence=0.6 if fix.own_work else 0.8,
    )


def _repair(fix: Fix) -> str:
    if not fix.changes:
        return f"running {' and '.join(fix.repairs)}"
    places = [
        f"{', '.join(names[:3])} in {change.path}"
        if (names := [symbol.name for symbol in change.symbols])
        else change.path
        for change in fix.changes[:3]
    ]
    more = f" and {len(fix.changes) - 3} more files" if len(fix.changes) > 3 else ""
    return f"editing {'; '.join(places)}{more}"


def _what_changed(changes: Sequence[FileChange]) -> str:
    return whole_sentences([f"Changed {describe(change).rsplit(' (', 1)[0]}" for change in changes[:3]], 400)


def _without_title(told: Sequence[str], title: str) -> list[str]:
    """Sentences that add to a title; the one it was made from stays when it says more."""
    return [said for said in told if len(said) > len(title) + 15 or not _says_the_same(said, title)] or list(told)


def _says_the_same(first: str, second: str) -> bool:
    ours, theirs = (set(re.findall(r"\w{3,}", text.lower())) for text in (first, second))
    return bool(ours) and len(ours & theirs) >= 0.7 * len(ours)


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
        return "bugfix" if re.search(r"(?i)\b(?:fix|bugs?|broken|crash\w*|regression)\b", asked[:200]) else "feature"
    if re.search(r"(?i)\bbug\b|\bfix\b", asked) and not _FEATURE_VERB.match(title):
        return "bugfix"
    new_code = any(change.action == "new" and change.symbols for change in changes)
    return "feature" if new_code and not _SMALL_MATTER.search(title) else "change"


def _commit_facts(commit: Commit | None) -> list[str]:
    if not commit or not commit.hash:
        return []
    return [f"Commit {commit.hash}{' on ' + commit.branch if commit.branch else ''}: {commit.subject}"]


def _detail(closing: Closing, summary: str) -> str:
    """What the closing message says beyond the summary, as a list."""
    steps = closing.next_steps()
    kept = [
        f"- {within(said.text, 300)}"
        for said in closing.said
        if said.text.rstrip(".") not in summary
        and said.text not in steps
        and not (said.kind == "text" and (is_talk(said.text) or is_check_result(said.text)))
        and len(said.text.split()) > 2
    ]
    text = ""
    for line in dict.fromkeys(kept):
        if len(text) + len(line) + 1 > LONGEST_DETAIL - 200:
            break
        text = f"{text}\n{line}" if text else line
    return text
