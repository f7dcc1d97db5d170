"""The options of `plgd bench`, and what it refuses."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from plgd.bench.options import ARMS, add_options
from plgd.bench.workloads import WORKLOADS


def parse(*words: str) -> argparse.Namespace:
    """Parse a command line."""
    parser = argparse.ArgumentParser()
    add_options(parser)
    return parser.parse_args(words)


def test_without_options_the_reference_workloads_are_compared() -> None:
    """`plgd bench` alone runs all five workloads under all arms, five times each."""
    options = parse()
    assert ("compare", None, None, 5) == (options.mode, options.only, options.arms, options.repeats)


def test_plain_is_always_an_arm() -> None:
    """Arms come in their usual order, with plain among them."""
    assert ("plain", "off", "gated") == parse("--arms", "gated,off").arms


def test_workloads_can_be_chosen() -> None:
    """--only may be given several times."""
    assert ["story", "edit_fn"] == parse("--only", "story", "--only", "edit_fn").only
    assert Path("out.png") == parse("--plot", "out.png").plot


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--arms", "fast"], f"there is no arm 'fast'; there are {', '.join(ARMS)}"),
        (["--only", "poem"], "invalid choice: 'poem'"),
        (["--repeats", "0"], "'0' is not a whole number from 1"),
        (["--max-tokens", "-1"], "'-1' is not a whole number from 1"),
        (["--widths", "--host"], "not allowed with argument"),
    ],
)
def test_wrong_options_are_explained(words: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An option that makes no sense ends with exit code 2 and says which word is wrong."""
    with pytest.raises(SystemExit) as end:
        parse(*words)
    assert 2 == end.value.code
    assert reason in capsys.readouterr().err


def test_there_are_five_workloads() -> None:
    """The reference workloads are a rename, a new field, a summary, a short text and a long one."""
    assert ["edit_fn", "edit_json", "summary", "write", "story"] == list(WORKLOADS)
