"""Where files live. Every process but the hook asks here; the hook kernel repeats the few names it needs."""

import errno
import os
import stat
import zlib
from dataclasses import dataclass
from pathlib import Path

HOME_VARIABLE = "CLAUDE_MEM_LITE_HOME"
DEFAULT_NAME = ".claude-mem-lite"
HOOK_PROGRAM = "claude_mem_lite/hook/hook.py"
"""The program of hooks, told from the home; commands of ours are known by it."""
_BEFORE_THE_FIRST_EVENT = {"spool", "rendered", "config.toml", "synonyms.toml", "api-key", "off", "pauses", "backups"}
"""What a home may hold before it has a database: what the user puts there by hand, and what is made first."""
_OF_A_FILE, _OF_A_FOLDER = 0o600, 0o700
"""What the owner of a file or a folder in a home has to be allowed."""


@dataclass(frozen=True, slots=True)
class Home:
    """The data folder and the names inside it."""

    root: Path

    @property
    def spool_tmp(self) -> Path:
        return self.root / "spool" / "tmp"

    @property
    def spool_new(self) -> Path:
        return self.root / "spool" / "new"

    @property
    def spool_kept(self) -> Path:
        """Copies of what the inbox has taken in, until a backup has what became of it."""
        return self.root / "spool" / "kept"

    @property
    def inbox_db(self) -> Path:
        return self.root / "inbox.db"

    @property
    def memory_db(self) -> Path:
        return self.root / "memory.db"

    def refuse_closed(self) -> None:
        """MemoryLiteError when the home, a database or a log beside one may not be read and written."""
        databases = (self.memory_db, self.inbox_db)
        logs = [path.with_name(path.name + suffix) for path in databases for suffix in ("-wal", "-shm", "-journal")]
        if closed := next((path for path in (self.root, *databases, *logs) if is_closed(path)), None):
            from claude_mem_lite.errors import MemoryLiteError  # here: a worker listens before it loads anything else

            mode = stat.S_IMODE(closed.stat().st_mode)
            step = f"run `claude-mem-lite doctor --fix`; until then {self.fate_of_events()}"
            raise MemoryLiteError(f"{closed} cannot be read and written by you (mode {mode:03o})", step)

    def fate_of_events(self) -> str:
        """What becomes of events while something of the home is closed: hooks keep them elsewhere if need be, but their
        program is in the home, and so is the switch that says whether they may."""
        return "events wait" if os.access(self.root, os.X_OK) else "nothing is captured"

    @property
    def code_db(self) -> Path:
        """What the code of projects looked like when it was last read: a cache, made anew when it is gone."""
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
        """Held by the command that has memories made anew. Never unlinked."""
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
        """When memory was off, and folders excluded: one small file a period."""
        return self.root / "pauses"

    @property
    def dropped(self) -> Path:
        """The mark of a hook that let an event go because too many wait that nobody takes in."""
        return self.root / "dropped"

    @property
    def told(self) -> Path:
        """The mark of a hook that told the person that no worker starts: its time is when."""
        return self.root / "told"

    @property
    def config(self) -> Path:
        return self.root / "config.toml"

    @property
    def synonyms(self) -> Path:
        """The user's own words that stand for others, beside those of the package."""
        return self.root / "synonyms.toml"

    @property
    def api_key(self) -> Path:
        """The key of the configured model provider, for those who do not want it in the environment."""
        return self.root / "api-key"

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
        """Which backup the next worker puts in the place of memory.db."""
        return self.root / "restore.json"

    @property
    def replacing(self) -> Path:
        """The record of a database file that is being replaced: whoever starts next brings it to an end."""
        return self.root / "replacing.json"

    @property
    def recoveries(self) -> Path:
        """What was restored, when and why, for the user to hear of."""
        return self.root / "recoveries.json"

    @property
    def suspect(self) -> Path:
        """The mark of a worker that was told by SQLite that a database is damaged."""
        return self.root / "suspect"

    @property
    def open_files(self) -> Path:
        """Which database files the last worker had open."""
        return self.root / "open-files.json"

    @property
    def installs(self) -> Path:
        """What `install` wrote where, and the bytes that were there before."""
        return self.root / "installs"

    @property
    def hook_python(self) -> Path:
        """Symlink to the real interpreter: a version manager's shim costs seven starts."""
        return self.root / "py"

    @property
    def hook_program(self) -> Path:
        """The hook program that agents run: a copy, which outlives the package."""
        return self.root / HOOK_PROGRAM

    def can_run_hooks(self) -> bool:
        """Whether the Python and the program of hooks are there; hooks look for the same, and are silent without."""
        return os.access(self.hook_python, os.X_OK) and os.access(self.hook_program, os.R_OK)

    @property
    def worker_python(self) -> Path:
        """Symlink whose target the hook runs as the worker: the interpreter that has our dependencies."""
        return self.root / "worker-py"

    def fallback_spools(self) -> list[Path]:
        """Where hooks leave events when the home cannot be written, best first: flat folders, 0700, ours.

        The name carries the user and a checksum of the home, so that two homes never mix. The places are
        fixed, because a worker may have been started with another TMPDIR than the hook."""
        uid = os.getuid()
        tag = f"claude-mem-lite-{uid}-{zlib.crc32(os.fsencode(self.root)):08x}"
        return [Path(place) / tag for place in ("/var/tmp", "/tmp", f"/run/user/{uid}", "/dev/shm")]

    def rendered_for(self, folder: str) -> Path:
        """The rendered context of one folder; its first line repeats the folder, against collisions."""
        return self.rendered / f"{zlib.crc32(os.fsencode(folder)):08x}"

    def is_ours(self) -> bool:
        """Whether this may be our folder: it is not there yet, is empty, has our name, or holds what only we make.

        The variable may name any folder, and one with the user's own files must be neither closed nor filled."""
        if self.root.name == DEFAULT_NAME or not self.root.is_dir():
            return True
        if _BEFORE_THE_FIRST_EVENT.issuperset(os.listdir(self.root)):
            return True
        return self.has_marks()

    def has_marks(self) -> bool:
        """Whether it holds a database or an install of ours, or our own spool."""
        marks = (self.inbox_db, self.memory_db, self.installs, self.hook_program, self.spool_new)
        return self.worker_python.is_symlink() or any(mark.exists() for mark in marks)

    def refuse_foreign(self) -> None:
        """MemoryLiteError where somebody else's files are and none of ours."""
        if not self.is_ours():
            from claude_mem_lite.errors import MemoryLiteError  # here: a worker listens before it loads anything else

            raise MemoryLiteError(
                f"{self.root} holds other files and nothing of this memory, so it was left alone",
                f"set {HOME_VARIABLE} to a folder that is new or empty",
            )

    def make(self) -> None:
        """Create the folders that are missing, private to the user; mend a home that others can read."""
        self.refuse_foreign()
        for folder in (self.root, self.root / "spool", self.spool_tmp, self.spool_new, self.rendered):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # The home may be a link; what one inside it leads to is nothing of ours.
            if folder.stat().st_mode & 0o077 and (folder == self.root or not folder.is_symlink()):
                folder.chmod(0o700)


