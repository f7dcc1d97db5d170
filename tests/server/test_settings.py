"""Settings of the daemon that are out of bounds."""

from __future__ import annotations

import pytest

from plgd.config import load_config
from plgd.errors import ConfigError
from plgd.paths import Paths


@pytest.mark.parametrize(
    "setting",
    [
        "unload_after_s = inf",
        "unload_after_s = nan",
        "exit_after_s = 1e10",
        "exit_after_s = -1",
        "queue_limit = 65537",
        "connection_limit = 0",
        "frame_limit = 1073741825",
        "log_limit = 9223372036854775807",
    ],
)
def test_a_setting_out_of_bounds_is_refused(setting: str, paths: Paths) -> None:
    """Numbers that the system's timers and limits cannot hold are refused; the message names the key."""
    paths.config_dir.mkdir(parents=True)
    paths.config_file.write_text(f"[daemon]\n{setting}\n")
    with pytest.raises(ConfigError, match=rf"Expected .* \(key `daemon\.{setting.split(maxsplit=1)[0]}`\)"):
        load_config(paths.config_file)


def test_a_configuration_that_is_not_utf8_is_said(paths: Paths) -> None:
    """The message says where, and what to do."""
    paths.config_dir.mkdir(parents=True)
    paths.config_file.write_bytes(b"# caf\xe9\n")
    with pytest.raises(ConfigError, match=r"config\.toml: not UTF-8 \(byte 5\)\. Save it as UTF-8\."):
        load_config(paths.config_file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[model]\nkv_bits = 5\n", r"`model\.kv_bits`\); there are 0, 4, 8"),
        ('[engine]\npolicy = "no"\n', r"`engine\.policy`\); there are cost, graded, gated, ds4, off"),
        (f"x = {'[' * 100_000}", r"config\.toml: "),
    ],
)
def test_what_is_allowed_is_told(text: str, message: str, paths: Paths) -> None:
    """Where only certain values are allowed, the message lists them; nesting without an end is an error like others."""
    paths.config_dir.mkdir(parents=True)
    paths.config_file.write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_config(paths.config_file)
