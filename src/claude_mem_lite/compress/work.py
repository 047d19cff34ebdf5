"""Edits, commits and fixes of a turn -> the memories of what was done."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from claude_mem_lite.compress import titles
from claude_mem_lite.compress.closing import Closing
from claude_mem_lite.compress.commands import Commit
from claude_mem_lite.compress.drafts import LONGEST_DETAIL, make_draft, one_line, prompt_text, whole_sentences, why, within
from claude_mem_lite.compress.edits import FileChange, describe
from claude_mem_lite.compress.fixes import Fix
from claude_mem_lite.compress.sentences import is_talk, states_cause
from claude_mem_lite.compress.verbs import INQUIRIES, base_of
from claude_mem_lite.models import Draft, SymbolAction, WorkKind

_COMMIT_KINDS: dict[str, WorkKind] = {"fix": "bugfix", "bugfix": "bugfix", "hotfix": "bugfix", "feat": "feature", "feature": "feature", "refactor": "refactor", "perf": "refactor"}  # fmt: skip
_BUG = re.compile(
    r"(?i)\b(?:fix(?:e[sd])?|bugs?|broken|crash(?:es|ed)?|fail(?:s|ed|ing|ure)?|error|regression|wrong|doesn't work|not working|race condition"
    r"|leak|hotfix|repair|correct)\b"
)
_FIX_VERB = re.compile(r"(?i)^(?:fix|repair|correct|resolve|prevent|handle|patch|guard|avoid|stop)\b")
_REFACTOR_VERB = re.compile(
    r"(?i)^(?:refactor|rename|move|extract|simplify|consolidate|deduplicate|dedupe|inline|split|reorganize|restructure|clean|cleanup|unify"
    r"|decouple|flatten|merge|replace|rewrite|convert|migrate)\b"
)
_FEATURE_VERB = re.compile(r"(?i)^(?:add|implement|create|introduce|build|support|enable|expose|integrate|allow|generate)\b")
_SMALL_MATTER = re.compile(r"(?i)\b(?:tests?|docs?|documentation|comments?|readme|changelog|license|typos?|\S+\.(?:md|rst|txt)|ci|workflow|lint\w*|config\w*)\b")
_VERBS: dict[SymbolAction, tuple[str, str]] = {"new": ("Add", "to"), "deleted": ("Remove", "from")}
_ANAPHORA = re.compile(r"(?i)^(?:this|these|that|those|it|they|but|however|also|now|here|there|i|we|you|which|such|yes|no)\b")
_UNFINISHED = re.compile(r"(?i)\b(?:shows?|is|are|be|includes?|to|with|looks like|following|functions?|both)$")
_NOW = re.compile(r"(?i)\b(?:now|no longer|will now)\b")
_HEADING_LEAD = re.compile(r"^(?:(?:summary|changes?|fix(?:es)?|done|update|result|p\d(?: #\d+)?)\b[^:–—-]{0,30}[:–—-]\s+)+", re.I)


@dataclass(frozen=True, slots=True)
class Piece:
    """Work that belongs together: edits, and the commit that closed them when there was one."""

    changes: tuple[FileChange, ...]
    commit: Commit | None = None


def work_draft(piece: Piece, prompt: str, closing: Closing, facts: Sequence[str], *, whole: bool) -> Draft:
    """The memory of one piece of work; `whole` when the closing message speaks of this piece alone."""
    said = closing if whole else Closing()
    commit_title, prefix = titles.from_commit(piece.commit.subject) if piece.commit else ("", "")
    title = commit_title or best_title(prompt if whole else "", said) or _title_from_changes(piece.changes)
    told = _without_title(said.told, title)
    causes = [cause for cause in said.causes() if cause not in told[:2]]
    body = whole_sentences(piece.commit.body.split("\n\n")[:2], 400) if piece.commit and piece.commit.body else ""
    what = body or whole_sentences(told[:2], 500) or whole_sentences(said.points[:2], 400) or _what_changed(piece.changes)
    return make_draft(
        _COMMIT_KINDS.get(prefix) or _kind(title, prompt, piece.changes),
        title,
        one_line(f"{what} {why(prompt)}"),
        detail=_detail(said, what),
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
    explained = [*closing.findings(), *closing.causes()] if whole else []
    title = titles.from_commit(commit.subject)[0] if commit else best_title(prompt, closing) if whole else ""
    told = [*dict.fromkeys([*explained[:1], *_without_title(closing.told, title)[:1]])] if whole else []
    passes = f" {fix.success.command} passes now" + (f" ({fix.success.run.totals()})." if fix.success.run else ".")
    summary = f"{fix.failure.command} failed: {within(cause, 300).rstrip('.')}. {whole_sentences(told, 330)} Fixed by {repair}.{passes}"
    failing = fix.failure.run.failures if fix.failure.run else ()
    return make_draft(
        "bugfix",
        title or _title_from_failure(fix),
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


def best_title(prompt: str, closing: Closing) -> str:
    """The title that tells most: what the closing message reports, what was asked for, or how things are now; or ''."""
    reports = [title for said in closing.told[:8] if (title := titles.from_report(said))]
    lead_ins = [said.text.rstrip(":") for said in closing.said[:8] if said.kind == "text" and said.text.endswith(":")]
    lead_ins = [text.removeprefix("Now ") for text in lead_ins if not is_talk(text)]
    reports += [title for text in lead_ins if (title := titles.from_report(text))]
    asked = titles.from_prompt(prompt_text(prompt))
    asked = "" if asked.split(" ", 1)[0].lower() in INQUIRIES else asked
    plain_told = [said for said in closing.told[:6] if not _ANAPHORA.match(said) and not base_of(said.split()[0])]
    long_lead_ins = [text for text in lead_ins if len(text.split()) > 8 and not _UNFINISHED.search(text)]
    states = [titles.from_statement(said) for said in (*plain_told, *long_lead_ins) if _NOW.search(said)]
    others = [titles.from_statement(said) for said in plain_told if not states_cause(said)]
    headings = [title for heading in closing.headings[:4] if (title := titles.from_report(_HEADING_LEAD.sub("", heading)))]
    items = [title for point in closing.points[:6] if (title := titles.from_report(point))]
    for pool, floor in (
        (reports, 4.0), ([asked], 4.0), (states, 4.0), (headings, 3.0), ([asked], 3.0), (items, 4.0), (reports, 2.5), (others, 4.0), ([asked], 2.0), (items, 3.0),
    ):  # fmt: skip
        for title in pool:
            if len(title.split()) >= (4 if pool == [asked] else 3) and titles.weight(title) >= floor:
                return title
    return ""


def cause_of(fix: Fix) -> str:
    """What went wrong, in one line: the failing test with its error, else the first error."""
    run = fix.failure.run
    if run and run.failures:
        first = run.failures[0]
        more = f" (and {len(run.failures) - 1} more)" if len(run.failures) > 1 else ""
        return f"{first.name}: {first.error}{more}" if first.error else f"{first.name}{more}"
    return fix.failure.errors[0] if fix.failure.errors else f"exit code {fix.failure.code}"


def _repair(fix: Fix) -> str:
    if not fix.changes:
        return f"running {' and '.join(fix.repairs)}"
    places = [
        f"{', '.join(names[:3])} in {change.path}" if (names := [symbol.name for symbol in change.symbols]) else change.path
        for change in fix.changes[:3]
    ]
    more = f" and {len(fix.changes) - 3} more files" if len(fix.changes) > 3 else ""
    return f"editing {'; '.join(places)}{more}"


def _title_from_failure(fix: Fix) -> str:
    run = fix.failure.run
    if run and run.failures:
        test = run.failures[0]
        name = test.name.rsplit("::", 1)[-1].rsplit(" › ", 1)[-1].rsplit(" > ", 1)[-1]
        return f"Fix {titles.cut(f'{name}: {_bare(test.error)}' if test.error else f'failing {name}', 14)}"
    return f"Fix {fix.failure.role} failure: {titles.cut(_bare(cause_of(fix)), 12)}"


def _bare(error: str) -> str:
    """An error without the place it occurred."""
    return re.sub(r"^\S+?:\d+(?::\d+)?:\s*", "", error)


def _title_from_changes(changes: Sequence[FileChange]) -> str:
    if not changes:
        return "Commit the work so far"
    first = max(changes, key=lambda change: change.added + change.removed)
    names = [symbol.name for symbol in first.symbols]
    if first.moved_from:
        return f"Rename {first.moved_from} to {first.path}" + (f" and {len(changes) - 1} more files" if changes[1:] else "")
    actions = {symbol.action for symbol in first.symbols}
    verb, place = _VERBS.get(next(iter(actions)), ("Change", "in")) if len(actions) == 1 and first.action == "modified" else ("Change", "in")
    verb = "Create" if first.action == "new" else "Delete" if first.action == "deleted" else verb
    what = f"{', '.join(names[:2])} {place} {first.path}" if names and first.action == "modified" else first.path
    more = f" and {len(changes) - 1} more files" if len(changes) > 2 else " and 1 more file" if len(changes) == 2 else ""
    return f"{verb} {what}{more}"


def _what_changed(changes: Sequence[FileChange]) -> str:
    return whole_sentences([f"Changed {describe(change).rsplit(' (', 1)[0]}" for change in changes[:3]], 400)


def _without_title(told: Sequence[str], title: str) -> list[str]:
    """Sentences that add to a title; the one it was made from stays when it says more."""
    return [said for said in told if len(said) > len(title) + 15 or not _says_the_same(said, title)] or list(told)


def _says_the_same(first: str, second: str) -> bool:
    ours, theirs = (set(re.findall(r"\w{3,}", text.lower())) for text in (first, second))
    return bool(ours) and len(ours & theirs) >= 0.7 * len(ours)


def _kind(title: str, prompt: str, changes: Sequence[FileChange]) -> WorkKind:
    asked = prompt_text(prompt)[:400]
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
    kept = [
        f"- {within(said.text, 300)}"
        for said in closing.said
        if said.text not in summary and not (said.kind == "text" and is_talk(said.text)) and len(said.text.split()) > 2
    ]
    text = ""
    for line in dict.fromkeys(kept):
        if len(text) + len(line) + 1 > LONGEST_DETAIL - 200:
            break
        text = f"{text}\n{line}" if text else line
    return text
