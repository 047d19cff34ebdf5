"""One turn -> its memories, by rules. Called by the worker for every turn; pure, and never raises on odd payloads."""

import re
from collections.abc import Sequence
from dataclasses import replace

from claude_mem_lite.compress import findings, titles
from claude_mem_lite.compress.clean import clip
from claude_mem_lite.compress.closing import Closing, read_closing
from claude_mem_lite.compress.diagnostics import last_line
from claude_mem_lite.compress.drafts import LONGEST_DETAIL, request_of
from claude_mem_lite.compress.edits import FileChange, merge
from claude_mem_lite.compress.fixes import Fix, cause_of, pair
from claude_mem_lite.compress.steps import (
    Answered,
    Called,
    Delegated,
    Edited,
    Looked,
    Opened,
    Planned,
    Ran,
    Step,
    Tracked,
    open_tasks,
    read_steps,
)
from claude_mem_lite.compress.work import Piece, fix_draft, is_bugfix, side_fix_draft, work_draft
from claude_mem_lite.models import Draft, Turn, TurnDigest
from claude_mem_lite.words import within

_TEST_FILE = re.compile(r"(?i)(?:^|[/_.-])(?:tests?|specs?|testdata|fixtures?|conftest)(?:[/_.-]|$)")
_MOST_DRAFTS = 12
_MOST_PIECES = 6
_MOST_FILES = 60
_MOST_REPORTS = 2
_MOST_FAILURES = 2
_MOST_COMMANDS = 8


def fold(turn: Turn) -> TurnDigest:
    """The memories of a turn, the files it read and edited, and how many of its events held nothing."""
    steps: list[Step] = []
    skipped = 0
    for event in turn.events:
        found = read_steps(event)
        steps += found
        if event.tool is not None and not any(_is_telling(step) for step in found):
            skipped += 1
    drafts = _with_trail(_drafts(turn, steps), f"{request_of(turn.prompt)}\n{_trail(steps)}".strip())
    edited = [step.change.path for step in steps if isinstance(step, Edited)]
    read = [step.path for step in steps if isinstance(step, Opened)]
    return TurnDigest(
        drafts=tuple(_distinct(drafts)[:_MOST_DRAFTS]),
        files_read=tuple(dict.fromkeys(read))[:_MOST_FILES],
        files_edited=tuple(dict.fromkeys(edited))[:_MOST_FILES],
        open_tasks=open_tasks(steps),
        skipped=skipped,
    )


def closing_of(turn: Turn) -> Closing:
    """The assistant's last words of a turn that ended well; an API error is not one."""
    for event in reversed(turn.events):
        if event.kind == "Stop" and event.message:
            return read_closing(_seen_from_cwd(event.message, turn))
    return Closing()


def _seen_from_cwd(message: str, turn: Turn) -> str:
    """The message with paths as seen from the working folder."""
    cwd = next((event.cwd for event in turn.events if event.cwd), "").rstrip("/")
    return message.replace(f"{cwd}/", "") if cwd else message


def _drafts(turn: Turn, steps: Sequence[Step]) -> list[Draft]:
    closing = closing_of(turn)
    fixes, unfixed = pair(steps)
    drafts = _work(turn.prompt, closing, steps, fixes)
    drafts += findings.decisions(closing, [step for step in steps if isinstance(step, Answered)], turn.prompt)
    drafts += (findings.failure(ran, closing, turn.prompt) for ran in unfixed[-_MOST_FAILURES:])
    if not drafts:
        package = findings.installed([step for step in steps if isinstance(step, Ran)], turn.prompt)
        drafts += [package] if package else []
    if not any(draft.kind != "decision" for draft in drafts):
        looks = sum(isinstance(step, Ran | Opened | Looked | Delegated | Called) for step in steps)
        found = findings.discovery(turn.prompt, closing, looks)
        drafts += [found] if found else []
    drafts += _reports(turn, steps)[: 1 if drafts else _MOST_REPORTS]
    drafts += findings.foreign([step for step in steps if isinstance(step, Called)])
    page = findings.web([step for step in steps if isinstance(step, Looked)])
    return [*drafts, page] if page else drafts


def _work(prompt: str, closing: Closing, steps: Sequence[Step], fixes: Sequence[Fix]) -> list[Draft]:
    """What was fixed and what was made; a turn that put one bug right is one memory of it."""
    big, small = _sorted_out(fixes)
    pieces = _pieces(steps, big)
    if big and (piece := _same_bug(big, pieces, prompt, closing)):
        first = next((fix for fix in big if fix.failure.run and fix.failure.run.failures), big[0])
        noted = [_noted(fix) for fix in (*big, *small) if fix is not first]
        return [fix_draft(first, piece, prompt, closing, noted)]
    facts = [*(_noted(fix) for fix in small), *_results(steps)]
    pieces = pieces[-_MOST_PIECES:]
    return [
        *(side_fix_draft(fix) for fix in big),
        *(
            work_draft(piece, prompt, closing, facts if at == len(pieces) - 1 else (), whole=len(pieces) == 1)
            for at, piece in enumerate(pieces)
        ),
    ]


