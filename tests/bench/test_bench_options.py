"""The options of `plgd bench`, and what it refuses."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from plgd.bench.compare.workloads import WORKLOADS
from plgd.bench.options import ARMS, MODES_OF, add_options, find_misplaced


def parse(*words: str) -> argparse.Namespace:
    """Parse a command line."""
    parser = argparse.ArgumentParser()
    add_options(parser)
    return parser.parse_args(words)


def test_without_options_the_reference_workloads_are_compared() -> None:
    """`plgd bench` alone compares all workloads and all arms."""
    options = parse()
    assert ("compare", None, None) == (options.mode, options.only, options.arms)


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
        (["--plot", "x"], "'x' has no ending that says the format"),
        (["--plot", ""], "'' has no ending that says the format"),
        (["--plot", f"{__file__}/x.png"], "is a folder, or in none"),
        (["--plot", "x" * 300 + "/x.png"], "is a folder, or in none"),
    ],
)
def test_wrong_options_are_explained(words: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An option that makes no sense ends with exit code 2 and says which word is wrong."""
    with pytest.raises(SystemExit) as end:
        parse(*words)
    assert 2 == end.value.code
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--host", "--model", "x"], "--model says nothing to --host"),
        (["--widths", "--plot", "x.png"], "--plot says nothing to --widths"),
        (["--host", "--max-tokens", "3"], "--max-tokens says nothing to --host"),
        (["--replay", "--pairs", "x", "--part", "tuning"], "--part says nothing where there is --pairs"),
        (["--traces", "--pairs", "x", "--quick"], "--quick says nothing where there is --pairs"),
        (["--replay", "--tokenizer", "x", "--model", "y"], "--model says nothing where there is --tokenizer"),
    ],
)
def test_no_option_is_silently_ignored(words: list[str], reason: str) -> None:
    """An option that the chosen measurement has no use for is refused."""
    assert reason == find_misplaced(parse(*words))


def test_options_of_a_measurement_pass() -> None:
    """Every option has a measurement that it belongs to."""
    words = ["--model", "m", "--repeats", "1", "--only", "write", "--arms", "off", "--max-tokens", "3"]
    words += ["--replies", "own", "--plot", "p.png"]
    assert None is find_misplaced(parse(*words))
    assert MODES_OF.keys() == vars(parse()).keys() - {"mode", "json"}


def test_there_are_five_workloads() -> None:
    """The reference workloads are a rename, a new field, a summary, a short text and a long one."""
    assert ["edit_fn", "edit_json", "summary", "write", "story"] == list(WORKLOADS)
