"""Logistic regression by L-BFGS over sparse n-grams and dense numbers; numpy alone, the same result every time."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from claude_mem_lite.compress.prose.linear_model import Linear

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
MEMORY = 10
"""Steps that L-BFGS remembers."""


def vocabulary(
    grams: Sequence[Iterable[str]], projects: Sequence[str], *, at_least: int, in_projects: int
) -> list[str]:
    """Return the n-grams that are frequent enough and known in several projects: no name of one project is one."""
    times: Counter[str] = Counter()
    seen: defaultdict[str, set[str]] = defaultdict(set)
    for found, project in zip(grams, projects, strict=True):
        for gram in set(found):
            times[gram] += 1
            seen[gram].add(project)
    return sorted(gram for gram, count in times.items() if count >= at_least and len(seen[gram]) >= in_projects)


@dataclass(frozen=True)
class Rows:
    """Examples as a model sees them: n-grams, each row scaled by the root of its number, then numbers, then a one."""

    starts: NDArray[np.intp]
    columns: NDArray[np.intp]
    values: Vector
    dense: Matrix
    words: int

    @property
    def width(self) -> int:
        return self.words + int(self.dense.shape[1]) + 1

    def __len__(self) -> int:
        return len(self.dense)

    def times(self, weights: Vector) -> Vector:
        """Return the logit of each row."""
        spread = np.concatenate((self.values * weights[self.columns], (0.0,)))
        sums = np.add.reduceat(spread, self.starts[:-1])
        sums[self.starts[:-1] == self.starts[1:]] = 0.0
        logits: Vector = sums + self.dense @ weights[self.words : -1] + weights[-1]
        return logits

    def transposed(self, errors: Vector) -> Vector:
        """Return the sum of each column, weighted by the rows."""
        spread = np.repeat(errors, np.diff(self.starts)) * self.values
        sparse = np.bincount(self.columns, weights=spread, minlength=self.words)
        return np.concatenate((sparse, errors @ self.dense, (errors.sum(),)))


def rows(grams: Sequence[Iterable[str]], numbers: Sequence[Sequence[float]], words: Sequence[str]) -> Rows:
    """Return examples as rows over a vocabulary."""
    places = {word: at for at, word in enumerate(words)}
    known = [sorted({places[gram] for gram in found if gram in places}) for found in grams]
    counts = [len(found) for found in known]
    return Rows(
        np.concatenate(((0,), np.cumsum(counts))).astype(np.intp),
        np.array([column for found in known for column in found], dtype=np.intp),
        np.repeat([1 / max(count, 1) ** 0.5 for count in counts], counts),
        np.asarray(numbers, dtype=np.float64),
        len(words),
    )


def fit(given: Rows, wanted: Vector, counts: Vector, *, strength: float = 1.0, steps: int = 120) -> Vector:
    """Return the weights of a logistic model; `counts` weighs the rows, `strength` the penalty on large weights."""
    penalty = np.full(given.width, strength)
    penalty[-1] = 0.0

    def loss(weights: Vector) -> tuple[float, Vector]:
        logits = np.clip(given.times(weights), -30, 30)
        value = (counts * (np.logaddexp(0.0, logits) - wanted * logits)).sum() + 0.5 * (penalty * weights**2).sum()
        errors = counts * (1 / (1 + np.exp(-logits)) - wanted)
        return float(value), given.transposed(errors) + penalty * weights

    return minimized(loss, np.zeros(given.width), steps)


def minimized(loss: Callable[[Vector], tuple[float, Vector]], at: Vector, steps: int) -> Vector:
    """Return the minimum of a convex function by L-BFGS with a backtracking line search."""
    value, gradient = loss(at)
    moves: list[tuple[Vector, Vector]] = []
    for _ in range(steps):
        direction = -_preconditioned(gradient, moves)
        slope = float(gradient @ direction)
        if slope > -1e-9:
            break
        size = 1.0 if moves else min(1.0, 1.0 / float(np.abs(gradient).sum() + 1e-12))
        while True:
            there = at + size * direction
            new_value, new_gradient = loss(there)
            if new_value <= value + 1e-4 * size * slope or size < 1e-10:
                break
            size /= 2
        if value - new_value < 1e-7 * max(1.0, abs(value)):
            return there
        moves = [*moves[-MEMORY + 1 :], (there - at, new_gradient - gradient)]
        at, value, gradient = there, new_value, new_gradient
    return at


def _preconditioned(gradient: Vector, moves: Sequence[tuple[Vector, Vector]]) -> Vector:
    """Return the gradient times the estimate of the inverse Hessian that the last steps give."""
    shares: list[float] = []
    found = gradient.copy()
    for step, change in reversed(moves):
        share = float(step @ found) / float(step @ change)
        shares.append(share)
        found -= share * change
    if moves:
        step, change = moves[-1]
        found *= float(step @ change) / float(change @ change)
    for (step, change), share in zip(moves, reversed(shares), strict=True):
        found += (share - float(change @ found) / float(step @ change)) * step
    return found


def save_models(models: Mapping[str, Linear], path: Path) -> None:
    """Write models to a file, with weights of 16 bits."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, model in models.items():
        arrays[f"{name}_words"] = np.frombuffer("\n".join(model.vocabulary).encode(), dtype=np.uint8)
        arrays[f"{name}_weights"] = model.weights.astype(np.float16)
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]
