"""A plan that the user agreed to -> one memory of it: what was meant to be done, and how."""

from claude_mem_lite.compress.language import titles
from claude_mem_lite.compress.language.closing import read_closing
from claude_mem_lite.compress.language.drafts import as_list, make_draft, whole_sentences
from claude_mem_lite.compress.tools.steps import Agreed
from claude_mem_lite.models import Draft
from claude_mem_lite.patterns import lazy

_LABEL = lazy(r"(?i)^(?:(?:implementation|work|migration|refactoring) )?plan(?:\s*[:–—-]\s*|\s+(?:for|to)\s+|\s*$)")
_BARE = lazy(r"(?i)^(?:context|overview|goal|summary|background|steps?|approach|problem|changes?)\W*$")
_LEAST_WEIGHT = 2
_LONGEST_SUMMARY = 300
_LONGEST_LIST = 500


def plan_draft(agreed: Agreed) -> Draft | None:
    """The memory of a plan; none when it cannot be told what it is about."""
    said = read_closing(agreed.plan)
    headings = [_LABEL.sub("", heading) for heading in said.headings if not _BARE.match(heading)]
    names = [titles.shorten(heading) for heading in headings[:1]] + [
        titles.from_statement(text) for text in said.told[:1]
    ]
    name = next((name for name in names if titles.weight(name) >= _LEAST_WEIGHT), "")
    if not name:
        return None
    told = [text for text in said.told if titles.from_statement(text) != name]
    summary = whole_sentences(told[:3] or said.points[:3], _LONGEST_SUMMARY)
    points = [point for point in said.points if point.rstrip(".") not in summary]
    return make_draft(
        "decision",
        f"Plan: {name}",
        summary or f"The user agreed to the plan: {name}.",
        detail=as_list(points, _LONGEST_LIST),
        confidence=0.6,
    )
