"""Search hits for a prompt that asks about the past -> those that answer it, with the sentences that do, or none.

`docs/moments.md` tells how the numbers were chosen."""

import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from claude_mem_lite.context.eligibility import Here
from claude_mem_lite.context.item_block import Given
from claude_mem_lite.context.layers.sessions import without_code
from claude_mem_lite.context.order import GONE, OUTRANKED
from claude_mem_lite.context.prompt.excerpts import sentences_about
from claude_mem_lite.context.prompt.keywords import COMMON, Keywords
from claude_mem_lite.context.prompt.scoring import Floor, source_of
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.models import RAW, Filters, Hit, Memory, Passage
from claude_mem_lite.safety.injection import looks_like_an_attack, looks_like_instructions
from claude_mem_lite.store import sessions
from claude_mem_lite.store.branches import is_hidden
from claude_mem_lite.store.index import fts, passages
from claude_mem_lite.text import overlap

Ask = Callable[[sqlite3.Connection, str, Filters, datetime, int], list[Hit]]
"""As `search.hybrid.Search.search`."""
FLOOR = 1.35
"""Below this not even the best hit answers a question, and nothing is given."""
FLOOR_BY_WORDS = FLOOR / 3
"""The floor where nothing tells the meaning of the question, and words have to do."""
MAX_ANSWERS = 3
MAX_HITS = 6
MAX_SHORT = 4
"""A question of no more words is about the rarest of them."""
MAX_EXCERPT = 900
"""The characters of a hit that are given."""
# A hit beside the best one may be a little less sure.
_OF_OTHERS = 0.9
_LACKING = 1.2
_NEARLY = 2
_MOSTLY = 0.7
_OF_COSINE = 2.0
_DIGITS = 2
_MAX_NAMED = 5
_COUNTED = 1_000
_FILLERS = frozenset(("actually", "always", "ever", "exactly", "never", "really", "still"))
_BELOW = "below the floor of answers"
_LABELS = {"turn": "earlier turn", "session": "earlier session"}


@dataclass(frozen=True, slots=True)
class Answer:
    """A hit of a question, and why it is not given."""

    given: Given
    sure: float
    parts: Mapping[str, float]
    """The share of the words and the nearness that make it sure."""
    floor: Floor
    left_out: str = ""

    def explained(self) -> str:
        """Return the sureness as a sum with its floor: `sure 1.62 = words 0.7 + 2 × cosine 0.46; the floor is 1.35`."""
        near = f" + {_OF_COSINE:g} × cosine {self.parts['cosine']:g}" if "cosine" in self.parts else ""
        return f"sure {self.sure:g} = words {self.parts['words']:g}{near}; the floor is {self.floor.product()}"


def sureness(hit: Hit) -> float:
    """Return how sure it is that a hit answers the question: the share of the words, and twice the nearness."""
    parts = _parts(hit)
    return round(parts["words"] + _OF_COSINE * parts.get("cosine", 0.0), _DIGITS)


def answers(db: sqlite3.Connection, question: Keywords, occasion: Occasion, here: Here, ask: Ask) -> list[Answer]:
    """Return what search finds for a question, best first, those that answer it without a reason to leave them out."""
    hits = ask(db, question.text, Filters(project=occasion.place.project), occasion.now, MAX_HITS)
    tellable = here.tellable([hit.found for hit in hits if isinstance(hit.found, Memory)])
    rarest = _rarest(db, question)
    floors = [_floor_of(hit, question, rarest) for hit in hits]
    elsewhere = _elsewhere(db, occasion, {hit.found.session for hit in hits if isinstance(hit.found, Passage)})
    why_not = [_why_not(hit, here, tellable, elsewhere) for hit in hits]
    is_answered = any(
        not why and sureness(hit) >= floor.value for hit, floor, why in zip(hits, floors, why_not, strict=True)
    )
    found: list[Answer] = []
    for hit, full, why in zip(hits, floors, why_not, strict=True):
        is_beside = is_answered and sureness(hit) < full.value
        floor = full.times(_OF_OTHERS, "beside one that answers") if is_beside else full
        is_full = sum(not one.left_out for one in found) == MAX_ANSWERS
        left_out = why or (_BELOW if sureness(hit) < floor.value else OUTRANKED if is_full else "")
        since = here.since(hit.found) if isinstance(hit.found, Memory) and not left_out else ""
        answer = _answer(hit, floor, left_out, since, is_stale=tellable.get(hit.found.id, False))
        taken = [one.given for one in found if not one.left_out]
        found.append(answer if answer.left_out else replace(answer, left_out=_why_said_already(answer.given, taken)))
    return found


