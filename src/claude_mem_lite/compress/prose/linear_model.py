"""Small logistic models, learned by `training/` and stored in the package; numpy alone runs them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float32]


@dataclass(frozen=True)
class Linear:
    """A logistic model over n-grams of a vocabulary and dense numbers; one column of weights an output."""

    vocabulary: dict[str, int]
    weights: "Scores"
    """A row for each n-gram, then one for each number, then the bias."""

    def scores(self, grams: Iterable[Iterable[str]], numbers: Sequence[Sequence[float]]) -> "Scores":
        """Return probabilities, a row for each example."""
        import numpy as np

        size = len(self.vocabulary)
        logits = np.asarray(numbers, dtype=np.float32) @ self.weights[size:-1] + self.weights[-1]
        for row, words in enumerate(grams):
            known = sorted({self.vocabulary[gram] for gram in words if gram in self.vocabulary})
            if known:
                logits[row] += self.weights[known].sum(axis=0) / len(known) ** 0.5
        result: Scores = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
        return result


def load_models(path: Path) -> dict[str, Linear]:
    """Return the models of a file by name."""
    import numpy as np

    with np.load(path) as held:
        names = [key.removesuffix("_weights") for key in held.files if key.endswith("_weights")]
        return {
            name: Linear(
                {word: at for at, word in enumerate(bytes(held[f"{name}_words"]).decode().split("\n")) if word},
                held[f"{name}_weights"].astype(np.float32),
            )
            for name in names
        }
