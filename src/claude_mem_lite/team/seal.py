"""Seal of a team: bodies encrypted with AES-256-GCM by the team key, keyed hashes of projects, and the text form of the
key. The package `cryptography` is imported when a body is sealed or opened."""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import field
from pathlib import Path

from claude_mem_lite.team.entry import Op
from claude_mem_lite.team.reasons import TeamError
from claude_mem_lite.team.secret_files import read_secret, write_secret
from claude_mem_lite.values import frozen

_KEY_BYTES, _NONCE_BYTES, _SUM_BYTES, _DIGITS = 32, 12, 3, 32
_GROUP = 7
_CHECK_TEXT, _CHECK_DATA = b"claude-mem-lite team key", b"check"
_LOOK_ALIKE = str.maketrans({"0": "O", "1": "I", "8": "B"})
RandomBytes = Callable[[int], bytes]


@frozen
class Seal:
    """Team key with its uses. The key is never shown by `repr`."""

    key: bytes = field(repr=False)
    random_bytes: RandomBytes = field(default=secrets.token_bytes, repr=False)

    def seal(self, body: str, project: str, uid: str, rev: int, op: Op) -> str:
        """Return a body as sealed text, bound to the place of its entry."""
        sealed = self._encrypt(body.encode(), _place(project, uid, rev, op))
        return base64.b64encode(sealed).decode()

    def open(self, sealed: str, project: str, uid: str, rev: int, op: Op) -> str:
        """Return the body of a sealed text. TeamError `bad_body`: damaged, of another entry, or of another key."""
        try:
            data = base64.b64decode(sealed, validate=True)
            return self._decrypt(data, _place(project, uid, rev, op)).decode()
        except (binascii.Error, UnicodeError, ValueError):
            raise TeamError("bad_body", "it cannot be opened with the team key") from None

    def make_check(self) -> bytes:
        """Return a new check value, which only this key opens."""
        return self._encrypt(_CHECK_TEXT, _CHECK_DATA)

    def opens_check(self, check: bytes) -> bool:
        """Return whether a check value was made with this key."""
        try:
            return self._decrypt(bytes(check), _CHECK_DATA) == _CHECK_TEXT
        except ValueError:
            return False

    def project_key(self, remote: str) -> str:
        """Return the key of a project of a sealed team, from its normalised remote."""
        return hmac.new(self.key, remote.encode(), hashlib.sha256).hexdigest()[:_DIGITS]

    def _encrypt(self, text: bytes, data: bytes) -> bytes:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = self.random_bytes(_NONCE_BYTES)
        return nonce + AESGCM(self.key).encrypt(nonce, text, data)

    def _decrypt(self, sealed: bytes, data: bytes) -> bytes:
        """Return the text; ValueError if the key, the data or the sealed bytes are not those of the encryption."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            return AESGCM(self.key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], data)
        except InvalidTag:
            raise ValueError("not sealed with this key") from None


def make_key(random_bytes: RandomBytes = secrets.token_bytes) -> str:
    """Return a new team key as text."""
    return key_text(random_bytes(_KEY_BYTES))


def key_text(key: bytes) -> str:
    """Return a key as text for people: letters and digits in groups, with a checksum."""
    written = base64.b32encode(key + _checksum(key)).decode().rstrip("=")
    return "-".join(written[at : at + _GROUP] for at in range(0, len(written), _GROUP))


def read_key(written: str, random_bytes: RandomBytes = secrets.token_bytes) -> Seal:
    """Return the seal of a key as text, in any case and spacing. TeamError `wrong_key`: the text has a mistake."""
    letters = "".join(written.split()).replace("-", "").upper().translate(_LOOK_ALIKE)
    try:
        data = base64.b32decode(letters + "=" * (-len(letters) % 8))
    except (binascii.Error, ValueError):
        data = b""
    key, checksum = data[:_KEY_BYTES], data[_KEY_BYTES:]
    if len(key) != _KEY_BYTES or not hmac.compare_digest(checksum, _checksum(key)):
        raise TeamError("wrong_key", "the key has a typing mistake")
    return Seal(key, random_bytes)


def load_seal(path: Path) -> Seal | None:
    """Return the seal of a key file; None without the file. TeamError `wrong_key`: the file holds no key."""
    written = read_secret(path)
    return None if written is None else read_key(written)


def save_key(path: Path, written: str) -> None:
    """Write a key to a file that only this user can read."""
    write_secret(path, key_text(read_key(written).key))


def _checksum(key: bytes) -> bytes:
    return hashlib.sha256(b"team key" + key).digest()[:_SUM_BYTES]


def _place(project: str, uid: str, rev: int, op: Op) -> bytes:
    return "\x00".join((project, uid, str(rev), op)).encode()
