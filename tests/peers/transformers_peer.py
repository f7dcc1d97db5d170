"""transformers on a CPU in float32, plain and with its prompt lookup.

python -m peers.transformers_peer FOLDER [--drafted N] [--repeats N] [--json]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoModelForCausalLM, GenerationConfig, StoppingCriteria, StoppingCriteriaList

from peers.contest import compete
from plgd.bench.compare.arms import Arm, Reply


class FirstToken(StoppingCriteria):  # type: ignore[misc]  # transformers is not annotated
    """Notes when the first tokens of a reply were there; stops nothing."""

    def __init__(self) -> None:
        self.at: float | None = None

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:  # noqa: ANN401, ARG002  # transformers' own
        self.at = self.at or time.perf_counter()
        return torch.zeros(input_ids.shape[0], dtype=torch.bool)


class TransformersArm:
    """`generate` with greedy decoding.

    Args:
        name: what tables call it.
        model: the model.
        eos_tokens: the tokens that end a reply.
        n_drafted: `prompt_lookup_num_tokens`; 0 decodes plainly.
    """

    def __init__(self, name: str, model: Any, eos_tokens: frozenset[int], n_drafted: int) -> None:  # noqa: ANN401
        self.name = name
        self._model = model
        self._eos_tokens = sorted(eos_tokens)
        self._n_drafted = n_drafted

    def reply(self, prompt: Sequence[int], max_tokens: int) -> Reply:
        """Generate one reply."""
        first = FirstToken()
        options = GenerationConfig(
            do_sample=False,
            max_new_tokens=max_tokens,
            eos_token_id=self._eos_tokens,
            pad_token_id=self._eos_tokens[0],
            prompt_lookup_num_tokens=self._n_drafted or None,
        )
        started_at = time.perf_counter()
        ids = torch.tensor([list(prompt)])
        with torch.inference_mode():
            out = self._model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                generation_config=options,
                stopping_criteria=StoppingCriteriaList([first]),
            )
        tokens = tuple(out[0, len(prompt) :].tolist())
        ended_at = time.perf_counter()
        first_at = first.at or ended_at
        return Reply(tokens, 1000.0 * (first_at - started_at), 1000.0 * (ended_at - started_at), None)


def make_arms(arguments: argparse.Namespace, eos_tokens: frozenset[int]) -> list[Arm]:
    """Load the exported model."""
    torch.set_num_threads(arguments.threads)
    model = AutoModelForCausalLM.from_pretrained(arguments.folder / "model", dtype=torch.float32)
    model.eval()
    return [
        TransformersArm("plain", model, eos_tokens, 0),
        TransformersArm("prompt_lookup", model, eos_tokens, arguments.drafted),
    ]


if __name__ == "__main__":
    compete(
        ("torch", "transformers"),
        make_arms,
        lambda parser: parser.add_argument("--drafted", type=int, default=10, help="prompt_lookup_num_tokens"),
    )
