"""Tests of `team/connection.py`: TLS, logins, limits of time, and the reason codes of failures."""

import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from claude_mem_lite.deadline import PAST, Deadline
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.team.address import SYSTEM_AUTHORITIES, Address, parse_address
from claude_mem_lite.team.connection import administration, connect, failure, transaction
from claude_mem_lite.team.members import members
from claude_mem_lite.team.reasons import TeamError
from claude_mem_lite.team.server_schema import set_up
from tests.support.database_front import Authority, database_front
from tests.support.loopback import dead_port
from tests.support.postgres import NOW, Database
from tests.support.team_members import entry, invited, joined, outgoing


def _code(work: Callable[[], object]) -> str:
    with pytest.raises(TeamError) as caught:
        work()
    return caught.value.code


def _behind(address: Address, port: int, sslrootcert: str = SYSTEM_AUTHORITIES) -> Address:
    """Return the address of a front on this machine that has to show a certificate for `localhost`."""
    return replace(address, host="localhost", port=port, sslmode="verify-full", sslrootcert=sslrootcert)


def _open(address: Address, seconds: float = 60.0) -> None:
    connect(address, Deadline.after(seconds)).close()


def test_a_verified_server_is_accepted(database: Database, tmp_path: Path) -> None:
    authority = Authority.make()
    context = authority.context("localhost", tmp_path)
    with database_front(database.server.port, context) as front:
        address = _behind(database.address, front.port, sslrootcert=str(authority.save(tmp_path / "ca.pem")))
        with connect(address, Deadline.after(60)) as opened:
            assert opened.pgconn.ssl_in_use
            opened.execute("select 1")


def test_the_authorities_of_the_system_are_the_default(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority.make()
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.save(tmp_path / "system.pem")))
    with database_front(database.server.port, authority.context("localhost", tmp_path)) as front:
        _open(_behind(database.address, front.port))


def test_a_certificate_of_another_authority_is_refused(database: Database, tmp_path: Path) -> None:
    context = Authority.make().context("localhost", tmp_path)
    with database_front(database.server.port, context) as front:
        other = Authority.make().save(tmp_path / "ca.pem")
        address = _behind(database.address, front.port, sslrootcert=str(other))
        assert _code(lambda: _open(address)) == "insecure"
        assert front.received == b""


def test_an_unknown_authority_is_refused_by_default(database: Database, tmp_path: Path) -> None:
    context = Authority.make().context("localhost", tmp_path)
    with database_front(database.server.port, context) as front:
        assert _code(lambda: _open(_behind(database.address, front.port))) == "insecure"
        assert front.received == b""


def test_a_certificate_for_another_host_is_refused(database: Database, tmp_path: Path) -> None:
    authority = Authority.make()
    with database_front(database.server.port, authority.context("db.example.com", tmp_path)) as front:
        address = _behind(database.address, front.port, sslrootcert=str(authority.save(tmp_path / "ca.pem")))
        assert _code(lambda: _open(address)) == "insecure"
        assert front.received == b""


def test_a_missing_file_of_the_authority_is_insecure(database: Database, tmp_path: Path) -> None:
    with database_front(database.server.port, Authority.make().context("localhost", tmp_path)) as front:
        address = _behind(database.address, front.port, sslrootcert=str(tmp_path / "missing.pem"))
        assert _code(lambda: _open(address)) == "insecure"


def test_a_server_without_tls_gets_no_login_if_tls_is_needed(database: Database) -> None:
    with database_front(database.server.port) as front:
        assert _code(lambda: _open(_behind(database.address, front.port))) == "insecure"
        assert front.received == b""


