"""Questions that name code, and the sentences that state the answer; of several statements, those that still hold.

A text about the same file, or with the same words about another file, answers nothing: a sentence has to have the name
and all that is asked of it. `docs/moments.md` has the rules."""

import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from claude_mem_lite.context.assertions import Term, is_label, terms_in
from claude_mem_lite.context.order import REPEATED
from claude_mem_lite.context.prompt.keywords import COMMON, SMALL_TALK
from claude_mem_lite.context.statements import NAME, OUTDATED, Statement, plain_name, statement_of, texts_of
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Memory, Passage
from claude_mem_lite.text import STOPWORDS, one_line, query_words, tokens_of, within, words_among
from claude_mem_lite.values import frozen

NOT_STATED = "no sentence of it has the name and all that is asked of it"
DOUBTED = "a later text has another value beside the name"
# Products are spelled with capitals too, so such a word is a name only if stored text writes it as code, or not at all.
_CAPITALISED = lazy(r"(?<![\w./@`-])[A-Z][a-z0-9]+[A-Z]\w+(?![\w/`])")
# Questions with one answer at a time; `why`, `how` and `did` may be answered by many texts.
_CLOSED = lazy(
    r"(?i)(?:^|[.!?;:]\s+|\band\s+)(?:(?:in|on|at|to|for|from|since|with|by)\s+)?"
    r"(?:(?:what|which|whose)(?!\s+(?:do|does|did|happen\w*)\b)|who|how\s+(?:many|much|long|often|big)"
    r"|(?:where|when)(?=\s+(?:is|are|was|were|do|does|did|will|has|have|should|must|can)\b))\b"
    r"\s*(?:(?:is|are|was|were)\b\s*)?(?P<asked>[^?`]*)"
)
_SENTENCE_END = lazy(r"(?<=[.!?])\s+|\n+")
_CLAUSE_END = lazy(r"(?i)[,;:]\s+|\s+(?:but|while|whereas)\s+")
_DATE = lazy(r"\d{4}-\d\d")
# Verbs that say little: "which port does it use" and "it listens on port 1" are about the same.
_LIGHT = frozenset(
    """actually always are be being belong call ever exactly expect give go have hold keep know listen live may
    might must need never put really remind run say set shall sit still take use used using""".split()  # noqa: SIM905
)
_MAX_FOCUS_WORDS = 4
_MAX_READ = 12_000
_MAX_EXCERPT = 400


@frozen
class NamedQuestion:
    """Question that names files, functions or commands."""

    names: tuple[str, ...]
    """As written, in lower case."""
    words: tuple[str, ...]
    """All else that a sentence has to speak of; empty for a question that many texts may answer."""

    @property
    def is_closed(self) -> bool:
        return bool(self.words)

    def is_stated_in(self, sentence: str) -> bool:
        """Return whether a sentence has all names, and all words beside the names, and not of other code; a question
        states nothing."""
        return not sentence.rstrip().endswith("?") and self.has_all(sentence) and not self._is_of_another(sentence)

    def has_all(self, sentence: str) -> bool:
        """Return whether a sentence has all names, and all words beside the names."""
        rest = sentence.lower()
        for name in self.names:
            found = _spelling(name).search(rest)
            if found is None:
                return False
            rest = rest[: found.start()] + " " + rest[found.end() :]
        return self._count_words(rest) == len(self.words)

    def is_named_in(self, sentence: str) -> bool:
        """Return whether a sentence has all names."""
        lowered = sentence.lower()
        return all(_spelling(name).search(lowered) for name in self.names)

    def _is_of_another(self, sentence: str) -> bool:
        """Return whether most of what is asked stands in a clause on other code: "the port of `other` is 1, and `name`
        uses it"."""
        clauses = _CLAUSE_END.split(sentence)
        own = [self._count_words(clause) for clause in clauses if self.is_named_in(clause)]
        others = [
            self._count_words(clause) for clause in clauses if not self.is_named_in(clause) and _names_code(clause)
        ]
        return max(others, default=0) > max(own, default=0)

    def _count_words(self, text: str) -> int:
        return len(words_among(self.words, tokens_of(text.lower())))


def has_capitalised(text: str) -> bool:
    """Return whether a text has a word that may be the name of a function or of a product."""
    return _CAPITALISED.search(text) is not None


def with_capitalised(text: str, documents: Sequence[Memory | Passage]) -> NamedQuestion | None:
    """Return a question with capitalised words as names where the found documents write them as code, or not at all, or
    state the answer of them."""
    written = "\n".join(one for document in documents for one, _ in texts_of(document))

    def quoted(found: re.Match[str]) -> str:
        name = found[0]
        is_code = name not in written or f"`{name}" in written or f"{name}(" in written or f"{name}`" in written
        return f"`{name}`" if is_code else name

    every = named_question(_CAPITALISED.sub(r"`\g<0>`", text))
    if every is not None and every.is_closed and any(_has_all_in_a_sentence(every, one) for one in documents):
        return every
    return named_question(_CAPITALISED.sub(quoted, text))


def named_question(text: str) -> NamedQuestion | None:
    """Return the question with its names; None if no code is named."""
    found = list(NAME.finditer(text))
    names = tuple(dict.fromkeys(plain_name(one["quoted"] or one["plain"]) for one in found))
    names = tuple(name for name in names if name)
    if not names:
        return None
    bare = NAME.sub("`", text).strip()
    closed = _CLOSED.search(bare)
    if closed is None:
        return NamedQuestion(names, ())
    focus = _focus(closed["asked"])
    rest = " ".join((bare[: closed.start()], bare[closed.start("asked") :]))
    telling = [word for word in query_words(rest) if word not in _LIGHT and word not in SMALL_TALK]
    words = tuple(word for word in telling if (word in focus or word not in COMMON) and word not in STOPWORDS)
    return NamedQuestion(names, words)


