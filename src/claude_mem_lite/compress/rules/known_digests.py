"""Digests of turns that another process has made already, by the content of the turns.

The command that imports transcripts makes digests while the worker stores the turns before. A digest that is missing
here is made again, with the same result: rules read nothing but the turn."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b

from claude_mem_lite import __version__
from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.models import Turn
from claude_mem_lite.turn_digest import TurnDigest

_digests: dict[str, TurnDigest] = {}


def key_of(turn: Turn, version: str = __version__) -> str:
    """Return a hash of all that the digest of a turn depends on, the version of the rules included."""
    read = (version, turn.prompt, turn.previous_message, turn.events, turn.earlier)
    return blake2b(repr(read).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@contextmanager
def kept(digests: Mapping[str, TurnDigest]) -> Iterator[None]:
    """Keep digests until the turns of a request are stored. Requests of two imports may overlap: each forgets its
    own."""
    _digests.update(digests)
    try:
        yield
    finally:
        for key in digests:
            _digests.pop(key, None)


def digest_of(turn: Turn) -> TurnDigest:
    """Return the digest of a turn: the kept one of the same content, or a new one."""
    known = _digests.get(key_of(turn)) if _digests else None
    return fold(turn) if known is None else known
