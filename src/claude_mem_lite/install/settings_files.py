"""Read and replace a settings file: through links, whole or not at all, with its mode and owner kept."""

import fcntl
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from claude_mem_lite.errors import SettingsChanged, SettingsError
from claude_mem_lite.paths import Home, read_regular, sync

NOT_TOUCHED = "fix it by hand, then run this again; nothing was changed"
NEW_FILE_MODE = 0o600
# Agents share these folders; only the user writes in them, with any umask of this process.
_NEW_FOLDER_MODE = 0o755
# Far more than any settings; a larger file would only fill the memory.
MAX_BYTES = 256 * 2**20
_UNFINISHED = re.compile(r"(\d{1,9})-[0-9a-f]{8}\.tmp")


@contextmanager
def exclusive(home: Home) -> Iterator[None]:
    """Hold off other programs that prepare or change hooks of an existing home; not to be nested."""
    folder = os.open(home.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def real_path(path: Path) -> Path:
    """Return the file behind any links: the file is replaced, the links stay."""
    return Path(os.path.realpath(path))


def read(path: Path) -> bytes | None:
    """Return the whole file, None if missing; SettingsError for an unreadable file."""
    try:
        return read_regular(path, MAX_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be read ({error.strerror})", "check the path and its permissions; nothing was changed"
        ) from error


def decoded(path: Path, content: bytes | None) -> str:
    """Return the text of a settings file; '' for a missing file."""
    try:
        return (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} was left alone: it is not UTF-8", NOT_TOUCHED) from error


def lines_of(path: Path) -> list[str]:
    """Return the lines of a text file; none if it is missing or unreadable. Only a line feed ends a line: the name of a
    folder may hold any other character."""
    try:
        return (read(path) or b"").decode("utf-8", "replace").split("\n")
    except SettingsError:
        return []


def encoded(path: Path, text: str) -> bytes:
    """Return the bytes for a settings file; SettingsError if the path of a folder in it is no text."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise SettingsError(
            f"{path} was left alone: the name of a folder cannot be written in it",
            "set CLAUDE_MEM_LITE_HOME to a folder with a plain name; nothing was changed",
        ) from error


def replace(path: Path, before: bytes | None, after: bytes) -> None:
    """Replace `before` by `after` in `path`; readers see one or the other. SettingsChanged if `path` holds neither."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        check_writable(path)
        remove_unfinished(path)
        _write(temporary, after, like=path)
        if read(path) != before:
            raise SettingsChanged(f"{path} was changed by another program just now", "run this again")
        temporary.replace(path)
        sync(path.parent)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written ({error.strerror})", "it was not changed") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def delete(path: Path) -> None:
    """Remove a file of this package, if it exists."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise SettingsError(f"{path} cannot be removed ({error.strerror})", "remove it by hand") from error


def missing_folders(folder: Path) -> tuple[Path, ...]:
    """Return a folder and its parents as far as they are missing, outermost first: noted before they are made, so that
    whoever is killed in between has the note to take them back."""
    return tuple(reversed([each for each in (folder, *folder.parents) if not each.exists()]))


def make_folders(folder: Path) -> None:
    """Create a folder and its missing parents."""
    try:
        for each in missing_folders(folder):
            each.mkdir(mode=_NEW_FOLDER_MODE, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"{folder} cannot be made ({error.strerror})", "nothing was changed") from error


def remove_empty(folders: Sequence[Path]) -> None:
    """Remove empty folders, innermost first."""
    with suppress(OSError):
        for folder in reversed(folders):
            with suppress(FileNotFoundError):
                folder.rmdir()


def check_writable(path: Path) -> None:
    """Raise SettingsError if a file cannot be replaced or made, as far as known without trying."""
    # A rename would bypass the mode of a file that its owner made read-only on purpose.
    if path.exists() and not os.access(path, os.W_OK):
        raise SettingsError(f"{path} is read-only", "make it writable, then run this again")
    folder = next(each for each in path.parents if os.path.lexists(each))
    if not folder.is_dir():
        raise SettingsError(f"{folder} is not a folder", "move it away, then run this again")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SettingsError(f"{folder} cannot be written", "make it writable, then run this again")


def remove_unfinished(path: Path) -> None:
    """Remove what programs that were killed while they wrote this file have left beside it."""
    begin = f".{path.name}."
    with suppress(OSError):  # what cannot be removed does no harm
        for name in os.listdir(path.parent):
            unfinished = _UNFINISHED.fullmatch(name.removeprefix(begin)) if name.startswith(begin) else None
            if unfinished and not _is_running(int(unfinished[1])):
                path.with_name(name).unlink(missing_ok=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True


def _write(temporary: Path, content: bytes, like: Path) -> None:
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, NEW_FILE_MODE)
    with os.fdopen(handle, "wb") as file:
        with suppress(FileNotFoundError):
            model = like.stat()
            if (model.st_uid, model.st_gid) != (os.getuid(), os.getgid()):
                with suppress(PermissionError):
                    os.fchown(handle, model.st_uid, model.st_gid)
            os.fchmod(handle, stat.S_IMODE(model.st_mode))
        file.write(content)
        file.flush()
        os.fsync(handle)