def statements_of(
    db: sqlite3.Connection, question: NamedQuestion, documents: Iterable[Memory | Passage]
) -> dict[str, Statement]:
    """Return the statements in documents, by the id of the document.

    A summary only repeats the turns of its session, without their times and speakers."""
    return {document.id: stated for document in _spoken(documents) if (stated := _statement(db, question, document))}


def why_not_stated(
    documents: Sequence[Memory | Passage], statements: Mapping[str, Statement], eligible: Collection[str], now: datetime
) -> dict[str, str]:
    """Return the documents that answer nothing, with reasons: no statement, a later one, or one of the same source.

    Also a statement that may not be given outdates others, for instance one of the session itself."""
    reasons: dict[str, str] = {}
    sources: set[str] = set()
    for document in documents:
        stated = statements.get(document.id)
        if stated is None:
            reasons[document.id] = NOT_STATED
        elif any(other.outdates(stated, now) for other in statements.values()):
            reasons[document.id] = OUTDATED
        elif stated.source in sources:
            reasons[document.id] = REPEATED
        elif document.id in eligible:
            sources.add(stated.source)
    return reasons


def doubted(
    db: sqlite3.Connection,
    question: NamedQuestion,
    statements: Mapping[str, Statement],
    documents: Iterable[Memory | Passage],
    now: datetime,
) -> set[str]:
    """Return the ids of statements that a later text may replace in other words: by a sentence with the names and
    another value of the same sort.

    Nothing tells such a sentence from one about something similar, so the statement is not given either way."""
    stated = {id_: _values(question, one.text) for id_, one in statements.items()}
    found: set[str] = set()
    for document in _spoken(documents) if stated else ():
        for text, is_users in texts_of(document):
            later = statement_of(db, document, text, is_users=is_users)
            outdated = [id_ for id_, one in statements.items() if id_ != document.id and later.outdates(one, now)]
            if not outdated or not question.is_named_in(text[:_MAX_READ]):
                continue
            for sentence in _sentences_of(text):
                if question.is_named_in(sentence) and not sentence.endswith("?"):
                    values = _values(question, sentence)
                    found |= {id_ for id_ in outdated if _may_replace(values, stated[id_])}
    return found


def names_all(question: NamedQuestion, document: Memory | Passage) -> bool:
    """Return whether a document has all names of a question, anywhere."""
    text = "\n".join(text for text, _ in texts_of(document))[:_MAX_READ].lower()
    files = "\n".join(document.files).lower() if isinstance(document, Memory) else ""
    return all(_spelling(name).search(f"{text}\n{files}") for name in question.names)


def _focus(asked: str) -> frozenset[str]:
    """Return the words right behind `what` or `which`: also a common word counts there."""
    focus: list[str] = []
    for word in re.findall(r"[\w-]+", asked.lower()):
        if word in ("the", "our", "a", "an", "its") and not focus:
            continue
        if word in STOPWORDS or len(focus) == _MAX_FOCUS_WORDS:
            break
        focus.append(word)
    return frozenset(focus)


def _spelling(name: str) -> re.Pattern[str]:
    """Return the pattern of a name: whole, as the end of a longer path, or without its folders."""
    before = r"(?<![\w.-])" if "." in name else r"(?<![\w-])"
    whole = before + re.escape(name)
    alone = rf"|(?<![\w./-]){re.escape(name.rpartition('/')[2])}" if "/" in name and " " not in name else ""
    return re.compile(rf"(?:{whole}{alone})(?![\w-])(?![./:]\w)")


def _names_code(text: str) -> bool:
    return NAME.search(text) is not None or has_capitalised(text)


def _has_all_in_a_sentence(question: NamedQuestion, document: Memory | Passage) -> bool:
    return any(question.has_all(sentence) for text, _ in texts_of(document) for sentence in _sentences_of(text))


def _spoken(documents: Iterable[Memory | Passage]) -> Iterator[Memory | Passage]:
    """Yield memories and turns: the summary of a session only repeats turns, without their times and speakers."""
    return (one for one in documents if not (isinstance(one, Passage) and one.kind == "session"))


def _sentences_of(text: str) -> list[str]:
    return [line for one in _SENTENCE_END.split(text[:_MAX_READ]) if (line := one_line(one))]


def _values(question: NamedQuestion, text: str) -> list[Term]:
    """Return the values in the first sentence of a text: numbers, dates, names and code, without those asked about."""
    sentence = _SENTENCE_END.split(text, 1)[0]
    asked = {*question.names, *(name.rpartition("/")[2] for name in question.names)}
    return [term for term in terms_in(sentence) if term.text not in asked and not is_label(sentence, term)]


def _may_replace(later: Sequence[Term], stated: Sequence[Term]) -> bool:
    """Return whether later values have the sort of a stated value, and none of the stated values is among them."""
    texts, sorts = {term.text for term in later}, {_sort_of(term) for term in later}
    return not any(term.text in texts for term in stated) and any(_sort_of(term) in sorts for term in stated)


def _sort_of(term: Term) -> str:
    """Return whether a value is a date, another number, code or a name."""
    if term.is_number:
        return "date" if _DATE.match(term.text) else "number"
    return "code" if term.is_code else "name"


def _statement(db: sqlite3.Connection, question: NamedQuestion, document: Memory | Passage) -> Statement | None:
    last: tuple[str, bool] | None = None
    for text, is_users in texts_of(document):
        sentences = _sentences_of(text)
        places = [place for place, one in enumerate(sentences) if question.is_stated_in(one)]
        if places:
            last = within(" ".join(sentences[places[-1] :]), _MAX_EXCERPT), is_users
    return statement_of(db, document, last[0], is_users=last[1]) if last else None
