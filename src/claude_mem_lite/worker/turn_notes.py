"""Notes of the running worker about turns, which save work on the next ones. Loses nothing when the worker ends.

Digests come with imported turns: the command that imports makes digests while the worker stores the turns before. A
digest that is missing here is made again, with the same result: rules read nothing but the turn."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from claude_mem_lite.turn_digest import TurnDigest

_MAX_TURNS = 100


class TurnNotes:
    """Digests that came with turns, by the content of the turns, and the last turns without a failed command."""

    def __init__(self) -> None:
        self._digests: dict[str, TurnDigest] = {}
        self._without_failure: deque[str] = deque(maxlen=_MAX_TURNS)

    @contextmanager
    def with_digests(self, digests: "Mapping[str, TurnDigest]") -> Iterator[None]:
        """Keep digests until the turns of a request are stored. Any thread may call; requests of two imports may
        overlap: each forgets its own."""
        self._digests.update(digests)
        try:
            yield
        finally:
            for key in digests:
                self._digests.pop(key, None)

    # For the job thread alone.

    @property
    def has_digests(self) -> bool:
        """Return whether the key of a turn may be known."""
        return bool(self._digests)

    def digest(self, key: str) -> "TurnDigest | None":
        """Return the digest of a turn by the key of its content; None if no digest came with the turn."""
        return self._digests.get(key)

    def note_without_failure(self, turn: str) -> None:
        """Note that no command of a turn failed: no later turn has to read its commands again."""
        self._without_failure.append(turn)

    def are_without_failure(self, turns: Iterable[str]) -> bool:
        """Return whether all commands of the turns passed; False if unknown for a turn."""
        return set(turns).issubset(self._without_failure)
