"""The session summary after a turn, from the previous summary, memories and judged sentences.

The next session sees the summary first, so the text must read well. Pure."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from claude_mem_lite.compress.compose.candidates import plan_in, unlabelled_plan
from claude_mem_lite.compress.compose.next_steps import (
    is_about,
    is_done_by,
    may_be_done,
    says_all_done,
    split_done_and_denied,
    subjects_of,
)
from claude_mem_lite.compress.prose.drafts import prompt_text, whole_clauses, whole_sentences
from claude_mem_lite.compress.prose.markdown import capital, sentences
from claude_mem_lite.compress.prose.verbs import impersonal, past
from claude_mem_lite.compress.rules.session_handoff import FAILING
from claude_mem_lite.compress.rules.turn_lessons import has_only_lessons, is_greeting, request_in
from claude_mem_lite.compress.toolcalls.fix_pairing import is_over, named
from claude_mem_lite.compress.toolcalls.shell import main_part
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import FOREIGN_ORIGINS, Draft, SessionSummary, Turn, is_request, request_headline
from claude_mem_lite.text import overlap, query_words, within
from claude_mem_lite.turn_digest import TurnDigest

MAX_HEADLINE = 200
_MAX_REQUEST = 260
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
_WORTH_OF_COMMIT = 0.2
"""Worth of a commit without a memory, doubled for a large one: less than the worth of any memory."""
_FAILS = lazy(r"(?i)\b(?:fails?|failing|broken|breaks)\b")
_ABOUT = {
    "test": lazy(r"(?i)\b(?:tests?|test_\w+|test suite|specs?|py\.?test|jest|vitest)\b"),
    "build": lazy(r"(?i)\b(?:builds?|compil\w+)\b"),
    "lint": lazy(r"(?i)\b(?:lint\w*|type[- ]?check\w*|mypy|ruff|eslint|tsc)\b"),
}
"""Words of sentences about a command, by the role of the command."""
# Words of routine steps, which are not worth reporting as open.
_CHORES = frozenset(
    """ask clarify clarifying question questions propose approach approaches present design get approval write doc docs
    review reviews user transition implementation implement planning plan wait watch ci pr prs create open merge push
    commit changes run check checks test tests lint build full suite pass verify verification final findings address
    post summary report github trade offs tradeoffs phase task step dev pm ta""".split()  # noqa: SIM905
)
_NUMBER = lazy(r"\d+")


def summarize(
    previous: SessionSummary | None,
    turn: Turn,
    digest: TurnDigest,
    headline_worth: float = 0.0,
    listed_before: Sequence[str] = (),
) -> SessionSummary:
    """Return the summary of the session after a turn; `headline_worth` is the worth of the headline so far,
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
    """Return the worth of the headline of a turn; 0 for no headline, or for one without memory and commit."""
    return _best(digest)[1]


def _headline(before: SessionSummary, turn: Turn, digest: TurnDigest, worth_before: float) -> str:
    """Return the headline of most worth in the session, of equal ones the newest, else the request."""
    title, worth = _best(digest)
    is_better = title and worth >= (worth_before if before.headline else 0.0)
    return within(title, MAX_HEADLINE) if is_better else before.headline or _asked(turn.prompt)


def _best(digest: TurnDigest) -> tuple[str, float]:
    """Return the headline of a turn and its worth: of the main memory by the judge, more for a larger commit; else of
    the largest commit; else of the closing message, without worth."""
    weights = dict(digest.said.commits)
    own = [
        draft for draft in digest.drafts if draft.kind in _COMES_TO and draft.origin not in (*FOREIGN_ORIGINS, "user")
    ]
    if own:
        best = max(reversed(own), key=lambda draft: (draft.confidence, weights.get(draft.title, 0.0)))
        is_committed = any(fact.startswith("Commit ") for fact in best.facts)
        return best.title, digest.said.worth + is_committed + weights.get(best.title, 0.0)
    if weights:
        title = max(reversed(list(weights)), key=weights.__getitem__)
        return title, _WORTH_OF_COMMIT * (1 + weights[title])
    return digest.said.headline, 0.0


def _asked(prompt: str) -> str:
    """Return the request as a headline, for a session without results."""
    request = "" if is_greeting(prompt) or has_only_lessons(prompt) else _request_prose(prompt)
    first = next(iter(sentences(request)), "")
    return request_headline(whole_clauses(first, _MAX_ASKED).rstrip(".")) if first else ""


