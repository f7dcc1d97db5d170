"""Two releases of a package, as archives."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

__all__ = ("CHANGED", "LONG", "make_archives")

LONG = "".join(f"value_{n} = {n}\n" for n in range(40))
CHANGED = LONG.replace("value_7 ", "value_seven ")


def make_archives(folder: Path, files: dict[str, tuple[str, str]]) -> list[tuple[Path, Path]]:
    """Write the same two releases as wheels and as tar files."""
    pairs = []
    for suffix in (".whl", ".tgz"):
        made = []
        for release in (0, 1):
            path = folder / f"p-{release}{suffix}"
            if suffix == ".whl":
                with zipfile.ZipFile(path, "w") as wheel:
                    for name, texts in files.items():
                        wheel.writestr(name, texts[release])
            else:
                with tarfile.open(path, "w:gz") as tar:
                    for name, texts in files.items():
                        info = tarfile.TarInfo(f"package-{release}/{name}")
                        info.size = len(texts[release].encode())
                        tar.addfile(info, io.BytesIO(texts[release].encode()))
            made.append(path)
        pairs.append((made[0], made[1]))
    return pairs
