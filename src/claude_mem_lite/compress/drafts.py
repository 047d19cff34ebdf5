"""The last step before a memory: texts put together within their limits, and the prompt as the reason why."""

import re
from collections.abc import Iterable

from claude_mem_lite.compress.clean import clean, clip, storable
from claude_mem_lite.compress.prose import passages, sentences
from claude_mem_lite.models import Draft, Kind, Origin, SymbolChange

LONGEST_TITLE = 200
LONGEST_SUMMARY = 1_000
LONGEST_DETAIL = 2_000
LONGEST_FACT = 240
_MOST_FACTS = 12
_MOST_FILES = 20
_MOST_SYMBOLS = 30
_LONGEST_WHY = 260

_VAGUE_PROMPT = re.compile(
    r"(?i)^(?:(?:yes|yeah|yep|y|ok|okay|sure|no|nope|go|go ahead|do it|do that|do so|please|continue|proceed|next"
    r"|done|great|good|perfect|thanks"
    r"|thank you|cool|nice|exactly|correct|right|looks good|lgtm|sounds good|try again|again|option|both|all"
    r"|all of them|commit|push|it|this|that"
    r"|and|the|let's|fix|implement|one|them|too|sorry|works|\d+|[a-d])[\s,.!;:]*)+$"
)
_BARE_COMMAND = re.compile(r"/[\w:.-]+\s*$")
_NOT_PROSE = re.compile(
    r"^\s*(?:at |File \"|Traceback|\d+\s*[|→]|[+-]{3} |diff --git|@@|[│├└┌╭╰>$❯]|\S+:\d+:\d+)|[{}\[\]\\|]{3,}"
)
_INJECTED = re.compile(
    r"<(system-reminder|hook_context|command-message|command-name|command-args|local-command-\w+|ide_\w+)>.*?</\1>",
    re.S,
)


def make_draft(
    kind: Kind,
    title: str,
    summary: str,
    *,
    detail: str = "",
    facts: Iterable[str] = (),
    files: Iterable[str] = (),
    symbols: Iterable[SymbolChange] = (),
    origin: Origin = "assistant",
    confidence: float = 0.7,
) -> Draft:
    """A draft within the limits of a memory."""
    tidy_facts = (within(one_line(fact), LONGEST_FACT) for fact in facts)
    return Draft(
        kind=kind,
        title=within(one_line(title), LONGEST_TITLE).rstrip(" ."),
        summary=within(one_line(summary), LONGEST_SUMMARY),
        detail=clip(storable(detail).strip(), LONGEST_DETAIL),
        facts=tuple(dict.fromkeys(fact for fact in tidy_facts if fact))[:_MOST_FACTS],
        files=tuple(dict.fromkeys(files))[:_MOST_FILES],
        symbols=tuple(dict.fromkeys(symbols))[:_MOST_SYMBOLS],
        origin=origin,
        confidence=confidence,
    )


def prompt_text(prompt: str) -> str:
    """The prose of a prompt on one line, without pasted logs, code and what clients add; '' when it says nothing."""
    text = clip(clean(prompt), 20_000)
    text = _INJECTED.sub(" ", text) if "<" in text else text
    lines = [line for line in text.split("\n") if not _NOT_PROSE.search(line[:300])]
    found = [
        f"{passage.text}." if passage.kind == "heading" else passage.text
        for passage in passages("\n".join(lines))
        if passage.kind != "row"
    ]
    said = " ".join(found)
    if _BARE_COMMAND.match(said):
        return ""
    return "" if not re.search(r"\w", said) or (_VAGUE_PROMPT.match(said[:200]) and len(said) < 200) else said


def why(prompt: str, title: str = "") -> str:
    """The reason for a turn's work, from its prompt: "Asked: …"; '' when it has none or the title says it all."""
    said = prompt_text(prompt)
    words = set(re.findall(r"\w+", said.lower()))
    if len(said.split()) < 3 or words <= set(re.findall(r"\w+", title.lower())):
        return ""
    return f"Asked: {whole_sentences(sentences(said), _LONGEST_WHY)}"


def whole_sentences(parts: Iterable[str], limit: int) -> str:
    """As many sentences as fit, each with its end; the first one cut at a word when it alone is too long."""
    text = ""
    for part in parts:
        piece = one_line(part).rstrip(" :;,-")
        if not piece:
            continue
        piece = piece if piece[-1] in ".!?…。！？)" or piece.startswith("/") else f"{piece}."
        if text and len(text) + 1 + len(piece) > limit:
            break
        text = f"{text} {piece}" if text else within(piece, limit)
    return text


def within(text: str, limit: int) -> str:
    """At most `limit` characters, cut between words and marked when something is missing."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip(" ,;:-") + "…"


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(storable(text).split())
