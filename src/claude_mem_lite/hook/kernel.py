"""Read the payload, keep it, tell the worker, print its answer: all that happens inside an agent's hook.

Run by the launcher beside it. Never raises, never writes to stderr, never opens a database; imports only
builtin and C modules unless a payload holds private spans or no worker answers."""

import _signal  # type: ignore[import-not-found]
import _socket
import posix
import sys
import time

ANSWER_WITHIN_S = {"SessionStart": 1.5, "UserPromptSubmit": 0.3, "PostToolUse": 0.15, "PostToolUseFailure": 0.15}
UNKEPT_WITHIN_S = 0.5
RETRY_S = 0.02
FSYNCED = ("Stop", "StopFailure", "SessionEnd")
# To a tool call that went well there is an answer when it opened a file, or when it may have failed all the same.
FILE_TOOLS = (b'"read"', b'"edit"', b'"multiedit"', b'"write"', b'"notebookedit"')
WORDS_OF_FAILURES = (b"error", b"fail", b"fatal", b"panic", b"exception", b"not ok")
OTHER_FORMS = ("cursor", "copilot")  # they do not take what is rendered ahead, which is in Claude Code's form
PRIVATE_MARKS = (b"<private", b"003cprivate", b"</private", b"003c/private", b"\\/private")
# A home has these before any event, and one of those once there was one.
EARLY_NAMES = (b"spool", b"rendered", b"config.toml", b"synonyms.toml", b"api-key", b"off", b"pauses", b"backups")
MARKS = (b"inbox.db", b"memory.db", b"installs", b"worker-py")
SHIELDED = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)


def main() -> None:
    """Serve the event named by the first argument, of the agent named by the second (Claude Code's has none), and end
    the process with status 0."""
    try:
        silence()
        serve(clean_name("_".join(sys.argv[1:3])))
    except BaseException:
        pass
    posix._exit(0)


def silence() -> None:
    """Point stderr to nowhere and fill standard descriptors that are closed, lest a file of ours become one.

    Opened for reading only: a print to what was a closed stdout must fail, not seem to succeed."""
    while (nowhere := posix.open("/dev/null", posix.O_RDONLY | posix.O_CLOEXEC)) < 2:
        pass
    posix.dup2(nowhere, 2)


def serve(label: str) -> None:
    """Keep the payload on stdin, then let the worker know and print what it answers."""
    event, _, agent = label.partition("_")
    home = find_home()
    is_internal = posix.environ.get(b"CLAUDE_MEM_LITE_INTERNAL")
    is_off = posix.access(home + b"/off", posix.F_OK)
    payload = read_all(0)  # also when ignored: the client reports a pipe that was closed unread
    if is_internal:
        return
    posix.umask(0o077)
    if is_off:
        note_pause(home)
        return
    for number in SHIELDED:  # the payload is ours now, and all that follows ends by itself
        _signal.signal(number, _signal.SIG_IGN)
    payload = without_private(payload)
    name = spool_name(label)
    if not is_ours(home):
        keep_elsewhere(home, name, payload, event in FSYNCED)
        return
    place = keep(home, name, payload, event in FSYNCED)
    kept = name if place else ""
    waits_s = ANSWER_WITHIN_S.get(event, 0.0) if agent or may_be_answered(event, payload) else 0.0
    answered = tell(home, event, label, kept, b"" if place else payload, place == home, waits_s)
    may_render = event == "SessionStart" and agent not in OTHER_FORMS
    if may_render and not answered and (told := print_rendered(home, payload, notice(home) if kept else "")):
        note = b'{"hook_event_name":"Rendered","start":"%b","context":%b}' % (kept.encode(), told)
        keep(home, spool_name("Rendered"), note, False)


def note_pause(home: bytes) -> None:
    """Note when memory was seen to be off, and nothing else: an import of transcripts leaves out that time.

    The period is named by the time of the switch, because a switch made by hand may be gone before a worker sees it."""
    if not is_ours(home) or not may_fill(home):
        return
    now = time.time_ns()
    began = max(posix.stat(home + b"/off").st_mtime_ns, 0)
    try:
        posix.mkdir(home + b"/pauses", 0o700)
    except FileExistsError:
        pass
    flags = posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC
    file = posix.open(home + b"/pauses/%020d" % began, flags, 0o600)
    known = posix.read(file, 41).split()
    times = [now, *[int(one) for one in known if one.isdigit()]]
    posix.pwrite(file, b"%020d %020d off\n" % (min(times), max(times)), 0)


