"""Drafting options are refused before a model is loaded, by the same bounds everywhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from plgd.config import Config, load_config
from plgd.engine import governor
from plgd.errors import ConfigError
from plgd.protocol.drafting import MAX_DRAFTS, Policy


def test_the_configuration_and_the_engine_know_the_same_policies_and_bounds() -> None:
    """What the configuration allows is what the governors take."""
    assert governor.POLICIES == get_args(Policy)
    assert governor.MAX_DRAFTS == MAX_DRAFTS


def test_drafting_is_on_by_default() -> None:
    """Without a word in the configuration the policy is `cost`, which drafts when it pays (reference B5)."""
    assert "cost" == Config().engine.policy


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("max_draft = 129", "max_draft (129) of policy cost is 128 at most"),
        ('policy = "graded"\nmax_draft = 65', "max_draft (65) of policy graded is 64 at most"),
        ('policy = "ds4"\nmax_draft = 16', "max_draft (16) of policy ds4 is 15 at most"),
        ("ngram_max = 17\nngram_min = 2", "<= 16"),
        ("ngram_min = 4\nngram_max = 3", "ngram_min (4) is larger than ngram_max (3)"),
        ("ngram_min = 3", "set together"),
        ("max_draft = -1", ">= 0"),
        ('policy = "off"\nmax_draft = 7', "policy off does not draft"),
        ('policy = "ds4"\nngram_min = 2\nngram_max = 3', "always looks up 4-grams"),
        ('policy = "fast"', "Invalid enum value 'fast'"),
    ],
)
def test_bad_drafting_options_are_refused(options: str, words: str, tmp_path: Path) -> None:
    """A value out of bounds, or an option that the policy ignores, is refused by name (reference A4)."""
    file = tmp_path / "config.toml"
    file.write_text(f"[engine]\n{options}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(words)):
        load_config(file)
