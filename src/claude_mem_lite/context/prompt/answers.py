"""Prompts that ask about the past or the state of a project, and the search hits that answer, with sentences, or none.

`docs/moments.md` explains the choice of the numbers."""

import math
import re
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.context.eligibility import Eligibility
from claude_mem_lite.context.item_block import BlockItem
from claude_mem_lite.context.layers.sessions import not_here
from claude_mem_lite.context.order import GONE, OUTRANKED, REPEATED
from claude_mem_lite.context.prompt.keywords import COMMON, Keywords
from claude_mem_lite.context.prompt.named_question import (
    DOUBTED,
    NOT_STATED,
    NamedQuestion,
    doubted,
    has_capitalised,
    named_question,
    names_all,
    statements_of,
    why_not_stated,
    with_capitalised,
)
from claude_mem_lite.context.prompt.scoring import Floor, source_of
from claude_mem_lite.context.request import ContextRequest, Search
from claude_mem_lite.models import RAW, Memory, Passage
from claude_mem_lite.safety.injection import looks_like_an_attack, looks_like_instructions
from claude_mem_lite.search_values import Filters, Hit
from claude_mem_lite.store import memories
from claude_mem_lite.store.index import fts, passages
from claude_mem_lite.text import one_line, overlap, tokens_of, within, words_among
from claude_mem_lite.values import frozen

