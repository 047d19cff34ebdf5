"""Answer of a model -> drafts and a summary. Tolerant of form, strict about content; never raises on any text."""

import re
from collections.abc import Mapping, Sequence

from claude_mem_lite.compress.compose import headline
from claude_mem_lite.compress.model.grounding import (
    has_work,
    is_copied,
    is_exact,
    is_known,
    is_left_open,
    is_shared,
    repeats_request,
)
from claude_mem_lite.compress.prose import titles
from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.compress.prose.drafts import make_draft, whole_sentences
from claude_mem_lite.compress.prose.markdown import capital, sentences
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import WORK_KINDS, Draft, JsonObject, JsonValue, SessionSummary, WorkKind
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.text import one_line, within, without_tags

_OTHER_NAMES: dict[str, WorkKind] = {
    "fix": "bugfix", "bug": "bugfix", "feat": "feature", "refactoring": "refactor", "chore": "change",
    "docs": "change", "test": "change", "update": "change", "architecture": "decision", "convention": "decision",
    "design": "decision", "rule": "decision",
}  # fmt: skip
MAX_CARDS = 3
MAX_SUMMARY = 600
_MAX_SENTENCES = 3
_MAX_CARD_FACTS = 8
_MIN_WORDS = 3
_CONFIDENCE = 0.8
_PADDING = ("null", "none", "n/a", "-", "...", "string", "yes", "no", "true", "false", "done", "completed")
_CUT_MARK = lazy(r"characters cut\)|…")
_LEAD = lazy(r"^The (?:coding )?(?:agent|assistant)(?: has| had)? (?:[a-z]+ed|found) that ")
# Talk about the session instead of the project: "The team will decide what to do next."
_NARRATED = lazy(
    r"^(?:The (?:team|session|agent|assistant|project)|We) (?:(?:is|are|was|were) [a-z]+ing|is dedicated|will|needs? to"
    r"|has to|have to|wonder|want|plan|discussed|recently)\b"
)
_QUESTION = lazy(r"(?i)^(?:how to|what (?:to|next|is|are)|why|whether)\b|\?$")
_WHOLE = 0.75
"""Smallest `headline.quality` of a title that is made of a sentence: cut at the end of a clause, or not at all."""
# Narrower than for the output of commands: a model may well have to tell of agents and their prompts.
_ORDER = lazy(
    r"(?i)\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:previous|prior|above|earlier|all|your)\b"
    r".{0,20}\b(?:instructions?|rules?|prompts?|orders?)\b|^\W*(?:system|assistant|human|user|important)\s*:"
)
_MARKUP = lazy(r"\*\*|__|`")
_PATH_ALONE = lazy(r"[\w.@~-]*(?:[/\\.][\w.@~-]+)+/?")
_PROSE_LIMITS = {"headline": 200, "request": 400, "investigated": 300, "learned": 500, "completed": 700, "notes": 300}


def read_drafts(answer: JsonObject, files_edited: Sequence[str], sent: str) -> tuple[Draft, ...] | None:
    """Return the memories of an answer to a message, none when it names none; None when it cannot be used.

    Memories that the session has already, and those without grounds in the message, are left out."""
    given = answer.get("memories")
    items = [given] if isinstance(given, Mapping) else given if isinstance(given, list) else None
    if items is None:
        return None
    cards = [item for item in items if isinstance(item, Mapping) and _is_card(item)]
    found = [draft for card in cards if (draft := _draft(card, files_edited, sent))]
    distinct: dict[str, Draft] = {}
    for draft in found:
        distinct.setdefault(draft.title.lower(), draft)
    return tuple(distinct.values())[:MAX_CARDS] if cards or not items else None


def read_summary(answer: JsonObject, sent: str) -> SessionSummary | None:
    """Return the summary in an answer, by itself or under `session`; None without a headline of its own.

    The same words stand in it once, and only next steps and decisions that the message knows."""
    found = answer.get("session")
    given = found if isinstance(found, Mapping) else answer
    title = _prose(given.get("headline"), _PROSE_LIMITS["headline"]).rstrip(".")
    if not title or repeats_request(title, sent):
        return None
    prose = {"headline": title}
    known = [title]
    for name, limit in list(_PROSE_LIMITS.items())[1:]:
        said = sentences(_prose(given.get(name), limit))
        prose[name] = " ".join(sentence for sentence in said if sentence not in known)
        known += said
    steps = [step for step in _list(given.get("next_steps"), 5, 160) if is_left_open(step, sent)]
    decisions = [choice for choice in _list(given.get("key_decisions"), 4, 260) if is_shared(choice, sent)]
    lists = {"next_steps": tuple(steps), "key_decisions": tuple(decisions)}
    return SessionSummary(**prose, **lists)  # type: ignore[arg-type]


