"""Files with passwords and keys: readable by this user alone, written as a whole or not at all."""

import os
import stat
from pathlib import Path

from claude_mem_lite import private_files
from claude_mem_lite.errors import MemoryLiteError, unreadable, unwritable

MAX_FILE_BYTES = 16 * 1024


def write_secret(path: Path, text: str) -> None:
    """Write a file that only this user can read, replacing an earlier one."""
    try:
        private_files.replace(path, f"{text}\n".encode())
    except OSError as error:
        raise unwritable(path, error) from None


def read_secret(path: Path) -> str | None:
    """Return the text of a file; None without one. MemoryLiteError: other users can read or replace the file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(path, error) from None
    with open(handle, encoding="utf-8", errors="replace") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise MemoryLiteError(f"{path} is not a regular file", "remove it, and set up the team again")
        if status.st_mode & 0o077 or status.st_uid != os.geteuid():
            raise MemoryLiteError(
                f"{path} holds a secret and can be read by other users",
                f"run `chmod 600 {path}`, and ask for a new password if others have accounts here",
            )
        return file.read(MAX_FILE_BYTES).strip()
