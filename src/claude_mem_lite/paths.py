"""Names of files. Every process but the hook takes them from this module; the hook kernel repeats the few names it
needs."""

import errno
import os
import stat
import zlib
from pathlib import Path

from claude_mem_lite.values import frozen

HOME_VARIABLE = "CLAUDE_MEM_LITE_HOME"
DEFAULT_NAME = ".claude-mem-lite"
HOOK_PROGRAM = "claude_mem_lite/hook/hook.py"
"""Hook program, relative to the home; commands of this package are recognised by this path."""
_EARLY_NAMES = {
    "spool",
    "rendered",
    "config.toml",
    "synonyms.toml",
    "api-key",
    "off",
    "pauses",
    "backups",
    "evaluation.json",
}
"""Names that a home may hold before the first database: files of the user, and folders made first."""
_MIN_FREE_BYTES = 256 * 1024
"""Free bytes below which SQLite may fail to start or to write."""
_FILE_PERMISSIONS, _FOLDER_PERMISSIONS = 0o600, 0o700
"""Permissions that the owner of a file or a folder in a home needs."""


@frozen
class Home:
    """Data folder and the names inside it."""

    root: Path

    @property
    def spool_tmp(self) -> Path:
        return self.root / "spool" / "tmp"

    @property
    def spool_new(self) -> Path:
        return self.root / "spool" / "new"

    @property
    def journal_folder(self) -> Path:
        """Journal of accepted events, kept until a backup covers them."""
        return self.root / "spool" / "kept"

    @property
    def inbox_db(self) -> Path:
        return self.root / "inbox.db"

    @property
    def memory_db(self) -> Path:
        return self.root / "memory.db"

    def refuse_closed(self) -> None:
        """Raise MemoryLiteError if the home, a database or a log of a database may not be read and written."""
        databases = (self.memory_db, self.inbox_db)
        logs = [path.with_name(path.name + suffix) for path in databases for suffix in ("-wal", "-shm", "-journal")]
        if closed := next((path for path in (self.root, *databases, *logs) if is_closed(path)), None):
            from claude_mem_lite.errors import MemoryLiteError  # late: a worker listens before loading anything else

            mode = stat.S_IMODE(closed.stat().st_mode)
            step = f"run `claude-mem-lite doctor --fix`; until then {self.fate_of_events()}"
            raise MemoryLiteError(f"{closed} cannot be read and written by you (mode {mode:03o})", step)

    def fate_of_events(self) -> str:
        """Return what happens to events while part of the home is closed. Hooks can save events elsewhere, but the hook
        program and the off switch are in the home."""
        return "events wait" if os.access(self.root, os.X_OK) else "nothing is captured"

    @property
    def code_db(self) -> Path:
        """Cache of the state of projects' code at the last read; rebuilt when missing."""
        return self.root / "code.db"

    @property
    def socket(self) -> Path:
        return self.root / "worker.sock"

    @property
    def worker_lock(self) -> Path:
        return self.root / "worker.lock"

    @property
    def start_lock(self) -> Path:
        return self.root / "start.lock"

    @property
    def rebuild_lock(self) -> Path:
        """Held by the command that rebuilds memories. Never unlinked."""
        return self.root / "rebuild.lock"

    @property
    def worker_pid(self) -> Path:
        return self.root / "worker.pid"

    @property
    def worker_log(self) -> Path:
        return self.root / "worker.log"

    @property
    def off_switch(self) -> Path:
        return self.root / "off"

    @property
    def pauses(self) -> Path:
        """Periods in which memory was off or folders were excluded: one small file a period."""
        return self.root / "pauses"

    @property
    def dropped(self) -> Path:
        """Mark of a hook that dropped an event because too many events wait."""
        return self.root / "dropped"

    @property
    def notice_mark(self) -> Path:
        """Mark of a hook that told the user that no worker starts; the file time is the time of the notice."""
        return self.root / "told"

    @property
    def config(self) -> Path:
        return self.root / "config.toml"

    @property
    def synonyms(self) -> Path:
        """The user's synonyms, besides the synonyms of the package."""
        return self.root / "synonyms.toml"

    @property
    def api_key(self) -> Path:
        """Key of the configured model provider, for users who do not want the key in the environment."""
        return self.root / "api-key"

    @property
    def team_address(self) -> Path:
        """Address of the team's database, with the password of this member."""
        return self.root / "team-url"

    @property
    def team_admin_address(self) -> Path:
        """Address of the team's database for whoever invites members."""
        return self.root / "team-admin-url"

    @property
    def team_key(self) -> Path:
        """Key of a sealed team."""
        return self.root / "team-key"

    @property
    def rendered(self) -> Path:
        """Start contexts rendered ahead, one file a folder, for hooks that find no worker in time."""
        return self.root / "rendered"

    @property
    def backups(self) -> Path:
        """Copies of memory.db, each complete and checked."""
        return self.root / "backups"

    @property
    def restore_order(self) -> Path:
        """Name of the backup that the next worker restores as memory.db."""
        return self.root / "restore.json"

    @property
    def replacing(self) -> Path:
        """Record of an unfinished replacement of a database file; the next start completes the replacement."""
        return self.root / "replacing.json"

    @property
    def recoveries(self) -> Path:
        """Restored databases with time and reason, to be reported to the user."""
        return self.root / "recoveries.json"

    @property
    def suspect(self) -> Path:
        """Mark of a worker to which SQLite reported a corrupt database."""
        return self.root / "suspect"

    @property
    def open_files(self) -> Path:
        """Database files that the last worker had open."""
        return self.root / "open-files.json"

    @property
    def installs(self) -> Path:
        """Files written by `install`, with their former bytes."""
        return self.root / "installs"

    @property
    def imported(self) -> Path:
        """Transcripts that imports have read, for `install`."""
        return self.root / "imported"

    @property
    def evaluation(self) -> Path:
        """Last report of `eval`, for the page."""
        return self.root / "evaluation.json"

    @property
    def guards(self) -> Path:
        """Active guards, one file a project, for the hook before tool calls."""
        return self.root / "guards"

    @property
    def hook_python(self) -> Path:
        """Symlink to the real interpreter: a version manager's shim costs seven starts."""
        return self.root / "py"

    @property
    def hook_program(self) -> Path:
        """Copy of the hook program that agents run; the copy outlives the package."""
        return self.root / HOOK_PROGRAM

    def can_run_hooks(self) -> bool:
        """Return whether Python and program of hooks exist; hooks check the same, and do nothing without them."""
        return os.access(self.hook_python, os.X_OK) and os.access(self.hook_program, os.R_OK)

    @property
    def worker_python(self) -> Path:
        """Symlink to the interpreter that has the dependencies; the hook starts the worker with the target."""
        return self.root / "worker-py"

    def fallback_spools(self) -> list[Path]:
        """Return the folders for events when the home cannot be written, best first: flat folders with mode 0700.

        The name contains the user and a checksum of the home, so that two homes never mix. The folders are fixed,
        because worker and hook may have different TMPDIRs."""
        uid = os.getuid()
        tag = f"claude-mem-lite-{uid}-{zlib.crc32(os.fsencode(self.root)):08x}"
        return [Path(folder) / tag for folder in ("/var/tmp", "/tmp", f"/run/user/{uid}", "/dev/shm")]

    def rendered_for(self, folder: str) -> Path:
        """Return the file of the rendered context of a folder; the first line repeats the folder, against
        collisions."""
        return self.rendered / f"{zlib.crc32(os.fsencode(folder)):08x}"

    def is_ours(self) -> bool:
        """Return whether this folder may be used as a home: a missing or empty folder, the default name, or files that
        only this package makes.

        The variable may name any folder. A folder with the user's own files must be neither closed nor filled."""
        if self.root.name == DEFAULT_NAME or not self.root.is_dir():
            return True
        if _EARLY_NAMES.issuperset(os.listdir(self.root)):
            return True
        return self.has_marks()

    def has_marks(self) -> bool:
        """Return whether the folder holds a database, an install or a spool of this package."""
        marks = (self.inbox_db, self.memory_db, self.installs, self.hook_program, self.spool_new)
        return self.worker_python.is_symlink() or any(mark.exists() for mark in marks)

    def refuse_foreign(self) -> None:
        """Raise MemoryLiteError if the folder holds other files and no file of this package."""
        if not self.is_ours():
            from claude_mem_lite.errors import MemoryLiteError  # late: a worker listens before loading anything else

            raise MemoryLiteError(
                f"{self.root} holds other files and nothing of this memory, so it was left alone",
                f"set {HOME_VARIABLE} to a folder that is new or empty",
            )

    def is_on_full_disk(self) -> bool:
        """Return whether the disk of the home has no room for a database to grow."""
        try:
            disk = os.statvfs(self.root)
        except OSError:
            return False
        return disk.f_bavail * disk.f_frsize < _MIN_FREE_BYTES

    def make(self) -> None:
        """Create the missing folders, private to the user; close a home that others can read."""
        self.refuse_foreign()
        for folder in (self.root, self.root / "spool", self.spool_tmp, self.spool_new, self.rendered):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # The home may be a link; the target of a link inside the home is not changed.
            if folder.stat().st_mode & 0o077 and (folder == self.root or not folder.is_symlink()):
                folder.chmod(0o700)


