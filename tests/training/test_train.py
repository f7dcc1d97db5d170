"""Training lowers the loss, ends on time, and keeps what it has."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count, cycle
from pathlib import Path
from random import Random

import pytest

torch = pytest.importorskip("torch")

from tiny_base import SHA256, make_case, write_base, write_cases
from training.base import load_base
from training.batches import Batch, make_batches, tokenize
from training.examples import open_tokenizer
from training.lora import Lora
from training.team import Team
from training.train import LOG_FILE, Trainer, main, train

DAEMON = Path(__file__).parents[2] / "daemon"
WORDS = ("item", "price", "count", "name", "order")


@pytest.fixture(scope="module")
def base_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder."""
    return write_base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def cases_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two shards of renames."""
    cases = [
        make_case(f"{old} = 1\nprint({old})\n", f"{new} = 1\nprint({new})\n", instruction=f"{old} -> {new}")
        for old in WORDS
        for new in WORDS
        if old != new
    ]
    return write_cases(tmp_path_factory.mktemp("cases"), cases)


@pytest.fixture
def stream(base_folder: Path, cases_folder: Path) -> Iterator[Batch]:
    """Batches for ever."""
    tokenizer = open_tokenizer(base_folder)
    pool = [example for shard in sorted(cases_folder.iterdir()) for example in tokenize(shard, tokenizer, 300)]
    return cycle(list(make_batches(pool, 1024, Random(1))))


def make_trainer(folder: Path, seed: int = 0) -> Trainer:
    """Make a trainer of small pairs."""
    base = load_base(folder)
    lora = Lora(base.shape, rank=8, alpha=16.0, device="cpu", seed=seed)
    return Trainer(base, lora, Team(), n_tokens=1024, max_length=512)


def ticking(seconds: float) -> Callable[[], float]:
    """Return a clock that moves on by so many seconds each time it is looked at."""
    times = count()
    return lambda: seconds * next(times)


def read_log(folder: Path) -> list[dict[str, float]]:
    """Return the lines of a run's log."""
    return [json.loads(line) for line in (folder / LOG_FILE).read_text().splitlines()]


def test_training_lowers_the_loss(base_folder: Path, stream: Iterator[Batch], tmp_path: Path) -> None:
    """The loss of the last steps is less than a third of the first ones', and the log tells how it went there."""
    trainer = make_trainer(base_folder)
    train(trainer, stream, tmp_path, peak=2e-2, ends_at=500.0, clock=ticking(1.0))
    log = read_log(tmp_path)
    assert log[-1]["loss"] < log[0]["loss"] / 3
    assert log[-1]["learning_rate"] < 2e-2
    assert [line["steps"] for line in log] == sorted({line["steps"] for line in log})
    assert all(line["tokens_per_s"] > 0 and 0 < line["reply_share"] < 1 for line in log)


def test_a_run_goes_on_from_an_adapter(base_folder: Path, stream: Iterator[Batch], tmp_path: Path) -> None:
    """What was kept in float32 is what the next run begins with."""
    first, second = make_trainer(base_folder), make_trainer(base_folder, seed=9)
    adapter = train(first, stream, tmp_path, peak=1e-2, ends_at=60.0, clock=ticking(1.0))
    assert not torch.equal(first.lora.flat, second.lora.flat)
    second.lora.load(adapter, second.base)
    assert torch.equal(first.lora.flat, second.lora.flat)


def test_an_adapter_of_another_base_is_no_beginning(base_folder: Path, stream: Iterator[Batch], tmp_path: Path) -> None:
    """An adapter of another base, scale or rank is refused."""
    adapter = train(make_trainer(base_folder), stream, tmp_path, peak=1e-2, ends_at=20.0, clock=ticking(1.0))
    base = load_base(base_folder)
    for rank, alpha, message in ((8, 8.0, "with this scale"), (4, 8.0, "another rank than 4")):
        with pytest.raises(ValueError, match=message):
            Lora(base.shape, rank=rank, alpha=alpha, device="cpu", seed=0).load(adapter, base)


