"""The bounds of sampling hold alike in the configuration, in requests and on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from plgd.config import SamplingConfig, load_config
from plgd.errors import ConfigError, InvalidParams
from plgd.protocol.edits import EditParams
from plgd.protocol.envelope import decode_params
from plgd.protocol.methods import EDIT
from plgd.protocol.sampling import SamplingParams
from plgd_cli.parser import Parser
from plgd_cli.sampling import OPTIONS, add_sampling_options, sampling_params

ALLOWED = {
    "temperature": (0, 0.7, 2),
    "top_p": (0.001, 1),
    "top_k": (0, 40),
    "min_p": (0, 0.05, 1),
    "repetition_penalty": (0.01, 1, 10),
    "presence_penalty": (-2, 0, 2),
    "frequency_penalty": (-2, 0.5, 2),
    "penalty_context": (1, 65536),
    "seed": (0, 4294967295),
}
REFUSED = {
    "temperature": (-0.1, 2.1, "nan", "inf"),
    "top_p": (0, 1.1, "nan"),
    "top_k": (-1, 1.5),
    "min_p": (-0.1, 1.1),
    "repetition_penalty": (0, 1e-9, 10.5, -1),
    "presence_penalty": (-2.1, 2.1),
    "frequency_penalty": (-2.1, 2.1),
    "penalty_context": (0, 65537, 2.5),
    "seed": (-1, 4294967296, 0.5),
}
CONFIGURED = SamplingConfig.__struct_fields__
ON_COMMAND_LINE = tuple(option.removeprefix("--").replace("-", "_") for option in OPTIONS)


def cases(table: Mapping[str, tuple[object, ...]], fields: tuple[str, ...]) -> list[tuple[str, object]]:
    """List every value of some fields."""
    return [(field, value) for field, values in table.items() if field in fields for value in values]


def configured(tmp_path: Path, field: str, value: object) -> SamplingConfig:
    """Read a configuration file with one setting."""
    path = tmp_path / "config.toml"
    path.write_text(f"[sampling]\n{field} = {value}\n", encoding="utf-8")
    return load_config(path).sampling


def requested(field: str, value: object) -> SamplingParams | None:
    """Decode a request with one setting."""
    raw = msgspec.Raw(f'{{"instruction":"x","text":"y","sampling":{{"{field}":{value}}}}}'.encode())
    params: EditParams = decode_params(EDIT, raw)
    return params.sampling


def on_command_line(field: str, value: object) -> SamplingParams | None:
    """Parse a command line with one setting."""
    parser = Parser(exit_on_error=False)
    add_sampling_options(parser)
    return sampling_params(parser.parse_args([f"--{field.replace('_', '-')}", str(value)]))


@pytest.mark.parametrize(("field", "value"), cases(ALLOWED, CONFIGURED))
def test_the_configuration_takes(tmp_path: Path, field: str, value: object) -> None:
    """The configuration takes everything up to the bounds, and only the setting that was made differs."""
    assert msgspec.convert({field: value}, SamplingConfig) == configured(tmp_path, field, value)


@pytest.mark.parametrize(("field", "value"), cases(ALLOWED, tuple(ALLOWED)))
def test_a_request_takes(field: str, value: object) -> None:
    """A request takes everything up to the bounds."""
    assert msgspec.convert({field: value}, SamplingParams) == requested(field, value)


@pytest.mark.parametrize(("field", "value"), cases(ALLOWED, ON_COMMAND_LINE))
def test_the_command_line_takes(field: str, value: object) -> None:
    """The command line takes everything up to the bounds, as the request has it."""
    assert requested(field, value) == on_command_line(field, value)


@pytest.mark.parametrize(("field", "value"), cases(REFUSED, CONFIGURED))
def test_the_configuration_refuses(tmp_path: Path, field: str, value: object) -> None:
    """The configuration refuses everything beyond the bounds and names the key."""
    with pytest.raises(ConfigError, match=rf"Expected .* \(key `sampling\.{field}`\)"):
        configured(tmp_path, field, value)


@pytest.mark.parametrize(("field", "value"), cases(REFUSED, tuple(REFUSED)))
def test_a_request_is_refused(field: str, value: object) -> None:
    """A request beyond the bounds is refused, and the message names the field; JSON knows no NaN and no infinity."""
    expected = "JSON is malformed" if isinstance(value, str) else rf"Expected .* \(field `sampling\.{field}`\)"
    with pytest.raises(InvalidParams, match=expected):
        requested(field, value)


@pytest.mark.parametrize(("field", "value"), cases(REFUSED, ON_COMMAND_LINE))
def test_the_command_line_refuses(field: str, value: object) -> None:
    """The command line refuses everything beyond the bounds and names the option."""
    with pytest.raises(
        argparse.ArgumentError, match=f"--{field.replace('_', '-')}: .*(out of bounds|not a whole number)"
    ):
        on_command_line(field, value)


def test_words_are_no_numbers() -> None:
    """A word where a number belongs is refused as such."""
    with pytest.raises(argparse.ArgumentError, match="'warm' is not a number"):
        on_command_line("temperature", "warm")


@pytest.mark.parametrize("biases", ['{"-1":1}', '{"x":1}', '{"5":101}', '{"5":"a"}', "[1]"])
def test_biases_that_make_no_sense_are_refused(biases: str) -> None:
    """Biases are for tokens, by number, within bounds."""
    with pytest.raises(InvalidParams, match=r"\((a key of )?field `sampling\.logit_bias.*`\)"):
        requested("logit_bias", biases)


def test_nothing_asked_for_is_nothing_sent() -> None:
    """Without options, no word about sampling is sent, so that the configuration holds."""
    parser = Parser()
    add_sampling_options(parser)
    assert sampling_params(parser.parse_args([])) is None
