"""Measures a peer as `plgd bench` measures plgd: the same rule, prompts and JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import msgspec
from rich.console import Console

from plgd.bench.compare.arms import Arm
from plgd.bench.compare.measure import geometric_means, measure
from plgd.bench.report import show_comparison
from plgd.bench.results import BenchResult, Environment

__all__ = ("compete",)


def compete(
    packages: Sequence[str],
    make_arms: Callable[[argparse.Namespace, frozenset[int]], Sequence[Arm]],
    add_options: Callable[[argparse.ArgumentParser], object] = lambda _: None,
) -> None:
    """Run a peer's arms over exported prompts and print the result.

    Args:
        packages: whose versions are reported.
        make_arms: gets the options and the tokens that end a reply; its arm `plain` is the peer without drafting.
        add_options: adds options of the peer's own.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, help="written by peers.export")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", action="append")
    parser.add_argument("--max-tokens", type=int, default=1 << 30)
    parser.add_argument("--json", action="store_true")
    add_options(parser)
    arguments = parser.parse_args()
    prompts = json.loads((arguments.folder / "prompts.json").read_text(encoding="utf-8"))
    load_before = round(os.getloadavg()[0], 2)
    arms = make_arms(arguments, frozenset(prompts["eos_tokens"]))
    workloads = {
        name: measure(
            arms,
            prompts["workloads"][name]["tokens"],
            max_tokens=min(prompts["workloads"][name]["max_tokens"], arguments.max_tokens),
            n_repeats=arguments.repeats,
        )
        for name in arguments.only or prompts["workloads"]
    }
    result = BenchResult(
        environment=Environment(
            model=prompts["model"],
            device="cpu",
            device_name="cpu",
            blas="its own",
            n_cpus=arguments.threads,
            python=platform.python_version(),
            platform=f"{platform.system()} {platform.machine()}",
            versions={package: version(package) for package in packages},
            load_before=load_before,
            load_after=round(os.getloadavg()[0], 2),
        ),
        n_repeats=arguments.repeats,
        workloads=workloads,
        geometric_means=geometric_means(workloads),
    )
    if arguments.json:
        sys.stdout.write(msgspec.json.encode(result).decode() + "\n")
    else:
        show_comparison(result, Console(width=160))
