"""How common words and files are in the work of a project: what everything shares tells nothing about one thing."""

import json
import math
import sqlite3
from collections import Counter
from collections.abc import Mapping

from claude_mem_lite.store.index import fts

# A word of more than this share of a project's memories, or of more than so many, has no weight.
_MAX_SHARE = 0.1
_MIN_MEMORIES = 3
_MAX_MEMORIES = 300
# A file that so large a share of the last sessions touched, and at least so many of them, tells little.
_LAST_SESSIONS = 30
_COMMON_SHARE = 0.2
_COMMON_SESSIONS = 3


class WordWeights:
    """Weights of words by how few of a project's memories have them, each word looked up once."""

    def __init__(self, db: sqlite3.Connection, project: str) -> None:
        (self._number,) = db.execute("select count(*) from memories where project = ?", (project,)).fetchone()
        self._db = db
        self._scope = f"project:{project}"
        self._most = max(_MIN_MEMORIES, min(int(_MAX_SHARE * self._number), _MAX_MEMORIES))
        self._known: dict[str, float] = {}

    def of(self, words: Mapping[str, str]) -> dict[str, float]:
        """Return the weights of the words that have any, by their stems."""
        return {stem: weight for stem, word in words.items() if (weight := self._weight(word)) > 0}

    def _weight(self, word: str) -> float:
        if word not in self._known:
            having = fts.count_with(self._db, word, self._scope, self._most + 1)
            is_common = having > self._most
            self._known[word] = 0.0 if is_common else max(math.log((self._number + 1) / (having + 0.5)), 0.0)
        return self._known[word]


def common_files(db: sqlite3.Connection, project: str, without: str) -> set[str]:
    """The files that many of a project's last sessions touched, one session left out."""
    rows = db.execute(
        """select files_read, files_edited from sessions where project = :project and id <> :without
           order by last_event_at desc limit :limit""",
        {"project": project, "without": without, "limit": _LAST_SESSIONS},
    ).fetchall()
    times = Counter(file for row in rows for file in {*json.loads(row[0]), *json.loads(row[1])})
    least = max(_COMMON_SESSIONS, _COMMON_SHARE * len(rows))
    return {file for file, number in times.items() if number >= least}
