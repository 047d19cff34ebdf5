"""Sentences of a turn that may carry a memory: those of its commits and of the closing message, with their places.

The composer, the sentence judge and the labels all number sentences by this module. Pure; never raises on odd text."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from claude_mem_lite.compress.prose.clean import clean, clip
from claude_mem_lite.compress.prose.markdown import Passage, PassageKind, passages, sentences
from claude_mem_lite.compress.toolcalls.shell import Commit
from claude_mem_lite.lazy_regex import lazy

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
_WORD = re.compile(r"\w+")
_BANNER = lazy(r"^(?:\W*\w+\W*)?[─━═]{3,}\W*|\s*[─━═]{3,}\W*$")
"""A line drawn beside a word, which stands before the first sentence below it, or after the last one above it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One sentence with its place in the turn."""

    ref: str
    """`c1` the subject of the first commit, `c1.2` the second sentence of its body, `s3` the third of the closing
    message, `h1` its first heading, `p1` the heading of a plan."""
    text: str
    source: Source
    kind: PassageKind
    under: str = ""
    """The heading above the sentence."""
    lead: str = ""
    """The sentence that introduces the list of the sentence: "The causes were:"."""
    first_of_passage: bool = True

    @property
    def fingerprint(self) -> str:
        """Return a short hash of the words, by which a label refers to the sentence."""
        return fingerprint(self.text)


def fingerprint(text: str) -> str:
    """Return a hash of the words of a text that ignores case, marks and white space."""
    words = " ".join(_WORD.findall(text.lower()))
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:12]


def candidates_of(message: str, commits: Sequence[Commit], plans: Sequence[str] = ()) -> list[Candidate]:
    """Return the sentences of a turn's commits, those of its closing message, and headings, which may give a title."""
    found = [one for number, commit in enumerate(commits[-MAX_COMMITS:], 1) for one in _of_commit(number, commit)]
    parts = passages(clip(clean(message), _MAX_MESSAGE))
    found += (Candidate(f"s{number}", *place) for number, place in enumerate(_sentences(parts), 1))
    headings = [part.text for part in parts if part.kind == "heading"][:_MAX_HEADINGS]
    found = found[: MAX_CANDIDATES - len(headings) - len(plans)]
    found += (Candidate(f"h{number}", text, "heading", "heading") for number, text in enumerate(headings, 1))
    found += (Candidate(f"p{number}", text, "plan", "heading") for number, text in enumerate(plans, 1))
    return found


def plan_headings(prompt: str, agreed: Sequence[str]) -> list[str]:
    """Return the headings of the plans that a turn carried out: given in its prompt, or agreed to during the turn."""
    asked = plan_in(prompt)
    texts = [*([asked] if asked else ()), *agreed]
    found = [next((part.text for part in passages(text[:_MAX_BODY]) if part.kind == "heading"), "") for text in texts]
    return [bare for heading in found if (bare := unlabelled_plan(heading))][-_MAX_PLANS:]


def plan_in(prompt: str) -> str:
    """Return the plan that a prompt orders to carry out, without the words that only announce it; '' for none."""
    asked = _PLAN_LEAD.match(prompt)
    return prompt[asked.end() :] if asked else ""


def unlabelled_plan(text: str) -> str:
    """Return what a plan is called or begins with, without the word that it is one."""
    return _PLAN_LABEL.sub("", text)


def _of_commit(number: int, commit: Commit) -> Iterator[Candidate]:
    yield Candidate(f"c{number}", commit.subject, "subject", "heading")
    body = passages(without_trailers(commit.body))
    for at, (text, _, kind, under, lead, first) in enumerate(_sentences(body), 1):
        yield Candidate(f"c{number}.{at}", text, "body", kind, under, lead, first)


def without_trailers(body: str) -> str:
    """Return the body of a commit without the lines that name authors, reviewers and sessions."""
    return "\n".join(line for line in clean(body[:_MAX_BODY]).split("\n") if not _TRAILER.match(line.strip()))


Place = tuple[str, Source, PassageKind, str, str, bool]


def _sentences(found: Iterable[Passage]) -> Iterator[Place]:
    """Yield the sentences of passages with the heading and the lead sentence of each."""
    lead = ""
    for passage in found:
        if passage.kind == "heading":
            lead = ""
            continue
        parts = [passage.text] if passage.kind == "row" else sentences(passage.text)
        for at, text in enumerate(parts):
            yield (
                _BANNER.sub("", text) or text,
                "closing",
                passage.kind,
                passage.under,
                "" if passage.kind == "text" else lead,
                at == 0,
            )
        if passage.kind == "text":
            lead = parts[-1].rstrip(":") if parts and parts[-1].endswith(":") else ""
