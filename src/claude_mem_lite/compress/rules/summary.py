"""The session summary after a turn, from the one before it. It is what the next session sees, so it must read well."""

from collections.abc import Iterable, Sequence

from claude_mem_lite.compress.language import titles
from claude_mem_lite.compress.language.closing import Closing
from claude_mem_lite.compress.language.drafts import prompt_text, whole_clauses, whole_sentences
from claude_mem_lite.compress.language.prose import capital, sentences
from claude_mem_lite.compress.language.sentence_kinds import (
    is_check_result,
    is_labelled_next,
    refers_back,
    says_all_done,
    states_decision,
    states_next_step,
)
from claude_mem_lite.compress.language.verbs import impersonal, instruction, past, reported
from claude_mem_lite.compress.rules.fixes import is_over
from claude_mem_lite.compress.rules.handoff import FAILING
from claude_mem_lite.compress.rules.steps_done import concerns_git, is_about, is_done_by, is_done_by_git, told_apart
from claude_mem_lite.compress.rules.taught import asked_for, only_greets
from claude_mem_lite.compress.rules.turns import closing_of
from claude_mem_lite.compress.rules.work_titles import NAMED_BY_FILE
from claude_mem_lite.compress.tools.hearsay import only_source
from claude_mem_lite.models import FOREIGN_ORIGINS, REQUEST_LEAD, Draft, SessionSummary, Turn, TurnDigest
from claude_mem_lite.patterns import lazy
from claude_mem_lite.words import overlap, within

LONGEST_HEADLINE = 200
LONGEST_REQUEST = 260
_WISH = lazy(
    r"(?i)\b(?:i|we) (?:want|need|(?:woul)?d (?:like|love|prefer))\b|\bi'd (?:like|love|prefer)\b|\bplease\b|\blet's\b"
    r"|\b(?:can|could|would) (?:you|we)\b|\bwe should\b"
)
_LONGEST_COMPLETED = 500
_LONGEST_LEARNED = 320
_LONGEST_INVESTIGATED = 160
_LONGEST_NOTE = 160
_LONGEST_STEP = 140
_MOST_STEPS = 5
_LONGEST_DECISION = 240
_MOST_DECISIONS = 3
_MOST_READ = 3
_MOST_EDITED = 8
_LONGEST_FILES = 300

_TEST_FAILS = lazy(
    r"(?i)\b(?:tests?|test_\w+|specs?|suite|builds?|lint(?:er|ing)?|type ?checks?|ci|pytest|mypy)\b[^,;]{0,60}?"
    r" (?:(?:now|still|also|currently) )*(?:fails?|is failing|are failing|is broken|are broken|breaks?)\b"
)
# What was only called wrong, or not let run, is put right by calling it right.
_SLIP = lazy(
    r"(?i)\b(?:script not found|missing script|(?:command|executable file) not found|unknown (?:command|option|flag)"
    r"|denied|not (?:allowed|permitted))\b"
)
_WORK = ("feature", "bugfix", "refactor", "change")
_STEP_LABEL = lazy(
    r"(?i)^(?:(?:next(?: steps?| up)?|to[- ]?dos?(?:\([^)]{0,40}\))?|(?:remaining|outstanding|open|pending|left)"
    r"(?: work| items?| steps?| to do| for later)?|still (?:to do|open|left|missing|needed)|follow[- ]?ups?"
    r"|(?:for )?later|not (?:yet )?done(?: yet)?|what(?:'s| is) (?:left|next))\s*[:,–—-]|(?-i:TODO)\b)\s*"
)
_NUMBER = lazy(r"\d+")
_NOW = lazy(r"(?i)\bnow\b|no longer")
_YOU = lazy(r"(?i)\byou(?:r|rs|'re|'ve|'d|'ll)?\b")
_TEST_OF = lazy(r"(?i)\s(?:-|–|—)\s(?:verifies|tests|checks|ensures|asserts)\b")
_ONLY_FILES = lazy(
    r"(?:Changed|Created|Deleted|Added|Removed) (?:[\w.,* ]+ (?:in|to|from) )?\S*[/.]\S+(?: and \d+ more files?)?\.?$"
)
_PLAN_LEAD = lazy(r"(?i)^\s*(?:please )?implement the following plan:?\s*")
_PLAN_LABEL = lazy(r"(?i)^(?:implementation )?plan:\s+")
_BARE_HEADING = lazy(
    r"(?i)^(?:\d+\.\s*)?(?:summary|context|overview|goals?|background|problem|current state|target behaviou?r"
    r"|approach|steps?|changes?(?: required| needed)?|issues? found|files?(?: to (?:modify|change))?|verification"
    r"|implementation)\.$"
)


