"""The VS Code extension's sources in a folder of their own, with the packages that they need."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest
from filelock import FileLock

__all__ = ("CACHE", "copy_project", "run")

REPOSITORY: Final = Path(__file__).parents[2]
EXTENSION: Final = REPOSITORY / "clients" / "vscode"
# What is fetched is kept between runs, beside the built-in model.
CACHE: Final = Path(os.environ.get("PLGD_TEST_CACHE") or Path(tempfile.gettempdir()) / f"plgd-test-cache-{os.getuid()}")
WAIT_S: Final = 600.0
UNREACHABLE: Final = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH")


def run(folder: Path, *words: str) -> str:
    """Run a command of the extension's and return what it said; its end must be good, or the test fails with it."""
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=WAIT_S, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, f"{' '.join(words)} ended with {done.returncode}:\n{said}"
    return said


def copy_project(root: Path) -> Path:
    """Copy the sources below `root`, with packages fetched once; skips where there is no npm or no registry."""
    folder = root / "clients" / "vscode"
    shutil.copytree(EXTENSION, folder, ignore=shutil.ignore_patterns("node_modules", "out", "*.vsix"))
    shutil.copy(REPOSITORY / "LICENSE", root)
    (folder / "node_modules").symlink_to(_fetched_packages(folder))
    return folder


def _fetched_packages(folder: Path) -> Path:
    lock = folder / "package-lock.json"
    home = CACHE / f"vscode-{sha256(lock.read_bytes()).hexdigest()[:16]}"
    home.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{home}.lock"):
        if not home.exists():
            partial = Path(tempfile.mkdtemp(dir=CACHE))
            for name in ("package.json", "package-lock.json", ".npmrc"):
                shutil.copy(folder / name, partial)
            _install(partial)
            partial.rename(home)
    return home / "node_modules"


def _install(folder: Path) -> None:
    command = [_npm(), "ci", "--ignore-scripts"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=WAIT_S, check=False)
    if any(word in done.stderr for word in UNREACHABLE):
        pytest.skip("the npm registry cannot be reached")
    assert done.returncode == 0, done.stderr


def _npm() -> str:
    found = shutil.which("npm")
    if found is None:
        pytest.skip("npm is not installed")
    return found
