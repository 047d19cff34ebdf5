"""Statements of memories and turns: sentences with their speaker and time, and the names of code in them."""

import sqlite3
from datetime import datetime

from claude_mem_lite.agents.claude_code import TEAMMATE
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import FOREIGN_ORIGINS, Memory, Passage
from claude_mem_lite.store import sessions
from claude_mem_lite.values import frozen

OUTDATED = "a later statement holds"
NAME = lazy(
    r"`(?P<quoted>[^`\n]{2,160})`"
    r"|(?<![\w./@-])(?P<plain>[\w./-]*[A-Za-z0-9]_[A-Za-z0-9][\w./-]*|[a-z]+[A-Z]\w+|(?:[\w.-]+/)*[\w-]{2,}\.[a-z]\w{0,4}"
    r"|(?:[\w.-]+/){2,}[\w.-]+)(?![\w/])"
)


@frozen
class Statement:
    """Sentence that answers a question with the sentences after it, its speaker and its time."""

    text: str
    source: str
    """Session, or the memory itself where it has none: of each source one statement is enough."""
    at: datetime
    began_at: datetime
    """Begin of the session: the speaker may not know what others said since."""
    is_users: bool
    is_foreign: bool

    def outdates(self, other: "Statement", now: datetime) -> bool:
        """Return whether a later speaker of at least the same weight knew the other statement, and so replaces it.

        A date in the future is of a wrong clock, or of a transcript that lies, and says nothing of the order."""
        if self.is_foreign or not other.at < self.at <= now or (other.is_users and not self.is_users):
            return False
        return self.is_users or self.source == other.source or self.began_at > other.at


def plain_name(name: str) -> str:
    """Return a name of code as it is compared."""
    return name.strip().removesuffix("()").removeprefix("./").rstrip("./").lower()


def statement_of(db: sqlite3.Connection, document: Memory | Passage, text: str, *, is_users: bool) -> Statement:
    """Return a sentence of a document as a statement, with speaker and time."""
    session = sessions.find(db, document.session) if document.session else None
    at = document.last_seen_at if isinstance(document, Memory) else document.created_at
    return Statement(
        text=text,
        source=document.session or document.id,
        at=at,
        began_at=session.started_at if session else at,
        is_users=is_users,
        is_foreign=isinstance(document, Memory) and document.origin in FOREIGN_ORIGINS,
    )


def texts_of(document: Memory | Passage) -> list[tuple[str, bool]]:
    """Return the texts of a document in order, each with whether they are the user's."""
    if isinstance(document, Memory):
        is_users = document.origin == "user"
        return [("\n".join((document.title, document.summary, *document.facts, document.detail)), is_users)]
    is_users = bool(document.asked) and not document.asked.lstrip().startswith(TEAMMATE)
    return [(document.asked or document.title, is_users), (document.answered or document.text, False)]
