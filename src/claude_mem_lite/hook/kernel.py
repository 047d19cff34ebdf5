"""Work inside an agent's hook: read the payload, save it, notify the worker, print its answer.

Run by the launcher beside it. Never raises, never writes to stderr, never opens a database; imports only builtin and C
modules unless a payload holds private spans or no worker answers."""

import _signal  # type: ignore[import-not-found]
import posix
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket

ANSWER_WITHIN_S = {"SessionStart": 1.5, "UserPromptSubmit": 0.3, "PostToolUse": 0.15, "PostToolUseFailure": 0.15}
UNKEPT_WITHIN_S = 0.5
RETRY_S = 0.02
STARTED_RETRY_S = 0.004  # a worker that starts listens after some 40 ms, and a try takes 0.03 ms
FSYNCED = ("Stop", "StopFailure", "SessionEnd")
# A successful tool call gets an answer if it opened a file, or may have failed all the same.
FILE_TOOLS = (b'"read"', b'"edit"', b'"multiedit"', b'"write"', b'"notebookedit"')
WORDS_OF_FAILURES = (b"error", b"fail", b"fatal", b"panic", b"exception", b"not ok")
OTHER_FORMS = ("cursor", "copilot")  # they do not accept rendered contexts, which are in Claude Code's form
PRIVATE_MARKS = (b"<private", b"003cprivate", b"</private", b"003c/private", b"\\/private")
# A home may have the early names before any event, and has one of the marks after the first event.
EARLY_NAMES = (b"spool", b"rendered", b"config.toml", b"synonyms.toml", b"api-key", b"off", b"pauses", b"backups")
MARKS = (b"inbox.db", b"memory.db", b"installs", b"worker-py")
SHIELDED = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)


def main() -> None:
    """Serve the event named by the first argument, of the agent named by the second (none for Claude Code), and end the
    process with status 0. Guards have arguments of their own."""
    try:
        silence()
        if sys.argv[1:2] == ["PreToolUse"]:
            import guard  # type: ignore[import-not-found]

            guard.serve(sys.argv[2:])
        else:
            serve(clean_name("_".join(sys.argv[1:3])))
    except BaseException:
        pass
    posix._exit(0)


def silence() -> None:
    """Point stderr to nowhere and fill closed standard descriptors, lest a file of the hook become one.

    Opened for reading only: a print to a formerly closed stdout must fail, not seem to succeed."""
    while (nowhere := posix.open("/dev/null", posix.O_RDONLY | posix.O_CLOEXEC)) < 2:
        pass
    posix.dup2(nowhere, 2)


def serve(label: str) -> None:
    """Save the payload on stdin, then notify the worker and print its answer."""
    event, _, agent = label.partition("_")
    home = find_home()
    is_internal = posix.environ.get(b"CLAUDE_MEM_LITE_INTERNAL")
    is_off = posix.access(home + b"/off", posix.F_OK)
    payload = read_all(0)  # also if ignored: the client reports a pipe that was closed unread
    if is_internal:
        return
    posix.umask(0o077)
    if is_off:
        note_pause(home)
        return
    for number in SHIELDED:  # the payload is saved only by this process now, and all later steps end by themselves
        _signal.signal(number, _signal.SIG_IGN)
    payload = without_private(payload)
    name = spool_name(label)
    if not is_ours(home):
        keep_elsewhere(home, name, payload, event in FSYNCED)
        return
    place = keep(home, name, payload, event in FSYNCED)
    kept = name if place else ""
    waits_s = ANSWER_WITHIN_S.get(event, 0.0) if agent or may_be_answered(event, payload) else 0.0
    answered = notify_worker(home, event, label, kept, b"" if place else payload, place == home, waits_s)
    may_render = event == "SessionStart" and agent not in OTHER_FORMS
    if may_render and not answered and (receipt := print_rendered(home, payload, notice(home) if kept else "")):
        note = b'{"hook_event_name":"Rendered","start":"%b","context":%b}' % (kept.encode(), receipt)
        keep(home, spool_name("Rendered"), note, False)