def is_closed(path: Path) -> bool:
    """Whether a file or folder is there that its mode keeps from being read and written; a disk that is read-only is
    another matter."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    needed = _OF_A_FOLDER if stat.S_ISDIR(mode) else _OF_A_FILE
    return mode & needed != needed and not os.access(path, needed >> 6)


def find_home() -> Home:
    """The home this process works with: the variable, else `~/.claude-mem-lite`."""
    chosen = os.environ.get(HOME_VARIABLE)
    if not chosen:
        return Home(Path.home() / DEFAULT_NAME)
    return Home(Path(chosen) if os.path.isabs(chosen) else Path.cwd() / chosen)


def read_regular(path: Path, most_bytes: int, *, follow: bool = True) -> bytes:
    """All of a regular file; OSError for anything else, for one that is larger, and for a link when none is followed.

    A pipe without a writer would be waited for, and a device has no end."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        with open(handle, "rb", closefd=False) as file:
            content = file.read(most_bytes + 1)
    finally:
        os.close(handle)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"it is larger than {most_bytes // 1024:,} KiB", str(path))
    return content


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def identity(path: Path) -> tuple[int, int] | None:
    """What a file is, whatever its name; None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def state_of(path: Path) -> tuple[int, int, int] | None:
    """What a file was like when it was looked at: another one, or a changed one, differs; None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def current_folder() -> str:
    """The folder that this process works in; nothing when it no longer exists, for what can be done without one."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""
