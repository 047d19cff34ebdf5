"""Embedding of texts by a table of word-piece vectors in the package: the weighted mean of a text's pieces.

Used for search in the worker, and by the scripts in `embedding/`. The module needs numpy alone, and never a network or
another process. Pieces are those of BERT's uncased tokenizer. A long text is split into parts, because a long text is
as near to a query as the nearest of its parts."""

import re
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_PIECES = 512
MAX_WORD_CHARACTERS = 100
# The end of a longer text is ignored: the first 3,000 characters hold some 512 pieces.
MAX_CHARACTERS = 8_192
CACHED_WORDS = 20_000

# The blocks that the model's authors split into single characters: CJK ideographs, neither kana nor hangul.
CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
JOINED = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
ASCII_WORD = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
NAME = "static-minilm-256-v1"  # a new table needs a new name: vectors of different tables cannot be compared
DIMENSIONS = 256
# The numbers of a normalised vector are around 1/16: times 508 they fill a signed byte, and about one in 100,000 is
# cut.
SCALE = 508
DATA = Path(__file__).parent / "data"
_ENDS = re.compile(r"(?<=[.!?:;])\s+|\n+")
_PART_LENGTH = 150
MAX_PARTS = 6


class Splitter:
    """Vocabulary with a cache of split words. Threads may share a splitter: a lost cache entry is only computed
    again."""

    def __init__(self, ids: Mapping[str, int]) -> None:
        self._ids = ids
        self._longest = max(map(len, ids), default=0)
        self._cache: dict[str, Sequence[int]] = {}

    def split(self, text: str, limit: int = MAX_PIECES) -> list[int]:
        """Return the ids of the first `limit` pieces, without words that have no pieces."""
        pieces: list[int] = []
        for line in text[:MAX_CHARACTERS].split("\n"):  # by lines: the end of a long text is not needed
            for word in words(line):
                pieces_of_word = self._cache.get(word)
                pieces.extend(self._remember(word) if pieces_of_word is None else pieces_of_word)
            if len(pieces) >= limit:
                break
        return pieces[:limit]

    def _remember(self, word: str) -> Sequence[int]:
        if len(word) > MAX_WORD_CHARACTERS:
            return ()
        if len(self._cache) >= CACHED_WORDS:
            self._cache.clear()
        pieces_of_word = self._cache[word] = self._longest_first(word)
        return pieces_of_word

    def _longest_first(self, word: str) -> Sequence[int]:
        pieces = []
        start, prefix = 0, ""
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                piece = self._ids.get(prefix + word[start:end])
                if piece is not None:
                    break
            else:
                return ()
            pieces.append(piece)
            start, prefix = end, "##"
        return pieces


def unjoined(text: str) -> str:
    """Insert a space before each capital inside a word: `getUserName` is three words, where BERT sees one."""
    return JOINED.sub(" ", text)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case without accents; each punctuation mark and ideograph is a word."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return ASCII_WORD.findall(text.lower())
    spaced = "".join(map(_cleaned, text))
    plain = "".join(c for c in unicodedata.normalize("NFD", spaced) if unicodedata.category(c) != "Mn")
    return "".join(f" {c} " if _is_punctuation(c) else c for c in plain.lower()).split()


def _cleaned(c: str) -> str:
    if c in "\t\n\r":
        return " "
    category = unicodedata.category(c)
    if c in "\0\ufffd" or category[0] == "C":
        return ""
    if category == "Zs":
        return " "
    return f" {c} " if any(first <= ord(c) <= last for first, last in CJK) else c


def _is_punctuation(c: str) -> bool:
    return (
        33 <= ord(c) <= 47
        or 58 <= ord(c) <= 64
        or 91 <= ord(c) <= 96
        or 123 <= ord(c) <= 126
        or (unicodedata.category(c)[0] == "P")
    )


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

    def release(self) -> None:
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