def summarize(previous: SessionSummary | None, turn: Turn, digest: TurnDigest) -> SessionSummary:
    """What the session amounts to once this turn is over."""
    before = previous or SessionSummary()
    closing = closing_of(turn, digest.code)
    done = _done(digest, closing)
    read = _newest(before.files_read, digest.files_read, _MOST_READ)
    return SessionSummary(
        headline=_headline(before, turn, digest, done),
        request=before.request or _request(turn.prompt),
        investigated=_investigated(read),
        learned=_still_true(_grown(before.learned, _learned(turn, closing, digest, done), _LONGEST_LEARNED), digest),
        completed=_grown(before.completed, done, _LONGEST_COMPLETED),
        next_steps=_next_steps(before.next_steps, turn, digest, closing, done),
        files_read=read,
        files_edited=_newest(before.files_edited, digest.files_edited, _MOST_EDITED),
        notes=_notes(before.notes, closing, digest),
        key_decisions=_decisions(before.key_decisions, digest),
    )


def _headline(before: SessionSummary, turn: Turn, digest: TurnDigest, completed: str) -> str:
    """What was done, newest last; until something is done, what was found out or asked for."""
    done = [draft for draft in digest.drafts if draft.kind in _WORK and draft.origin != "mcp"]
    surest = max((draft.confidence for draft in done), default=0.0)
    # A test broken and mended on the way is not what a session was about.
    work = [draft.title for draft in done if draft.confidence >= min(surest, 0.7)]
    if not work:
        found = [
            draft.title
            for kind in ("discovery", "decision", "failure")
            for draft in digest.drafts
            if draft.kind == kind and draft.origin not in FOREIGN_ORIGINS
        ]
        return before.headline or within((found or [_asked(turn.prompt)])[0], LONGEST_HEADLINE)
    work = [title for title in work if titles.weight(title) >= 3] or work
    earlier = before.headline.split("; ") if before.headline and before.completed and before.files_edited else []
    parts = [part for part in earlier if not any(_same(part, title) for title in work)]
    # The first thing done says what the session was about; what came between makes room for the newest.
    telling = [title for title in work if not NAMED_BY_FILE.match(title)] or _stated(completed, work)
    telling = telling or ([] if parts else work)
    parts = [part for part in parts if not NAMED_BY_FILE.match(part)] if telling else parts
    parts += telling[:2]
    while len(parts) > 1 and len("; ".join(parts)) > LONGEST_HEADLINE:
        parts.pop(1 if len(parts) > 2 else 0)
    return within("; ".join(parts), LONGEST_HEADLINE)


def _stated(completed: str, work: Sequence[str]) -> list[str]:
    """What was completed in the assistant's own words, as a title, where memories are named by their files alone."""
    said = sentences(completed)[:1]
    own = [titles.from_statement(text) for text in said if text.rstrip(".") not in map(past, work)]
    return [title for title in own if titles.weight(title) >= 3]


def _asked(prompt: str) -> str:
    """What was asked for, as long as nothing came of it."""
    said = "" if only_greets(prompt) else prompt_text(asked_for(prompt))
    asked = titles.from_prompt(said) or titles.from_statement(said)
    return f"{REQUEST_LEAD}{asked}" if asked else ""