def note_pause(home: bytes) -> None:
    """Note the time at which memory was off, and nothing else: an import of transcripts leaves out the period.

    The period is named by the time of the switch, because a switch made by hand may be gone before a worker sees it."""
    if not is_ours(home) or not may_fill(home):
        return
    now = time.time_ns()
    began = max(posix.stat(home + b"/off").st_mtime_ns, 0)
    try:
        posix.mkdir(home + b"/pauses", 0o700)
    except FileExistsError:
        pass
    flags = posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_NONBLOCK | posix.O_CLOEXEC
    file = posix.open(home + b"/pauses/%020d" % began, flags, 0o600)
    known = posix.read(file, 41).split()
    times = [now, *[int(one) for one in known if one.isdigit()]]
    posix.pwrite(file, b"%020d %020d off\n" % (min(times), max(times)), 0)


def may_be_answered(event: str, payload: bytes) -> bool:
    """Return whether an answer is possible; unknown tools of other agents count as possible."""
    if event != "PostToolUse":
        return True
    lowered = payload.lower()
    tool = lowered.partition(b'"tool_name"')[2][:40]
    return not tool or any(name in tool for name in FILE_TOOLS) or any(word in lowered for word in WORDS_OF_FAILURES)


def clean_name(argument: str) -> str:
    """Return an event name that is safe in a file name and in a request."""
    return "".join([c for c in argument if c.isascii() and (c.isalnum() or c == "_")])[:40] or "unknown"


def spool_name(label: str) -> str:
    """Return a unique name; names sort by time."""
    return f"{time.time_ns():020d}-{posix.getpid()}-{posix.urandom(4).hex()}-{label}"


def find_home() -> bytes:
    """Return the data folder: the variable, else the folder of the `py` link that runs the hook, else the user's
    default.

    Spelled as by pathlib, because the names of the fallback folders carry a checksum of the path."""
    home = posix.environ.get(b"CLAUDE_MEM_LITE_HOME")
    if not home:
        home, _, base = encoded(sys.executable or "").rpartition(b"/")
        if base != b"py":
            home = (posix.environ.get(b"HOME") or folder_of_user()) + b"/.claude-mem-lite"
    if not home.startswith(b"/"):
        home = posix.getcwdb() + b"/" + home
    return b"/" + b"/".join([part for part in home.split(b"/") if part not in (b"", b".")])


def folder_of_user() -> bytes:
    """Return the user's folder from the user database."""
    import pwd

    return encoded(pwd.getpwuid(posix.getuid()).pw_dir)


def encoded(path: str) -> bytes:
    """Return the bytes of a path as in the file system."""
    return path.encode(sys.getfilesystemencoding(), "surrogateescape")


def read_all(fd: int) -> bytes:
    """Return everything up to the end of `fd`; an error counts as the end."""
    chunks = []
    while True:
        try:
            chunk = posix.read(fd, 65536)
        except BlockingIOError:
            time.sleep(0.001)
            continue
        except OSError:
            break
        if not chunk:
            break
        chunks.append(chunk)
    return b"".join(chunks)


def without_private(payload: bytes) -> bytes:
    """Return the payload without its private spans; empty rather than leaked if they cannot be removed."""
    lowered = payload.lower()
    if b"private" not in lowered or not any(mark in lowered for mark in PRIVATE_MARKS):
        return payload
    try:
        import private  # type: ignore[import-not-found]

        cleaned: bytes = private.clean(payload)
    except Exception:
        return b""
    return cleaned


def is_ours(home: bytes) -> bool:
    """Return whether the home, made if missing, is a folder that only the user can write.

    In a shared folder, as with HOME=/tmp, another user's home would name a program to run and text to print."""
    me = posix.getuid()
    try:
        try:
            found = posix.lstat(home)
        except FileNotFoundError:
            make_folders(home)
            found = posix.lstat(home)
        if found.st_mode & 0o170000 == 0o120000 and found.st_uid == me:
            found = posix.stat(home)
    except OSError:
        return False
    return found.st_mode & 0o170022 == 0o040000 and found.st_uid == me


def keep(home: bytes, name: str, data: bytes, sync: bool) -> bytes:
    """Save `data` in the spool or else in the first possible fallback folder; return the folder, or b"" on failure."""
    file = name.encode()
    try:
        try:
            leave(home + b"/spool/tmp/" + file, home + b"/spool/new/" + file, data, sync)
        except FileNotFoundError:
            if not may_fill(home):
                raise
            make_folders(home)
            leave(home + b"/spool/tmp/" + file, home + b"/spool/new/" + file, data, sync)
        return home
    except OSError:
        return keep_elsewhere(home, name, data, sync)


