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
