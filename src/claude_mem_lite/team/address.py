"""Address of the team's database: a parsed connection URL, and the file that holds it.

Plain connections are allowed on this machine only; everywhere else the certificate of the server is verified. The text
of an address never shows its password."""

import ipaddress
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.team.reasons import TeamError
from claude_mem_lite.team.secret_files import read_secret, write_secret
from claude_mem_lite.values import frozen

VARIABLE = "CLAUDE_MEM_LITE_TEAM_URL"
SYSTEM_AUTHORITIES = "system"
DEFAULT_PORT = 5432
_SCHEMES = ("postgresql", "postgres")
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_EXTRAS = ("sslcert", "sslkey", "channel_binding", "options")
_EXAMPLE = "an address looks like postgresql://NAME:PASSWORD@HOST/DATABASE"


@frozen
class Address:
    """Connection URL of the team's database, parsed and checked."""

    host: str
    """Host name, IP address, or the folder of a Unix socket."""
    port: int
    database: str
    user: str
    password: str = field(default="", repr=False)
    sslmode: str = "verify-full"
    sslrootcert: str = SYSTEM_AUTHORITIES
    extras: tuple[tuple[str, str], ...] = ()
    """Further parameters of libpq."""

    def __str__(self) -> str:
        """Return the URL without its password."""
        return replace(self, password="").url()

    def url(self) -> str:
        """Return the URL with its password."""
        login = quote(self.user, safe="") + (f":{quote(self.password, safe='')}" if self.password else "")
        host = f"[{self.host}]" if ":" in self.host else self.host
        query = dict(self.extras) if self.is_local() and not self._asks_for_tls() else self._tls() | dict(self.extras)
        if self.is_socket():
            host, query = "", {"host": self.host} | query
        port = "" if self.port == DEFAULT_PORT else f":{self.port}"
        parameters = f"?{urlencode(query, quote_via=quote)}" if query else ""
        return f"postgresql://{login}@{host}{port}/{quote(self.database, safe='')}{parameters}"

    def of_member(self, user: str, password: str) -> "Address":
        """Return the address of the same database for another role."""
        return replace(self, user=user, password=password)

    def is_socket(self) -> bool:
        return self.host.startswith("/")

    def is_local(self) -> bool:
        """Return whether the connection stays on this machine."""
        return self.is_socket() or _is_loopback(self.host)

    def _asks_for_tls(self) -> bool:
        return self.sslmode not in ("disable", "allow", "prefer")

    def _tls(self) -> dict[str, str]:
        given = {} if self.sslrootcert == SYSTEM_AUTHORITIES else {"sslrootcert": self.sslrootcert}
        return {"sslmode": self.sslmode} | given


def parse_address(url: str) -> Address:
    """Return the address in a URL. TeamError `insecure`: the URL asks for an unverified connection to another host."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        raise MemoryLiteError("the address of the team's database has a wrong host or port", _EXAMPLE) from None
    if parts.scheme not in _SCHEMES:
        raise MemoryLiteError("the address of the team's database is no PostgreSQL address", _EXAMPLE)
    given = _parameters(parts.query)
    host = _host(parts.netloc, parts.hostname, given.pop("host", ""))
    database, user = unquote(parts.path.removeprefix("/")), unquote(parts.username or "")
    if not database or not user:
        missing = "user" if not user else "database"
        raise MemoryLiteError(f"the address of the team's database has no {missing}", _EXAMPLE)
    sslmode = _sslmode(host, given.pop("sslmode", ""))
    return Address(
        host=host,
        port=DEFAULT_PORT if port is None else port,
        database=database,
        user=user,
        password=unquote(parts.password or ""),
        sslmode=sslmode,
        sslrootcert=given.pop("sslrootcert", SYSTEM_AUTHORITIES),
        extras=tuple(sorted(given.items())),
    )


def save_address(path: Path, address: Address) -> None:
    """Write an address with its password to a file that only this user can read."""
    write_secret(path, address.url())


def load_address(path: Path, environ: Mapping[str, str]) -> Address | None:
    """Return the address from the environment or else from the file; None if there is neither."""
    url = environ.get(VARIABLE) or read_secret(path)
    return parse_address(url) if url else None


def _parameters(query: str) -> dict[str, str]:
    """Return the parameters of a URL. Refused are those that would lead to another server than the URL shows."""
    allowed = ("host", "sslmode", "sslrootcert", *_EXTRAS)
    given: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in allowed:
            raise MemoryLiteError(
                f"the address of the team's database has the parameter {name[:40]!r}, which is not supported",
                f"allowed are {', '.join(allowed)}",
            )
        if name in given:
            raise MemoryLiteError(f"the address of the team's database has two parameters {name!r}", "keep one of them")
        given[name] = value
    return given


def _host(netloc: str, hostname: str | None, parameter: str) -> str:
    """Return the only host of a URL: between `@` and `/`, or the folder of a socket as parameter."""
    if hostname and parameter:
        raise MemoryLiteError("the address of the team's database has two hosts", "keep one of them")
    host = unquote(hostname or "") or parameter
    if "," in host or "," in netloc.rpartition("@")[2]:
        raise MemoryLiteError("the address of the team's database has several hosts", "name one host")
    if not host:
        raise MemoryLiteError("the address of the team's database has no host", _EXAMPLE)
    if host.startswith("@") or any(character.isspace() or not character.isprintable() for character in host):
        raise MemoryLiteError("the address of the team's database has a wrong host", _EXAMPLE)
    return host


def _sslmode(host: str, asked: str) -> str:
    if asked and asked not in _SSL_MODES:
        raise MemoryLiteError("the address of the team's database has an unknown sslmode", "use sslmode=verify-full")
    if host.startswith("/") or _is_loopback(host):
        return asked or "prefer"
    if asked not in ("", "verify-full"):
        raise TeamError("insecure", f"the address asks for sslmode={asked}")
    return "verify-full"


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
