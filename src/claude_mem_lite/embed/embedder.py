"""Vectors of texts by a table of word-piece vectors that lies in the package: the mean of a text's pieces, weighted.
The worker uses it for search; it needs numpy alone and never a network or another process.

A text -> its first parts, each about one thing. A long text is as near to a question as the nearest of its parts."""

import re
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from claude_mem_lite.embed.wordpieces import MAX_CHARACTERS, Splitter, unjoined

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "static-minilm-256-v1"  # another table needs another name: vectors of both cannot be compared
DIMENSIONS = 256
# A normalised vector's numbers are around 1/16: times 508 they use the signed byte, and about one in 100,000 is cut.
SCALE = 508
DATA = Path(__file__).parent / "data"


class _Loaded(NamedTuple):
    splitter: Splitter
    rows: "NDArray[np.int8]"
    weights: "NDArray[np.float32]"


class StaticTable:
    """An Embedder. Loads its files on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def name(self) -> str:
        return NAME

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        loaded = self._load()
        return [_vector(loaded, text) for text in texts]

    def let_go(self) -> None:
        with self._lock:
            self._loaded = None

    def _load(self) -> _Loaded:
        import numpy as np

        with self._lock:
            if self._loaded is None:
                pieces = (DATA / "pieces.txt").read_text(encoding="utf-8").split("\n")
                # mapped, not read: a query touches a few pages, and they go when the system wants them
                rows, weights = np.load(DATA / "rows.npy", mmap_mode="r"), np.load(DATA / "weights.npy")
                if not len(pieces) == len(rows) == len(weights):
                    raise ValueError("the files of the embedding table do not belong together")
                self._loaded = _Loaded(Splitter({piece: row for row, piece in enumerate(pieces)}), rows, weights)
            return self._loaded


@cache
def shared_table() -> StaticTable:
    """Return the one table of the process: search and the scorer of lessons use the same rows."""
    return StaticTable()


def _vector(loaded: _Loaded, text: str) -> bytes:
    import numpy as np

    pieces = loaded.splitter.split(unjoined(text[:MAX_CHARACTERS]))
    total = loaded.weights[pieces] @ loaded.rows[pieces].astype(np.float32)
    length = float(np.sqrt(total @ total))
    if length == 0.0:
        return bytes(DIMENSIONS)
    vector: NDArray[np.int8] = np.clip(np.rint(total * (SCALE / length)), -127, 127).astype(np.int8)
    return vector.tobytes()


_ENDS = re.compile(r"(?<=[.!?:;])\s+|\n+")
_LONG_ENOUGH = 150
MOST = 6


def parts_of(text: str) -> list[str]:
    """Sentences, put together to parts of some 150 characters, the first six; none when the text is one part."""
    parts: list[str] = []
    part = ""
    for sentence in _ENDS.split(text[: 8 * MOST * _LONG_ENOUGH]):
        if part and len(part) + len(sentence) > _LONG_ENOUGH:
            parts.append(part)
            part = ""
        part = f"{part} {sentence}".strip()
        while len(part) > 2 * _LONG_ENOUGH:
            parts.append(part[:_LONG_ENOUGH])
            part = part[_LONG_ENOUGH:]
        if len(parts) >= MOST:
            break
    parts += [part] if part else []
    return parts[:MOST] if len(parts) > 1 else []