def may_fill(home: bytes) -> bool:
    """Return whether a folder without a spool may get one: the variable may name a folder with the user's own files."""
    names = posix.listdir(home)
    is_known = home.endswith(b"/.claude-mem-lite") or any(name in MARKS for name in names)
    return is_known or all(name in EARLY_NAMES for name in names)


def keep_elsewhere(home: bytes, name: str, data: bytes, sync: bool) -> bytes:
    """Save `data` in the first possible fallback folder; return the folder, or b"" on failure."""
    file = name.encode()
    for place in fallback_places(home):
        try:
            make_private(place)
            leave(place + b"/.tmp-" + file, place + b"/" + file, data, sync)
            return place
        except OSError:
            pass
    return b""


def leave(tmp: bytes, new: bytes, data: bytes, sync: bool) -> None:
    """Write all of `data` to the file `new`, or raise OSError and leave nothing behind."""
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_NOFOLLOW | posix.O_CLOEXEC
    fd = posix.open(tmp, flags, 0o600)
    try:
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[posix.write(fd, rest) :]
            if sync:
                posix.fsync(fd)
        finally:
            posix.close(fd)
        posix.rename(tmp, new)
    except BaseException:
        posix.unlink(tmp)
        raise


def make_folders(home: bytes) -> None:
    """Create the missing folders of the home and its spool; a failure shows at the first use."""
    parts = (home + b"/spool/tmp").split(b"/")
    for folder in [*[b"/".join(parts[:end]) for end in range(2, len(parts) + 1)], home + b"/spool/new"]:
        try:
            posix.mkdir(folder, 0o700)
        except OSError:
            pass


def fallback_places(home: bytes) -> list[bytes]:
    """Return the folders for events when the home takes none, best first; the worker has the same list."""
    import zlib

    uid = posix.getuid()
    tag = b"/claude-mem-lite-%d-%08x" % (uid, zlib.crc32(home))
    return [place + tag for place in (b"/var/tmp", b"/tmp", b"/run/user/%d" % uid, b"/dev/shm")]


def make_private(place: bytes) -> None:
    """Create `place`, or check that it is a folder of this user, closed to others."""
    try:
        posix.mkdir(place, 0o700)
    except FileExistsError:
        pass
    found = posix.lstat(place)
    if found.st_mode & 0o170077 != 0o040000 or found.st_uid != posix.getuid():
        raise PermissionError


def notify_worker(home: bytes, event: str, label: str, name: str, body: bytes, may_start: bool, waits_s: float) -> bool:
    """Notify the worker, and start one if none listens; return whether an answer came (or none was needed) in time."""
    deadline_s = time.monotonic() + (max(waits_s, UNKEPT_WITHIN_S) if body else waits_s)
    coming = False
    while True:
        try:
            ask(home, label, name, body, deadline_s, waits_s > 0)
            return True
        except (BlockingIOError, TimeoutError):
            return False
        except OSError:
            coming = coming or (may_start and start(home, name))
        if event != "SessionStart" or not coming or time.monotonic() + STARTED_RETRY_S >= deadline_s:
            return False
        time.sleep(STARTED_RETRY_S)


def start(home: bytes, name: str) -> bool:
    """Start the worker unless a start is under way; return whether a worker can be expected."""
    import spawn_worker  # type: ignore[import-not-found]

    spawn_worker.stay_within_bounds(home, name.encode())
    expected: bool = spawn_worker.start_worker(home)
    return expected


def notice(home: bytes) -> str:
    """Return the notice to the user about a worker that cannot start any more; mostly ''."""
    import spawn_worker

    sentence: str = spawn_worker.notice(home)
    return sentence


def ask(home: bytes, label: str, name: str, body: bytes, deadline_s: float, wanted: bool) -> None:
    """Send one request; print the answer if wanted, and confirm the print.

    OSError: no worker. BlockingIOError or TimeoutError: a busy worker."""
    connection = connect(home, deadline_s)
    connection.settimeout(max(deadline_s - time.monotonic(), 0))
    connection.sendall(request(label, name, body))
    if not wanted and not body:
        return
    # The arrival of the only copy must be confirmed: a server may drop a request whose sender is gone.
    answer = receive(connection, deadline_s)
    if wanted and answer and print_all(answer) and name:
        try:
            connection.settimeout(0)
            connection.sendall(request("printed", name, b""))
        except OSError:
            pass