MAX_LENGTH = 400
"""Maximum length of a question: a longer prompt gives a task, or pastes text, and asks in passing."""
# A dot within a name does not end a sentence.
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?=[^\s.!?]))+[.!?]*")
_REMINDED = r"(?:remind me|(?:do|can) you (?:still )?(?:remember|recall))\b(?!\s+to\b)[,:]?\s+"
_PREFACE = rf"(?:{_REMINDED}|(?:and|but|so|ok|okay|hm+|well|also|again|wait|actually|tell me)\b[,:]?\s+)*"
_OPENING = re.compile(rf"(?i)\s*{_PREFACE}")
# A request to the agent is a task; "how do I" may ask about the project.
_REQUEST = re.compile(
    r"(?i)^(?:(?:did|have)\s+you|(?:can|could|would|will|shall|do|are|may)\s+(?:you|i|we start|we begin))\b"
    r"|\bplease\b|\b(?:can|could|would|will) you\b|\bwhat do you (?:think|mean|suggest|need|want)\b"
    r"|\bhow about\b|\bwhat about\b|\bwhat if\b|^why (?:not|don'?t (?:you|we))\b|\bwhat(?:'s| is) next\b"
    r"|\blet['’]s\b|(?:^|[.!?,;:\n]\s*|\b(?:and|but|so|then)\s+)lets\b"
    r"|(?:^|[.!?,;:\n]\s*|\b(?:and|but|so|then|now)\s+)(?:i|we) (?:do )?(?:want|need) to\b"
    r"|^should (?:i|we)\b(?!.*\b(?:was|were|did|had)\b)"
)
# Demonstratives that are the subject of the question, or stand alone, point to the present talk or its files.
_PRESENT = re.compile(
    r"(?i)\b(?:is|are|was|were|does|do|did|has|have|had|can|could|may|must|should|will|would)(?:n['’]t)?\s+"
    r"(?:this|these)\b(?!\s+(?:app|application|codebase|machine|month|project|repo|repository|week|year)\b)"
    r"|\b(?:this|these)(?=\s*(?:[.?!,;:)]|$)|\s+(?:again|already|and|as|before|in|now|on|or|too|yet)\b)"
    r"|(?<![\w./-])here\b(?![.-]\w)"
)
# So does what the agent said or thinks, unless a past time is named.
_SAID = re.compile(r"(?i)\byou (?:just |also )?(?:mean|mention(?:ed)?|proposed?|said|say|suggest(?:ed)?|think)\b")
_PAST_TIME = re.compile(
    r"(?i)\byesterday\b|\bago\b|\bback (?:in|then|when)\b|\bthe other day\b"
    r"|\b(?:last|previous) (?:[a-z]+day|month|night|quarter|release|session|spring|sprint|summer|time|week|year)\b"
)
_ASKED = re.compile(
    rf"(?i)(?:^|[,;:–-]\s*|\band\s+){_PREFACE}(?:in |on |at |to |for |from |since |with |by )?"
    r"(?:what|which|why|how|when|where|who|whose|was|were|is|are|does|did|do|has|have|had|may|must|should)\b"
)
# These openings ask about the past, even without a question mark.
_PLAINLY_ASKED = re.compile(
    rf"(?i)\s*{_PREFACE}(?:{_REMINDED}|(?:why|which|(?:what|when|where|who|how)\s+(?:did|was|were)"
    r"|(?:did|have)\s+(?:i|we)\s+ever)\b)"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
# Fences, rules, and the line below the head of a table.
_NO_WORDS = re.compile(r"(?:```|~~~)\w*|[\W_]*")
# A longer text would exceed the deadline.
_MAX_READ = 12_000
FLOOR = 1.35
"""Minimum of the best hit; below, nothing is injected."""
FLOOR_BY_WORDS = FLOOR / 3
"""Floor without vectors, when only words count."""
MAX_ANSWERS = 3
MAX_HITS = 6
MAX_NAMED_HITS = 12
"""Hits of a question that names code: most have the name and do not answer."""
MAX_NEAR = 40
"""Hits of such a question that may cast doubt on an answer: with 12, 7 of 120 statements that a later one in other
words replaces were given all the same."""
MAX_SHORT = 4
"""Maximum of words in a short question, which is about its rarest words."""
MAX_EXCERPT = 900
"""Maximum length of an excerpt."""
# Hits beside the best hit need a little less.
_BESIDE_BEST = 0.9
_LACKING = 1.2
_NEARLY = 2
_MOSTLY = 0.7
_OF_COSINE = 2.0
_DIGITS = 2
_MAX_NAMED = 5
_MAX_COUNTED = 1_000
_FILLERS = frozenset(("actually", "always", "ever", "exactly", "never", "really", "still"))
_BELOW = "below the floor of answers"
_WITHOUT_TEXT = "it has no text"
_STATED = Floor(0.0, exception="it states the answer")
_LABELS = {"turn": "earlier turn", "session": "earlier session"}


@frozen
class AnswerCandidate:
    """Hit of a question, with a reason if left out."""

    item: BlockItem
    sure: float
    parts: Mapping[str, float]
    """Share of words, and cosine if known."""
    floor: Floor
    left_out: str = ""

    def explained(self) -> str:
        """Return the sureness as a sum with its floor: `sure 1.62 = words 0.7 + 2 × cosine 0.46; the floor is 1.35`."""
        near = f" + {_OF_COSINE:g} × cosine {self.parts['cosine']:g}" if "cosine" in self.parts else ""
        return f"sure {self.sure:g} = words {self.parts['words']:g}{near}; the floor is {self.floor.product()}"


def sureness(hit: Hit) -> float:
    """Return the sureness that a hit answers the question: share of words plus twice the cosine."""
    parts = _parts(hit)
    return round(parts["words"] + _OF_COSINE * parts.get("cosine", 0.0), _DIGITS)


def answers(
    db: sqlite3.Connection, question: Keywords, request: ContextRequest, eligibility: Eligibility, search: Search
) -> list[AnswerCandidate]:
    """Return the hits of a question, best first; hits that answer have no reason to be left out."""
    named = named_question(question.text)
    is_capitalised = has_capitalised(question.text)
    limit = MAX_NEAR if named or is_capitalised else MAX_HITS
    near = search(db, question.text, Filters(project=request.location.project), request.now, limit)
    hits = near[:MAX_NAMED_HITS]
    if is_capitalised:
        named = with_capitalised(question.text, [hit.found for hit in _unfolded(db, hits)])
        hits = hits if named else hits[:MAX_HITS]
    if named and named.is_closed:
        near, hits = _unfolded(db, near), _unfolded(db, hits)
    eligible = eligibility.eligible([hit.found for hit in hits if isinstance(hit.found, Memory)])
    rarest = _rarest(db, question)
    floors = [_floor_of(hit, question, rarest) for hit in hits]
    elsewhere = not_here(db, request, {hit.found.session for hit in hits if isinstance(hit.found, Passage)})
    why_not = [_why_not(hit, eligibility, eligible, elsewhere) for hit in hits]
    if named and named.is_closed:
        return _stated(db, named, hits, why_not, eligible, near, request.now)
    if named:
        why_not = [
            why or ("" if names_all(named, hit.found) else NOT_STATED) for hit, why in zip(hits, why_not, strict=True)
        ]
    is_answered = any(
        not why and sureness(hit) >= floor.value for hit, floor, why in zip(hits, floors, why_not, strict=True)
    )
    answered: list[AnswerCandidate] = []
    for hit, full, why in zip(hits, floors, why_not, strict=True):
        is_beside = is_answered and sureness(hit) < full.value
        floor = full.times(_BESIDE_BEST, "beside one that answers") if is_beside else full
        is_full = sum(not earlier.left_out for earlier in answered) == MAX_ANSWERS
        left_out = why or (_BELOW if sureness(hit) < floor.value else OUTRANKED if is_full else "")
        since = eligibility.since(hit.found) if isinstance(hit.found, Memory) and not left_out else ""
        answer = _answer(hit, floor, left_out, since, is_stale=eligible.get(hit.found.id, False))
        chosen = [earlier.item for earlier in answered if not earlier.left_out]
        answered.append(answer if answer.left_out else replace(answer, left_out=_why_repeated(answer.item, chosen)))
    return answered


def _unfolded(db: sqlite3.Connection, hits: Sequence[Hit]) -> list[Hit]:
    """Return hits with the nearly equal ones that search folded: a statement and its correction are nearly equal."""
    folded = ((hit, memories.find(db, id_) or passages.find(db, id_)) for hit in hits for id_ in hit.alike)
    return [*hits, *(replace(hit, found=found, alike=()) for hit, found in folded if found is not None)]


def _stated(
    db: sqlite3.Connection,
    named: NamedQuestion,
    hits: Sequence[Hit],
    why_not: Sequence[str],
    eligible: Mapping[str, bool],
    near: Sequence[Hit],
    now: datetime,
) -> list[AnswerCandidate]:
    """Return the hits of a closed question about named code: those that state the answer, and that no text near the
    question casts doubt on, need no other floor."""
    documents = [hit.found for hit in hits]
    statements = statements_of(db, named, documents)
    may_be_given = [hit.found.id for hit, why in zip(hits, why_not, strict=True) if not why]
    unstated = why_not_stated(documents, statements, may_be_given, now)
    stating = {id_: one for id_, one in statements.items() if id_ in may_be_given and id_ not in unstated}
    unstated |= dict.fromkeys(doubted(db, named, stating, [hit.found for hit in near], now), DOUBTED)
    answered: list[AnswerCandidate] = []
    for hit, why in zip(hits, why_not, strict=True):
        stated = statements.get(hit.found.id)
        text = stated.text if stated else ""
        left_out = why or unstated.get(hit.found.id, "") or _why_not_trusted(hit.found, text)
        item = _item(hit, "" if left_out else text, "", is_stale=eligible.get(hit.found.id, False))
        answered.append(AnswerCandidate(item, sureness(hit), _parts(hit), _STATED, left_out))
    return sorted(answered, key=lambda one: bool(one.left_out))


def _why_repeated(item: BlockItem, chosen: Sequence[BlockItem]) -> str:
    """Return a reason if a chosen hit has the same sentence, as a memory, a turn and a session often do."""
    text = item.excerpt or item.memory.title
    is_repeated = any(overlap(text, f"{other.memory.title}\n{other.excerpt}") >= _MOSTLY for other in chosen)
    return REPEATED if is_repeated else ""


def _why_not(hit: Hit, eligibility: Eligibility, eligible: Collection[str], elsewhere: Mapping[str, str]) -> str:
    if isinstance(hit.found, Passage):
        return eligibility.why_not_raw(hit.found) or elsewhere.get(hit.found.session, "")
    return "" if hit.found.id in eligible else eligibility.why_not(hit.found) or GONE


def _rarest(db: sqlite3.Connection, question: Keywords) -> list[str]:
    """Return the rarest words of a short question, up to twice the lowest count; none for a long question.

    A long question says the same in several ways, and some of its words may be new."""
    if len(question.words) > MAX_SHORT:
        return []
    specific = [word for word in question.words if word not in COMMON and word not in _FILLERS]
    counts = {
        word: fts.count_everywhere(db, word, _MAX_COUNTED) + passages.count_with(db, word, _MAX_COUNTED)
        for word in specific
    }
    return [word for word in specific if counts[word] <= _NEARLY * min(counts.values())]


def _floor_of(hit: Hit, question: Keywords, rarest: Sequence[str]) -> Floor:
    """Return the floor of a hit: higher if the hit lacks a rare word of a short question.

    Without a vector the words of a question are pairs of characters, so rare words do not count."""
    if hit.cosine is None:
        return Floor(FLOOR_BY_WORDS)
    document = hit.found
    words = question.found_in(document) if isinstance(document, Memory) else question.words_in(_full_text(document))
    lacking = next((word for word in rarest if word not in words), "")
    return Floor(FLOOR).times(_LACKING, f"it lacks {lacking}") if lacking else Floor(FLOOR)


def _full_text(passage: Passage) -> str:
    return "\n".join((passage.title, passage.asked, passage.answered or passage.text))


def _answer(hit: Hit, floor: Floor, left_out: str, since: str, *, is_stale: bool) -> AnswerCandidate:
    """Return a hit with an excerpt; none for a hit that is left out, because the excerpt takes longest."""
    excerpt = "" if left_out else sentences_about(_text(hit.found), hit.matched, MAX_EXCERPT)
    left_out = left_out or _why_not_trusted(hit.found, excerpt)
    if not left_out and not excerpt and isinstance(hit.found, Passage):
        left_out = _WITHOUT_TEXT
    return AnswerCandidate(_item(hit, excerpt, since, is_stale=is_stale), sureness(hit), _parts(hit), floor, left_out)


def _why_not_trusted(document: Memory | Passage, excerpt: str) -> str:
    """Return a reason if a text may repeat orders of a page; '' for the user's own words."""
    if isinstance(document, Memory) and document.origin == "user":
        return ""
    why = looks_like_an_attack(document.title) or looks_like_instructions(excerpt)
    return f"not trusted: it {why}" if why else ""


def _text(document: Memory | Passage) -> str:
    if isinstance(document, Memory):
        return "\n".join((document.summary, *document.facts, document.detail))
    return document.answered or document.text


def _item(hit: Hit, excerpt: str, since: str, *, is_stale: bool) -> BlockItem:
    document, sure = hit.found, sureness(hit)
    reason = f"answers a question, sure {sure:g}, words {', '.join(list(hit.matched)[:_MAX_NAMED])}"
    if isinstance(document, Memory):
        return BlockItem(document, reason, sure, source_of(document.kind), since, is_stale=is_stale, excerpt=excerpt)
    return BlockItem(_stand_in(document), reason, sure, RAW, label=_LABELS[document.kind], excerpt=excerpt)


def _stand_in(passage: Passage) -> Memory:
    """Return raw text as a memory that is not stored, for the block."""
    quoted = passage.title.replace('"', "'")
    title = f'asked: "{quoted}"' if passage.kind == "turn" and passage.asked else passage.title
    return Memory(
        id=passage.id,
        kind="note",
        title=title,
        summary="",
        created_at=passage.created_at,
        last_seen_at=passage.created_at,
        scope=f"project:{passage.project}",
        project=passage.project,
        session=passage.session,
    )


def _parts(hit: Hit) -> dict[str, float]:
    near = {} if hit.cosine is None else {"cosine": round(hit.cosine, _DIGITS)}
    return {"words": round(hit.share, _DIGITS), **near}


def sentences_about(text: str, weights: Mapping[str, float], limit: int) -> str:
    """Return consecutive sentences with most of the weighted words, `limit` characters at most.

    A longer first sentence is cut."""
    lines = map(one_line, _SENTENCE_END.split(text[:_MAX_READ]))
    sentences = [line for line in lines if not _NO_WORDS.fullmatch(line)]
    words_by_sentence = [words_among(list(weights), tokens_of(sentence)) for sentence in sentences]
    best, begin, end = -1.0, 0, 0
    for first in range(len(sentences)):
        last = _fitting(sentences, first, limit)
        found = {word for words in words_by_sentence[first:last] for word in words}
        # fsum: the order of a set differs between processes and must not decide between runs that are worth the same
        value = math.fsum(weights[word] for word in found)
        if value > best:
            best, begin, end = value, first, last
    run = " ".join(sentences[begin:end])
    return within(f"… {run}" if begin else run, limit)


def _fitting(sentences: Sequence[str], first: int, limit: int) -> int:
    """Return the end of the run of sentences within the limit; the first sentence is always included."""
    room, last = limit - len(sentences[first]), first + 1
    while last < len(sentences) and room > len(sentences[last]):
        room -= len(sentences[last]) + 1
        last += 1
    return last


def is_question(prompt: str) -> bool:
    """Return whether a prompt asks for knowledge: a short prompt that ends with a question, requests nothing and does
    not point to the present talk."""
    question = without_opening(prompt)
    if len(question) > MAX_LENGTH or _REQUEST.search(question) or _points_to_the_talk(question):
        return False
    if is_plainly_asked(prompt):
        return True
    # What follows a question mark is mostly an order.
    return question.endswith("?") and any(
        sentence.endswith("?") and _ASKED.search(sentence.lstrip()) for sentence in _SENTENCE.findall(question)
    )


def _points_to_the_talk(question: str) -> bool:
    is_about_words = _SAID.search(question) is not None and not _PAST_TIME.search(question)
    return is_about_words or _PRESENT.search(question) is not None


def is_plainly_asked(prompt: str) -> bool:
    """Return whether a prompt is a single sentence that opens like a question about the past; few words are enough."""
    question = prompt.strip()
    return _PLAINLY_ASKED.match(question) is not None and len(_SENTENCE.findall(question)) == 1


def without_opening(prompt: str) -> str:
    """Return a prompt without the words before its question: "do you remember", "remind me"."""
    return _OPENING.sub("", prompt, count=1).strip()
