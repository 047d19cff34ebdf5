"""Figures of a table on text of packages it has not learnt from."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from embedding.lessons import Lessons
from embedding.model import Matrix
from embedding.train import sums

BEST = 10
CANDIDATES = 200


class HeldOut:
    def __init__(self, work: Path) -> None:
        self.texts = Lessons([work / "held_out.npz"])
        self.kinds = {
            kind: tuple(Lessons([work / f"held_out-{kind}-{side}.npz"]) for side in ("questions", "answers"))
            for kind in ("pairs", "sentences")
        }

    def of_model(self, name: str, project: Matrix) -> str:
        """One line of the table in the README, for MiniLM's own vectors."""
        found = [
            retrieval(*(torch.from_numpy(side.vectors @ project) for side in kind)) for kind in self.kinds.values()
        ]
        return _line(name, "", found)

    def of_table(self, name: str, rows: Matrix, project: Matrix) -> str:
        table = torch.from_numpy(rows)
        goals = torch.from_numpy(self.texts.vectors @ project)
        near = float(functional.cosine_similarity(sums(table, self.texts), goals).mean())
        return _line(
            name, f"{near:.3f}", [retrieval(*(sums(table, side) for side in kind)) for kind in self.kinds.values()]
        )


def retrieval(questions: Any, answers: Any) -> tuple[float, float]:
    """How often a question finds its own answer first (R@1), and the mean of one by its place (MRR)."""
    likeness = functional.normalize(questions, dim=-1) @ functional.normalize(answers, dim=-1).T
    place = (likeness > likeness.diagonal()[:, None]).sum(1) + 1
    return float((place == 1).float().mean()), float((1 / place).mean())


def recall_of_signs(vectors: Matrix, questions: Matrix) -> float:
    """The share of the ten nearest by cosine that is among the 200 nearest by signs alone."""
    nearest = torch.from_numpy(questions @ vectors.T).topk(BEST).indices.tolist()
    by_signs = torch.from_numpy(np.sign(questions) @ np.sign(vectors).T).topk(CANDIDATES).indices.tolist()
    return float(np.mean([len(set(a) & set(b)) / BEST for a, b in zip(nearest, by_signs, strict=True)]))


def _line(name: str, near: str, found: list[tuple[float, float]]) -> str:
    figures = " | ".join(f"{r1:.3f} | {mrr:.3f}" for r1, mrr in found)
    return f"| {name} | {near} | {figures} |"
