"""What earlier looks at a checkout found, by which the next one knows what to pass over."""

from collections.abc import Hashable

_MOST = 20_000


class Settled:
    """Sums of what memories are tied to, by their numbers. While the sum is the same, so is the verdict."""

    def __init__(self) -> None:
        self._in_place: dict[int, int] = {}
        self._gone: dict[int, int] = {}
        self._stamp: Hashable = None

    def begin(self, stamp: Hashable) -> None:
        """A look begins; with another stamp than the last one, what was gone and left alone may be retired now."""
        if stamp != self._stamp:
            self._gone.clear()
            self._stamp = stamp

    def knows(self, seq: int, sum_now: int) -> bool:
        return sum_now in (self._in_place.get(seq), self._gone.get(seq))

    def note(self, seq: int, sum_now: int, *, is_gone: bool) -> None:
        if len(self._in_place) + len(self._gone) < _MOST:
            kept, dropped = (self._gone, self._in_place) if is_gone else (self._in_place, self._gone)
            kept[seq] = sum_now
            dropped.pop(seq, None)