def test_the_adapter_is_kept_every_two_minutes(base_folder: Path, stream: Iterator[Batch], tmp_path: Path) -> None:
    """A run that is killed loses two minutes."""
    seen: list[bytes] = []

    def watched() -> Iterator[Batch]:
        for batch in stream:
            if (tmp_path / "adapters.safetensors").exists():
                content = (tmp_path / "adapters.safetensors").read_bytes()
                if content not in seen:
                    seen.append(content)
            yield batch

    train(make_trainer(base_folder), watched(), tmp_path, peak=1e-2, ends_at=400.0, clock=ticking(5.0))
    assert 2 <= len(seen) <= 3


def test_a_loss_that_is_no_number_ends_the_run(base_folder: Path, stream: Iterator[Batch], tmp_path: Path) -> None:
    """A run that fell apart says so and does not overwrite what was kept before."""
    trainer = make_trainer(base_folder)
    with torch.no_grad():
        trainer.lora.flat[0] = torch.nan
    with pytest.raises(ValueError, match="not a number"):
        train(trainer, stream, tmp_path, peak=1e-2, ends_at=400.0, clock=ticking(1.0))
    assert not (tmp_path / "adapters.safetensors").exists()


def command(base: Path, cases: Path, out: Path, *words: str) -> list[str]:
    """Return the words of a short run."""
    words = ("--tokens", "1024", "--max-length", "300", "--rank", "8", "--alpha", "16", "--workers", "1", *words)
    return ["--cases", str(cases), "--base", str(base), "--out", str(out), *words]


def test_the_command_without_time(base_folder: Path, cases_folder: Path, tmp_path: Path) -> None:
    """A run whose time is over before it began keeps an adapter that changes nothing."""
    assert 0 == main(command(base_folder, cases_folder, tmp_path, "--minutes", "0"))
    base = load_base(base_folder)
    lora = Lora(base.shape, rank=8, alpha=16.0, device="cpu", seed=3)
    lora.load(tmp_path / "adapters.safetensors", base)
    assert SHA256 == base.sha256
    assert all((b == 0).all() and (a != 0).any() for a, b in lora.pairs().values())


@pytest.mark.parametrize("word", ["0/2", "3/2", "half", "1"])
def test_parts_are_checked(word: str, base_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--part` is the number of a part and the count of all."""
    with pytest.raises(SystemExit):
        main(command(base_folder, tmp_path, tmp_path, "--minutes", "1", "--part", word))
    assert "is not K/N" in capsys.readouterr().err


def test_termination_keeps_the_adapter(base_folder: Path, cases_folder: Path, tmp_path: Path) -> None:
    """SIGTERM ends a run after the step that it is in, and the adapter is kept."""
    words = command(base_folder, cases_folder, tmp_path, "--minutes", "60")
    run = subprocess.Popen(
        [sys.executable, "-m", "training.train", *words], cwd=DAEMON, stdout=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    assert run.stdout.readline().startswith("{")  # the first steps are done
    run.send_signal(signal.SIGTERM)
    assert 0 == run.wait(60)
    run.stdout.close()
    assert read_log(tmp_path)[-1]["steps"] >= 3
    assert (tmp_path / "adapters.safetensors").stat().st_size > 10_000


def test_two_processes_train_one_adapter(base_folder: Path, cases_folder: Path, tmp_path: Path) -> None:
    """Under torchrun the processes share the data, average their gradients, and the first one writes."""
    words = command(base_folder, cases_folder, tmp_path, "--minutes", "0.5")
    starter = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    whole = [*starter, "-m", "training.train", *words]
    done = subprocess.run(whole, cwd=DAEMON, env=environment, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    log = read_log(tmp_path)
    assert log[-1]["loss"] < log[0]["loss"]
    assert len(log) == len({line["steps"] for line in log})
