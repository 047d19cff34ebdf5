"""One turn -> its memories, by rules. Called by the worker for every turn; pure, and never raises on odd payloads."""

from collections.abc import Sequence
from dataclasses import replace

from claude_mem_lite.code.changes import combined
from claude_mem_lite.code.values import CodeChange
from claude_mem_lite.compress.language import titles
from claude_mem_lite.compress.language.clean import clip
from claude_mem_lite.compress.language.closing import Closing, read_closing
from claude_mem_lite.compress.language.prose import with_names_quoted
from claude_mem_lite.compress.rules import findings
from claude_mem_lite.compress.rules.anchoring import anchored
from claude_mem_lite.compress.rules.fixes import Fix, pair, passed
from claude_mem_lite.compress.rules.parts import is_test, part_draft, parts_of
from claude_mem_lite.compress.rules.performed import performed
from claude_mem_lite.compress.rules.plans import plan_draft
from claude_mem_lite.compress.rules.repairs import is_no_slip
from claude_mem_lite.compress.rules.taught import asked_for, only_teaches, says_back, taught
from claude_mem_lite.compress.rules.traces import Traces
from claude_mem_lite.compress.rules.trail import log_of, trail
from claude_mem_lite.compress.rules.work import Piece, fix_draft, is_bugfix, side_fix_draft, work_draft
from claude_mem_lite.compress.tools.edits import FileChange, merge
from claude_mem_lite.compress.tools.folders import folder_of
from claude_mem_lite.compress.tools.hearsay import Hearsay, only_source, source_of
from claude_mem_lite.compress.tools.steps import (
    Agreed,
    Answered,
    Called,
    Delegated,
    Edited,
    Looked,
    Opened,
    Ran,
    Step,
    all_tasks,
    open_tasks,
)
from claude_mem_lite.compress.tools.tool_calls import read_steps
from claude_mem_lite.models import LONGEST_DETAIL, MOST_OF_A_TURN, Draft, Event, Turn, TurnDigest

_MOST_PIECES = 6
_MOST_FILES = 60
_MOST_TASKS = 60
_MOST_REPORTS = 2
_MOST_FAILURES = 2


def fold(turn: Turn) -> TurnDigest:
    """The memories of a turn, the files it read and edited, and which of its events left nothing behind."""
    by_event = [(event, read_steps(event)) for event in turn.events]
    steps = [step for _, found in by_event for step in found]
    earlier = [step for event in turn.earlier for step in read_steps(event)]
    code = _code(steps)
    files = {change.file for change in code}
    # What a fix that took several turns tells of was partly changed in those.
    all_code = (*code, *(change for change in _code(earlier) if change.file not in files))
    lessons = taught(turn)
    asked = replace(turn, prompt="" if only_teaches(turn.prompt) else asked_for(turn.prompt))
    steps = [_with_names_quoted(step, code) for step in steps]
    found = [draft for draft in _drafts(asked, steps, earlier, code) if not says_back(draft, lessons)]
    told = _distinct(_with_trail(found, "\n".join(trail(steps))))[: MOST_OF_A_TURN - len(lessons)]
    drafts = tuple(anchored(draft, all_code if draft.files else code) for draft in told)
    tasks = open_tasks(steps)
    traces = Traces(drafts, tasks or ())
    # Last, and not tied to what the turn changed: the worker ties the user's word to what it names.
    drafts = (*drafts, *lessons)
    edited = [step.change.path for step in steps if isinstance(step, Edited)]
    read = [step.path for step in steps if isinstance(step, Opened)]
    return TurnDigest(
        drafts=drafts,
        files_read=tuple(dict.fromkeys(read))[:_MOST_FILES],
        files_edited=tuple(dict.fromkeys(edited))[:_MOST_FILES],
        open_tasks=tasks,
        tasks=all_tasks(steps)[:_MOST_TASKS],
        skipped=tuple(event.name for event, found in by_event if _is_work(event) and not traces.has(event, found)),
        code=code,
        passed=passed(steps),
        log=log_of(steps),
    )


