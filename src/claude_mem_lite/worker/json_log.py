"""The worker's log: JSON lines, rotated, 0600. Ids and sizes, never content."""

import json
import logging
import logging.handlers
import os
from datetime import UTC, datetime
from pathlib import Path

from claude_mem_lite.errors import MemoryLiteError

_MAX_BYTES = 1024 * 1024
_KEPT = 3
_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class _JsonLines(logging.Formatter):
    """One record, one line: what happened, and the fields that were given along."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "what": record.getMessage(),
        }
        line.update({key: value for key, value in vars(record).items() if key not in _PLAIN})
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = type(record.exc_info[1]).__name__
            line["where"] = _where(record.exc_info[1])
            if isinstance(record.exc_info[1], MemoryLiteError):
                line["why"] = str(record.exc_info[1])
        return json.dumps(line, default=str)


def _where(error: BaseException) -> list[str]:
    """The frames of a failure, without its message: that may quote content."""
    frames = []
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        frames.append(f"{os.path.basename(code.co_filename)}:{step.tb_lineno} {code.co_name}")
        step = step.tb_next
    return frames[-6:]


def set_up(path: Path) -> None:
    """Send every log record of this process to the file. A log that cannot be written stops nothing."""
    logging.raiseExceptions = False
    handler = logging.handlers.RotatingFileHandler(path, maxBytes=_MAX_BYTES, backupCount=_KEPT, delay=True)
    handler.setFormatter(_JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    logging.getLogger("asyncio").setLevel(logging.WARNING)
