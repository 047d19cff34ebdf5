"""What the table learns from and is measured by: texts of packages as word pieces, with the vectors that MiniLM gives
them, kept in a work folder so that a stopped run goes on where it was."""

import hashlib
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from claude_mem_lite.embed.embedder import unjoined
from embedding.model import Matrix, MiniLM
from embedding.texts import read_package

TEXTS_A_CHUNK = 8_000
MAX_TOKENS = 128
LONG_PIECES = 64
LONG_SHARE = 0.35  # of long passages: a short text teaches as much for a fifth of the time
HELD_OUT_TEXTS = 3_000
HELD_OUT_PAIRS = 4_000
SENTENCE_PAIRS = 80_000
MAX_TOKENS = 256
FIRST_SENTENCE = re.compile(r"(.{25,120}?[.:!?]) ([A-Z].{100,})")

Pieces = list[list[int]]


def is_held_out(package: str) -> bool:
    """One package in ten, by its name."""
    return hashlib.sha1(package.encode()).digest()[0] % 10 == 0


def gather(archives: Path, work: Path) -> None:
    """Writes `texts.json`: passages, pairs, and the same of the packages held out."""
    texts: dict[str, list[object]] = {"passages": [], "pairs": [], "held_out": [], "held_out_pairs": []}
    for path in sorted(archives.rglob("*.*")):
        if path.suffix not in (".whl", ".tgz", ".deb"):
            continue
        package = read_package(path, random.Random(path.name))
        held_out = is_held_out(package.name)
        texts["held_out" if held_out else "passages"] += package.passages
        texts["held_out_pairs" if held_out else "pairs"] += package.pairs
    rng = random.Random(1)
    texts["passages"] += [_cut(text, rng) for text in texts["passages"] if rng.random() < 0.3]
    for kind in texts.values():
        rng.shuffle(kind)
    (work / "texts.json").write_text(json.dumps(texts))


def _cut(text: object, rng: random.Random) -> str:
    """A few words out of the middle, about as many as a question has."""
    words = str(text).split()
    start = rng.randrange(max(1, len(words) - 4))
    return " ".join(words[start : start + rng.randint(2, 10)])


def encode(model: MiniLM, work: Path, chunks: int) -> None:
    """Writes what is held out, the pairs, every piece alone, and up to `chunks` files of lessons."""
    texts = json.loads((work / "texts.json").read_text())
    split = model.splitter.split
    alone = [[number] for number in range(model.vocabulary_size)]
    if not (work / "single.npz").exists():
        _save(work / "single.npz", alone, model.encode_pieces(alone))
    pairs = texts["pairs"] + sentence_pairs(texts["passages"], SENTENCE_PAIRS)
    for name, side in (("questions", 0), ("answers", 1)):
        own = [split(unjoined(pair[side]), MAX_TOKENS - 2) for pair in pairs]
        _save(work / f"pairs-{name}.npz", own, np.zeros((len(own), 0), np.float32))
    _encode(model, work / "held_out.npz", texts["held_out"][:HELD_OUT_TEXTS], MAX_TOKENS)
    kinds = {"pairs": texts["held_out_pairs"][:HELD_OUT_PAIRS]}
    kinds["sentences"] = sentence_pairs(texts["held_out"], HELD_OUT_PAIRS)
    for kind, pairs in kinds.items():
        for name, side in (("questions", 0), ("answers", 1)):
            _encode(model, work / f"held_out-{kind}-{name}.npz", [pair[side] for pair in pairs], MAX_TOKENS)
    lessons = _drawn(model, texts["passages"])
    for number in range(chunks):
        own_texts = lessons[number * TEXTS_A_CHUNK : (number + 1) * TEXTS_A_CHUNK]
        if own_texts:
            _encode(model, work / f"lessons-{number:04}.npz", own_texts, MAX_TOKENS)


def _drawn(model: MiniLM, passages: list[str]) -> list[str]:
    rng = random.Random(2)
    drawn = []
    for text in passages:
        length = len(model.splitter.split(text, MAX_TOKENS - 2))
        if length and (length <= LONG_PIECES or rng.random() < LONG_SHARE):
            drawn.append(text)
    return drawn


def sentence_pairs(passages: Sequence[str], most: int) -> list[tuple[str, str]]:
    """First sentences with the rest of their passages."""
    found = (FIRST_SENTENCE.match(passage) for passage in passages)
    return [(match[1], match[2]) for match in found if match and len(match[1].split()) >= 5][:most]


def _encode(model: MiniLM, path: Path, texts: Sequence[str], max_tokens: int) -> None:
    """MiniLM's vectors of the texts as they are, with the pieces that the table will see."""
    if not path.exists():
        pieces = [model.splitter.split(unjoined(text), max_tokens - 2) for text in texts]
        _save(path, pieces, model.encode(texts, max_tokens))


def _save(path: Path, pieces: Pieces, vectors: Matrix) -> None:
    lengths = np.array([len(own) for own in pieces], np.int32)
    flat = np.array([piece for own in pieces for piece in own], np.uint16)
    np.savez(path, lengths=lengths, pieces=flat, vectors=vectors.astype(np.float16))


class Lessons:
    """Texts as one flat array of pieces with their lengths, and their vectors."""

    def __init__(self, paths: Sequence[Path]) -> None:
        files = [np.load(path) for path in paths]
        self.lengths: NDArray[np.int64] = np.concatenate([file["lengths"] for file in files]).astype(np.int64)
        self.pieces: NDArray[np.int64] = np.concatenate([file["pieces"] for file in files]).astype(np.int64)
        self.vectors: Matrix = np.concatenate([file["vectors"] for file in files]).astype(np.float32)
        self.starts: NDArray[np.int64] = np.concatenate([[0], np.cumsum(self.lengths)[:-1]])

    def __len__(self) -> int:
        return len(self.lengths)

    def some(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pieces of these texts, and where each text starts in them."""
        lengths = self.lengths[rows]
        starts = np.cumsum(lengths) - lengths
        at = np.repeat(self.starts[rows] - starts, lengths) + np.arange(lengths.sum())
        return self.pieces[at], starts
