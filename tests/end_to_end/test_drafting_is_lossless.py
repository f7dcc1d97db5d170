"""Drafting and company change the speed and nothing else: the real model, real functions, token for token."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from plgd.blas import find_preload

pytestmark = pytest.mark.builtin

POLICIES = ["cost"]
WORKER = Path(__file__).with_name("parity_worker.py")


def test_drafted_output_is_plain_output(builtin_model_dir: Path, tmp_path: Path) -> None:
    """On fifteen edits of functions of the standard library, the drafted reply equals the plain one in float32.

    So does the reply of an edit that shares its passes with three others. Five edits are sampled, with a seed.
    """
    done = subprocess.run(
        [sys.executable, WORKER, builtin_model_dir, *POLICIES],
        env=find_preload(os.environ, tmp_path / "blas").environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *lines, counts = map(json.loads, done.stdout.splitlines())
    edits = [line["replies"] for line in lines]
    assert len(edits) == 15
    assert counts["n_joint_passes"] >= 4
    for policy in [*POLICIES, "together"]:
        assert [edit["off"][0] for edit in edits] == [edit[policy][0] for edit in edits]
        assert sum(edit[policy][1] for edit in edits) > 0.5 * sum(len(edit[policy][0]) for edit in edits)
