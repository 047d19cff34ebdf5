"""Sentences of a turn that may carry a memory: sentences of commits and of the closing message, with their positions.

The composer, the sentence judge and the labels number sentences by this module. Pure; never raises on odd text."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from claude_mem_lite.compress.prose.clean import clean, clip
from claude_mem_lite.compress.prose.markdown import BlockKind, MarkdownBlock, markdown_blocks, sentences
from claude_mem_lite.compress.toolcalls.commits import Commit
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.values import frozen

Source = Literal["subject", "body", "closing", "heading", "plan"]

MAX_CANDIDATES = 120
_MAX_MESSAGE = 40_000
_MAX_BODY = 6_000
MAX_COMMITS = 12
_MAX_HEADINGS = 8
_MAX_PLANS = 2
_PLAN_LEAD = lazy(r"(?i)\s*(?:please )?implement (?:the following|this) plan:?\s*")
_PLAN_LABEL = lazy(
    r"(?i)^(?:(?:implementation|work|migration|refactoring) )?plan(?:\s*[:–—-]\s*|\s+(?:for|to)\s+|\s*$)"
)
_TRAILER = lazy(
    r"(?i)^(?:co-authored-by|signed-off-by|reviewed-by|generated with|entire-\w+|claude-session|session-id)\b"
)
_BANNER = lazy(r"^(?:\W*\w+\W*)?[─━═]{3,}\W*|\s*[─━═]{3,}\W*$")
"""A drawn line at the beginning or at the end of a sentence, with a word beside the line."""


@frozen
class SentenceCandidate:
    """One sentence with its position in the turn."""

    ref: str
    """`c1` the subject of the first commit, `c1.2` the second sentence of the commit's body, `s3` the third sentence of
    the closing message, `h1` its first heading, `p1` the heading of a plan."""
    text: str
    source: Source
    kind: BlockKind
    under: str = ""
    """The heading above the sentence."""
    lead: str = ""
    """The sentence that introduces the list: "The causes were:"."""
    first_of_block: bool = True


def candidates_of(message: str, commits: Sequence[Commit], plans: Sequence[str] = ()) -> list[SentenceCandidate]:
    """Return the sentences of a turn's commits and of the closing message, and headings, which may become a title."""
    numbered = enumerate(commits[-MAX_COMMITS:], 1)
    candidates = [candidate for number, commit in numbered for candidate in _of_commit(number, commit)]
    blocks = markdown_blocks(clip(clean(message), _MAX_MESSAGE))
    candidates += (SentenceCandidate(f"s{number}", *place) for number, place in enumerate(_sentences(blocks), 1))
    headings = [block.text for block in blocks if block.kind == "heading"][:_MAX_HEADINGS]
    return [
        *candidates[: MAX_CANDIDATES - len(headings) - len(plans)],
        *(SentenceCandidate(f"h{number}", text, "heading", "heading") for number, text in enumerate(headings, 1)),
        *(SentenceCandidate(f"p{number}", text, "plan", "heading") for number, text in enumerate(plans, 1)),
    ]


def plan_headings(prompt: str, agreed: Sequence[str]) -> list[str]:
    """Return the headings of the plans that a turn carried out, from the prompt or agreed to during the turn."""
    plans = (markdown_blocks(plan[:_MAX_BODY]) for plan in (plan_in(prompt), *agreed))
    headings = [next((block.text for block in blocks if block.kind == "heading"), "") for blocks in plans]
    return [bare for heading in headings if (bare := unlabelled_plan(heading))][-_MAX_PLANS:]


def plan_in(prompt: str) -> str:
    """Return the plan of a prompt such as "Implement the following plan: …"; '' for any other prompt."""
    lead = _PLAN_LEAD.match(prompt)
    return prompt[lead.end() :] if lead else ""


def unlabelled_plan(text: str) -> str:
    """Return the beginning of a plan without the label "Plan:"."""
    return _PLAN_LABEL.sub("", text)


def _of_commit(number: int, commit: Commit) -> Iterator[SentenceCandidate]:
    yield SentenceCandidate(f"c{number}", commit.subject, "subject", "heading")
    body = markdown_blocks(without_trailers(commit.body))
    for at, (text, _, kind, under, lead, first) in enumerate(_sentences(body), 1):
        yield SentenceCandidate(f"c{number}.{at}", text, "body", kind, under, lead, first)


def without_trailers(body: str) -> str:
    """Return the body of a commit without the lines that name authors, reviewers and sessions."""
    return "\n".join(line for line in clean(body[:_MAX_BODY]).split("\n") if not _TRAILER.match(line.strip()))


_Place = tuple[str, Source, BlockKind, str, str, bool]


def _sentences(blocks: Iterable[MarkdownBlock]) -> Iterator[_Place]:
    """Yield the sentences of blocks with the heading and the lead sentence of each."""
    lead = ""
    for block in blocks:
        if block.kind == "heading":
            lead = ""
            continue
        parts = [block.text] if block.kind == "row" else sentences(block.text)
        for at, text in enumerate(parts):
            own_lead = "" if block.kind == "text" else lead
            yield _BANNER.sub("", text) or text, "closing", block.kind, block.under, own_lead, at == 0
        if block.kind == "text":
            lead = parts[-1].rstrip(":") if parts and parts[-1].endswith(":") else ""
