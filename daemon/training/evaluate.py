"""`python -m training.evaluate`: how good an adapter is, on a GPU, in float32 and without a daemon.

Most replies are right, so the right answer is the draft of all of them: one pass over prompt and answer tells where the
model would say something else. Only replies that differ are then decoded on, many at a time. What they come to is read,
judged and put into the text by the daemon's own code.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from transformers import LlamaConfig, LlamaForCausalLM

from plgd.bench.edits_report import show_edits
from plgd.bench.edits_results import summarize
from plgd.engine.mlx.adapter_file import read_adapter
from plgd.errors import PlgdError
from training.base import Base, load_base
from training.batches import Batch
from training.cases import Case, read_cases
from training.examples import Example, make_example, open_tokenizer
from training.judge import Judge

__all__ = ("Evaluator", "load_merged", "main")

SCORES_FILE: Final = "scores.json"
FAILURES_FILE: Final = "failures.jsonl"

# Tokens of a pass over prompts and answers; the logits of their replies are the most that is in memory.
PASS_TOKENS: Final = 16_384
# Replies that are decoded on together.
N_TOGETHER: Final = 96
# A reply may be so much longer than the right answer before it counts as one that does not end.
SLACK: Final = 128


class Evaluator:
    """A merged model that tells what it would reply.

    Args:
        model: transformers', in float32.
        eos: the token that ends a reply.
    """

    def __init__(self, model: Any, eos: int) -> None:  # noqa: ANN401  # transformers', without annotations
        self._model = model
        self._eos = eos

    def replies(self, examples: Sequence[Example]) -> list[list[int]]:
        """Return the greedy reply to each prompt, up to the token that ends it or some tokens past the right length."""
        found: list[list[int]] = [[] for _ in examples]
        order = sorted(range(len(examples)), key=lambda index: examples[index].n_tokens)
        unfinished: list[int] = []
        for group in _groups(order, examples):
            for index, choices in zip(group, self._choices([examples[index] for index in group]), strict=True):
                reply = examples[index].reply
                n_same = int(np.argmin(np.append(choices == reply, False)))
                found[index] = choices[: n_same + 1].tolist()
                if found[index][-1] != self._eos:
                    unfinished.append(index)
        # Those with the same amount left to write end together.
        unfinished.sort(key=lambda index: _n_left(examples[index], found[index]))
        for start in range(0, len(unfinished), N_TOGETHER):
            group = unfinished[start : start + N_TOGETHER]
            heads = [np.append(examples[index].prompt, found[index]).astype(np.int64) for index in group]
            rest = self._decode(heads, max(_n_left(examples[index], found[index]) for index in group))
            for index, tokens in zip(group, rest, strict=True):
                found[index] += tokens[: _n_left(examples[index], found[index])]
        return found

    def _choices(self, examples: Sequence[Example]) -> Iterator[npt.NDArray[np.int64]]:
        """Return the model's own token at each place of the right replies."""
        device = self._model.device
        batch = Batch.of(examples)
        tokens, places = torch.from_numpy(batch.tokens).long().to(device), torch.from_numpy(batch.places).to(device)
        with torch.inference_mode():
            hidden = self._model.model(tokens, use_cache=False).last_hidden_state
            choices = self._model.lm_head(hidden.flatten(0, 1)[places]).argmax(-1).cpu().numpy()
        ends = np.cumsum([len(example.reply) for example in examples])
        yield from np.split(choices, ends[:-1])

    def _decode(self, heads: Sequence[npt.NDArray[np.int64]], n_tokens: int) -> list[list[int]]:
        """Go on from each head, filled up on the left, for so many tokens at most; returns what came, end included."""
        width = max(map(len, heads))
        tokens = torch.full((len(heads), width), self._eos, dtype=torch.int64)
        mask = torch.zeros_like(tokens)
        for row, head in enumerate(heads):
            tokens[row, width - len(head) :] = torch.from_numpy(head)
            mask[row, width - len(head) :] = 1
        device = self._model.device
        out = self._model.generate(
            tokens.to(device),
            attention_mask=mask.to(device),
            max_new_tokens=n_tokens,
            do_sample=False,
            eos_token_id=self._eos,
            pad_token_id=self._eos,
        )
        return [self._until_end(row) for row in out[:, width:].tolist()]

    def _until_end(self, tokens: list[int]) -> list[int]:
        return tokens[: tokens.index(self._eos) + 1] if self._eos in tokens else tokens


