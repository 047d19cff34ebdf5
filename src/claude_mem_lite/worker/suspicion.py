"""Noticing damage while the worker runs: whatever fails because a database is damaged is logged, and seen here.

The worker then ends; the next one looks at its databases thoroughly before it opens them."""

import logging
from collections.abc import Callable

from claude_mem_lite.db.integrity import is_damage

PACKAGE = "claude_mem_lite"


class DamageWatch(logging.Handler):
    """Calls `suspect` when a failure is logged that SQLite blames on the file."""

    def __init__(self, suspect: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._suspect = suspect

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and is_damage(record.exc_info[1]):
            self._suspect()

    def __enter__(self) -> "DamageWatch":
        logging.getLogger(PACKAGE).addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger(PACKAGE).removeHandler(self)
