"""How common words and files are in the work of a project: what everything shares tells nothing about one thing."""

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping

from claude_mem_lite.store import fts

# A word of so many memories of a project, or of this share of them, is not rare any more.
_RARE_ROWS = 3
_RARE_SHARE = 0.03
# A file that so large a share of the last sessions touched, and at least so many of them, tells little.
_LAST_SESSIONS = 30
_COMMON_SHARE = 0.2
_COMMON_SESSIONS = 3


class RareWords:
    """Which words few of a project's memories have, each looked up once."""

    def __init__(self, db: sqlite3.Connection, project: str) -> None:
        (number,) = db.execute("select count(*) from memories where project = ?", (project,)).fetchone()
        self._db = db
        self._scope = f"project:{project}"
        self._most = max(_RARE_ROWS, int(_RARE_SHARE * number))
        self._known: dict[str, bool] = {}

    def among(self, words: Mapping[str, str]) -> set[str]:
        """Those that are rare, by their stems."""
        return {stem for stem, word in words.items() if self._is_rare(word)}

    def _is_rare(self, word: str) -> bool:
        if word not in self._known:
            self._known[word] = fts.count_with(self._db, word, self._scope, self._most + 1) <= self._most
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
