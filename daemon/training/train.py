"""`python -m training.train`: trains the edit adapter.

AdamW on low-rank pairs, loss on the reply only, for a given time. The recipe's constants are those of the first adapter
(docs/training.md); no sweep was made.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any, Final

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from plgd.errors import PlgdError
from training.adapter import ADAPTER_FILE, write_adapter
from training.base import Base, load_base
from training.batches import LENGTH_STEP, Batch, batches
from training.lora import Lora
from training.network import Network
from training.schedule import Schedule
from training.team import Team

__all__ = ("LOG_FILE", "Trainer", "main", "train")

LOG_FILE: Final = "log.jsonl"

LOG_EVERY_S: Final = 20.0
KEEP_EVERY_S: Final = 120.0
# Steps before the clock of the schedule starts: kernels are compiled and memory is claimed in them.
N_FIRST_STEPS: Final = 3
# What is left of the time for the last checkpoint.
RESERVE_S: Final = 5.0
# cuDNN's attention is left out: it plans anew for every shape.
ATTENTION: Final = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


class Trainer:
    """Makes steps.

    Args:
        base: the frozen weights.
        lora: the pairs to train.
        team: the processes that train together.
        n_tokens: the most tokens of a batch; all batches are filled up to it.
        max_length: the longest row.
        clip: the largest norm of a gradient.
        compiled: see `Network`.
    """

    def __init__(
        self,
        base: Base,
        lora: Lora,
        team: Team,
        *,
        n_tokens: int,
        max_length: int,
        clip: float = 1.0,
        compiled: bool = False,
    ) -> None:
        self.base, self.lora, self.team = base, lora, team
        self._n_tokens, self._clip, self._on_gpu = n_tokens, clip, team.device != "cpu"
        dtype = torch.bfloat16 if self._on_gpu else torch.float32
        self._network = Network(base, lora, device=team.device, dtype=dtype, max_length=max_length, compiled=compiled)
        self._optimizer = torch.optim.AdamW(
            [lora.flat], lr=0.0, betas=(0.9, 0.98), eps=1e-8, weight_decay=0.0, fused=self._on_gpu
        )

    def step(self, batch: Batch, rate: float) -> torch.Tensor:
        """Make one step; returns the loss and the gradient's norm before clipping, [2], on the device."""
        self._optimizer.param_groups[0]["lr"] = rate
        n_rows, n_columns = batch.tokens.shape
        flat = torch.zeros(self._n_tokens, dtype=torch.int32)
        flat[: n_rows * n_columns] = torch.from_numpy(batch.tokens).ravel()
        places, targets = torch.from_numpy(batch.places), torch.from_numpy(batch.targets).long()
        arrays = (flat, places, targets, torch.from_numpy(batch.weights))
        tokens, places, targets, weights = (x.to(self.team.device, non_blocking=True) for x in arrays)
        with sdpa_kernel(ATTENTION) if self._on_gpu else nullcontext():
            loss = self._network.loss(tokens, n_rows, n_columns, places, targets, weights)
            loss.backward()
        self.team.average(self.lora.flat.grad)
        norm = torch.nn.utils.clip_grad_norm_([self.lora.flat], self._clip)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        return torch.stack([loss.detach(), norm])


def train(
    trainer: Trainer,
    stream: Iterator[Batch],
    out: Path,
    *,
    peak: float,
    ends_at: float,
    part: tuple[int, int] = (1, 1),
    clock: Callable[[], float] = time.monotonic,
    should_stop: Callable[[], bool] = lambda: False,
) -> Path:
    """Train until the time is over; the adapter is kept every two minutes and at the end.

    Args:
        trainer: makes the steps.
        stream: batches for ever.
        out: a folder; `adapters.safetensors` (float32) and `log.jsonl` are written there by the first process.
        peak: the highest learning rate.
        ends_at: by the clock, when all must be done.
        part: see `Schedule`.
        clock: seconds from any start.
        should_stop: asked after each step whether to end early.

    Returns:
        The adapter.

    Raises:
        ValueError: the loss is no longer a number; the last adapter that was kept is from before.
    """
    team, adapter = trainer.team, out / ADAPTER_FILE
    schedule = Schedule(peak, clock(), ends_at - RESERVE_S, part)
    log = _Log(out / LOG_FILE if team.leads else None, clock)
    kept_at = clock()
    n_steps = 0
    while True:
        progress = team.agree(2.0 if should_stop() else schedule.progress(clock()))
        if progress >= 1.0:
            break
        batch, rate = next(stream), schedule.rate(progress, n_steps)
        log.add(batch, trainer.step(batch, rate))
        n_steps += 1
        if n_steps == N_FIRST_STEPS:
            log.flush(n_steps, rate)
            schedule = Schedule(peak, clock(), ends_at - RESERVE_S, part)
        is_due = clock() - kept_at >= KEEP_EVERY_S
        if is_due or log.age() >= LOG_EVERY_S:
            log.flush(n_steps, rate)
        if is_due:
            kept_at = clock()
            if team.leads:
                write_adapter(adapter, trainer.lora.adapter(trainer.base), np.float32)
    log.flush(n_steps, 0.0)
    if team.leads:
        write_adapter(adapter, trainer.lora.adapter(trainer.base), np.float32)
    return adapter


