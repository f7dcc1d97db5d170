"""Which BLAS the daemon is to pre-load, found without importing anything heavy.

On Linux, mlx for the CPU is linked with the reference BLAS, which makes a verify of width w cost w plain steps. An
OpenBLAS that the dynamic linker loads first takes its place. That must happen before Python starts.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

__all__ = ("Preload", "find_preload")

_DEBIAN: Final = tuple(
    Path(f"/usr/lib/{machine}-linux-gnu/openblas-pthread/libopenblas.so.0") for machine in ("x86_64", "aarch64")
)
# Tuning for older OpenBLAS builds; current ones choose better by themselves (448 against 366 tokens/s of prefill).
_STALE_TUNING: Final = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
_PROBE_TIMEOUT_S: Final = 10.0
# Multiplies two matrices of ones: a library made for another processor loads, and dies in its first product.
_PROBE: Final = """
import ctypes
n, one = 64, ctypes.c_float(1.0)
ones, product = (ctypes.c_float * n**2)(*[1.0] * n**2), (ctypes.c_float * n**2)()
multiply = getattr(ctypes.CDLL(None), "cblas_sgemm", None)
if multiply is None:
    raise SystemExit("it multiplies no matrices")
multiply(101, 111, 111, n, n, n, one, ones, n, ones, n, ctypes.c_float(0.0), product, n)
if any(value != n for value in product):
    raise SystemExit("it multiplies wrongly")
"""


@dataclass(frozen=True, slots=True)
class Preload:
    """How to start a process that uses a fast BLAS.

    Attributes:
        needed: whether this platform's mlx needs one.
        library: what is pre-loaded; `None` when nothing is.
        environment: the process's variables.
        problem: why a library that was found is not pre-loaded.
    """

    needed: bool
    library: Path | None
    environment: dict[str, str]
    problem: str = ""


def find_preload(environment: Mapping[str, str], links: Path) -> Preload:
    """Find a BLAS to pre-load and see that a process starts with it.

    Args:
        environment: the variables to start from; an OpenBLAS that they pre-load already is kept.
        links: a folder of plgd's own, for links to libraries that the BLAS needs.
    """
    plain = {name: value for name, value in environment.items() if name not in _STALE_TUNING}
    if sys.platform != "linux" or not (mlx := _files_of("mlx-cpu")):
        return Preload(False, None, plain)
    kept = plain.get("LD_PRELOAD", "").split()
    for chosen in kept:
        if "openblas" in Path(chosen).name:
            return Preload(True, Path(chosen), plain)
    problem = ""
    for library in _candidates():
        trial = plain | {"LD_PRELOAD": " ".join([*kept, str(library)])}
        problem = _probe(trial)
        if problem:
            # Its Fortran runtime is seldom installed, but mlx brings one along under a name of its own.
            try:
                _link_fortran(mlx, links)
            except OSError as error:
                problem = f"{problem}; {links} cannot be used ({error.strerror})"
                continue
            before = plain.get("LD_LIBRARY_PATH")
            trial["LD_LIBRARY_PATH"] = f"{links}:{before}" if before else str(links)
            problem = _probe(trial)
        if not problem:
            return Preload(True, library, trial)
    return Preload(True, None, plain, problem)


def _candidates() -> list[Path]:
    # The first knows the kernels of many processors, the second those of the one that it was built on.
    packaged = [file for file in _files_of("ngsolve-openblas") if file.name.startswith("libopenblas")]
    packaged += [file for file in _files_of("cmeel-openblas") if file.name == "libopenblas.so.0"]
    return [library for library in (*packaged, *_DEBIAN) if library.is_file()]


def _files_of(distribution: str) -> list[Path]:
    try:
        found = metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        return []
    return [Path(str(found.locate_file(file))) for file in found.files or ()]


def _link_fortran(files: list[Path], links: Path) -> None:
    """Give mlx's Fortran runtime the name that others look for; its companions keep theirs."""
    links.mkdir(parents=True, exist_ok=True)
    for file in files:
        if file.name.startswith("libgfortran"):
            _link(links / "libgfortran.so.5", file)
        elif file.name.startswith("libquadmath"):
            _link(links / file.name, file)


def _link(link: Path, target: Path) -> None:
    # Two starts at once may do this side by side; each renames a whole link into place.
    new = link.with_name(f".{link.name}.{os.getpid()}")
    new.unlink(missing_ok=True)
    new.symlink_to(target)
    new.replace(link)


def _probe(environment: dict[str, str]) -> str:
    """Start Python with an environment; a library that cannot be loaded or used would end the daemon."""
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _PROBE],
            env=environment,
            capture_output=True,
            timeout=_PROBE_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    # The linker only warns of a file that is no library at all, and goes on without it.
    words = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode == -signal.SIGILL:
        return words or "made for another processor"
    return words or (f"exit status {done.returncode}" if done.returncode else "")
