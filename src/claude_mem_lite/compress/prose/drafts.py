"""Drafts within the limits of a memory, quotes of the user in a detail, and the prose of a prompt."""

import re
from collections.abc import Iterable
from functools import lru_cache

from claude_mem_lite.agents.claude_code import INJECTED_TAGS, INTERRUPTED, NOT_TYPED, NOTIFICATION, without_tags
from claude_mem_lite.compress.prose.clean import clean, clip, storable
from claude_mem_lite.compress.prose.markdown import markdown_blocks
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import (
    MAX_ANCHORS,
    MAX_DETAIL_LENGTH,
    MAX_FACTS,
    MAX_FILES,
    MAX_TITLE_LENGTH,
    Draft,
    Kind,
    Origin,
    SymbolChange,
)
from claude_mem_lite.text import one_line, within

SAID_LEAD = "The user said"
_QUOTED = lazy(r'said(?: on \S+)?: "([^"\n]*)"')
MAX_SUMMARY_LENGTH = 1_000
MAX_FACT_LENGTH = 240
_MAX_SYMBOLS = 40

_VAGUE_PROMPT = lazy(
    r"(?i)^(?:(?:yes|yeah|yep|y|ok|okay|sure|no|nope|go|go ahead|do it|do that|do so|please|continue|proceed|next"
    r"|done|great|good|perfect|thanks"
    r"|thank you|cool|nice|exactly|correct|right|looks good|lgtm|sounds good|try again|again|option|both|all"
    r"|all of them|commit|push|it|this|that"
    r"|and|the|let's|fix|implement|one|them|too|sorry|works|\d+|[a-d])[\s,.!;:]*)+$"
)
_PRIVATE = lazy(r"\[private\][.,;:]?")
_CLAUSE_END = lazy(r"(?=[,;:] | [–—-] | (?:and )?(?:because|since|so that|which|where|when|while|but|unless) )")
_BARE_COMMAND = lazy(r"/[\w:.-]+\s*$")
_NOT_PROSE = lazy(
    r"^\s*(?:at |File \"|Traceback|\d+\s*[|→]|[+-]{3} |diff --git|@@|[│├└┌╭╰>$❯]|\S+:\d+:\d+)|[{}\[\]\\|]{3,}"
)
_NOT_TYPED = (*NOT_TYPED, NOTIFICATION, INTERRUPTED)
_REMOVED_TAGS = (*INJECTED_TAGS, "command-message", "command-name", "command-args")


def quote_line(sentence: str, lead: str = SAID_LEAD, date: str = "") -> str:
    """Return a line with a sentence of the user, for a lead that ends with `said`."""
    return f'{lead}{f" on {date}" if date else ""}: "{sentence}"'


def quoted_in(detail: str) -> list[str]:
    """Return the quoted sentences of a detail."""
    return _QUOTED.findall(detail)


def is_quote_of(line: str, sentence: str) -> bool:
    """Return True if a line quotes a sentence; the limit of a detail may have cut the line."""
    quoted = line.partition(': "')[2]
    is_cut = line.endswith("…") and sentence.startswith(quoted[:-1])
    return bool(quoted) and (is_cut or quoted.startswith(f'{sentence}"'))


def make_draft(
    kind: Kind,
    title: str,
    summary: str,
    *,
    detail: str = "",
    facts: Iterable[str] = (),
    files: Iterable[str] = (),
    symbols: Iterable[SymbolChange] = (),
    anchors: Iterable[str] = (),
    origin: Origin = "assistant",
    confidence: float = 0.7,
) -> Draft:
    """Return a draft within the limits of a memory."""
    tidy_facts = (within(_tidy(fact), MAX_FACT_LENGTH) for fact in facts)
    return Draft(
        kind=kind,
        title=within(_tidy(_PRIVATE.sub("", title)), MAX_TITLE_LENGTH).rstrip(" ."),
        summary=within(_tidy(summary), MAX_SUMMARY_LENGTH),
        detail=clip(storable(detail).strip(), MAX_DETAIL_LENGTH),
        facts=tuple(dict.fromkeys(fact for fact in tidy_facts if fact))[:MAX_FACTS],
        files=tuple(dict.fromkeys(files))[:MAX_FILES],
        symbols=tuple(dict.fromkeys(symbols))[:_MAX_SYMBOLS],
        anchors=tuple(dict.fromkeys(anchors))[:MAX_ANCHORS],
        origin=origin,
        confidence=confidence,
    )


@lru_cache(maxsize=8)
def prompt_text(prompt: str) -> str:
    """Return the prose of a prompt on one line, without logs, code and texts of the client; '' for a vague prompt."""
    if prompt.lstrip().startswith(_NOT_TYPED):
        return ""
    text = without_tags(_PRIVATE.sub(" ", clip(clean(prompt), 20_000)), _REMOVED_TAGS)
    lines = [line for line in text.split("\n") if not _NOT_PROSE.search(line[:300])]
    blocks = (block for block in markdown_blocks("\n".join(lines)) if block.kind != "row")
    prose = " ".join(f"{block.text}." if block.kind == "heading" else block.text for block in blocks)
    is_vague = len(prose) < 200 and _VAGUE_PROMPT.match(prose)
    return "" if is_vague or _BARE_COMMAND.match(prose) or not re.search(r"\w", prose) else prose


def whole_sentences(parts: Iterable[str], limit: int) -> str:
    """Return as many sentences as fit, each with a full stop; a first sentence that is too long is cut after a
    clause."""
    text = ""
    for part in parts:
        piece = one_line(part).rstrip(" :;,-")
        if not piece:
            continue
        piece = _ended(piece)
        if text and len(text) + 1 + len(piece) > limit:
            break
        text = f"{text} {piece}" if text else _ended(whole_clauses(piece, limit))
    return text


def _ended(piece: str) -> str:
    is_whole = piece.rstrip(")\"'")[-1:] in tuple(".!?…。！？") or piece.startswith("/")
    return piece if is_whole else f"{piece}."


def whole_clauses(text: str, limit: int) -> str:
    """Return a text, or as many clauses as fit; a first clause that is too long is cut between words."""
    if len(text) <= limit:
        return text
    ends = [match.start() for match in _CLAUSE_END.finditer(text, limit // 3, limit)]
    return _closed(text[: ends[-1]].rstrip(" ,;:–—-")) if ends else within(text, limit)


def _closed(text: str) -> str:
    """Return a text without a bracket that a cut left open."""
    start = text.rfind("(")
    return text[:start].rstrip(" ,;:–—-") if start > 0 and ")" not in text[start:] else text


def _tidy(text: str) -> str:
    return one_line(storable(text))