def load_merged(base: Base, adapter: Path | None, device: str) -> Any:  # noqa: ANN401  # transformers' model
    """Build the model with the adapter merged in, in float32, as the daemon does on a CPU.

    Raises:
        DamagedModel, UnsupportedModel: see `read_adapter`.
        ValueError: the adapter was made for another base.
    """
    weights = dict(base.weights)
    if adapter is not None:
        read = read_adapter(adapter, name=str(adapter), framework="pt")
        if read.base_sha256 != base.sha256:
            raise ValueError(f"{adapter} was made for another base")
        for layer, (a, b) in read.pairs.items():
            weights[f"{layer}.weight"] = weights[f"{layer}.weight"] + read.scale * (b.float() @ a.float())
    known = {key: value for key, value in base.config.items() if not key.startswith("quantization")}
    model = LlamaForCausalLM(LlamaConfig(**known))
    model.load_state_dict(weights, strict=False)  # the head is tied to the embedding and not among them
    model.tie_weights()
    return model.to(device).eval()


def _groups(order: Sequence[int], examples: Sequence[Example]) -> Iterator[list[int]]:
    group: list[int] = []
    for index in order:
        if group and (len(group) + 1) * examples[index].n_tokens > PASS_TOKENS:
            yield group
            group = []
        group.append(index)
    if group:
        yield group


def _n_left(example: Example, found: Sequence[int]) -> int:
    return max(len(example.reply) - len(found), 0) + SLACK


def _choose(cases: Sequence[Case], limit: int | None) -> Sequence[Case]:
    """Choose at most so many cases, spread evenly."""
    return cases if limit is None or len(cases) <= limit else [cases[i * len(cases) // limit] for i in range(limit)]


def main(words: list[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status.
    """
    arguments = _parse(words)
    try:
        _run(arguments)
    except (PlgdError, ValueError, OSError) as error:
        sys.stderr.write(f"evaluate: {error}\n")
        return 1
    return 0


def _run(arguments: argparse.Namespace) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    base, tokenizer = load_base(arguments.base), open_tokenizer(arguments.base)
    evaluator = Evaluator(load_merged(base, arguments.adapter, device), min(tokenizer.eos_tokens))
    cases = _choose(list(read_cases(arguments.cases)), arguments.limit)
    examples = [make_example(case, tokenizer) for case in cases]
    started_at = time.monotonic()
    replies = evaluator.replies(examples)
    sys.stderr.write(f"{len(cases)} replies in {time.monotonic() - started_at:.0f} s\n")
    judge = Judge(tokenizer)
    judged = [judge(case, reply, str(number)) for number, (case, reply) in enumerate(zip(cases, replies, strict=True))]
    result = summarize(str(arguments.cases), [outcome for outcome, _ in judged])
    show_edits(result, Console(width=None if sys.stdout.isatty() else 120))
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / SCORES_FILE).write_bytes(msgspec.json.encode(result))
    with (arguments.out / FAILURES_FILE).open("wb") as stream:
        for case, (outcome, text) in zip(cases, judged, strict=True):
            if not outcome.exact:
                failure = {"outcome": outcome, "got": text, "case": case}
                stream.write(msgspec.json.encode(failure) + b"\n")


def _parse(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.evaluate", description="Score an edit adapter.")
    parser.add_argument("--cases", type=Path, required=True, metavar="DIR", help="shards of training.generate")
    parser.add_argument("--base", type=Path, required=True, metavar="FOLDER", help="what `plgd model pull` made")
    parser.add_argument("--adapter", type=Path, metavar="FILE", help="safetensors; without, the base by itself")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="for the scores and the failures")
    parser.add_argument("--limit", type=int, metavar="N", help="cases, spread evenly over all (default all)")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
