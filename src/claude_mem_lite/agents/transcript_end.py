"""End of the transcript that an agent is writing. Adapters read facts there that hooks do not report."""

import os

_MAX_BYTES = 512 * 1024


def last_lines(path: str) -> list[bytes]:
    """Return the last lines of a transcript, the first of them perhaps cut; [] if it cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return []
    try:
        size = os.fstat(handle).st_size
        return os.pread(handle, _MAX_BYTES, max(size - _MAX_BYTES, 0)).split(b"\n")
    except OSError:
        return []
    finally:
        os.close(handle)