def _why_said_already(given: Given, taken: Sequence[Given]) -> str:
    """Return why a hit is not told after others: a memory, its turn and its session often have the same sentence."""
    told = given.excerpt or given.memory.title
    is_said = any(overlap(told, f"{one.memory.title}\n{one.excerpt}") >= _MOSTLY for one in taken)
    return "said by another that is given" if is_said else ""


def _elsewhere(db: sqlite3.Connection, occasion: Occasion, ids: Collection[str]) -> dict[str, str]:
    """Return the sessions whose raw text does not hold in this checkout, each with the reason."""
    gone = without_code(db, occasion, list(ids))
    found = dict.fromkeys(gone, GONE)
    for session in filter(None, (sessions.find(db, id_) for id_ in ids)):
        is_of_another = session.branch not in ("", occasion.place.branch)
        if is_of_another and is_hidden(session.branch, session.last_event_at, occasion.checkout.hidden):
            found[session.id] = "of a branch that is not merged here"
    return found


def _why_not(hit: Hit, here: Here, tellable: Collection[str], elsewhere: Mapping[str, str]) -> str:
    if isinstance(hit.found, Passage):
        return here.why_not_raw(hit.found) or elsewhere.get(hit.found.session, "")
    return "" if hit.found.id in tellable else here.why_not(hit.found) or GONE


def _rarest(db: sqlite3.Connection, question: Keywords) -> list[str]:
    """Return the words of a short question that the fewest texts have, and those that twice as many have at most.

    A long question says the same in several ways, and nobody may have said it in one of them before."""
    if len(question.words) > MAX_SHORT:
        return []
    telling = [word for word in question.words if word not in COMMON and word not in _FILLERS]
    counts = {
        word: fts.count_everywhere(db, word, _COUNTED) + passages.count_with(db, word, _COUNTED) for word in telling
    }
    return [word for word in telling if counts[word] <= _NEARLY * min(counts.values())]


def _floor_of(hit: Hit, question: Keywords, rarest: Sequence[str]) -> Floor:
    """Return the floor of a hit: higher where it lacks what a short question is about, since it is easily about
    something else. Where nothing tells the meaning, the words of a question are no words but pairs of characters."""
    if hit.cosine is None:
        return Floor(FLOOR_BY_WORDS)
    found = hit.found
    there = question.found_in(found) if isinstance(found, Memory) else question.words_in(_said(found))
    lacking = next((word for word in rarest if word not in there), "")
    return Floor(FLOOR).times(_LACKING, f"it lacks {lacking}") if lacking else Floor(FLOOR)


def _said(passage: Passage) -> str:
    return "\n".join((passage.title, passage.asked, passage.answered or passage.text))


def _answer(hit: Hit, floor: Floor, left_out: str, since: str, *, is_stale: bool) -> Answer:
    """Return a hit with its excerpt; one that is left out has none, because finding the sentences takes longest."""
    excerpt = "" if left_out else sentences_about(_text(hit.found), hit.matched, MAX_EXCERPT)
    left_out = left_out or _why_not_trusted(hit.found, excerpt)
    return Answer(_given(hit, excerpt, since, is_stale=is_stale), sureness(hit), _parts(hit), floor, left_out)


def _why_not_trusted(found: Memory | Passage, excerpt: str) -> str:
    """Return why a hit is not given: an agent may have repeated the orders of a page. The user's own words are."""
    if isinstance(found, Memory) and found.origin == "user":
        return ""
    why = looks_like_an_attack(found.title) or looks_like_instructions(excerpt)
    return f"not trusted: it {why}" if why else ""


def _text(found: Memory | Passage) -> str:
    if isinstance(found, Memory):
        return "\n".join((found.summary, *found.facts, found.detail))
    return found.answered or found.text


def _given(hit: Hit, excerpt: str, since: str, *, is_stale: bool) -> Given:
    found, sure = hit.found, sureness(hit)
    reason = f"answers a question, sure {sure:g}, words {', '.join(list(hit.matched)[:_MAX_NAMED])}"
    if isinstance(found, Memory):
        return Given(found, reason, sure, source_of(found.kind), since, is_stale=is_stale, excerpt=excerpt)
    return Given(_stand_in(found), reason, sure, RAW, label=_LABELS[found.kind], excerpt=excerpt)


def _stand_in(passage: Passage) -> Memory:
    """Return raw text as a memory that is not stored, for whoever words what is given."""
    quoted = passage.title.replace('"', "'")
    title = f'asked: "{quoted}"' if passage.kind == "turn" else passage.title
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
