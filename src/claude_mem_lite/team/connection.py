"""Connections to the team's database with limits of time, and the reason codes of their failures.

No failure shows an address or a password: messages of the driver contain hosts, so none is passed on."""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow, tuple_row

from claude_mem_lite.deadline import NEVER, Deadline
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.team.address import SYSTEM_AUTHORITIES, Address
from claude_mem_lite.team.reasons import Reason, TeamError

MAX_CONNECT_S = 10
MAX_STATEMENT_S = 60.0
MAX_LOCK_S = 20.0
MIN_LIMIT_S = 1.0
_WAIT_INTERVAL_S = 0.1
_AUTHORITIES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
Value = TypeVar("Value")


class TimedConnection(psycopg.Connection[TupleRow]):
    """Connection that gives up at a deadline, also when the server is connected but silent."""

    deadline: Deadline = NEVER

    def wait(self, gen: PQGen[Value], interval: float = _WAIT_INTERVAL_S, timeout: float | None = None) -> Value:
        """Run a step of the driver. The limits of the server do not help if the server itself is stuck."""
        return super().wait(self._limited(gen), interval, **({} if timeout is None else {"timeout": timeout}))

    def _limited(self, gen: PQGen[Value]) -> PQGen[Value]:
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if self.deadline.is_past():  # also when data came: a server may send without end
                    self.pgconn.finish()
                    raise TeamError("unreachable", "no answer in time")
                wanted = gen.send(ready)
        except StopIteration as stop:
            result: Value = stop.value
            return result


def connect(address: Address, deadline: Deadline) -> TimedConnection:
    """Connect to the database. TeamError: the reason why not."""
    if deadline.is_past():
        raise TeamError("unreachable", "no time left")
    try:
        connection = TimedConnection.connect(
            make_conninfo("", **_parameters(address, deadline)),
            autocommit=True,
            prepare_threshold=None,
            row_factory=tuple_row,
        )
    except psycopg.Error as error:
        raise login_failure(error) from None
    connection.deadline = deadline
    return connection


@contextmanager
def administration(address: Address, deadline: Deadline) -> Iterator[TimedConnection]:
    """Open a transaction for the set-up and for members. Failures become errors that an administrator understands."""
    try:
        opened = connect(address, deadline)
    except TeamError as error:
        raise MemoryLiteError(error.message, _ADMINISTRATORS_STEPS.get(error.code, error.next_step)) from None
    with opened as connection, transaction(connection):
        try:
            yield connection
        except psycopg.errors.InsufficientPrivilege:
            raise MemoryLiteError(
                f"the database role {address.user} may not do this",
                "use a role with CREATEROLE and with CREATE on the database, or the role that ran `team init`",
            ) from None
        except psycopg.Error as error:
            raise failure(error) from None


@contextmanager
def transaction(connection: TimedConnection) -> Iterator[None]:
    """Run the block in a transaction with limits of time. Failures of the database become TeamErrors."""
    try:
        with connection.transaction():
            # In each transaction, because a pooler may give the next one to another server process. The search path
            # leaves out `public`: in a database of PostgreSQL 14 every member may put a function there.
            connection.execute(
                """
                select pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
                    pg_catalog.set_config('statement_timeout', %(statement)s, true),
                    pg_catalog.set_config('lock_timeout', %(lock)s, true),
                    pg_catalog.set_config('idle_in_transaction_session_timeout', %(statement)s, true)
                """,
                {
                    "statement": _milliseconds(connection.deadline, MAX_STATEMENT_S),
                    "lock": _milliseconds(connection.deadline, MAX_LOCK_S),
                },
            )
            yield
    except (psycopg.Error, UnicodeEncodeError) as error:
        raise failure(error) from None


def failure(error: psycopg.Error | UnicodeEncodeError) -> TeamError:
    """Return the reason of a failure of a statement."""
    state = (isinstance(error, psycopg.Error) and error.sqlstate) or ""
    for prefix, (code, detail) in _STATES.items():
        if state.startswith(prefix):
            return _error(code, detail)
    if is_about_content(error):
        return TeamError("rejected", f"SQLSTATE {state}" if state else "text that PostgreSQL cannot store")
    return TeamError("unreachable", f"SQLSTATE {state}" if state else "the connection was lost")


def is_about_content(error: Exception) -> bool:
    """Return whether a failure is about the values that were sent, so that other entries can still be sent."""
    if isinstance(error, UnicodeEncodeError):
        return True
    if not isinstance(error, psycopg.Error):
        return False
    state = error.sqlstate or ""
    # 42501: row-level security refused the row; 54: a limit of size.
    return state.startswith(("22", "23", "54", "42501")) or (not state and isinstance(error, psycopg.DataError))


