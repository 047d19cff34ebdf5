"""Learning the table. A text's vector is the sum of the rows of its pieces, so a row holds its piece's weight too."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from embedding.lessons import Lessons
from embedding.model import Matrix

DIMENSIONS = 256
RARE = 1e-4
EPOCHS = 4
BATCH = 1024
PAIRS_A_BATCH = 512
RATE = 3e-3
PAIRS_WEIGHT = 0.15
TEMPERATURE = 0.05
TURNS = 40


def projection(vectors: Matrix) -> Matrix:
    """From MiniLM's 384 numbers to the 256 that keep most of them; the mean stays in, removing it lost a little."""
    _, axes = np.linalg.eigh(vectors.T @ vectors / len(vectors))
    return np.ascontiguousarray(axes[:, ::-1][:, :DIMENSIONS])


def untrained(single: Lessons, counts: NDArray[np.int64], project: Matrix) -> Matrix:
    """Each piece as MiniLM sees it alone, the mean removed, common pieces weighted down: where learning starts."""
    share = (counts + 0.1) / counts.sum()
    rows = (single.vectors - single.vectors.mean(0)) @ project
    weighted: Matrix = (rows * (RARE / (RARE + share))[:, None]).astype(np.float32)
    return weighted


def sums(table: Any, lessons: Lessons, rows: NDArray[np.int64] | None = None) -> Any:
    pieces, starts = lessons.some(np.arange(len(lessons)) if rows is None else rows)
    return functional.embedding_bag(torch.from_numpy(pieces), table, torch.from_numpy(starts), mode="sum")


def learn(start: Matrix, lessons: Lessons, pairs: tuple[Lessons, Lessons], project: Matrix) -> Matrix:
    """Rows whose sums point where MiniLM's vectors point, and by which a question finds its answer among others."""
    table = torch.from_numpy(start.copy()).requires_grad_(True)
    goals = functional.normalize(torch.from_numpy(lessons.vectors @ project), dim=-1)
    optimizer = torch.optim.Adam([table], lr=RATE, betas=(0.9, 0.99))
    batches = len(lessons) // BATCH
    rng = np.random.default_rng(0)
    own = torch.arange(PAIRS_A_BATCH)
    for epoch in range(EPOCHS):
        order = rng.permutation(len(lessons))
        for batch in range(batches):
            rows = order[batch * BATCH : (batch + 1) * BATCH]
            loss = 1 - functional.cosine_similarity(sums(table, lessons, rows), goals[rows]).mean()
            some = rng.integers(0, len(pairs[0]), PAIRS_A_BATCH)
            questions, answers = (functional.normalize(sums(table, side, some), dim=-1) for side in pairs)
            likeness = questions @ answers.T / TEMPERATURE
            both = functional.cross_entropy(likeness, own) + functional.cross_entropy(likeness.T, own)
            loss = loss + PAIRS_WEIGHT * both / 2
            optimizer.param_groups[0]["lr"] = RATE * (1 - (epoch + batch / batches) / EPOCHS)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    learnt: Matrix = table.detach().numpy()
    return learnt


def rotation(vectors: Matrix) -> Matrix:
    """The turn of the space after which signs alone say most of a vector (ITQ, Gong and Lazebnik 2011)."""
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.normal(size=(DIMENSIONS, DIMENSIONS)))
    for _ in range(TURNS):
        left, _, right = np.linalg.svd(np.sign(vectors @ turn).T @ vectors)
        turn = (left @ right).T
    return turn.astype(np.float32)


def to_bytes(rows: Matrix) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Signed bytes, and the number by which each row is to be multiplied."""
    weights = np.maximum(np.abs(rows).max(1), 1e-9) / 127
    return np.rint(rows / weights[:, None]).astype(np.int8), weights.astype(np.float32)


def write(rows: Matrix, vocabulary: dict[str, int], folder: Path) -> None:
    """The table without the pieces that no text has."""
    kept = [piece for piece in vocabulary if not (piece.startswith("[") and len(piece) > 2)]
    numbers, weights = to_bytes(rows[[vocabulary[piece] for piece in kept]])
    (folder / "pieces.txt").write_text("\n".join(kept), encoding="utf-8")
    np.save(folder / "rows.npy", numbers)
    np.save(folder / "weights.npy", weights)
