"""Starting the worker from a hook that found none: one, however many hooks try at once. Never waits for it."""

import _signal  # type: ignore[import-not-found]
import fcntl
import posix
import time

from kernel import SHIELDED, connect  # type: ignore[import-not-found]

MOST_WAITING = 20_000


def stay_within_bounds(home: bytes, name: bytes) -> None:
    """Let the event go when weeks of them wait already: the package was removed and its hooks forgotten.

    A mark is left, for `doctor` and for the worker that comes after all."""
    try:
        if len(posix.listdir(home + b"/spool/new")) > MOST_WAITING:
            posix.unlink(home + b"/spool/new/" + name)
            posix.close(posix.open(home + b"/dropped", posix.O_WRONLY | posix.O_CREAT | posix.O_NOFOLLOW, 0o600))
    except OSError:
        pass


def start_worker(home: bytes) -> bool:
    """Start the worker unless somebody is doing so or just did; whether one can be expected to come up."""
    flags = posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC
    try:
        target = posix.readlink(home + b"/worker-py")
        lock = posix.open(home + b"/start.lock", flags, 0o600)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not came_up(home) and is_due(lock) and posix.fork() == 0:
            become_worker(home, target)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        posix.close(lock)
    return True


def came_up(home: bytes) -> bool:
    """Whether a worker has begun to listen since we found none."""
    try:
        connect(home, 0)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    return True


def is_due(lock: int) -> bool:
    """Whether the last start is long enough ago for another; if so, this one is noted down."""
    attempts, last, now = 0, 0.0, time.time()
    try:
        first, second = posix.pread(lock, 100, 0).split()
        attempts, last = min(max(int(first), 0), 1000), float(second)
    except ValueError:
        pass
    if abs(now - last) < min(2**attempts, 60):
        return False
    posix.ftruncate(lock, 0)
    posix.pwrite(lock, b"%d %.3f" % (attempts + 1, now), 0)
    return True


def become_worker(home: bytes, target: bytes) -> None:
    """Turn this forked child into the worker, with nothing of the agent's left in it. Never returns."""
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
        program = target if target.startswith(b"/") else home + b"/" + target
        posix.execve(program, [program, b"-I", b"-m", b"claude_mem_lite.worker"], environment)
    finally:
        posix._exit(127)
