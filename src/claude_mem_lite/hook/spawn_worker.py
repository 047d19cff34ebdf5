"""Start of the worker by a hook that found none: one start, however many hooks try at once. Never waits for the worker.

If no worker can start any more, the user gets a notice once a day: hooks outlive the package."""

import _signal  # type: ignore[import-not-found]
import fcntl
import posix
import time

from kernel import SHIELDED, connect  # type: ignore[import-not-found]

MAX_WAITING = 20_000
MANY_STARTS = 5
"""Failed starts, each after a longer wait. A started worker resets the count."""
NOTICE_EVERY_S = 86400
GONE = (
    "claude-mem-lite was removed, but its hooks were not: they keep what you do in {home}, where nothing works on it."
    " Install it again and run: claude-mem-lite uninstall. Or {way_out}, then delete that folder."
)
FAILING = (
    "The worker of claude-mem-lite does not start, so nothing new is remembered. To see why, run: claude-mem-lite"
    " doctor. If you removed the program, {way_out}, then delete {home}."
)
BY_HAND = "delete the hooks that name claude_mem_lite/hook/hook.py from the settings of your agent"
OF_PLUGIN = "run: claude plugin uninstall mem-lite@mem-lite"


def stay_within_bounds(home: bytes, name: bytes) -> None:
    """Drop the event if weeks of events wait already: the package was removed and its hooks forgotten.

    A mark is left, for `doctor` and for a later worker."""
    try:
        if len(posix.listdir(home + b"/spool/new")) > MAX_WAITING:
            posix.unlink(home + b"/spool/new/" + name)
            posix.close(posix.open(home + b"/dropped", posix.O_WRONLY | posix.O_CREAT | posix.O_NOFOLLOW, 0o600))
    except OSError:
        pass


def start_worker(home: bytes) -> bool:
    """Start the worker unless a start is under way or recent; return whether a worker can be expected."""
    flags = posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC
    program = program_of(home)
    if not program:
        return False
    try:
        lock = posix.open(home + b"/start.lock", flags, 0o600)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not came_up(home) and is_due(lock) and posix.fork() == 0:
            become_worker(home, program)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        posix.close(lock)
    return posix.access(program, posix.X_OK)


def program_of(home: bytes) -> bytes:
    """Return the interpreter of the worker; b"" if none was ever chosen."""
    try:
        target = posix.readlink(home + b"/worker-py")
    except OSError:
        return b""
    return target if target.startswith(b"/") else home + b"/" + target


def came_up(home: bytes) -> bool:
    """Return whether a worker listens by now."""
    try:
        connect(home, 0)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    return True


def is_due(lock: int) -> bool:
    """Return whether the last start is long enough ago; if so, note this start."""
    (count, last), now = starts(lock), time.time()
    if abs(now - last) < min(2**count, 60):
        return False
    posix.ftruncate(lock, 0)
    posix.pwrite(lock, b"%d %.3f" % (count + 1, now), 0)
    return True


def starts(lock: int) -> tuple[int, float]:
    """Return the number of starts since a worker last came up, and the time of the last start."""
    try:
        first, second = posix.pread(lock, 100, 0).split()
        return min(max(int(first), 0), 1000), float(second)
    except ValueError:
        return 0, 0.0


def notice(home: bytes) -> str:
    """Return the notice about a worker that cannot start; '' if a worker may start, or after a notice today."""
    program = program_of(home)
    is_gone = not posix.access(program, posix.X_OK)
    if not program or not (is_gone or attempts(home) >= MANY_STARTS) or not is_news(home):
        return ""
    way_out = OF_PLUGIN if posix.environ.get(b"CLAUDE_PLUGIN_ROOT") else BY_HAND
    return (GONE if is_gone else FAILING).format(home=home.decode("utf-8", "replace"), way_out=way_out)


def attempts(home: bytes) -> int:
    """Return the number of starts since a worker last came up."""
    try:
        lock = posix.open(home + b"/start.lock", posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_CLOEXEC)
    except OSError:
        return 0
    count, _ = starts(lock)
    posix.close(lock)
    return count


def is_news(home: bytes) -> bool:
    """Return whether the last notice is long enough ago; if so, note this notice."""
    mark, now = home + b"/told", time.time()
    try:
        if abs(now - posix.stat(mark).st_mtime) < NOTICE_EVERY_S:
            return False
    except OSError:
        pass
    try:
        posix.close(posix.open(mark, posix.O_WRONLY | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC, 0o600))
        posix.utime(mark)
    except OSError:  # rather no notice than one at every start
        return False
    return True


def become_worker(home: bytes, program: bytes) -> None:
    """Turn this forked child into the worker, without any state of the agent. Never returns."""
    try:
        posix.setsid()
        for number in SHIELDED:
            _signal.signal(number, _signal.SIG_DFL)
        nowhere = posix.open("/dev/null", posix.O_RDWR)
        for fd in (0, 1, 2):
            posix.dup2(nowhere, fd)
        posix.closerange(3, max(min(posix.sysconf("SC_OPEN_MAX"), 65536), 256))
        posix.chdir("/")
        ours = [key for key in posix.environ if key[:6] != b"CLAUDE" or key[:16] == b"CLAUDE_MEM_LITE_"]
        environment = {key: posix.environ[key] for key in ours} | {b"CLAUDE_MEM_LITE_HOME": home}
        posix.execve(program, [program, b"-I", b"-m", b"claude_mem_lite.worker"], environment)
    finally:
        posix._exit(127)
