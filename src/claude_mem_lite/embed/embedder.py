"""Embedding of texts by a table of word-piece vectors in the package: the weighted mean of a text's pieces.

Used for search in the worker. The module needs numpy alone, and never a network or another process. A long text is
split into parts, because a long text is as near to a query as the nearest of its parts."""

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

NAME = "static-minilm-256-v1"  # a new table needs a new name: vectors of different tables cannot be compared
DIMENSIONS = 256
# The numbers of a normalised vector are around 1/16: times 508 they fill a signed byte, and about one in 100,000 is
# cut.
SCALE = 508
DATA = Path(__file__).parent / "data"
_ENDS = re.compile(r"(?<=[.!?:;])\s+|\n+")
_PART_LENGTH = 150
MAX_PARTS = 6


class _Loaded(NamedTuple):
    splitter: Splitter
    rows: "NDArray[np.int8]"
    weights: "NDArray[np.float32]"


class StaticTable:
    """Embedder by a static table. Loads its files on first use."""

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
                # memory-mapped: a query touches few pages, and the system can drop them
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


def parts_of(text: str) -> list[str]:
    """Return the first six parts of a text, sentences joined to some 150 characters; none if the text is a single
    part."""
    parts: list[str] = []
    part = ""
    for sentence in _ENDS.split(text[: 8 * MAX_PARTS * _PART_LENGTH]):
        if part and len(part) + len(sentence) > _PART_LENGTH:
            parts.append(part)
            part = ""
        part = f"{part} {sentence}".strip()
        while len(part) > 2 * _PART_LENGTH:
            parts.append(part[:_PART_LENGTH])
            part = part[_PART_LENGTH:]
        if len(parts) >= MAX_PARTS:
            break
    parts += [part] if part else []
    return parts[:MAX_PARTS] if len(parts) > 1 else []
