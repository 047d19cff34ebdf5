"""Embedding of a query without numpy: its import takes a fifth of the time until the first answer of a worker.

Vectors are those of `embedder.StaticTable`, but for roundings: it sums in single precision."""

import json
import math
import mmap
import struct
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from claude_mem_lite.embed.embedder import DATA, DIMENSIONS, MAX_CHARACTERS, NAME, SCALE, Splitter, unjoined

_LENGTH_AT = 8
_HEADER_AT = 10
_WEIGHT = struct.Struct("<f")


class PlainTable:
    """Embedder for a few short texts."""

    @property
    def name(self) -> str:
        return NAME

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        return [self._vector(text) for text in texts]

    def release(self) -> None:
        """Keep the files: a table is made for one search."""

    @cached_property
    def _splitter(self) -> Splitter:
        pieces = (DATA / "pieces.txt").read_text(encoding="utf-8").split("\n")
        return Splitter({piece: row for row, piece in enumerate(pieces)})

    @cached_property
    def _rows(self) -> memoryview:
        return _array(DATA / "rows.npy", "|i1")

    @cached_property
    def _weights(self) -> memoryview:
        return _array(DATA / "weights.npy", "<f4")

    def _vector(self, text: str) -> bytes:
        total = [0.0] * DIMENSIONS
        for piece in self._splitter.split(unjoined(text[:MAX_CHARACTERS])):
            (weight,) = _WEIGHT.unpack_from(self._weights, piece * _WEIGHT.size)
            row = self._rows[piece * DIMENSIONS : (piece + 1) * DIMENSIONS].cast("b")
            total = [sum_ + weight * number for sum_, number in zip(total, row, strict=True)]
        length = math.sqrt(sum(number * number for number in total))
        if length == 0.0:
            return bytes(DIMENSIONS)
        return struct.pack(f"{DIMENSIONS}b", *(min(max(round(x * (SCALE / length)), -127), 127) for x in total))


def _array(path: Path, kind: str) -> memoryview:
    """Return the numbers of an array that numpy has saved, as bytes."""
    with path.open("rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    (length,) = struct.unpack_from("<H", whole, _LENGTH_AT)
    header = bytes(whole[_HEADER_AT : _HEADER_AT + length]).decode("latin-1")
    if f"'descr': {json.dumps(kind)}".replace('"', "'") not in header or "'fortran_order': False" not in header:
        raise ValueError(f"{path.name} has another form: {header.strip()}")
    return whole[_HEADER_AT + length :]