def _code(steps: Sequence[Step]) -> tuple[CodeChange, ...]:
    return combined(change for step in steps if isinstance(step, Edited) for change in step.change.code)


def closing_of(turn: Turn, code: Sequence[CodeChange]) -> Closing:
    """The assistant's last words of a turn that ended well, without what others said; an API error is not one.

    Names of the code that the turn changed are told from words of the language."""
    return Hearsay(turn.events).taken_from(_last_words(turn, code))


def _last_words(turn: Turn, code: Sequence[CodeChange]) -> Closing:
    for event in reversed(turn.events):
        if event.kind == "Stop" and event.message:
            return read_closing(with_names_quoted(_seen_from_root(event.message, turn), _names(code)))
    return Closing()


def _names(code: Sequence[CodeChange]) -> set[str]:
    return {change.name.rpartition(".")[2] for change in code if change.name}


def _with_names_quoted(step: Step, code: Sequence[CodeChange]) -> Step:
    """A step whose commits are told with the names of the turn's code as names."""
    if not isinstance(step, Ran) or not step.commits:
        return step
    commits = (replace(one, subject=with_names_quoted(one.subject, _names(code))) for one in step.commits)
    return replace(step, commits=tuple(commits))


def _seen_from_root(message: str, turn: Turn) -> str:
    """The message with paths as seen from the root of the checkout."""
    first = next((event for event in turn.events if event.cwd), None)
    return folder_of(first).shorten(message) if first else message


def _drafts(turn: Turn, steps: Sequence[Step], earlier: Sequence[Step], code: Sequence[CodeChange]) -> list[Draft]:
    closing = closing_of(turn, code)
    fixes, unfixed = pair(steps, earlier)
    drafts, parts = _work(turn.prompt, closing, steps, fixes)
    drafts += findings.decisions(closing, [step for step in steps if isinstance(step, Answered)], turn.prompt)
    drafts += [plan for step in steps if isinstance(step, Agreed) and (plan := plan_draft(step))][-1:]
    drafts += (findings.failure(ran, closing, turn.prompt) for ran in unfixed[-_MOST_FAILURES:])
    if not drafts:
        done = performed([step for step in steps if isinstance(step, Ran)], turn.prompt)
        drafts += [done] if done else []
    if not any(draft.kind != "decision" for draft in drafts):
        looks = sum(isinstance(step, Ran | Opened | Looked | Delegated | Called) for step in steps)
        source = only_source(turn.events)
        found = findings.discovery(
            turn.prompt, _last_words(turn, code) if source else closing, looks, source or "assistant"
        )
        drafts += [found] if found else []
    drafts += _reports(turn, steps)[: 1 if drafts else _MOST_REPORTS]
    drafts += findings.foreign([step for step in steps if isinstance(step, Called)])
    page = findings.web([step for step in steps if isinstance(step, Looked)])
    return [*drafts, *([page] if page else ()), *parts]


def _work(
    prompt: str, closing: Closing, steps: Sequence[Step], fixes: Sequence[Fix]
) -> tuple[list[Draft], list[Draft]]:
    """What was fixed and what was made, then its parts by file; a turn that put one bug right is one memory of it."""
    big = [fix for fix in fixes if not _is_slip(fix)]
    pieces = _pieces(steps, big)
    if big and (piece := _same_bug(big, pieces, prompt, closing)):
        first = next((fix for fix in big if fix.failure.run and fix.failure.run.failures), big[0])
        changes = merge((*_told_nowhere_else(first, piece), *piece.changes))
        piece = Piece(tuple(changes), piece.commit, tuple(parts_of(changes, closing)))
        fixed = fix_draft(first, piece, prompt, closing)
        return [fixed], [part_draft(part, fixed) for part in piece.parts]
    pieces = [replace(piece, parts=tuple(parts_of(piece.changes, closing))) for piece in pieces[-_MOST_PIECES:]]
    works = [work_draft(piece, prompt, closing, whole=len(pieces) == 1) for piece in pieces]
    parts = [part_draft(part, work) for piece, work in zip(pieces, works, strict=True) for part in piece.parts]
    return [*map(side_fix_draft, big), *works], parts


