"""Answer of a model -> drafts and a summary. Tolerant of form, strict about content; never raises on any text.

Small models invent names and next steps, copy the request, and repeat known titles. So the message must contain the
words of an answer, and the words must say more than the request."""

import re
from collections.abc import Mapping, Sequence

from claude_mem_lite.compress.compose import headline
from claude_mem_lite.compress.prose import titles
from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.compress.prose.drafts import make_draft, whole_sentences
from claude_mem_lite.compress.prose.markdown import capital, sentences
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import WORK_KINDS, Draft, JsonObject, JsonValue, SessionSummary, WorkKind
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.text import one_line, overlap, within, without_tags

_MIN_SAME, _MIN_SAME_BACK = 0.9, 0.5
_MAX_REQUEST = 300
"""A longer request is a plan or a report: a memory may repeat the sentences."""
_MIN_SHARED, _MIN_COPIED = 0.6, 0.75
_REQUEST = lazy(r"^(?:Asked:\n|Goal of the session: )(.+)$", re.M)
_TITLES = lazy(r"^Titles so far:\n((?:- .+\n?)+)", re.M)
_CLOSING = lazy(r"^(?:Said at the end:\n(.+)|- still on the to-do list: ([^\n]+))", re.M | re.S)
# Paths, file names, snake_case, camelCase and calls: no plain word looks like these.
_NAME = lazy(r"\w+\(\)|[\w-]+(?:[/\\][\w.-]+)+|\w+\.[a-z]\w{0,4}\b|\w+_\w+|[a-z]+[A-Z]\w+")
_NUMBER = lazy(r"\d[\d.,]*")
_WORK = lazy(r"^(?:Edited|Ran|Committed):$", re.M)
_KIND_ALIASES: dict[str, WorkKind] = {
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
# Sentences about the session instead of the project: "The team will decide what to do next."
_NARRATED = lazy(
    r"^(?:The (?:team|session|agent|assistant|project)|We) (?:(?:is|are|was|were) [a-z]+ing|is dedicated|will|needs? to"
    r"|has to|have to|wonder|want|plan|discussed|recently)\b"
)
_QUESTION = lazy(r"(?i)^(?:how to|what (?:to|next|is|are)|why|whether)\b|\?$")
_WHOLE = 0.75
"""Minimum `headline.quality` of a title from a sentence: cut at the end of a clause, or not cut."""
# Narrower than for the output of commands: a model may have to mention agents and prompts.
_ORDER = lazy(
    r"(?i)\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:previous|prior|above|earlier|all|your)\b"
    r".{0,20}\b(?:instructions?|rules?|prompts?|orders?)\b|^\W*(?:system|assistant|human|user|important)\s*:"
)
_MARKUP = lazy(r"\*\*|__|`")
_PATH_ALONE = lazy(r"[\w.@~-]*(?:[/\\.][\w.@~-]+)+/?")
_PROSE_LIMITS = {"headline": 200, "request": 400, "investigated": 300, "learned": 500, "completed": 700, "notes": 300}


def is_exact(text: str, sent: str) -> bool:
    """Return whether a message has all the names of a text."""
    known = sent.lower()
    return all(name.rstrip("().").lower() in known for name in _NAME.findall(text))


def is_copied(fact: str, sent: str) -> bool:
    """Return whether a message has all the names and numbers of a fact, and nearly all of its words."""
    has_numbers = all(number.rstrip(".,") in sent for number in _NUMBER.findall(fact))
    return has_numbers and is_exact(fact, sent) and overlap(fact, sent) >= _MIN_COPIED


def has_work(sent: str) -> bool:
    """Return whether a message contains edits, commands or commits."""
    return _WORK.search(sent) is not None


def repeats_request(text: str, sent: str) -> bool:
    """Return whether a text says no more than a short request of the message."""
    requests = [request for request in _REQUEST.findall(sent[:4_000]) if len(request) <= _MAX_REQUEST]
    return any(_is_same(text, request) for request in requests)


def is_known(title: str, sent: str) -> bool:
    """Return whether a title is among the titles so far."""
    titles = _TITLES.search(sent)
    return any(_is_same(title, line) for line in (titles[1].split("\n") if titles else ()))


def is_shared(text: str, sent: str) -> bool:
    """Return whether the message contains most of the words of a text."""
    return overlap(text, sent) >= _MIN_SHARED


def is_left_open(step: str, sent: str) -> bool:
    """Return whether one sentence of the closing message, or the to-do list, contains a next step."""
    parts = _CLOSING.findall(sent) or [(sent, "")]
    texts = [text for closing, tasks in parts for text in (*sentences(closing), tasks)]
    return any(overlap(step, text) >= _MIN_SHARED for text in texts)


def _is_same(text: str, known: str) -> bool:
    return overlap(text, known) >= _MIN_SAME and overlap(known, text) >= _MIN_SAME_BACK


def read_drafts(answer: JsonObject, files_edited: Sequence[str], sent: str) -> tuple[Draft, ...] | None:
    """Return the memories of an answer to a message; None for an unusable answer.

    Memories that the session has already, and memories without grounds in the message, are left out."""
    memories = answer.get("memories")
    items = [memories] if isinstance(memories, Mapping) else memories if isinstance(memories, list) else None
    if items is None:
        return None
    cards = [item for item in items if isinstance(item, Mapping) and _is_card(item)]
    distinct: dict[str, Draft] = {}
    for draft in (_draft(card, files_edited, sent) for card in cards):
        if draft:
            distinct.setdefault(draft.title.lower(), draft)
    return tuple(distinct.values())[:MAX_CARDS] if cards or not items else None


def read_summary(answer: JsonObject, sent: str) -> SessionSummary | None:
    """Return the summary in an answer, by itself or under `session`; None without a headline.

    No sentence is repeated, and only next steps and decisions of the message are kept."""
    session = answer.get("session")
    parts = session if isinstance(session, Mapping) else answer
    title = _prose(parts.get("headline"), _PROSE_LIMITS["headline"]).rstrip(".")
    if not title or repeats_request(title, sent):
        return None
    prose = {"headline": title}
    known = [title]
    for name, limit in list(_PROSE_LIMITS.items())[1:]:
        texts = sentences(_prose(parts.get(name), limit))
        prose[name] = " ".join(sentence for sentence in texts if sentence not in known)
        known += texts
    steps = [step for step in _list(parts.get("next_steps"), 5, 160) if is_left_open(step, sent)]
    decisions = [choice for choice in _list(parts.get("key_decisions"), 4, 260) if is_shared(choice, sent)]
    lists = {"next_steps": tuple(steps), "key_decisions": tuple(decisions)}
    return SessionSummary(**prose, **lists)  # type: ignore[arg-type]


def _is_card(item: JsonObject) -> bool:
    """Return whether an item has a summary and a title of more than a word or two."""
    return bool(_prose(item.get("summary"), MAX_SUMMARY)) and not _is_short(_prose(item.get("title"), 400))


def _draft(item: JsonObject, files_edited: Sequence[str], sent: str) -> Draft | None:
    """Return one memory; None for a memory that the session has already, or a summary without grounds."""
    proposed, summary = _prose(item.get("title"), 400), _summary(item.get("summary"), sent)
    if not summary or is_known(proposed, sent):
        return None
    own = _title(proposed) if is_exact(proposed, sent) else ""
    title = own if own and not repeats_request(proposed, sent) else _title_of(summary[0]) or own
    if not title:
        return None
    files = _files(item.get("files"), files_edited)
    return make_draft(
        _kind(item.get("kind"), bool(files), is_work=bool(files_edited) or has_work(sent)),
        title,
        whole_sentences(summary[:_MAX_SENTENCES], MAX_SUMMARY),
        facts=_facts(item.get("facts"), sent),
        files=files,
        confidence=_CONFIDENCE,
    )


def _summary(value: JsonValue, sent: str) -> list[str]:
    """Return the distinct sentences of a summary, without requests and without names that the message lacks."""
    texts = dict.fromkeys(capital(_LEAD.sub("", text)) for text in sentences(_prose(value, 4 * MAX_SUMMARY)))
    prose = (text for text in texts if not _NARRATED.match(text) and not text.endswith("?"))
    return [text for text in prose if is_exact(text, sent) and not repeats_request(text, sent)]


def _facts(value: JsonValue, sent: str) -> list[str]:
    """Return the facts with numbers and names of the message, without pieces that the digest had cut."""
    facts = _list(value, 3 * _MAX_CARD_FACTS, 4 * MAX_SUMMARY)
    kept = [fact for fact in facts if is_copied(fact, sent) and not _CUT_MARK.search(fact)]
    return kept[:_MAX_CARD_FACTS]


def _is_short(title: str) -> bool:
    """Return whether a title has fewer than three words. Not every language separates words by spaces."""
    return len(title.split()) < _MIN_WORDS if title.isascii() else not title


def _title(text: str) -> str:
    """Return a title as a headline; '' for a path, an empty phrase, a question, or a title that cannot be cut."""
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
    """Return the kind that an answer names; a turn without work has discoveries and decisions only."""
    name = re.sub(r"[\s-]+", "_", _string(value).strip().lower())
    kind = next((kind for kind in WORK_KINDS if name in (kind, f"{kind}s")), None)
    kind = kind or _KIND_ALIASES.get(name, "change" if edited else "discovery")
    return kind if is_work or kind == "decision" else "discovery"


def _files(value: JsonValue, edited: Sequence[str]) -> list[str]:
    """Return the edited files that an answer names, by whole path or by the end of the path."""
    names = re.split(r"[,\n]", value) if isinstance(value, str) else value if isinstance(value, list) else []
    named = [name.strip(" `").removeprefix("./") for name in names if isinstance(name, str) and name.strip(" `./")]
    return [path for path in edited if any(f"/{path}".endswith(f"/{name.lstrip('/')}") for name in named)]


def _list(value: JsonValue, max_items: int, limit: int) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(text for item in items if (text := _prose(item, limit))))[:max_items]


def safe_prose(words: str) -> str:
    """Return words of a model on one line, without secrets and without orders to the reader."""
    return one_line(_safe(words))


def _prose(value: JsonValue, limit: int) -> str:
    """Return one line of plain words within a limit."""
    return within(one_line(_safe(_string(value))), limit)


def _safe(text: str) -> str:
    """Return text of a model without secrets, orders to the reader, and imitations of injected blocks."""
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