def _same_bug(fixes: Sequence[Fix], pieces: Sequence[Piece], prompt: str, closing: Closing) -> Piece | None:
    """The work that a turn's failing command belongs to, when both are about one bug."""
    if len(fixes) == 1 and not any(piece.changes for piece in pieces):
        return pieces[0] if len(pieces) == 1 else Piece(())
    return pieces[0] if len(pieces) == 1 and is_bugfix(pieces[0], prompt, closing) else None


def _sorted_out(fixes: Sequence[Fix]) -> tuple[list[Fix], list[Fix]]:
    """Fixes worth a memory of their own, and those of slips made on the way to something else."""

    def is_slip(fix: Fix) -> bool:
        run = fix.failure.run
        no_test = run is None or not run.failures or run.unbuilt
        only_tests = bool(fix.changes) and all(_TEST_FILE.search(change.path) for change in fix.changes)
        return fix.failure.role == "git" or (fix.own_work and (no_test or only_tests))

    return [fix for fix in fixes if not is_slip(fix)], [fix for fix in fixes if is_slip(fix)]


def _pieces(steps: Sequence[Step], fixes: Sequence[Fix]) -> list[Piece]:
    """The turn's work cut at its commits; edits that only served a fix belong to the fix."""
    pieces: list[Piece] = []
    changes: list[FileChange] = []
    for at, step in enumerate(steps):
        if isinstance(step, Edited) and not any(fix.first < at < fix.last and not fix.own_work for fix in fixes):
            changes.append(step.change)
        if isinstance(step, Ran):
            for commit in step.commits:
                if changes or titles.weight(titles.from_commit(commit.subject)[0]) >= 2:
                    pieces.append(Piece(tuple(merge(changes)), commit))
                changes = []
    if changes:
        pieces.append(Piece(tuple(merge(changes))))
    return pieces


def _noted(fix: Fix) -> str:
    return f"On the way {fix.failure.command} failed and was fixed: {within(cause_of(fix.failure), 160)}"


def _trail(steps: Sequence[Step]) -> str:
    """What the commands of a turn came to, one line each: found by search, not read unasked."""
    lines: list[str] = []
    for step in steps:
        if not isinstance(step, Ran) or step.role in ("explore", "files"):
            continue
        if step.role in ("lint", "build", "commit") and not step.failed:
            continue
        exited = f" (exit {step.code})" if step.code else ""
        result = step.run.totals() if step.run else "" if step.errors else last_line(step.output)
        told = "; ".join(part for part in (result, *step.errors[:3]) if part)
        if told:
            lines.append(f"$ {within(step.command, 100)}{exited}: {within(told, 300)}")
    return "\n".join(list(dict.fromkeys(lines))[-_MOST_COMMANDS:])


def _with_trail(drafts: list[Draft], trail: str) -> list[Draft]:
    """The drafts, with what was asked and run in the detail of the first that tells of work or a finding."""
    at = next((at for at, draft in enumerate(drafts) if draft.kind != "decision"), None)
    if at is None or not trail:
        return drafts
    draft = drafts[at]
    detail = clip(f"{draft.detail}\n{trail}".strip(), LONGEST_DETAIL)
    return [*drafts[:at], replace(draft, detail=detail), *drafts[at + 1 :]]


def _results(steps: Sequence[Step]) -> list[str]:
    """The last word of each test runner, and what was installed."""
    last: dict[str, str] = {}
    for step in steps:
        if isinstance(step, Ran) and step.run and not step.failed:
            last[step.goal] = f"Tests: {step.run.totals()} with {step.command}"
        elif isinstance(step, Ran) and step.role == "install" and not step.failed:
            last[step.goal] = f"Ran {step.command}"
    return list(last.values())[-4:]


def _reports(turn: Turn, steps: Sequence[Step]) -> list[Draft]:
    """What sub-agents found out: by their own last words, else by the answer their caller was given."""
    tasks = [step for step in steps if isinstance(step, Delegated)]
    said = [("", event.message) for event in turn.events if event.kind == "SubagentStop" and event.message]
    given = said or [(step.task, step.answer) for step in tasks]
    task = tasks[0].task if len(tasks) == len(said) == 1 else ""
    found = (findings.report(name or task, _seen_from_cwd(answer, turn)) for name, answer in given[:10])
    return [draft for draft in found if draft]


def _is_telling(step: Step) -> bool:
    if isinstance(step, Ran):
        return step.failed or step.run is not None or bool(step.commits) or step.role in ("install", "build", "lint")
    return not isinstance(step, Opened | Planned | Tracked)


def _distinct(drafts: Sequence[Draft]) -> list[Draft]:
    """One draft per kind and title, and none without a title."""
    seen: dict[tuple[str, str], Draft] = {}
    for draft in drafts:
        if len(draft.title) > 3:
            seen.setdefault((draft.kind, draft.title.lower()), draft)
    return list(seen.values())