def _request(prompt: str) -> str:
    """Return the request of a prompt, for a pasted plan the beginning; '' for a greeting."""
    return "" if is_greeting(prompt) else whole_sentences(sentences(_request_prose(prompt)), _MAX_REQUEST)


@lru_cache(maxsize=8)
def _request_prose(prompt: str) -> str:
    """Return the prose of a prompt without lessons, and a plan without the label."""
    prompt = request_in(prompt)
    return capital(unlabelled_plan(prompt_text(plan_in(prompt)))) or prompt_text(prompt)


def _done(digest: TurnDigest) -> str:
    """Return one or two sentences on the finished work of a turn: titles of memories with a verb of work, else results
    of the closing message, else any title."""
    titles = [draft.title for draft in digest.drafts if draft.kind in _WORK]
    reports = [report for title in titles if (report := past(title)) != title]
    results = digest.said.results if titles or digest.files_edited else ()
    return whole_sentences((reports or list(results) or titles)[:2], _MAX_SENTENCE)


def _learned(digest: TurnDigest, done: str) -> str:
    """Return the stated causes and findings of a turn, else titles of discoveries."""
    new = [draft.title for draft in digest.drafts if draft.kind == "discovery" and draft.origin == "assistant"]
    findings = [text for text in digest.said.findings or new if overlap(text, done) < 0.8]
    return whole_sentences(findings, _MAX_SENTENCE)


def _still_true(learned: str, digest: TurnDigest) -> str:
    """Return the learned sentences, without failing commands that have passed, once no command fails."""
    if not digest.passed or any(draft.kind == "failure" for draft in digest.drafts):
        return learned
    fails = [part for part in sentences(learned) if _FAILS.search(part)]
    over = [part for part in fails if any(_is_of(part, command) for command in digest.passed)]
    return " ".join(part for part in sentences(learned) if part not in over)


def _is_of(sentence: str, command: str) -> bool:
    """Return whether a sentence is about a command, by the name or by the role."""
    _, role = main_part(command)
    return named(command) in sentence or (role in _ABOUT and _ABOUT[role].search(sentence) is not None)


def _investigated(read: Sequence[str]) -> str:
    if not read:
        return ""
    names = list(dict.fromkeys(path.rsplit("/", 1)[-1] for path in reversed(read)))
    return within(f"Read {', '.join(names)}.", _MAX_INVESTIGATED)


def _grown(before: str, new: str, limit: int) -> str:
    """Return the text with new sentences added, without the oldest when room is short."""
    parts = [part for part in sentences(before) if not _same(part, new)]
    parts += [part for part in sentences(new) if part not in parts]
    while len(parts) > 1 and len(" ".join(parts)) > limit:
        parts.pop(0)
    return within(" ".join(parts), limit)


def _next_steps(before: Sequence[str], turn: Turn, digest: TurnDigest, done: str) -> tuple[str, ...]:
    """Return the open steps: steps of the turn, then earlier steps that are not done."""
    listed = [within(task, _MAX_STEP) for task in digest.open_tasks or () if not _is_chore(task)]
    # Items of a list read better than a sentence about several items.
    stated = [step for text in digest.said.next_steps if (step := _step(text)) and not _says(" ".join(listed), step)]
    new = [*stated, *(task for task in listed if not any(_says(step, task) for step in stated))]
    undone = () if _is_all_done(digest, done) else _undone(before, turn, digest, done)
    old = [step for step in undone if not any(_same(step, newer) for newer in new)]
    return tuple(dict.fromkeys((*new, *old)))[:_MAX_STEPS]


def _listed_now(before: Sequence[str], digest: TurnDigest, listed_before: Sequence[str]) -> list[str]:
    """Return the steps without the entries of older lists, after any later work or message.

    Agents tick off entries by number, or not at all: most recorded sessions finished the work of such a list."""
    if digest.open_tasks is None and not (digest.said.sentences or _has_worked(digest, "")):
        return list(before)
    return [step for step in before if not any(_is_entry(step, task) for task in listed_before)]


def _is_chore(task: str) -> bool:
    """Return whether an entry of a list is only routine."""
    return not set(query_words(_NUMBER.sub(" ", task))) - _CHORES


