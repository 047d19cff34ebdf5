"""Folder in memory for the temporary files of tests: half of the time of a worker's test is a wait for a disk."""

import os
from pathlib import Path

IN_MEMORY = Path("/dev/shm")
_MIN_FREE_BYTES = 4 * 2**30


def is_memory_roomy() -> bool:
    """Return whether tests may use `IN_MEMORY` like a disk: in containers it is often small, or runs no program."""
    if not os.access(IN_MEMORY, os.W_OK):
        return False
    state = os.statvfs(IN_MEMORY)
    return state.f_bavail * state.f_frsize >= _MIN_FREE_BYTES and not state.f_flag & os.ST_NOEXEC