def _told_nowhere_else(fix: Fix, piece: Piece) -> list[FileChange]:
    """What was changed for a fix and is not in the work besides."""
    known = {change.path for change in piece.changes} if fix.own_work or fix.is_carried else ()
    return [change for change in fix.changes if change.path not in known]


def _same_bug(fixes: Sequence[Fix], pieces: Sequence[Piece], prompt: str, closing: Closing) -> Piece | None:
    """The work that a turn's failing command belongs to, when both are about one bug."""
    if len(fixes) == 1 and not any(piece.changes for piece in pieces):
        return pieces[0] if len(pieces) == 1 else Piece(())
    return pieces[0] if len(pieces) == 1 and is_bugfix(pieces[0], prompt, closing) else None


def _is_slip(fix: Fix) -> bool:
    """Whether a fix is of a slip made on the way to something else: not worth a memory of its own."""
    run = fix.failure.run
    no_test = run is None or not run.failures or run.unbuilt
    only_tests = bool(fix.changes) and all(map(is_test, fix.changes))
    is_own = fix.own_work and (no_test or only_tests) and not is_no_slip(fix.failure, fix.repair)
    return fix.failure.role == "git" or is_own


def _pieces(steps: Sequence[Step], fixes: Sequence[Fix]) -> list[Piece]:
    """The turn's work cut at its commits; edits that only served a fix belong to the fix."""
    pieces: list[Piece] = []
    changes: list[FileChange] = []
    for at, step in enumerate(steps):
        if isinstance(step, Edited) and not any(_served(step.change, at, fix) for fix in fixes):
            changes.append(step.change)
        if isinstance(step, Ran):
            for commit in step.commits:
                if changes or titles.weight(titles.from_commit(commit.subject)[0]) >= 2:
                    pieces.append(Piece(tuple(merge(changes)), commit))
                changes = []
    if changes:
        pieces.append(Piece(tuple(merge(changes))))
    return pieces


def _served(change: FileChange, at: int, fix: Fix) -> bool:
    """Whether an edit was made for nothing but a fix."""
    is_between = fix.first < at < fix.last and not fix.own_work and not fix.is_carried
    return is_between and any(change.path == one.path for one in fix.changes)


def _with_trail(drafts: list[Draft], trail: str) -> list[Draft]:
    """The drafts, with what was run in the detail of the first that tells of work or a finding."""
    at = next((at for at, draft in enumerate(drafts) if draft.kind != "decision"), None)
    if at is None or not trail:
        return drafts
    draft = drafts[at]
    detail = clip(f"{draft.detail}\n{trail}".strip(), LONGEST_DETAIL)
    return [*drafts[:at], replace(draft, detail=detail), *drafts[at + 1 :]]


def _reports(turn: Turn, steps: Sequence[Step]) -> list[Draft]:
    """What sub-agents found out: by their own last words, else by the answer their caller was given."""
    tasks = [step for step in steps if isinstance(step, Delegated)]
    ends = [event for event in turn.events if event.kind == "SubagentStop" and event.message]
    task = tasks[0].task if len(tasks) == len(ends) == 1 else ""
    given = [(task, event.message or "", source_of(event, turn.events)) for event in ends]
    given = given or [(step.task, step.answer, None) for step in tasks]
    others = Hearsay(turn.events)
    found = []
    for name, answer, source in given[:10]:
        said = read_closing(_seen_from_root(answer, turn))
        found.append(findings.report(name, said if source else others.taken_from(said), source or "assistant"))
    return [draft for draft in found if draft]


def _is_work(event: Event) -> bool:
    """Whether an event is one that may leave nothing: what was asked and answered is kept word for word."""
    return event.tool is not None or event.kind == "SubagentStop"


def _distinct(drafts: Sequence[Draft]) -> list[Draft]:
    """One draft per kind and title, and none without a title."""
    seen: dict[tuple[str, str], Draft] = {}
    for draft in drafts:
        if len(draft.title) > 3:
            seen.setdefault((draft.kind, draft.title.lower()), draft)
    return list(seen.values())
