"""One turn -> digest: memories with code anchors, files, tasks, log. Called by the worker for every turn; pure, and
never raises on odd payloads."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from claude_mem_lite.code.syntax.anchors import MAX_CODE_ANCHORS, anchor_to
from claude_mem_lite.code.syntax.changes import CodeChange, combined
from claude_mem_lite.compress.compose import headline
from claude_mem_lite.compress.compose.composer import compose
from claude_mem_lite.compress.compose.judge import Judge, shipped_judge
from claude_mem_lite.compress.compose.material import material_of, read_closing
from claude_mem_lite.compress.prose.clean import clip
from claude_mem_lite.compress.prose.drafts import make_draft
from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.prose.mentions import CALLED, CODE_NAME, NAME
from claude_mem_lite.compress.rules.command_log import SILENT_ROLES, log_of, trail
from claude_mem_lite.compress.rules.turn_lessons import lesson_drafts, restates_lesson
from claude_mem_lite.compress.toolcalls.fix_pairing import passed
from claude_mem_lite.compress.toolcalls.payload_fields import closing_message, shorten_paths
from claude_mem_lite.compress.toolcalls.steps import Called, FileEdited, Opened, Ran, Step, all_tasks, open_tasks
from claude_mem_lite.compress.toolcalls.tool_calls import read_steps
from claude_mem_lite.models import MAX_DETAIL_LENGTH, MAX_MEMORIES_PER_TURN, Draft, Turn
from claude_mem_lite.text import overlap
from claude_mem_lite.turn_digest import ClosingMessage, TurnDigest

_MAX_FILES = 60
_MAX_TASKS = 60
_SAME = 0.8


def anchored(draft: Draft, code: Sequence[CodeChange]) -> Draft:
    """Return a draft with code anchors: to the changed functions of the draft; for other files to all changed
    functions, or to a file without changed functions.

    A draft without files, such as a decision, is anchored to changed functions that its text names."""
    changes = list(_by_name(draft, code)) if not draft.files else list(_by_change(draft, code))
    anchors = dict.fromkeys(map(anchor_to, changes[:MAX_CODE_ANCHORS]))
    return replace(draft, anchors=(*draft.anchors, *anchors)) if anchors else draft


def _by_change(draft: Draft, code: Sequence[CodeChange]) -> Iterator[CodeChange]:
    names = {(symbol.file, symbol.name) for symbol in draft.symbols}
    named = [change for change in code if change.name and (change.file, change.name) in names]
    yield from named
    # A memory of a whole piece of work names no functions, and is about all of them.
    files = set(draft.files) - {change.file for change in named}
    rest = [change for change in code if change.file in files]
    read = {change.file for change in rest if change.name}
    yield from (change for change in rest if change.name or change.file not in read)


def _by_name(draft: Draft, code: Sequence[CodeChange]) -> Iterator[CodeChange]:
    text = f"{draft.title} {draft.summary}"
    words, called = set(NAME.findall(text)), set(CALLED.findall(text))
    for change in code:
        name = change.name.rsplit(".", 1)[-1]
        if name in called or change.name in called or (name in words and CODE_NAME.search(name)):
            yield change


def fold(turn: Turn, judge: Judge | None = None) -> TurnDigest:
    """Return the digest of a turn, by default with the judge of the package."""
    by_event = [(event, read_steps(event)) for event in turn.events]
    steps = [step for _, found_steps in by_event for step in found_steps]
    earlier = [step for event in turn.earlier for step in read_steps(event)]
    code = _code(steps)
    files = {change.file for change in code}
    # A fix over several turns is about code of previous turns, too.
    all_code = (*code, *(change for change in _code(earlier) if change.file not in files))
    lessons = lesson_drafts(turn)
    message = shorten_paths(closing_message(turn.events), turn.events)
    material = material_of(turn, message, steps, earlier, judge or shipped_judge())
    composed, closing = compose(material), read_closing(material)
    edited = tuple(dict.fromkeys(step.change.path for step in steps if isinstance(step, FileEdited)))
    drafts = [*composed, *_decisions(closing, composed, edited)]
    own = [draft for draft in drafts if not restates_lesson(draft, lessons)]
    kept = _distinct(_with_trail(own, "\n".join(trail(steps))))[: MAX_MEMORIES_PER_TURN - len(lessons)]
    anchored_drafts = tuple(anchored(draft, all_code if draft.files else code) for draft in kept)
    tasks = open_tasks(steps)
    log = log_of(steps, turn.events)
    read = [step.path for step in steps if isinstance(step, Opened)]
    return TurnDigest(
        # Lessons come last, without anchors to changes of the turn: the worker anchors them to the code they name.
        drafts=(*anchored_drafts, *lessons),
        files_read=tuple(dict.fromkeys(read))[:_MAX_FILES],
        files_edited=edited[:_MAX_FILES],
        open_tasks=tasks,
        tasks=all_tasks(steps)[:_MAX_TASKS],
        skipped=tuple(
            event.name for event, found_steps in by_event if event.tool and not any(map(_leaves_trace, found_steps))
        ),
        code=code,
        passed=passed(steps),
        log=log,
        said=closing,
    )


def _decisions(closing: ClosingMessage, composed: Sequence[Draft], edited: Sequence[str]) -> list[Draft]:
    """Return the decisions of the closing message that no composed memory has.

    The judge was trained on few decisions, and finds a third of the good ones; of explicitly stated decisions, five of
    six were worth keeping."""
    known_texts = [f"{draft.title} {draft.summary}" for draft in composed]
    new = [text for text in closing.decisions if all(overlap(text, known) < _SAME for known in known_texts)]
    titles = [capital(headline.cut(text).removeprefix("Decided to ")) for text in new]
    return [make_draft("decision", title, text, files=edited) for title, text in zip(titles, new, strict=True) if title]


def _code(steps: Sequence[Step]) -> tuple[CodeChange, ...]:
    return combined(change for step in steps if isinstance(step, FileEdited) for change in step.change.code)


def _with_trail(drafts: list[Draft], trail: str) -> list[Draft]:
    """Return the drafts, with the commands of the turn in the detail of the first draft that is no decision."""
    at = next((at for at, draft in enumerate(drafts) if draft.kind != "decision"), None)
    if at is None or not trail:
        return drafts
    draft = drafts[at]
    detail = clip(f"{draft.detail}\n{trail}".strip(), MAX_DETAIL_LENGTH)
    return [*drafts[:at], replace(draft, detail=detail), *drafts[at + 1 :]]


def _leaves_trace(step: Step) -> bool:
    """Return whether a step may appear in a memory, the open tasks or the log; steps that only read do not."""
    return not isinstance(step, Opened | Called) and not (isinstance(step, Ran) and step.role in SILENT_ROLES)


def _distinct(drafts: Sequence[Draft]) -> list[Draft]:
    """Return one draft for each kind and title, and none without a title."""
    seen: dict[tuple[str, str], Draft] = {}
    for draft in drafts:
        if len(draft.title) > 3:
            seen.setdefault((draft.kind, draft.title.lower()), draft)
    return list(seen.values())
