"""The session summary after a turn, from the summary before it: memories and judged sentences, no patterns of prose.

The next session sees it first, so it must read well. Pure."""

from collections.abc import Iterable, Sequence

from claude_mem_lite.compress.compose.candidates import plan_in, unlabelled_plan
from claude_mem_lite.compress.prose.drafts import prompt_text, whole_clauses, whole_sentences
from claude_mem_lite.compress.prose.markdown import capital, sentences
from claude_mem_lite.compress.prose.verbs import impersonal, past
from claude_mem_lite.compress.rules.corrections import asked_for, only_greets, only_teaches
from claude_mem_lite.compress.rules.finished_steps import is_about, is_done_by, may_be_done, subjects_of, told_apart
from claude_mem_lite.compress.rules.fix_pairing import is_over, named
from claude_mem_lite.compress.rules.next_steps import says_all_done
from claude_mem_lite.compress.rules.session_handoff import FAILING
from claude_mem_lite.compress.toolcalls.shell import main_part
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import FOREIGN_ORIGINS, REQUEST_LEAD, Draft, SessionSummary, Turn, TurnDigest
from claude_mem_lite.text import overlap, query_words, within

MAX_HEADLINE = 200
MAX_REQUEST = 260
_MAX_ASKED = 120
_MAX_COMPLETED = 500
_MAX_LEARNED = 320
_MAX_SENTENCE = 260
_MAX_INVESTIGATED = 160
_MAX_NOTE = 160
_MAX_STEP = 240
_MAX_STEPS = 5
_MAX_DECISION = 240
_MAX_DECISIONS = 3
_MAX_READ = 3
_MAX_EDITED = 40
_MAX_PATHS_LENGTH = 300

_WORK = ("feature", "bugfix", "refactor", "change")
_COMES_TO = (*_WORK, "discovery", "decision")
_FAILS = lazy(r"(?i)\b(?:fails?|failing|broken|breaks)\b")
_ABOUT = {
    "test": lazy(r"(?i)\b(?:tests?|test_\w+|test suite|specs?|py\.?test|jest|vitest)\b"),
    "build": lazy(r"(?i)\b(?:builds?|compil\w+)\b"),
    "lint": lazy(r"(?i)\b(?:lint\w*|type[- ]?check\w*|mypy|ruff|eslint|tsc)\b"),
}
"""Words of sentences about a command, by the role of the command."""
# Words of steps that any work has: nobody is helped by being told that they were open.
_CHORES = frozenset(
    """ask clarify clarifying question questions propose approach approaches present design get approval write doc docs
    review reviews user transition implementation implement planning plan wait watch ci pr prs create open merge push
    commit changes run check checks test tests lint build full suite pass verify verification final findings address
    post summary report github trade offs phase task step dev pm ta""".split()  # noqa: SIM905
)
_NUMBER = lazy(r"\d+")


def summarize(
    previous: SessionSummary | None,
    turn: Turn,
    digest: TurnDigest,
    headline_worth: float = 0.0,
    listed_before: Sequence[str] = (),
) -> SessionSummary:
    """Return what the session amounts to once this turn is over; `headline_worth` is that of the headline so far, and
    `listed_before` the entries of the to-do lists of earlier turns."""
    before = previous or SessionSummary()
    done = _done(digest)
    read = _newest(before.files_read, digest.files_read, _MAX_READ)
    return SessionSummary(
        headline=_headline(before, turn, digest, headline_worth),
        request=before.request or _request(turn.prompt),
        investigated=_investigated(read),
        learned=_still_true(_grown(before.learned, _learned(digest, done), _MAX_LEARNED), digest),
        completed=_grown(before.completed, done, _MAX_COMPLETED),
        next_steps=_next_steps(_listed_now(before.next_steps, digest, listed_before), turn, digest, done),
        files_read=read,
        files_edited=_newest(before.files_edited, digest.files_edited, _MAX_EDITED),
        notes=_notes(before.notes, digest),
        key_decisions=_decisions(before.key_decisions, digest),
    )


def headline_worth(digest: TurnDigest) -> float:
    """Return the worth of the headline that a turn offers: a commit's comes first, then by the judge; 0 for none."""
    best = _best(digest)
    if best is None:
        return 0.0
    return digest.said.worth + any(fact.startswith("Commit ") for fact in best.facts)


def _headline(before: SessionSummary, turn: Turn, digest: TurnDigest, worth_before: float) -> str:
    """Return the title of the session's best memory, else the newest headline, else what was asked for."""
    best = _best(digest)
    worth_before = worth_before if before.headline else 0.0
    if best is not None:
        return before.headline if headline_worth(digest) < worth_before else within(best.title, MAX_HEADLINE)
    if digest.said.headline and not worth_before:
        return within(digest.said.headline, MAX_HEADLINE)
    return before.headline or _asked(turn.prompt)