def is_closed(path: Path) -> bool:
    """Return whether the mode of an existing file or folder forbids reading or writing; a read-only disk does not
    count."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    needed = _FOLDER_PERMISSIONS if stat.S_ISDIR(mode) else _FILE_PERMISSIONS
    return mode & needed != needed and not os.access(path, needed >> 6)


def find_home() -> Home:
    """Return the home of this process: the variable, else `~/.claude-mem-lite`."""
    chosen = os.environ.get(HOME_VARIABLE)
    if not chosen:
        return Home(Path.home() / DEFAULT_NAME)
    return Home(Path(chosen) if os.path.isabs(chosen) else Path.cwd() / chosen)


def read_regular(path: Path, max_bytes: int, *, follow: bool = True) -> bytes:
    """Return the content of a regular file; OSError for other types, larger files, and links unless `follow`.

    Reading a pipe without a writer would block, and a device has no end."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        with open(handle, "rb", closefd=False) as file:
            content = file.read(max_bytes + 1)
    finally:
        os.close(handle)
    if len(content) > max_bytes:
        raise OSError(errno.EFBIG, f"it is larger than {max_bytes // 1024:,} KiB", str(path))
    return content


def sync(path: Path) -> None:
    """Flush a file, or the names in a folder, to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of a file; None without a file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def state_of(path: Path) -> tuple[int, int, int] | None:
    """Return inode, time and size of a file: another or a changed file differs; None without a file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def entries_of(folder: Path) -> list[Path]:
    """Return the paths of what is in a folder; none if the folder is missing, or a file."""
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def current_folder() -> str:
    """Return the working folder of this process; '' if the folder no longer exists."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""
