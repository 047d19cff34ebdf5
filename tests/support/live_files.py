"""Files below a folder and processes of this machine, read while workers, browsers and databases come and go.

A walk in which an entry disappeared is done again: the entry may have got a name that the walk had passed."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

PROC = Path("/proc")
MAX_WALKS = 20
Value = TypeVar("Value")


def contents(folder: Path) -> dict[Path, bytes]:
    """Return the regular files below a folder with their bytes."""
    return _read_below(folder, _bytes_of)


def modes(folder: Path) -> dict[Path, int]:
    """Return all that is below a folder, with the mode of each; a link has its own."""
    return _read_below(folder, lambda path: path.lstat().st_mode)


def files_with(folder: Path, *texts: bytes) -> list[Path]:
    """Return the files below a folder that hold any of these texts."""
    return sorted(path for path, held in contents(folder).items() if any(text in held for text in texts))


def command_lines() -> list[bytes]:
    """Return the command lines of all processes."""
    return [line for pid in os.listdir(PROC) if pid.isdigit() for line in _of_a_process(PROC / pid / "cmdline")]


def children(pid: int) -> list[int]:
    """Return the child processes of a process that lives."""
    threads = os.listdir(PROC / str(pid) / "task")
    listed = (_of_a_process(PROC / str(pid) / "task" / thread / "children") for thread in threads)
    return [int(child) for lines in listed for line in lines for child in line.split()]


def is_zombie(pid: int) -> bool:
    """Return whether a process has ended and nobody has asked how."""
    return any(held.rpartition(b")")[2].split()[0] == b"Z" for held in _of_a_process(PROC / str(pid) / "stat"))


def _of_a_process(path: Path) -> list[bytes]:
    """Return what a file of a process or thread holds, or nothing once that has ended."""
    try:
        return [path.read_bytes()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def _bytes_of(path: Path) -> bytes | None:
    return path.read_bytes() if stat.S_ISREG(path.lstat().st_mode) else None


def _read_below(folder: Path, read: Callable[[Path], Value | None]) -> dict[Path, Value]:
    """Read what is below a folder, again until nothing disappeared meanwhile."""
    found: dict[Path, Value] = {}
    for _ in range(MAX_WALKS):
        gone: list[OSError] = []
        found = {}
        for path in _walk(folder, gone):
            try:
                value = read(path)
            except FileNotFoundError as error:
                gone.append(error)
            else:
                found |= {} if value is None else {path: value}
        if not gone:
            break
    return found


def _walk(folder: Path, gone: list[OSError]) -> Iterator[Path]:
    def note(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise error
        gone.append(error)

    for place, folders, files in os.walk(folder, onerror=note):
        yield from (Path(place, name) for name in (*folders, *files))
