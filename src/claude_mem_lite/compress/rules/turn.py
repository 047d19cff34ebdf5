"""One turn -> its memories and what else is kept of it. Called by the worker for every turn; pure, and never raises on
odd payloads.

What ties a memory to the code it tells of, so that it can be told later whether that is still there."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from claude_mem_lite.code.syntax.anchors import MAX_CODE_ANCHORS, anchor_to
from claude_mem_lite.code.syntax.changes import CodeChange, combined
from claude_mem_lite.compress.compose import headline
from claude_mem_lite.compress.compose.closing_message import judged
from claude_mem_lite.compress.compose.composer import compose
from claude_mem_lite.compress.compose.judge import Judge, shipped_judge
from claude_mem_lite.compress.compose.turn import material_of
from claude_mem_lite.compress.prose.clean import clip
from claude_mem_lite.compress.prose.drafts import make_draft
from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.prose.mentions import CALLED, NAME, TELLING_NAME
from claude_mem_lite.compress.rules.command_log import SILENT_ROLES, log_of, trail
from claude_mem_lite.compress.rules.corrections import says_back, taught
from claude_mem_lite.compress.rules.fix_pairing import passed
from claude_mem_lite.compress.toolcalls.payload_fields import folder_of
from claude_mem_lite.compress.toolcalls.steps import Called, Edited, Opened, Ran, Step, all_tasks, open_tasks
from claude_mem_lite.compress.toolcalls.tool_calls import read_steps
from claude_mem_lite.models import MAX_DETAIL_LENGTH, MAX_OF_A_TURN, Draft, Said, Turn, TurnDigest
from claude_mem_lite.text import overlap


def anchored(draft: Draft, code: Sequence[CodeChange]) -> Draft:
    """A draft with anchors to the functions it names as changed; of a file of which it names none, to all that changed
    there, or to the file when no function did.

    One that tells of no file, a decision say, is tied to what the turn changed and it speaks of by name."""
    found = list(_by_name(draft, code)) if not draft.files else list(_by_change(draft, code))
    anchors = dict.fromkeys(map(anchor_to, found[:MAX_CODE_ANCHORS]))
    return replace(draft, anchors=(*draft.anchors, *anchors)) if anchors else draft


def _by_change(draft: Draft, code: Sequence[CodeChange]) -> Iterator[CodeChange]:
    told = {(symbol.file, symbol.name) for symbol in draft.symbols}
    named = [change for change in code if change.name and (change.file, change.name) in told]
    yield from named
    # What tells of a whole piece of work leaves the functions to the memories of its parts, and is about all of them.
    rest = [change for change in code if change.file in draft.files and change.file not in {one.file for one in named}]
    read = {change.file for change in rest if change.name}
    yield from (change for change in rest if change.name or change.file not in read)


def _by_name(draft: Draft, code: Sequence[CodeChange]) -> Iterator[CodeChange]:
    told = f"{draft.title} {draft.summary}"
    said, called = set(NAME.findall(told)), set(CALLED.findall(told))
    for change in code:
        name = change.name.rsplit(".", 1)[-1]
        if name in called or change.name in called or (name in said and TELLING_NAME.search(name)):
            yield change


_MAX_FILES = 60
_MAX_TASKS = 60
_SAME = 0.8


def fold(turn: Turn, judge: Judge | None = None) -> TurnDigest:
    """Return the memories of a turn, the files it read and edited, and the events that left nothing behind; the judge
    is the one that is shipped unless another is given."""
    by_event = [(event, read_steps(event)) for event in turn.events]
    steps = [step for _, found in by_event for step in found]
    earlier = [step for event in turn.earlier for step in read_steps(event)]
    code = _code(steps)
    files = {change.file for change in code}
    # A fix that took several turns tells of code that was partly changed in the turns before.
    all_code = (*code, *(change for change in _code(earlier) if change.file not in files))
    lessons = taught(turn)
    material = material_of(turn, _message(turn), steps, earlier, judge or shipped_judge())
    composed, said = compose(material), judged(material)
    edited = tuple(dict.fromkeys(step.change.path for step in steps if isinstance(step, Edited)))
    drafts = [*composed, *_decisions(said, composed, edited)]
    own = [draft for draft in drafts if not says_back(draft, lessons)]
    kept = _distinct(_with_trail(own, "\n".join(trail(steps))))[: MAX_OF_A_TURN - len(lessons)]
    anchored_drafts = tuple(anchored(draft, all_code if draft.files else code) for draft in kept)
    tasks = open_tasks(steps)
    log = log_of(steps, turn.events)
    read = [step.path for step in steps if isinstance(step, Opened)]
    return TurnDigest(
        # Lessons come last, and are not anchored to what the turn changed: the worker anchors them to what they name.
        drafts=(*anchored_drafts, *lessons),
        files_read=tuple(dict.fromkeys(read))[:_MAX_FILES],
        files_edited=edited[:_MAX_FILES],
        open_tasks=tasks,
        tasks=all_tasks(steps)[:_MAX_TASKS],
        skipped=tuple(event.name for event, found in by_event if event.tool and not any(map(_leaves_trace, found))),
        code=code,
        passed=passed(steps),
        log=log,
        said=said,
    )


def _decisions(said: Said, composed: Sequence[Draft], edited: Sequence[str]) -> list[Draft]:
    """Return the decisions that the closing message states and no composed memory tells.

    The judge has seen few decisions, and sees a third of those that readers were glad of; said in so many words, five
    of six were worth keeping."""
    told = [f"{draft.title} {draft.summary}" for draft in composed]
    new = [text for text in said.decisions if all(overlap(text, known) < _SAME for known in told)]
    titles = [capital(headline.cut(text).removeprefix("Decided to ")) for text in new]
    return [make_draft("decision", title, text, files=edited) for title, text in zip(titles, new, strict=True) if title]


def _message(turn: Turn) -> str:
    """Return the closing message of a turn that ended well, with paths as seen from the root of the checkout; an API
    error is none."""
    message = next((event.message for event in reversed(turn.events) if event.kind == "Stop" and event.message), "")
    first = next((event for event in turn.events if event.cwd), None)
    return folder_of(first).shorten(message) if first else message


def _code(steps: Sequence[Step]) -> tuple[CodeChange, ...]:
    return combined(change for step in steps if isinstance(step, Edited) for change in step.change.code)


def _with_trail(drafts: list[Draft], trail: str) -> list[Draft]:
    """Return the drafts, with the commands of the turn in the detail of the first that tells of work or a finding."""
    at = next((at for at, draft in enumerate(drafts) if draft.kind != "decision"), None)
    if at is None or not trail:
        return drafts
    draft = drafts[at]
    detail = clip(f"{draft.detail}\n{trail}".strip(), MAX_DETAIL_LENGTH)
    return [*drafts[:at], replace(draft, detail=detail), *drafts[at + 1 :]]


def _leaves_trace(step: Step) -> bool:
    """Return whether a step may be told in a memory, the open tasks or the log: not what only read or listed."""
    return not isinstance(step, Opened | Called) and not (isinstance(step, Ran) and step.role in SILENT_ROLES)


def _distinct(drafts: Sequence[Draft]) -> list[Draft]:
    """Return one draft for each kind and title, and none without a title."""
    seen: dict[tuple[str, str], Draft] = {}
    for draft in drafts:
        if len(draft.title) > 3:
            seen.setdefault((draft.kind, draft.title.lower()), draft)
    return list(seen.values())
