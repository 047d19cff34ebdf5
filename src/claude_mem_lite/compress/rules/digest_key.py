"""Key of the content of a turn, by which a digest that another process has made is known.

The command that imports transcripts makes digests while the worker stores the turns before."""

from hashlib import blake2b

from claude_mem_lite import __version__
from claude_mem_lite.models import Turn


def key_of(turn: Turn) -> str:
    """Return a hash of all that the digest of a turn depends on, the version of the rules included."""
    read = (__version__, turn.prompt, turn.previous_message, turn.events, turn.earlier)
    return blake2b(repr(read).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