def _request(prompt: str) -> str:
    """The prompt as it was put; of a plan that was pasted, what it is called and how it begins. A greeting is none."""
    if only_greets(prompt):
        return ""
    prompt = asked_for(prompt)
    plan = _PLAN_LEAD.sub("", prompt)
    said = prompt_text(plan) or prompt_text(prompt)
    told = [text for text in sentences(_PLAN_LABEL.sub("", said)) if not _BARE_HEADING.match(text)]
    request = whole_sentences(told if plan == prompt else told[:2], LONGEST_REQUEST)
    wish = next((text for text in told[:5] if _WISH.search(text)), "")
    # What is wanted often comes last, after how things are.
    return request if wish in request else whole_sentences([wish, *told], LONGEST_REQUEST)


def _done(digest: TurnDigest, closing: Closing) -> str:
    """One or two sentences on what the turn completed: the assistant's own words, else the titles of its memories."""
    work = [draft for draft in digest.drafts if draft.kind in _WORK]
    if not work:
        return ""
    decided = closing.decisions()  # told as such
    told = [text for text in closing.told[:8] if text not in decided]
    plain = [text for text in told if not (refers_back(text) or states_next_step(text))]
    told = [text for text in plain if titles.weight(titles.from_report(impersonal(text))) >= 3 and len(text) > 25]
    told = told or [text for text in plain[:4] if _NOW.search(text) and titles.weight(text) >= 3]
    told = [impersonal(text) for text in told if not says_all_done(text)]
    if told:
        return whole_sentences(told[:2] if len(told[0]) < 80 else told[:1], 260)
    title = work[0].title
    # A title is a sentence cut short more often than not.
    whole = (
        impersonal(titles.without_place(said.text))
        for said in closing.said
        if not said.text.endswith(":") and titles.from_report(said.text) == title
    )
    return whole_sentences([next(whole, past(title))], 260)


def _learned(turn: Turn, closing: Closing, digest: TurnDigest, done: str) -> str:
    if only_source(turn.events):
        return ""  # what others say is found by search, and told to nobody unasked
    told = [text for text in (*closing.causes(), *closing.findings()) if not states_decision(text)]
    found = [text for text in dict.fromkeys(told) if 40 < len(text) < 300 and _is_lesson(text)]
    if not found:
        new = [draft.title for draft in digest.drafts if draft.kind == "discovery" and draft.origin == "assistant"]
        found = [text for text in closing.told if any(overlap(title, text) > 0.9 for title in new) and _is_lesson(text)]
    return whole_sentences([impersonal(text) for text in found if overlap(text, done) < 0.8][:2], 260)


def _still_true(learned: str, digest: TurnDigest) -> str:
    """What was learned, without tests that fail once what was run has passed and nothing fails any more."""
    ran = [command for command in digest.passed if not command.startswith("git ")]
    if not ran or any(draft.kind == "failure" for draft in digest.drafts):
        return learned
    return " ".join(part for part in sentences(learned) if not _TEST_FAILS.search(part))


def _is_lesson(text: str) -> bool:
    """Whether it tells how something is: not what was done about it, nor what to do, nor what only a user knows."""
    bare = impersonal(text)
    if refers_back(bare) or is_check_result(bare) or reported(bare) or instruction(bare):
        return False
    return titles.weight(bare) >= 3 and not _YOU.search(bare) and not _TEST_OF.search(bare)


def _investigated(read: Sequence[str]) -> str:
    if not read:
        return ""
    names = list(dict.fromkeys(path.rsplit("/", 1)[-1] for path in reversed(read)))
    return within(f"Read {', '.join(names)}.", _LONGEST_INVESTIGATED)


def _grown(before: str, new: str, limit: int) -> str:
    """The text with new sentences added; those that only name files, and the oldest, go when there is more to say."""
    parts = [part for part in sentences(before) if not _same(part, new)]
    parts += [part for part in sentences(new) if part not in parts]
    parts = [part for part in parts if not _ONLY_FILES.match(part)] or parts
    while len(parts) > 1 and len(" ".join(parts)) > limit:
        parts.pop(0)
    return within(" ".join(parts), limit)


