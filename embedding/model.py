"""all-MiniLM-L6-v2 in torch, from its published weights: what the table is taught by. Only `make` uses it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch.nn import functional

from claude_mem_lite.embed.embedder import Splitter

Matrix = NDArray[np.float32]

HEADS = 12
LAYERS = 6
WIDTH = 384
UNKNOWN, CLS, SEP = 100, 101, 102
TOKENS_A_BATCH = 4096


def read_vocabulary(folder: Path) -> dict[str, int]:
    lines = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    return {piece: number for number, piece in enumerate(lines) if piece}


class MiniLM:
    def __init__(self, folder: Path, *, half: bool = False) -> None:
        assert json.loads((folder / "config.json").read_text())["hidden_size"] == WIDTH
        vocabulary = read_vocabulary(folder)
        self.vocabulary_size = len(vocabulary)
        self.splitter = Splitter(vocabulary)
        kind = torch.bfloat16 if half else torch.float32
        self._w: dict[str, Any] = {
            name: tensor.to(kind)
            for name, tensor in load_file(folder / "model.safetensors").items()
            if tensor.is_floating_point()
        }
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}.attention.self."
            for part in ("weight", "bias"):
                parts = [self._w[f"{at}{name}.{part}"] for name in ("query", "key", "value")]
                self._w[f"{at}qkv.{part}"] = torch.cat(parts)

    def encode(self, texts: Sequence[str], max_tokens: int = 128) -> Matrix:
        """Normalised vectors of whole texts, cut after `max_tokens` with [CLS] and [SEP] among them."""
        return self.encode_pieces([self.splitter.split(text, max_tokens - 2) for text in texts])

    def encode_pieces(self, pieces: Sequence[Sequence[int]]) -> Matrix:
        vectors = np.zeros((len(pieces), WIDTH), np.float32)
        order = sorted(range(len(pieces)), key=lambda i: len(pieces[i]))
        start = 0
        while start < len(order):
            stop = start + 1
            while stop < len(order) and (len(pieces[order[stop]]) + 2) * (stop + 1 - start) <= TOKENS_A_BATCH:
                stop += 1
            batch = order[start:stop]
            vectors[batch] = self._batch([pieces[i] for i in batch])
            start = stop
        return vectors

    @torch.inference_mode()  # type: ignore[misc, untyped-decorator, unused-ignore]
    def _batch(self, pieces: Sequence[Sequence[int]]) -> Matrix:
        length = max(map(len, pieces)) + 2
        ids = torch.zeros((len(pieces), length), dtype=torch.long)
        mask = torch.zeros((len(pieces), length), dtype=torch.bool)
        for row, own in enumerate(pieces):
            ids[row, : len(own) + 2] = torch.tensor([CLS, *own, SEP])
            mask[row, : len(own) + 2] = True
        w = self._w
        x = (
            w["embeddings.word_embeddings.weight"][ids]
            + w["embeddings.position_embeddings.weight"][:length]
            + w["embeddings.token_type_embeddings.weight"][0]
        )
        x = self._norm(x, "embeddings.LayerNorm")
        for layer in range(LAYERS):
            x = self._layer(x, mask, f"encoder.layer.{layer}.")
        kept = mask.unsqueeze(-1)
        mean = (x.float() * kept).sum(1) / kept.sum(1)
        vectors: Matrix = functional.normalize(mean, dim=-1).numpy()
        return vectors

    def _layer(self, x: Any, mask: Any, at: str) -> Any:
        count, length, _ = x.shape
        q, k, v = (
            part.view(count, length, HEADS, -1).transpose(1, 2)
            for part in self._linear(x, at + "attention.self.qkv").chunk(3, dim=-1)
        )
        seen = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        seen = seen.transpose(1, 2).reshape(count, length, WIDTH)
        x = self._norm(x + self._linear(seen, at + "attention.output.dense"), at + "attention.output.LayerNorm")
        wide = functional.gelu(self._linear(x, at + "intermediate.dense"))
        return self._norm(x + self._linear(wide, at + "output.dense"), at + "output.LayerNorm")

    def _linear(self, x: Any, at: str) -> Any:
        return functional.linear(x, self._w[at + ".weight"], self._w[at + ".bias"])

    def _norm(self, x: Any, at: str) -> Any:
        return functional.layer_norm(x, (WIDTH,), self._w[at + ".weight"], self._w[at + ".bias"], 1e-12)