def _best(digest: TurnDigest) -> Draft | None:
    """Return the memory that a turn came to: the last of its surest."""
    own = [
        draft for draft in digest.drafts if draft.kind in _COMES_TO and draft.origin not in (*FOREIGN_ORIGINS, "user")
    ]
    surest = max((draft.confidence for draft in own), default=0.0)
    return next((draft for draft in reversed(own) if draft.confidence == surest), None)


def _asked(prompt: str) -> str:
    """Return what was asked for, as long as nothing came of it."""
    said = "" if only_greets(prompt) or only_teaches(prompt) else _said(prompt)
    first = next(iter(sentences(said)), "")
    return f"{REQUEST_LEAD}{whole_clauses(first, _MAX_ASKED).rstrip('.')}" if first else ""


def _request(prompt: str) -> str:
    """Return the prompt as it was put; of a plan that was pasted, how it begins. A greeting is none."""
    if only_greets(prompt):
        return ""
    return whole_sentences(sentences(_said(prompt)), MAX_REQUEST)


def _said(prompt: str) -> str:
    """Return the prose of a prompt without what it teaches, and of a plan without the words that only announce it."""
    prompt = asked_for(prompt)
    return capital(unlabelled_plan(prompt_text(plan_in(prompt)))) or prompt_text(prompt)


def _done(digest: TurnDigest) -> str:
    """Return one or two sentences on what the turn completed: titles of memories that say what was done, else the
    results that the closing message states, else any title."""
    titles = [draft.title for draft in digest.drafts if draft.kind in _WORK]
    reports = [told for title in titles if (told := past(title)) != title]
    results = digest.said.results if titles or digest.files_edited else ()
    return whole_sentences((reports or list(results) or titles)[:2], _MAX_SENTENCE)


def _learned(digest: TurnDigest, done: str) -> str:
    """Return the causes and findings that the turn stated, else those of its discoveries."""
    new = [draft.title for draft in digest.drafts if draft.kind == "discovery" and draft.origin == "assistant"]
    found = [text for text in digest.said.findings or new if overlap(text, done) < 0.8]
    return whole_sentences(found, _MAX_SENTENCE)


def _still_true(learned: str, digest: TurnDigest) -> str:
    """Return what was learned, without the commands said to fail that have passed, once nothing fails any more."""
    if not digest.passed or any(draft.kind == "failure" for draft in digest.drafts):
        return learned
    fails = [part for part in sentences(learned) if _FAILS.search(part)]
    over = [part for part in fails if any(_is_of(part, command) for command in digest.passed)]
    return " ".join(part for part in sentences(learned) if part not in over)


def _is_of(sentence: str, command: str) -> bool:
    """Return whether a sentence is about a command, by its beginning or by what it is for."""
    _, role = main_part(command)
    return named(command) in sentence or (role in _ABOUT and _ABOUT[role].search(sentence) is not None)


def _investigated(read: Sequence[str]) -> str:
    if not read:
        return ""
    names = list(dict.fromkeys(path.rsplit("/", 1)[-1] for path in reversed(read)))
    return within(f"Read {', '.join(names)}.", _MAX_INVESTIGATED)


def _grown(before: str, new: str, limit: int) -> str:
    """Return the text with new sentences added; the oldest go when there is no room."""
    parts = [part for part in sentences(before) if not _same(part, new)]
    parts += [part for part in sentences(new) if part not in parts]
    while len(parts) > 1 and len(" ".join(parts)) > limit:
        parts.pop(0)
    return within(" ".join(parts), limit)


def _next_steps(before: Sequence[str], turn: Turn, digest: TurnDigest, done: str) -> tuple[str, ...]:
    """Return what is left: what the turn names, then what was left before and is not done."""
    listed = [within(task, _MAX_STEP) for task in digest.open_tasks or () if not _is_chore(task)]
    # What a sentence says of several items reads better as the items.
    stated = [step for text in digest.said.next_steps if (step := _step(text)) and not _says(" ".join(listed), step)]
    new = [*stated, *(task for task in listed if not any(_says(step, task) for step in stated))]
    undone = () if _is_all_done(digest, done) else _undone(before, turn, digest, done)
    old = [step for step in undone if not any(_same(step, one) for one in new)]
    return tuple(dict.fromkeys((*new, *old)))[:_MAX_STEPS]


def _listed_now(before: Sequence[str], digest: TurnDigest, listed_before: Sequence[str]) -> list[str]:
    """Return the steps without the entries of older lists, once a turn has done or said anything since.

    Agents tick off by numbers, or not at all: most recorded sessions went on to the work after such a list."""
    if digest.open_tasks is None and not (digest.said.sentences or _has_worked(digest, "")):
        return list(before)
    return [step for step in before if not any(_is_entry(step, task) for task in listed_before)]