def _is_card(item: JsonObject) -> bool:
    """Return whether an item has a summary and a title of more than a word or two."""
    return bool(_prose(item.get("summary"), MAX_SUMMARY)) and not _is_short(_prose(item.get("title"), 400))


def _draft(item: JsonObject, files_edited: Sequence[str], sent: str) -> Draft | None:
    """Return one memory; None when the session has it already, or when its summary has no grounds."""
    given, said = _prose(item.get("title"), 400), _summary(item.get("summary"), sent)
    if not said or is_known(given, sent):
        return None
    own = _title(given) if is_exact(given, sent) else ""
    title = own if own and not repeats_request(given, sent) else _title_of(said[0]) or own
    if not title:
        return None
    files = _files(item.get("files"), files_edited)
    return make_draft(
        _kind(item.get("kind"), bool(files), is_work=bool(files_edited) or has_work(sent)),
        title,
        whole_sentences(said[:_MAX_SENTENCES], MAX_SUMMARY),
        facts=_facts(item.get("facts"), sent),
        files=files,
        confidence=_CONFIDENCE,
    )


def _summary(value: JsonValue, sent: str) -> list[str]:
    """Return the sentences of a summary, each once: no request, and no name that the message does not have."""
    said = dict.fromkeys(capital(_LEAD.sub("", one)) for one in sentences(_prose(value, 4 * MAX_SUMMARY)))
    said = dict.fromkeys(one for one in said if not _NARRATED.match(one) and not one.endswith("?"))
    return [sentence for sentence in said if is_exact(sentence, sent) and not repeats_request(sentence, sent)]


def _facts(value: JsonValue, sent: str) -> list[str]:
    """Return the facts of which the message has every number and name, without pieces that the digest had cut."""
    found = _list(value, 3 * _MAX_CARD_FACTS, 4 * MAX_SUMMARY)
    kept = [fact for fact in found if is_copied(fact, sent) and not _CUT_MARK.search(fact)]
    return kept[:_MAX_CARD_FACTS]


def _is_short(title: str) -> bool:
    """Return whether a title has fewer than three words. Not every language puts spaces between its words."""
    return len(title.split()) < _MIN_WORDS if title.isascii() else not title


def _title(text: str) -> str:
    """Return a title as a headline; '' for a path alone, an empty phrase, a question, or one that cannot be cut."""
    text = titles.from_commit(_MARKUP.sub("", text).strip(" \"'“”-*#"))[0]
    text = headline.cut(text)
    min_weight = 1.5 if text.isascii() else 0.5
    if _is_short(text) or _PATH_ALONE.fullmatch(text) or _QUESTION.search(text) or titles.weight(text) < min_weight:
        return ""
    return text


def _title_of(sentence: str) -> str:
    """Return the headline of a sentence; '' when the cut would fall in the middle of a clause."""
    title = headline.of_sentence(sentence)
    return title if title and headline.quality(title, sentence) >= _WHOLE else ""


def _kind(value: JsonValue, edited: bool, *, is_work: bool) -> WorkKind:
    """Return the kind that an answer names; a turn that only looked around found something out or settled it."""
    name = re.sub(r"[\s-]+", "_", _string(value).strip().lower())
    kind = next((kind for kind in WORK_KINDS if name in (kind, f"{kind}s")), None)
    kind = kind or _OTHER_NAMES.get(name, "change" if edited else "discovery")
    return kind if is_work or kind == "decision" else "discovery"


def _files(value: JsonValue, edited: Sequence[str]) -> list[str]:
    """Return the edited files that are named, by whole path or by its end."""
    names = re.split(r"[,\n]", value) if isinstance(value, str) else value if isinstance(value, list) else []
    named = [name.strip(" `").removeprefix("./") for name in names if isinstance(name, str) and name.strip(" `./")]
    return [path for path in edited if any(f"/{path}".endswith(f"/{name.lstrip('/')}") for name in named)]


def _list(value: JsonValue, most: int, limit: int) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(said for item in items if (said := _prose(item, limit))))[:most]


def safe_prose(words: str) -> str:
    """Return words of a model on one line, without secrets and without orders to the reader."""
    return one_line(_safe(words))


def _prose(value: JsonValue, limit: int) -> str:
    """Return one line of plain words within a limit."""
    return within(one_line(_safe(_string(value))), limit)


def _safe(text: str) -> str:
    """Return text of a model without secrets, sentences that speak to the reader, and blocks that look like ours."""
    if text.strip(" \n.").lower() in _PADDING:
        return ""
    lines = without_tags(redact(clean(text[:20_000]))).split("\n")
    kept = (" ".join(part for part in sentences(line) if not _ORDER.search(part)) for line in lines)
    return "\n".join(kept).strip()


def _string(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "; ".join(item for item in value if isinstance(item, str))
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""