def connect(home: bytes, deadline_s: float) -> "_socket.socket":
    """Return a connection to the worker; wait up to `deadline_s` for a place in its queue."""
    import _socket  # late: guards connect to nobody, and it takes 5 % of their time

    posix.chdir(home)  # a socket's path has room for some 104 bytes only
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.settimeout(0)
    while True:
        try:
            connection.connect(b"worker.sock")
            return connection
        except BlockingIOError:
            if time.monotonic() + RETRY_S >= deadline_s:
                raise
            time.sleep(RETRY_S)


def request(path: str, name: str, body: bytes) -> bytes:
    """Return the bytes of one request."""
    spool = f"X-Spool: {name}\r\n" if name else ""
    head = f"POST /hook/{path} HTTP/1.1\r\nHost: localhost\r\n{spool}Content-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def receive(connection: "_socket.socket", deadline_s: float) -> bytes:
    """Return the whole body of a 200, else nothing. TimeoutError: too late, a 503 of a worker that cannot answer in
    time, or a response that ends early."""
    data = b""
    while True:
        head, end, body = data.partition(b"\r\n\r\n")
        if end and head[9:12] == b"503":
            raise TimeoutError
        if end and len(body) >= (length := length_of_200(head)):
            return body[:length]
        left = deadline_s - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        chunk = connection.recv(65536)
        if not chunk:  # without any data the worker was just ending, so the next one may answer
            raise TimeoutError if data else ConnectionResetError
        data += chunk


def length_of_200(head: bytes) -> int:
    """Return the length of the body; 0 for any other status and for an unreadable length."""
    status, *lines = head.split(b"\r\n")
    if status.split(b" ")[1:2] == [b"200"]:
        for line in lines:
            key, _, value = line.partition(b":")
            if key.lower() == b"content-length" and value.strip().isdigit():
                return int(value)
    return 0


def print_all(data: bytes) -> bool:
    """Write to stdout; return whether everything was written."""
    rest, patience = memoryview(data), 1000
    while rest and patience:
        try:
            rest = rest[posix.write(1, rest) :]
        except BlockingIOError:
            patience -= 1
            time.sleep(0.001)
        except OSError:
            break
    return not rest


def print_rendered(home: bytes, payload: bytes, message: str) -> bytes:
    """Print the context rendered ahead for the payload's folder, with a message for the user if given; return the
    receipt for the note, or b"" if nothing was printed."""
    import json

    receipt, reply = rendered_ahead(home, payload)
    if message:
        reply = json.dumps({**json.loads(reply or b"{}"), "systemMessage": message}).encode()
    return receipt if reply and print_all(reply) else b""


def rendered_ahead(home: bytes, payload: bytes) -> tuple[bytes, bytes]:
    """Return receipt and reply rendered for the payload's folder; both empty if they do not fit."""
    import json
    import zlib

    try:
        start = json.loads(payload)
        folder = start["cwd"].encode("utf-8", "surrogateescape")
        path = home + b"/rendered/%08x" % zlib.crc32(folder)
        found = read_all(posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC))
        *of_folder, receipt, rendered = found.split(b"\n", 3)
        whole = all(isinstance(json.loads(part), dict) for part in (receipt, rendered))
        if start.get("source") == "resume" or of_folder != [folder, folder_identity(folder)] or not whole:
            return b"", b""
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OSError):
        return b"", b""
    return receipt, rendered


def folder_identity(folder: bytes) -> bytes:
    """Return the identity of the repository around a folder, or of a folder outside of any repository.

    Inode numbers are reused, so a file's time counts too; git writes `description` once. The device number is left out:
    a reboot may change it."""
    parts = folder.split(b"/")
    for end in range(len(parts), 0, -1):
        for name in (b".git/description", b".git"):
            try:
                found = posix.stat(b"/".join([*parts[:end], name]))
            except OSError:
                continue
            is_file = found.st_mode & 0o170000 == 0o100000
            return b"%d-%d" % (found.st_ino, found.st_mtime_ns if is_file else 0)
    return b"%d" % posix.stat(folder).st_ino
