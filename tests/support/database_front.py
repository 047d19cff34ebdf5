"""Fronts before a real PostgreSQL server: one that speaks TLS, one that refuses it, one that falls silent.

The packaged server has no TLS. The front answers the client's request for TLS itself and forwards what is inside."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_TLS_REQUEST = bytes.fromhex("0000000804d2162f")


@dataclass(slots=True)
class Front:
    """Listening front; `received` holds what clients sent, after the request for TLS and without encryption."""

    upstream: tuple[str, int]
    tls: ssl.SSLContext | None = None
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    received: bytearray = field(default_factory=bytearray)
    is_silent: threading.Event = field(default_factory=threading.Event)
    """Once set, nothing that the server says is forwarded."""
    _is_closing: threading.Event = field(default_factory=threading.Event)
    _open: list[socket.socket] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    def start(self) -> None:
        self._run(self._accept)

    def close(self) -> None:
        """End all connections and wait for the threads, which close their sockets."""
        self._is_closing.set()
        for open_socket in (self.listener, *self._open):
            with suppress(OSError):
                open_socket.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self.listener.close()

    def _accept(self) -> None:
        while not self._is_closing.is_set():
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self._run(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client:
            self._open.append(client)
            start = client.recv(8, socket.MSG_PEEK | socket.MSG_WAITALL)
            if start != _TLS_REQUEST:
                self._connect(client)
                return
            client.recv(8, socket.MSG_WAITALL)
            client.sendall(b"S" if self.tls else b"N")
            if self.tls is None:
                self._connect(client)
                return
            with self.tls.wrap_socket(client, server_side=True) as inside:
                self._connect(inside)

    def _connect(self, client: socket.socket) -> None:
        with socket.create_connection(self.upstream) as server:
            self._open += [client, server]
            if self._is_closing.is_set():
                return
            answers = self._run(self._forward, server, client, None)
            self._forward(client, server, self.received)
            answers.join()

    def _forward(self, source: socket.socket, target: socket.socket, copy: bytearray | None) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if copy is not None:
                    copy += data
                elif self.is_silent.is_set():
                    continue
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _run(self, work: Callable[..., None], *arguments: object) -> threading.Thread:
        thread = threading.Thread(target=work, args=arguments)
        self._threads.append(thread)
        thread.start()
        return thread


@contextmanager
def database_front(port: int, tls: ssl.SSLContext | None = None) -> Iterator[Front]:
    """Run a front before the server on a port of this machine."""
    front = Front(("127.0.0.1", port), tls)
    front.start()
    try:
        yield front
    finally:
        front.close()


@dataclass(frozen=True, slots=True)
class Authority:
    """Certificate authority of a test."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def make(cls, name: str = "test authority") -> "Authority":
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(name, name, key).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        return cls(key, builder.sign(key, hashes.SHA256()))

    def save(self, path: Path) -> Path:
        """Write the certificate to a file, as clients need it."""
        path.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))
        return path

    def context(self, host: str, folder: Path) -> ssl.SSLContext:
        """Make a certificate for a host, and the context of a server that shows it."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.DNSName(host)])
        issuer = self.certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value
        builder = _builder(host, str(issuer), key).add_extension(names, critical=False)
        certificate = builder.sign(self.key, hashes.SHA256())
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        file = folder / f"{host}.pem"
        file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context


def _builder(subject: str, issuer: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
    )