def may_be_answered(event: str, payload: bytes) -> bool:
    """Whether there may be an answer worth waiting for; of another agent's tools, who knows."""
    if event != "PostToolUse":
        return True
    lowered = payload.lower()
    tool = lowered.partition(b'"tool_name"')[2][:40]
    return not tool or any(name in tool for name in FILE_TOOLS) or any(word in lowered for word in WORDS_OF_FAILURES)


def clean_name(argument: str) -> str:
    """An event name that is safe in a file name and in a request."""
    return "".join([c for c in argument if c.isascii() and (c.isalnum() or c == "_")])[:40] or "unknown"


def spool_name(label: str) -> str:
    """A name no other hook makes; names sort by time."""
    return f"{time.time_ns():020d}-{posix.getpid()}-{posix.urandom(4).hex()}-{label}"


def find_home() -> bytes:
    """The data folder: the variable, else the folder of the `py` link that runs us, else the user's default.

    Spelled as pathlib would, because the names of the fallback places carry a checksum of it."""
    home = posix.environ.get(b"CLAUDE_MEM_LITE_HOME")
    if not home:
        home, _, base = encoded(sys.executable or "").rpartition(b"/")
        if base != b"py":
            home = (posix.environ.get(b"HOME") or folder_of_user()) + b"/.claude-mem-lite"
    if not home.startswith(b"/"):
        home = posix.getcwdb() + b"/" + home
    return b"/" + b"/".join([part for part in home.split(b"/") if part not in (b"", b".")])


def folder_of_user() -> bytes:
    """The user's own folder as the user database has it."""
    import pwd

    return encoded(pwd.getpwuid(posix.getuid()).pw_dir)


def encoded(path: str) -> bytes:
    """The bytes of a path as the file system has them."""
    return path.encode(sys.getfilesystemencoding(), "surrogateescape")


def read_all(fd: int) -> bytes:
    """Everything up to the end of `fd`; what came before an error counts as everything."""
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
    """The payload without its private spans; empty rather than leaked when they cannot be removed."""
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
    """Whether the home, made when missing, is a folder that nobody else can put something into.

    Where users share a folder, as with HOME=/tmp, another's home would name a program to run and text to print."""
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
    """Keep `data` in the spool or else in the first fallback place that takes it: that folder, or b""."""
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
    """Whether a folder without a spool may get one: the variable may name one that holds the user's own files."""
    names = posix.listdir(home)
    is_known = home.endswith(b"/.claude-mem-lite") or any(name in MARKS for name in names)
    return is_known or all(name in EARLY_NAMES for name in names)


def keep_elsewhere(home: bytes, name: str, data: bytes, sync: bool) -> bytes:
    """Keep `data` in the first fallback place that takes it: that folder, or b""."""
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
    """All of `data` as the file `new`, or an OSError and nothing left behind."""
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
    """Create what is missing of the home and its spool; what cannot be made shows when it is used."""
    parts = (home + b"/spool/tmp").split(b"/")
    for folder in [*[b"/".join(parts[:end]) for end in range(2, len(parts) + 1)], home + b"/spool/new"]:
        try:
            posix.mkdir(folder, 0o700)
        except OSError:
            pass


def fallback_places(home: bytes) -> list[bytes]:
    """Where events go when the home takes none, best first; the worker knows the same list."""
    import zlib

    uid = posix.getuid()
    tag = b"/claude-mem-lite-%d-%08x" % (uid, zlib.crc32(home))
    return [place + tag for place in (b"/var/tmp", b"/tmp", b"/run/user/%d" % uid, b"/dev/shm")]


def make_private(place: bytes) -> None:
    """Create `place`, or see that it is a folder of ours that nobody else can look into."""
    try:
        posix.mkdir(place, 0o700)
    except FileExistsError:
        pass
    found = posix.lstat(place)
    if found.st_mode & 0o170077 != 0o040000 or found.st_uid != posix.getuid():
        raise PermissionError


def tell(home: bytes, event: str, label: str, name: str, body: bytes, may_start: bool, waits_s: float) -> bool:
    """Tell the worker, starting it when nobody is there; whether it answered (or had no need to) in time."""
    deadline = time.monotonic() + (max(waits_s, UNKEPT_WITHIN_S) if body else waits_s)
    coming = False
    while True:
        try:
            ask(home, label, name, body, deadline, waits_s > 0)
            return True
        except (BlockingIOError, TimeoutError):
            return False
        except OSError:
            coming = coming or (may_start and start(home, name))
        if event != "SessionStart" or not coming or time.monotonic() + RETRY_S >= deadline:
            return False
        time.sleep(RETRY_S)


