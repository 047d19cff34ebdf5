"""One memory: all that is known of it, where it came from, what became of it, and what can be done about it."""

from collections.abc import Iterator

from claude_mem_lite.client.responses import part
from claude_mem_lite.code.syntax.anchors import read_anchor
from claude_mem_lite.models import MAX_TEXT_LENGTH, JsonObject, text, texts
from claude_mem_lite.ui.actions import mark_of, said
from claude_mem_lite.ui.repeated_text import listed
from claude_mem_lite.ui.templating import MAX_SHOWN, Asked, render, shortened

_MAX_FACT_LENGTH = 1_000
_MAX_FACTS = 50
_FRESHNESS = {
    "fresh": "The code is as it tells.",
    "changed": "It may be stale: the code it tells of is another now.",
    "gone": "The code it tells of is gone.",
}


def memory(asked: Asked) -> str:
    """The page, or all of a long text."""
    story = asked.client.story(asked.path["id"])
    told = asked.client.record(text(story.get("id")))
    if asked.chosen("all"):
        return render("memory_whole.html", memory=told, text=shortened(said(told), is_all=True))
    return render(
        "memory.html",
        memory={**told, "verdict": text(part(told, "freshness").get("verdict"))},
        project=story.get("project"),
        story=story,
        **_words(told, has_prompt=story.get("turn") is not None),
        anchors=list(_anchors(told)),
        freshness=_freshness(told),
        reasons=_reasons(told),
        mark=mark_of(told),
    )


def _words(told: JsonObject, *, has_prompt: bool) -> dict[str, object]:
    """What it says, as much of it as is shown, and as it is edited; what is too long is not edited here. What was asked
    is left out where the page quotes the prompt."""
    detail = text(told.get("detail"))
    shown = listed(told, has_prompt=has_prompt)
    summary = text(shown.get("more"))
    whole = said(told)
    facts = texts(told.get("facts"))
    return {
        "title": text(shown.get("title")),
        "summary": shortened(summary),
        "detail": shortened(detail, most=max(MAX_SHOWN - len(summary), 0)),
        "facts": [fact[:_MAX_FACT_LENGTH] for fact in facts[:_MAX_FACTS]],
        "length": len(whole),
        "is_cut": len(summary) + len(detail) > MAX_SHOWN
        or len(facts) > _MAX_FACTS
        or any(len(fact) > _MAX_FACT_LENGTH for fact in facts),
        "edited": whole,
        "is_editable": len(whole) <= MAX_TEXT_LENGTH and len(text(told.get("title"))) <= _MAX_FACT_LENGTH,
    }


def _anchors(told: JsonObject) -> Iterator[tuple[str, str]]:
    """What ties it to something outside, as what it is and its name."""
    for written in texts(told.get("anchors")):
        if code := read_anchor(written):
            yield ("code" if code.name else "file"), f"{code.file}: {code.name}" if code.name else code.file
        else:
            kind, _, name = written.partition(":")
            yield kind, name


def _freshness(told: JsonObject) -> str:
    found = told.get("freshness")
    if not isinstance(found, dict):
        return ""
    return _FRESHNESS.get(text(found.get("verdict")), "")


def _reasons(told: JsonObject) -> tuple[str, ...]:
    found = told.get("freshness")
    return texts(found.get("reasons")) if isinstance(found, dict) else ()
