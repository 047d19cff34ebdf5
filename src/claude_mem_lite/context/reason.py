"""Reasons in memories: the sentence that would change an agent's work, such as a cause or the reason of a decision.

Used for opened files (file_hints.py). Pure; a memory that only reports work has no reason."""

from collections.abc import Callable, Iterator

from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.compress.prose.sentence_types import is_talk, reads_like_an_order
from claude_mem_lite.context.render import opens_with
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Kind, Memory, without_request

FINDING_KINDS: tuple[Kind, ...] = ("bugfix", "discovery")
"""Kinds that report findings: shown with their cause, or not at all."""
_MAX_LENGTH = 230
_MAX_READ = 4_000
_CAUSE = lazy(
    r"(?i)\b(?:because|since (?!(?:v?\d|then|last)\b)|due to|caus(?:e[sd]?|ing)|root cause|to (?:avoid|prevent)"
    r"|prevent(?:s|ing)|otherwise|lead(?:s|ing) to|result(?:s|ed|ing) in|which means|unless"
    r"|only (?:when|if|after|once|works?|accepts?|supports?))\b"
)
_FAULT = lazy(
    r"(?i)\b(?:can(?:not|'t)|silently|ignor(?:es|ed)|requires?|rejects?|throws?|threw|raises?|crash(?:es|ed)?"
    r"|races? (?:with|condition)|deadlocks?|hangs?|leak(?:s|ed)|breaks?|broke)\b"
)
# In a decision these words give a reason; in a report of work they give a state or a purpose.
_PURPOSE = lazy(r"(?i)\b(?:so that|must|never|(?:do|does|did|is|are)(?: not|n't))\b")
_STATUS = lazy(
    r"(?i)\b(?:no longer|nothing|none|(?:do|does|did)(?: not|n't) (?:crash|hang|break|throw|raise|reject|require)"
    r"|merge[ds]?|squash\w*|rebase[ds]?|push\w*|commit(?:s|ted)?|CI|green|pass(?:e[sd]|ing)?)\b"
)
_POINTS_AWAY = lazy(r"(?i)^(?:this|that|these|those|it|they|both|all|same|such|here|there|also|and|but|then|so)\b")
_ERROR_TITLE = lazy(r"(?i)^fix \w+ failure: |^fix \S+: \w*(?:error|exception)\b")


def reason_in(memory: Memory, is_about: Callable[[str], bool]) -> str:
    """Return the title with the sentence that gives the reason, on one line; '' without a reason.

    Prefers lines accepted by `is_about`, and a stated reason over a fault."""
    lines = [line for line in _lines(memory) if len(line) <= _MAX_LENGTH]
    lines.sort(key=lambda line: (not is_about(line), not _gives_reason(memory, line)))
    return next((line for line in lines if not reads_like_an_order(line)), "")


def _lines(memory: Memory) -> Iterator[str]:
    title = memory.title.rstrip(". ")
    # This title repeats an error message of unknown origin.
    is_error = _ERROR_TITLE.match(title) is not None
    if _gives_reason(memory, title) and not is_error:
        yield title
    for text in sentences(without_request(memory.summary[:_MAX_READ])):
        sentence = text.rstrip(". ")
        is_reason = _gives_reason(memory, sentence) or (_FAULT.search(sentence) and not _STATUS.search(sentence))
        if is_reason and not _POINTS_AWAY.match(sentence) and not is_talk(sentence):
            is_whole = is_error or opens_with(sentence, title)
            yield sentence if is_whole else f"{title}: {sentence}"
            if is_whole and not is_error:
                return  # the title names the fault; later sentences may be about others


def _gives_reason(memory: Memory, line: str) -> bool:
    is_choice = memory.kind not in FINDING_KINDS
    return _CAUSE.search(line) is not None or (is_choice and _PURPOSE.search(line) is not None)
