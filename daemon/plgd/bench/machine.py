"""The machine under measurement: a loaded model, ready to run, and what it runs on."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from plgd.bench.compare.plain import PlainArm
from plgd.bench.compare.recorded_network import RecordedNetwork
from plgd.bench.results import Environment
from plgd.config import Config
from plgd.engine.cost import StepCosts
from plgd.engine.mlx.device import describe_device
from plgd.engine.mlx.load import load_model
from plgd.engine.mlx.model import MlxModel
from plgd.engine.mlx.neighbours import QUIET_SHARE, Neighbours
from plgd.engine.mlx.step_costs import keep_step_costs, measure_step_costs, read_step_costs
from plgd.errors import BenchError
from plgd.models.catalog import resolve
from plgd.paths import Paths
from plgd.version import __version__

__all__ = ("Machine", "describe", "know_costs", "open_machine")


@dataclass(frozen=True)
class Machine:
    """A model in memory.

    Attributes:
        model: the model.
        plain: mlx-lm's own decoding of it.
        environment: what it runs on.
    """

    model: MlxModel
    plain: PlainArm
    environment: Environment

    @property
    def active_bytes(self) -> int:
        """Memory that arrays take now."""
        return describe_device().active_bytes

    def warm_up(self, widths: Sequence[int], n_tokens: int) -> None:
        """Run once whatever a reply may run, up to a context of so many tokens.

        Where shapes are fixed, a plan is made for each pair of width and length of keys; all of them are made here.

        Args:
            widths: verify widths.
            n_tokens: of prompt and reply.

        Raises:
            EngineError: the model failed.
        """
        self.model.warm_up(widths)
        self.model.warm_up_lengths(widths, n_tokens)

    def led_along(self, history: Sequence[int]) -> Machine:
        """Return the same machine, whose model gives a recorded reply.

        Args:
            history: the prompt and the reply.
        """
        network = RecordedNetwork(self.model.network, history)
        model = MlxModel(
            network,
            self.model.tokenizer,
            name=self.model.name,
            eos_tokens=self.model.eos_tokens,
            context_limit=self.model.context_limit,
            kv_bits=self.model.kv_bits,
            shapes=self.model.shapes,
            threads=self.model.threads,
        )
        return Machine(model, PlainArm(network, model.eos_tokens), self.environment)


def open_machine(
    name: str | None,
    widths: Iterable[int],
    paths: Paths,
    config: Config,
    *,
    on_progress: Callable[[str], None] = lambda _: None,
) -> Machine:
    """Load a model and run each verify width once, so that nothing timed compiles a kernel.

    Args:
        name: as for an edit; None for the default.
        widths: the verify widths that will be timed.
        paths: the user's folders.
        config: the user's settings.
        on_progress: is told what happens.

    Raises:
        ModelError: the model cannot be found or loaded.
    """
    found = resolve(name, paths, config)
    model = load_model(
        found.folder,
        name=found.name,
        adapter=found.adapter,
        context_limit=config.model.context_limit,
        kv_bits=config.model.kv_bits,
        on_progress=lambda percent: on_progress(f"loading {found.name} {percent:.0f} %"),
    )
    for width in widths:
        on_progress(f"warming up width {width}")
        model.warm_up([width])
    return Machine(model, PlainArm(model.network, model.eos_tokens), describe(model.name))


def know_costs(
    model: MlxModel,
    paths: Paths,
    *,
    on_progress: Callable[[str], None],
    watch: Callable[[], Neighbours] = Neighbours,
) -> StepCosts:
    """Return the step costs that the daemon knows, every width warmed up; measure them where it knows none.

    What was measured is kept for the daemon if the machine was quiet: a bad table would slow every later edit.

    Args:
        model: the loaded model.
        paths: the user's folders.
        on_progress: is told what happens.
        watch: begins to watch the other programs.

    Raises:
        EngineError: the model failed.
        BenchError: the table could not be kept.
    """
    costs = read_step_costs(model, paths.step_costs_dir)
    if costs is None:
        neighbours = watch()
        costs = measure_step_costs(model, on_progress=lambda percent: on_progress(f"step costs {percent:.0f} %"))
        if neighbours.share() <= QUIET_SHARE:
            try:
                keep_step_costs(model, paths.step_costs_dir, costs)
            except OSError as error:
                raise BenchError.unwritable(str(paths.step_costs_dir), str(error.strerror)) from error
    on_progress("warming up the widths of the table")
    model.warm_up(costs.candidates())
    return costs


def describe(model_name: str) -> Environment:
    """Describe this machine as it is now."""
    device = describe_device()
    return Environment(
        model=model_name,
        device=device.kind,
        device_name=device.name,
        blas=device.blas,
        n_cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        versions={"plgd": __version__, **device.versions},
        load_before=round(os.getloadavg()[0], 2),
    )
