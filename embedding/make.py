"""Makes the table that ships with the package: `python -m embedding.make MODEL ARCHIVES WORK OUT`, see README.md."""

import argparse
import sys
from pathlib import Path

import numpy as np
import torch

from embedding import lessons, train
from embedding.lessons import Lessons
from embedding.measure import HeldOut, recall_of_signs
from embedding.model import WIDTH, Matrix, MiniLM, read_vocabulary

TURNED_TEXTS = 30_000
ASKED = 500


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m embedding.make")
    parser.add_argument("model", type=Path, help="folder with model.safetensors and vocab.txt")
    parser.add_argument("archives", type=Path, help="folder with .whl, .tgz and .deb files")
    parser.add_argument("work", type=Path, help="folder for texts and vectors; a stopped run goes on from it")
    parser.add_argument("out", type=Path, help="folder for the table")
    parser.add_argument("--chunks", type=int, default=24, help="of 8,000 texts each")
    wanted = parser.parse_args()
    if not (wanted.work / "texts.json").exists():
        lessons.gather(wanted.archives, wanted.work)
    lessons.encode(MiniLM(wanted.model, half=True), wanted.work, wanted.chunks)
    rows = make(wanted.work)
    train.write(rows, read_vocabulary(wanted.model), wanted.out)


def make(work: Path) -> Matrix:
    """The table learnt from what lies in the work folder. Prints the figures."""
    taught = Lessons(sorted(work.glob("lessons-*.npz")))
    pairs = (Lessons([work / "pairs-questions.npz"]), Lessons([work / "pairs-answers.npz"]))
    single = Lessons([work / "single.npz"])
    project = train.projection(taught.vectors)
    start = train.untrained(single, np.bincount(taught.pieces, minlength=len(single)), project)
    learnt = train.learn(start, taught, pairs, project)
    held_out = HeldOut(work)
    vectors = _unit(learnt, taught)
    turn = train.rotation(vectors[:TURNED_TEXTS])
    numbers, weights = train.to_bytes(learnt @ turn)
    shipped = numbers.astype(np.float32) * weights[:, None]
    _tell(held_out.of_model("MiniLM, 384", np.eye(WIDTH, dtype=np.float32)))
    _tell(held_out.of_model("MiniLM, 256 by PCA", project))
    _tell(held_out.of_table("table, not trained", start, project))
    _tell(held_out.of_table("table, trained", learnt, project))
    _tell(held_out.of_table("table, trained, signed bytes", shipped, project @ turn))
    asked = _unit(learnt, held_out.kinds["pairs"][0])[:ASKED]
    _tell(f"recall of signs: {recall_of_signs(vectors, asked):.3f}")
    _tell(f"recall of signs, turned: {recall_of_signs(vectors @ turn, asked @ turn):.3f}")
    return learnt @ turn


def _unit(rows: Matrix, texts: Lessons) -> Matrix:
    vectors: Matrix = torch.nn.functional.normalize(train.sums(torch.from_numpy(rows), texts), dim=-1).numpy()
    return vectors


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