def _is_chore(task: str) -> bool:
    """Return whether an entry of a list is a part of how work is done, whatever it is about."""
    return not set(query_words(_NUMBER.sub(" ", task))) - _CHORES


def _undone(before: Sequence[str], turn: Turn, digest: TurnDigest, done: str) -> list[str]:
    """Return the steps that neither the list of the turn, nor its commands, nor what it says closes."""
    ticked = [task for task in digest.tasks if task not in digest.open_tasks] if digest.open_tasks is not None else []
    finished = f"{done} {prompt_text(turn.prompt)}" if done else ""
    # What is said where nothing was done may have been planned only.
    has_worked = _has_worked(digest, done)
    said_done = (*told_apart((done,))[0], *digest.said.reports) if has_worked else ()
    denied = told_apart((done, *digest.said.sentences))[1] if has_worked else ()
    subjects = subjects_of(digest.drafts)
    return [
        step
        for step in before
        if overlap(step, finished) < 0.6
        and not may_be_done(step, digest.files_edited, subjects)
        and not any(_is_entry(step, task) for task in ticked)
        and (any(is_about(step, text) for text in denied) or not any(is_done_by(step, text) for text in said_done))
    ]


def _is_entry(step: str, task: str) -> bool:
    """Return whether a step was taken from an entry of a list, which may have been cut, in older summaries shorter."""
    begin = step.removesuffix("…").rstrip()
    return step in (task, capital(task)) or (begin != step and capital(task).startswith(capital(begin)))


def _is_all_done(digest: TurnDigest, done: str) -> bool:
    """Return whether a turn that did something says that nothing is left."""
    return _has_worked(digest, done) and any(map(says_all_done, digest.said.sentences))


def _has_worked(digest: TurnDigest, done: str) -> bool:
    return bool(done or digest.files_edited or digest.passed)


def _step(text: str) -> str:
    text = impersonal(text.strip())
    return within(capital(text), _MAX_STEP) if len(text.split()) > 1 else ""


def _notes(before: str, digest: TurnDigest) -> str:
    """Return what still fails; nothing once work has gone on."""
    failures = [
        draft.title for draft in digest.drafts if draft.kind == "failure" and draft.origin not in FOREIGN_ORIGINS
    ]
    if failures:
        return whole_sentences([within(f"{FAILING}{failures[-1]}", _MAX_NOTE)], 2 * _MAX_NOTE)
    if any(draft.kind in _WORK for draft in digest.drafts) or _is_all_done(digest, ""):
        return ""
    return " ".join(part for part in sentences(before) if not is_over(part.removeprefix(FAILING), digest.passed))


def _decisions(before: Sequence[str], digest: TurnDigest) -> tuple[str, ...]:
    """Return the newest decisions: those that are memories, and those that the closing message states beside them."""
    drafts = [draft for draft in digest.drafts if draft.kind == "decision" and draft.origin not in FOREIGN_ORIGINS]
    new = [_decision(draft) for draft in drafts]
    new += (
        whole_clauses(text, _MAX_DECISION) for text in digest.said.decisions if not any(_same(text, one) for one in new)
    )
    kept = [old for old in before if not any(_same(old, text) for text in new)]
    return (*kept, *new)[-_MAX_DECISIONS:]


def _decision(draft: Draft) -> str:
    """Return what was decided and why, as long as it fits."""
    said = [text for text in sentences(draft.summary) if not text.startswith(REQUEST_LEAD)]
    if draft.origin == "user" or not said:
        return whole_clauses(draft.title, _MAX_DECISION)
    return whole_sentences([whole_clauses(said[0], _MAX_DECISION - 1), *said[1:2]], _MAX_DECISION)


def _newest(before: Iterable[str], new: Iterable[str], most: int) -> tuple[str, ...]:
    """Return the files touched last, each once, newest at the end."""
    kept: list[str] = []
    room = _MAX_PATHS_LENGTH
    for path in dict.fromkeys(reversed([*before, *new])):
        if len(kept) == most or len(path) > room:
            break
        kept.append(path)
        room -= len(path)
    return tuple(reversed(kept))


def _same(first: str, second: str) -> bool:
    """Return whether two texts say nearly the same, by their words; other numbers mean other things."""
    if _NUMBER.findall(first) != _NUMBER.findall(second):
        return False
    return max(overlap(first, second), overlap(second, first)) >= 0.7


def _says(text: str, part: str) -> bool:
    """Return whether a text says what a part of it might, numbers included."""
    return overlap(part, text) >= 0.7 and set(_NUMBER.findall(part)) <= set(_NUMBER.findall(text))