def login_failure(error: psycopg.Error) -> TeamError:
    """Return the reason of a failed connection. libpq gives no code here, so its English texts decide."""
    if error.sqlstate:
        return failure(error)
    text = str(error).lower()
    for code, words, detail in _LOGIN_TEXTS:
        if any(word in text for word in words):
            return _error(code, detail)
    used_password = error.pgconn is not None and (error.pgconn.used_password or error.pgconn.needs_password)
    return TeamError("login") if used_password else TeamError("unreachable")


def _error(code: Reason, detail: str) -> TeamError:
    return TeamError(code, detail, _MEMBERS_STEP if detail == _NO_DATABASE else "")


_MEMBERS_STEP = "check the name of the database in the connection string"
_NO_DATABASE = "there is no such database"
_ADMINISTRATORS_STEPS: dict[Reason, str] = {
    "unreachable": "check host, port and network, then run the command again",
    "login": "check the role and the password in the connection string",
    "not_set_up": "make the database first, such as with `createdb NAME`",
}
"""Next steps where the usual ones speak to members."""
_STATES: dict[str, tuple[Reason, str]] = {
    "53100": ("full", ""),
    "25006": ("read_only", ""),
    "28": ("login", ""),
    "42501": ("no_grant", ""),
    "3F000": ("not_set_up", ""),
    "42P01": ("not_set_up", ""),
    "3D000": ("not_set_up", _NO_DATABASE),
    "57014": ("unreachable", "the server was too slow"),
    "55P03": ("unreachable", "the server was too slow"),
    "53": ("unreachable", "the server is overloaded"),
    "57P": ("unreachable", "the server shut down"),
}
_LOGIN_TEXTS: tuple[tuple[Reason, tuple[str, ...], str], ...] = (
    ("insecure", ("does not support ssl", "server does not support"), "the server has no TLS"),
    ("insecure", ("does not match host name",), "the certificate is for another host"),
    ("insecure", ("certificate verify failed",), "the certificate is not from a trusted authority"),
    ("insecure", ("root certificate file",), "the file of sslrootcert cannot be read"),
    ("insecure", ("no encryption",), "the server accepts connections with TLS only"),
    ("insecure", ("certificate", "ssl error"), "the TLS connection failed"),
    ("unreachable", ("too many", "remaining connection slots"), "the server has too many connections"),
    ("unreachable", ("starting up", "shutting down", "recovery mode"), "the server starts or stops"),
    ("unreachable", ("timeout expired", "timed out"), "no answer in time"),
    ("unreachable", ("closed the connection", "reset by peer", "broken pipe"), "the connection was lost"),
    ("unreachable", ("could not receive data", "could not send data"), "the connection was lost"),
    ("not_set_up", ('" does not exist',), _NO_DATABASE),
    ("login", ("password authentication failed", "not permitted to log in", "no password supplied"), ""),
    ("login", ("authentication failed", "pg_hba.conf", "permission denied for database"), ""),
    ("unreachable", ("connection refused", "no such file"), "no server answers there"),
    ("unreachable", ("could not translate host name",), "the name of the host is unknown"),
    ("unreachable", ("unreachable",), "the network has no way there"),
)


def _parameters(address: Address, deadline: Deadline) -> dict[str, str | int]:
    """Return the parameters of libpq. All that decide where a password goes are given, so no PG… variable counts."""
    timeout_s = max(min(deadline.left_s(), MAX_CONNECT_S), 2)  # libpq knows no shorter one
    return {
        **dict(address.extras),
        "host": address.host,
        "hostaddr": "",
        "port": address.port,
        "dbname": address.database,
        "user": address.user,
        "password": address.password,
        "sslmode": address.sslmode,
        "sslrootcert": _authorities(address.sslrootcert) if address.sslmode.startswith("verify") else "",
        "sslnegotiation": "postgres",
        "gssencmode": "disable",
        "client_encoding": "utf8",
        "target_session_attrs": "any",
        "application_name": "claude-mem-lite",
        "connect_timeout": int(timeout_s),
        "keepalives": 1,
        "keepalives_idle": 20,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 20_000,
    }


def _authorities(given: str) -> str:
    """Return the file of trusted authorities. The libpq of a wheel does not know where this system keeps its own."""
    if given != SYSTEM_AUTHORITIES:
        return given
    paths = ssl.get_default_verify_paths()
    candidates = (os.environ.get(paths.openssl_cafile_env), paths.cafile, *_AUTHORITIES)
    return next((path for path in candidates if path and Path(path).is_file()), SYSTEM_AUTHORITIES)


def _milliseconds(deadline: Deadline, limit_s: float) -> str:
    return str(int(1000 * max(min(deadline.left_s(), limit_s), MIN_LIMIT_S)))