def test_variables_of_libpq_do_not_weaken_an_address(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGSSLMODE", "disable")
    monkeypatch.setenv("PGHOST", "127.0.0.1")
    with database_front(database.server.port) as front:
        address = _behind(database.address, front.port)
        assert _code(lambda: _open(address)) == "insecure"


def test_a_variable_of_libpq_does_not_lead_to_another_server(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"HOSTADDR": "127.0.0.2", "PORT": "1", "USER": "eve", "DATABASE": "other"}.items():
        monkeypatch.setenv(f"PG{name}", value)
    with database_front(database.server.port) as front:
        _open(replace(database.address, port=front.port))
        assert front.received


def test_a_dead_port_is_unreachable() -> None:
    with dead_port() as port:
        assert _code(lambda: _open(parse_address(f"postgresql://ana:x@127.0.0.1:{port}/team"))) == "unreachable"


def test_a_missing_socket_is_unreachable(tmp_path: Path) -> None:
    assert _code(lambda: _open(parse_address(f"postgresql://ana:x@/team?host={tmp_path}"))) == "unreachable"


def test_no_time_left_is_unreachable(database: Database) -> None:
    assert _code(lambda: connect(database.address, PAST)) == "unreachable"


def test_a_port_that_accepts_and_says_nothing_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert _code(lambda: _open(parse_address(f"postgresql://a:x@127.0.0.1:{port}/t"), 2.0)) == "unreachable"


@pytest.mark.parametrize(
    ("changed", "code"),
    [({"password": "wrong"}, "login"), ({"user": "cml_nobody"}, "login"), ({"password": ""}, "login")],
)
def test_a_wrong_login_is_told_without_address_and_password(
    database: Database, changed: dict[str, str], code: str
) -> None:
    address = replace(invited(database, "ana"), **changed)  # type: ignore[arg-type]
    with pytest.raises(TeamError) as caught:
        _open(address)
    assert caught.value.code == code
    text = f"{caught.value} {caught.value.__cause__} {caught.value.__suppress_context__}"
    assert not any(part in text for part in ("127.0.0.1", str(address.port), address.user))
    assert "wrong" not in text


def test_a_missing_database_is_not_set_up(database: Database) -> None:
    assert _code(lambda: _open(replace(database.address, database="nothing"))) == "not_set_up"


def test_a_server_that_falls_silent_is_left_at_the_deadline(database: Database) -> None:
    with database_front(database.server.port) as front:
        opened = connect(replace(database.address, port=front.port), Deadline.after(60))
        front.is_silent.set()
        opened.deadline = PAST
        with pytest.raises(TeamError) as caught, transaction(opened):
            pass
    assert caught.value.code == "unreachable"
    assert opened.closed


def test_a_slow_statement_is_ended_by_the_server(database: Database) -> None:
    with connect(database.address, Deadline.after(60)) as opened:

        def wait_for_ever() -> None:
            with transaction(opened):
                opened.execute("set local statement_timeout = 10")
                opened.execute("select pg_sleep(60)")

        assert _code(wait_for_ever) == "unreachable"


def test_a_transaction_has_limits_of_time(database: Database) -> None:
    with connect(database.address, Deadline.after(5)) as opened, transaction(opened):
        rows = [
            opened.execute(f"show {name}".encode()).fetchone()
            for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "application_name")
        ]
    limits = [str(row[0]) for row in rows if row]
    assert "0" not in limits
    assert limits[-1] == "claude-mem-lite"


def test_a_server_that_accepts_no_writes_is_read_only(database: Database) -> None:
    with connect(database.address, Deadline.after(60)) as opened:

        def write() -> None:
            with transaction(opened):
                opened.execute("set transaction read only")
                opened.execute("update claude_mem_lite.team set min_version = 1")

        assert _code(write) == "read_only"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (psycopg.errors.DiskFull, "full"),
        (psycopg.errors.ReadOnlySqlTransaction, "read_only"),
        (psycopg.errors.InsufficientPrivilege, "no_grant"),
        (psycopg.errors.InvalidSchemaName, "not_set_up"),
        (psycopg.errors.UndefinedTable, "not_set_up"),
        (psycopg.errors.InvalidPassword, "login"),
        (psycopg.errors.AdminShutdown, "unreachable"),
        (psycopg.errors.LockNotAvailable, "unreachable"),
        (psycopg.errors.DeadlockDetected, "unreachable"),
        (psycopg.errors.TooManyConnections, "unreachable"),
        (psycopg.errors.CheckViolation, "rejected"),
        (psycopg.errors.ProgramLimitExceeded, "rejected"),
        (psycopg.OperationalError, "unreachable"),
        (psycopg.DataError, "rejected"),
    ],
)
def test_failures_of_statements_have_reason_codes(error: type[psycopg.Error], code: str) -> None:
    assert failure(error("text with db.example.com")).code == code
    assert "example" not in str(failure(error("text with db.example.com")))


def test_an_administrator_without_rights_is_told_what_is_needed(empty_database: Database) -> None:
    with empty_database.connect() as connection:
        connection.execute("create role visitor login password 'x'")
    address = empty_database.address.of_member("visitor", "x")
    with (
        pytest.raises(MemoryLiteError, match="CREATEROLE"),
        administration(address, Deadline.after(60)) as connection,
    ):
        set_up(connection, NOW, None)


def test_an_administrator_of_a_database_without_a_team_is_told(empty_database: Database) -> None:
    def list_members() -> None:
        with administration(empty_database.address, Deadline.after(60)) as connection:
            members(connection)

    assert _code(list_members) == "not_set_up"


def test_a_server_that_sends_without_end_is_given_up_at_the_deadline(database: Database) -> None:
    endless = "do $$ begin loop raise notice '%', repeat('x', 8000); end loop; end $$"
    with connect(database.address, Deadline.after(1)) as connection:
        assert _code(lambda: connection.execute(endless)) == "unreachable"


def test_functions_that_a_member_put_into_the_public_schema_are_not_called(database: Database) -> None:
    address = invited(database, "ben")
    # The default of databases that PostgreSQL 14 or an older one made.
    with database.connect() as owner:
        owner.execute("grant create on schema public to public")
    with database.connect(address) as ben:
        for name, arguments in (("to_tsvector", "text, text"), ("pg_advisory_xact_lock", "integer")):
            ben.execute(
                f"create function public.{name}({arguments}) returns text language plpgsql as"
                " $$ begin raise exception 'called by %', current_user; end $$".encode()
            )
    with administration(database.address, Deadline.after(60)) as connection:
        set_up(connection, NOW, None)
    with joined(database, "ana") as ana:
        assert len(ana.push(outgoing(entry(1)), "ana-device", "token-0", "token-1").sent) == 1
