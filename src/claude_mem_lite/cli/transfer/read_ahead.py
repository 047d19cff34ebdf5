"""Iteration in a thread of its own, some items ahead of the caller."""

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")


def read_ahead(items: Iterable[Item], depth: int) -> Generator[Item, None, None]:
    """Yield the items in order; another thread makes up to `depth` of them while the caller waits for something else,
    as for the answer to a request. An error is raised in place of the item.

    Whoever closes the generator waits for the item under way alone."""
    iterator = iter(items)
    reader = ThreadPoolExecutor(1, "read-ahead")
    coming: deque[Future[tuple[Item] | None]] = deque()
    try:
        while True:
            while len(coming) < depth:
                coming.append(reader.submit(_next, iterator))
            found = coming.popleft().result()
            if found is None:
                return
            yield found[0]
    finally:
        reader.shutdown(cancel_futures=True)


def _next(iterator: Iterator[Item]) -> tuple[Item] | None:
    for item in iterator:
        return (item,)
    return None