def _undone(before: Sequence[str], turn: Turn, digest: TurnDigest, done: str) -> list[str]:
    """Return the steps that neither the list, nor the edits and commits, nor the reports of a turn close."""
    ticked = [task for task in digest.tasks if task not in digest.open_tasks] if digest.open_tasks is not None else []
    finished = f"{done} {prompt_text(turn.prompt)}" if done else ""
    # Without work, a report may be a plan.
    has_worked = _has_worked(digest, done)
    reported_done = (*split_done_and_denied((done,))[0], *digest.said.reports) if has_worked else ()
    denied = split_done_and_denied((done, *digest.said.sentences))[1] if has_worked else ()
    subjects = subjects_of(digest.drafts)
    return [
        step
        for step in before
        if overlap(step, finished) < 0.6
        and not may_be_done(step, digest.files_edited, subjects)
        and not any(_is_entry(step, task) for task in ticked)
        and (any(is_about(step, text) for text in denied) or not any(is_done_by(step, text) for text in reported_done))
    ]


def _is_entry(step: str, task: str) -> bool:
    """Return whether a step comes from an entry of a list, also when the step was cut."""
    begin = step.removesuffix("…").rstrip()
    return step in (task, capital(task)) or (begin != step and capital(task).startswith(capital(begin)))


def _is_all_done(digest: TurnDigest, done: str) -> bool:
    """Return whether a turn with work says that no step is left."""
    return _has_worked(digest, done) and any(map(says_all_done, digest.said.sentences))


def _has_worked(digest: TurnDigest, done: str) -> bool:
    return bool(done or digest.files_edited or digest.passed)


def _step(text: str) -> str:
    text = impersonal(text.strip())
    return within(capital(text), _MAX_STEP) if len(text.split()) > 1 else ""


def _notes(before: str, digest: TurnDigest) -> str:
    """Return the failing command; '' after further work."""
    failures = [
        draft.title for draft in digest.drafts if draft.kind == "failure" and draft.origin not in FOREIGN_ORIGINS
    ]
    if failures:
        return whole_sentences([within(f"{FAILING}{failures[-1]}", _MAX_NOTE)], 2 * _MAX_NOTE)
    if any(draft.kind in _WORK for draft in digest.drafts) or _is_all_done(digest, ""):
        return ""
    return " ".join(part for part in sentences(before) if not is_over(part.removeprefix(FAILING), digest.passed))


def _decisions(before: Sequence[str], digest: TurnDigest) -> tuple[str, ...]:
    """Return the newest decisions, from memories and from the closing message."""
    drafts = [draft for draft in digest.drafts if draft.kind == "decision" and draft.origin not in FOREIGN_ORIGINS]
    new = [_decision(draft) for draft in drafts]
    new += (
        whole_clauses(text, _MAX_DECISION)
        for text in digest.said.decisions
        if not any(_same(text, decision) for decision in new)
    )
    kept = [old for old in before if not any(_same(old, text) for text in new)]
    return (*kept, *new)[-_MAX_DECISIONS:]


def _decision(draft: Draft) -> str:
    """Return a decision with the reason, within the limit."""
    texts = [text for text in sentences(draft.summary) if not is_request(text)]
    if draft.origin == "user" or not texts:
        return whole_clauses(draft.title, _MAX_DECISION)
    return whole_sentences([whole_clauses(texts[0], _MAX_DECISION - 1), *texts[1:2]], _MAX_DECISION)


def _newest(before: Iterable[str], new: Iterable[str], limit: int) -> tuple[str, ...]:
    """Return the distinct files touched last, newest at the end."""
    kept: list[str] = []
    room = _MAX_PATHS_LENGTH
    for path in dict.fromkeys(reversed([*before, *new])):
        if len(kept) == limit or len(path) > room:
            break
        kept.append(path)
        room -= len(path)
    return tuple(reversed(kept))


def _same(first: str, second: str) -> bool:
    """Return whether two texts have nearly the same words and the same numbers."""
    if _NUMBER.findall(first) != _NUMBER.findall(second):
        return False
    return max(overlap(first, second), overlap(second, first)) >= 0.7


def _says(text: str, part: str) -> bool:
    """Return whether a text has nearly all words and all numbers of a part."""
    return overlap(part, text) >= 0.7 and set(_NUMBER.findall(part)) <= set(_NUMBER.findall(text))