def start(home: bytes, name: str) -> bool:
    """Start the worker unless that is being done; whether one can be expected to come up."""
    import starting  # type: ignore[import-not-found]

    starting.stay_within_bounds(home, name.encode())
    expected: bool = starting.start_worker(home)
    return expected


def notice(home: bytes) -> str:
    """What the person should hear of a worker that cannot come up any more; mostly nothing."""
    import starting

    told: str = starting.notice(home)
    return told


def ask(home: bytes, label: str, name: str, body: bytes, deadline: float, wanted: bool) -> None:
    """One request; prints the answer where one is wanted, and confirms it.

    OSError: nobody is there. BlockingIOError or TimeoutError: somebody is, but has no time for us."""
    connection = connect(home, deadline)
    connection.settimeout(max(deadline - time.monotonic(), 0))
    connection.sendall(request(label, name, body))
    if not wanted and not body:
        return
    # The only copy of a body must be seen to arrive: a server may drop a request whose sender is gone.
    answer = receive(connection, deadline)
    if wanted and answer and print_all(answer) and name:
        try:
            connection.settimeout(0)
            connection.sendall(request("printed", name, b""))
        except OSError:
            pass


def connect(home: bytes, deadline: float) -> _socket.socket:
    """A connection to the worker, waiting up to `deadline` for a place in its queue."""
    posix.chdir(home)  # a socket's path has room for some 104 bytes only
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.settimeout(0)
    while True:
        try:
            connection.connect(b"worker.sock")
            return connection
        except BlockingIOError:
            if time.monotonic() + RETRY_S >= deadline:
                raise
            time.sleep(RETRY_S)


def request(path: str, name: str, body: bytes) -> bytes:
    """The bytes of one request."""
    spool = f"X-Spool: {name}\r\n" if name else ""
    head = f"POST /hook/{path} HTTP/1.1\r\nHost: localhost\r\n{spool}Content-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def receive(connection: _socket.socket, deadline: float) -> bytes:
    """The whole body of a 200, else nothing."""
    data = b""
    while True:
        head, end, body = data.partition(b"\r\n\r\n")
        if end and len(body) >= (length := length_of_200(head)):
            return body[:length]
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        chunk = connection.recv(65536)
        if not chunk and not data:
            raise ConnectionResetError  # it was just going away
        if not chunk:
            return b""
        data += chunk


def length_of_200(head: bytes) -> int:
    """The length of the body that follows; 0 for any other status and for a length that cannot be read."""
    status, *lines = head.split(b"\r\n")
    if status.split(b" ")[1:2] == [b"200"]:
        for line in lines:
            key, _, value = line.partition(b":")
            if key.lower() == b"content-length" and value.strip().isdigit():
                return int(value)
    return 0


def print_all(data: bytes) -> bool:
    """Write to stdout; whether all of it got there."""
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
    """Print the context rendered ahead for the payload's folder, and a message for the person if there is one; what
    the context is, for the note, or b"" when none got out."""
    import json

    told, reply = rendered_ahead(home, payload)
    if message:
        reply = json.dumps({**json.loads(reply or b"{}"), "systemMessage": message}).encode()
    return told if reply and print_all(reply) else b""


def rendered_ahead(home: bytes, payload: bytes) -> tuple[bytes, bytes]:
    """What is rendered for the payload's folder: what it is, for the note, and the reply; nothing of both when it does
    not fit."""
    import json
    import zlib

    try:
        start = json.loads(payload)
        folder = start["cwd"].encode("utf-8", "surrogateescape")
        path = home + b"/rendered/%08x" % zlib.crc32(folder)
        found = read_all(posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC))
        *of_folder, told, rendered = found.split(b"\n", 3)
        whole = all(isinstance(json.loads(part), dict) for part in (told, rendered))
        if start.get("source") == "resume" or of_folder != [folder, folder_identity(folder)] or not whole:
            return b"", b""
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OSError):
        return b"", b""
    return told, rendered


def folder_identity(folder: bytes) -> bytes:
    """What tells the repository around a folder, or a folder outside of any, from another one put in its place.

    Inode numbers are given out again, so a file is known by its time too; git writes `description` once. The number of
    the device is left out: it may be another one after a reboot."""
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