class _Log:
    """Sums up steps and writes a line about them from time to time.

    Args:
        path: of the JSON lines, which are printed, too; None writes nothing.
        clock: seconds from any start.
    """

    def __init__(self, path: Path | None, clock: Callable[[], float]) -> None:
        self._path, self._clock = path, clock
        self._began_at = self._flushed_at = clock()
        self._seen: list[torch.Tensor] = []
        self._n_real = self._n_all = self._n_reply = 0
        self._total = 0

    def add(self, batch: Batch, measured: torch.Tensor) -> None:
        """Take a step's batch, and its loss and gradient's norm."""
        self._seen.append(measured)
        self._n_real += batch.n_real
        self._n_all += batch.tokens.size
        self._n_reply += len(batch.targets)

    def age(self) -> float:
        """Return the seconds since the last line."""
        return self._clock() - self._flushed_at

    def flush(self, n_steps: int, rate: float) -> None:
        """Write the means since the last line.

        Raises:
            ValueError: the loss is not a number.
        """
        if not self._seen:
            return
        loss, norm = torch.stack(self._seen).mean(0).tolist()  # waits for the device
        seconds = max(self.age(), 1e-9)
        self._total += self._n_real
        line = {
            "seconds": round(self._clock() - self._began_at, 1),
            "steps": n_steps,
            "loss": round(loss, 5),
            "gradient_norm": round(norm, 4),
            "learning_rate": rate,
            "tokens": self._total,
            "tokens_per_s": round(self._n_real / seconds),
            "filling": round(1.0 - self._n_real / self._n_all, 4),
            "reply_share": round(self._n_reply / self._n_real, 4),
        }
        self._seen, self._n_real, self._n_all, self._n_reply = [], 0, 0, 0
        self._flushed_at = self._clock()
        if self._path is not None:
            text = json.dumps(line)
            sys.stdout.write(text + "\n")
            sys.stdout.flush()
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(text + "\n")
        if loss != loss:
            raise ValueError(f"the loss is not a number after {n_steps} steps")


@contextmanager
def _until_terminated() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether SIGTERM came: the run then ends as if its time were over."""
    came: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        came.append(number)

    before = signal.signal(signal.SIGTERM, note)
    try:
        yield lambda: bool(came)
    finally:
        signal.signal(signal.SIGTERM, before)


def main(words: list[str] | None = None, *, started_at: float | None = None) -> int:
    """Run the command.

    Returns:
        The exit status.
    """
    started_at = time.monotonic() if started_at is None else started_at
    arguments = _parse(words)
    team = Team()
    if team.leads:
        arguments.out.mkdir(parents=True, exist_ok=True)
    try:
        _run(arguments, team, started_at)
    except (PlgdError, ValueError, OSError) as error:
        sys.stderr.write(f"train: {error}\n")
        return 1
    finally:
        team.leave()
    return 0


def _run(arguments: argparse.Namespace, team: Team, started_at: float) -> None:
    base = load_base(arguments.base)
    lora = Lora(base.shape, rank=arguments.rank, alpha=arguments.alpha, device=team.device, seed=arguments.seed)
    if arguments.resume is not None:
        lora.load(arguments.resume, base)
    trainer = Trainer(
        base,
        lora,
        team,
        n_tokens=arguments.tokens,
        max_length=arguments.max_length + LENGTH_STEP,
        compiled=arguments.compile,
    )
    stream = batches(
        arguments.cases,
        arguments.base,
        n_tokens=arguments.tokens,
        max_length=arguments.max_length,
        seed=arguments.seed + arguments.part[0],
        n_workers=arguments.workers or max(1, (os.cpu_count() or 2) // team.size - 1),
        share=(team.number, team.size),
    )
    with closing(stream), _until_terminated() as should_stop:
        train(
            trainer,
            stream,
            arguments.out,
            peak=arguments.rate,
            ends_at=started_at + 60.0 * arguments.minutes,
            part=arguments.part,
            should_stop=should_stop,
        )


def _parse(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.train", description="Train the edit adapter.")
    add: Callable[..., Any] = parser.add_argument
    add("--cases", type=Path, required=True, metavar="DIR", help="shards of training.generate")
    add("--base", type=Path, required=True, metavar="FOLDER", help="what `plgd model pull builtin` made")
    add("--out", type=Path, required=True, metavar="FOLDER", help="for the adapter and the log")
    add("--minutes", type=float, required=True, metavar="M", help="from the command's start to its end")
    add("--resume", type=Path, metavar="ADAPTER", help="go on from this adapter")
    add("--part", type=_part, default=(1, 1), metavar="K/N", help="the K-th of N runs that share one cosine")
    add("--rate", type=float, default=1.5e-3, metavar="LR", help="the highest learning rate (default %(default)s)")
    add("--rank", type=int, default=32, help="of the pairs (default %(default)s)")
    add("--alpha", type=float, default=64.0, help="scale times rank (default %(default)s)")
    add("--tokens", type=int, default=32_768, metavar="N", help="of a batch on each device (default %(default)s)")
    add("--max-length", type=int, default=4096, metavar="N", help="of prompt and reply (default %(default)s)")
    add("--workers", type=int, metavar="N", help="processes that tokenize (default: one a processor)")
    add("--seed", type=int, default=0, help="of the start and of the order (default %(default)s)")
    add("--compile", action="store_true", help="compile what is between the attentions")
    arguments = parser.parse_args(words)
    if arguments.max_length + LENGTH_STEP > arguments.tokens:
        parser.error("--tokens must hold the longest example, see --max-length")
    return arguments


def _part(word: str) -> tuple[int, int]:
    """Take `K/N`.

    Raises:
        argparse.ArgumentTypeError: the argument is something else.
    """
    number, _, count = word.partition("/")
    if not (number.isdigit() and count.isdigit() and 1 <= int(number) <= int(count)):
        raise argparse.ArgumentTypeError(f"{word!r} is not K/N, such as 1/2")
    return int(number), int(count)


if __name__ == "__main__":
    sys.exit(main())
