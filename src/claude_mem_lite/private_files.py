"""Files of a home that only the user can read, replaced whole: a reader sees the former content or the present one."""

import os
from pathlib import Path

from claude_mem_lite.paths import sync


def replace(path: Path, content: bytes, *, is_synced: bool = True) -> None:
    """Replace a file, and flush it to disk if wanted. For one writer at a time; the rest of a killed one is
    overwritten, and a failed write leaves none."""
    unfinished = path.with_name(f"{path.name}.new")  # a name that `uninstall --purge` knows
    unfinished.unlink(missing_ok=True)
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            if is_synced:
                file.flush()
                os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    if is_synced:
        sync(path.parent)