def _next_steps(before: Sequence[str], turn: Turn, digest: TurnDigest, closing: Closing, done: str) -> tuple[str, ...]:
    """The newest turn that names any replaces the old; a finished list or word of completion empties it."""
    listed = [within(task, _LONGEST_STEP) for task in digest.open_tasks or ()]
    # What a sentence says of several items reads better as the items.
    told = [_step(text) for text in closing.next_steps() if _is_telling(text)]
    said = [step for step in told if step and not _says(" ".join(listed), step)]
    new = [*said, *(task for task in listed if not any(_says(step, task) for step in said))]
    if new:
        return tuple(dict.fromkeys(new))[:_MOST_STEPS]
    if digest.open_tasks is not None or closing.says_all_done():
        return ()
    finished = f"{done} {prompt_text(turn.prompt)}" if done else ""
    # What is said where nothing was done may have been planned only.
    said_done, denied = told_apart((done, *closing.told) if done or digest.passed else ())
    return tuple(
        step
        for step in before
        if overlap(step, finished) < 0.6
        and not is_done_by_git(step, digest.passed)
        and (any(is_about(step, text) for text in denied) or not any(is_done_by(step, text) for text in said_done))
    )


def _is_telling(text: str) -> bool:
    """Return whether a sentence that sounds like a step says what is to be done; items of a list are taken as they
    are."""
    is_sentence = states_next_step(text) and not is_labelled_next(text)
    return not is_sentence or titles.weight(text) >= 3 or concerns_git(text)


def _step(text: str) -> str:
    text = impersonal(_STEP_LABEL.sub("", text).strip())
    return within(capital(text), _LONGEST_STEP) if len(text.split()) > 1 else ""


def _notes(before: str, closing: Closing, digest: TurnDigest) -> str:
    """What still fails and what blocks the work, by sentences that say so; nothing once work has gone on."""
    failures = [
        draft.title
        for draft in digest.drafts
        if draft.kind == "failure" and draft.origin not in FOREIGN_ORIGINS and not _SLIP.search(draft.title)
    ]
    failing = [within(f"{FAILING}{title}", _LONGEST_NOTE) for title in failures[-1:]]
    blocked = [within(text, _LONGEST_NOTE) for text in closing.blocks()[:1]]
    if failing or blocked:
        return whole_sentences([*failing, *blocked], 2 * _LONGEST_NOTE)
    if any(draft.kind in _WORK for draft in digest.drafts) or closing.says_all_done():
        return ""
    return " ".join(part for part in sentences(before) if not is_over(part.removeprefix(FAILING), digest.passed))


def _decisions(before: Sequence[str], digest: TurnDigest) -> tuple[str, ...]:
    new = [_decision(draft) for draft in digest.drafts if draft.kind == "decision"]
    kept = [old for old in before if not any(_same(old, text) for text in new)]
    return (*kept, *new)[-_MOST_DECISIONS:]


def _decision(draft: Draft) -> str:
    """What was decided and why, as long as it fits."""
    said = [text for text in sentences(draft.summary) if not text.startswith(REQUEST_LEAD)]
    if draft.origin == "user" or draft.title.startswith("Plan: ") or not said:
        return whole_clauses(draft.title, _LONGEST_DECISION)
    return whole_sentences([whole_clauses(said[0], _LONGEST_DECISION - 1), *said[1:2]], _LONGEST_DECISION)


def _newest(before: Iterable[str], new: Iterable[str], most: int) -> tuple[str, ...]:
    """The files touched last, each once, newest at the end."""
    kept: list[str] = []
    room = _LONGEST_FILES
    for path in dict.fromkeys(reversed([*before, *new])):
        if len(kept) == most or len(path) > room:
            break
        kept.append(path)
        room -= len(path)
    return tuple(reversed(kept))


def _same(first: str, second: str) -> bool:
    """Whether two texts say nearly the same, by their words; other numbers mean other things."""
    if _NUMBER.findall(first) != _NUMBER.findall(second):
        return False
    return max(overlap(first, second), overlap(second, first)) >= 0.7


def _says(text: str, part: str) -> bool:
    """Whether a text says what a part of it might, numbers included."""
    return overlap(part, text) >= 0.7 and set(_NUMBER.findall(part)) <= set(_NUMBER.findall(text))
