"""What was read for an edit outlives the daemon: the next one finds it on disk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.command import plgd
from plgd.paths import Paths

pytestmark = pytest.mark.builtin

# Decoding plainly, the daemon measures no step costs first.
CONFIG = '[engine]\npolicy = "off"\n\n[warm]\nspill_bytes = 1000000000\n'
TEXT = "".join(f"def item_{number}(price):\n    return price * {number}\n\n\n" for number in range(12))


@pytest.fixture
def shop_py(builtin_model_dir: Path, paths: Paths, tmp_path: Path) -> Iterator[Path]:
    """A file to edit, for a user who has the built-in model and allows states on disk; no daemon is left behind."""
    paths.cache_dir.mkdir(parents=True)
    (paths.cache_dir / "models").symlink_to(builtin_model_dir.parent)
    paths.config_dir.mkdir(parents=True)
    paths.config_file.write_text(CONFIG)
    path = tmp_path / "shop.py"
    path.write_text(TEXT)
    yield path
    plgd("stop", "--now")


def first_token(path: Path) -> dict[str, int]:
    """Carry an edit as far as its first token; return its statistics."""
    done = plgd("edit", str(path), "-i", "Rename price to cost.", "--max-tokens", "1", "--json")
    assert done.returncode == 4, done.stderr
    stats: dict[str, int] = json.loads(done.stdout)["stats"]
    return stats


def test_the_next_daemon_has_read_it(shop_py: Path) -> None:
    """After a restart an edit begins with the state from disk, and `plgd status` says so."""
    cold = first_token(shop_py)
    assert (0, True) == (cold["cached_tokens"], cold["prompt_tokens"] > 200)
    assert plgd("stop").returncode == 0
    warm = first_token(shop_py)
    assert cold["prompt_tokens"] - 1 == warm["cached_tokens"]
    told = json.loads(plgd("status", "--json").stdout)["warm"]
    assert (1, 0, 0) == (told["spill_hits"], told["spill_refused"], told["spill_unwritten"])
    assert b"came back" in plgd("status").stdout
