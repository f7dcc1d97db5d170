"""What can be checked of an installation without a daemon and without importing anything heavy."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from typing import Final

from plgd.blas import find_preload
from plgd.paths import SOCKET_PATH_LIMIT, Paths
from plgd.protocol.daemon import Finding

__all__ = ("check_blas", "check_installation", "check_packages", "check_places")

_PACKAGES: Final = ("mlx", "mlx-lm", "msgspec", "anyio")
_MLX_BUILDS: Final = ("mlx-metal", "mlx-cpu", "mlx-cuda-12", "mlx-cuda-13")
_OLDEST_PYTHON: Final = (3, 11)


def check_installation(paths: Paths) -> tuple[Finding, ...]:
    """Check Python, the packages, the BLAS to pre-load and the folders."""
    return (_check_python(), *check_packages(), *check_blas(paths), *check_places(paths))


def _check_python() -> Finding:
    fact = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info < _OLDEST_PYTHON:
        return Finding(level="missing", subject="Python", fact=fact, advice="Install Python 3.11 or newer.")
    return Finding(level="ok", subject="Python", fact=fact)


def check_packages() -> tuple[Finding, ...]:
    """Check that the packages are installed, and exactly one build of mlx for this machine."""
    versions = {name: _version(name) for name in (*_PACKAGES, *_MLX_BUILDS)}
    findings = []
    lacking = [name for name in _PACKAGES if not versions[name]]
    if lacking:
        advice = "Install plgd again, in a fresh environment."
        findings.append(Finding(level="missing", subject="packages", fact=f"no {', '.join(lacking)}", advice=advice))
    else:
        fact = ", ".join(f"{name} {versions[name]}" for name in _PACKAGES)
        findings.append(Finding(level="ok", subject="packages", fact=fact))
    builds = [f"{name} {versions[name]}" for name in _MLX_BUILDS if versions[name]]
    if len(builds) == 1:
        findings.append(Finding(level="ok", subject="mlx build", fact=builds[0]))
    elif builds:
        advice = "They overwrite each other's files; install plgd in a fresh environment with one of its extras."
        findings.append(Finding(level="missing", subject="mlx build", fact=" and ".join(builds), advice=advice))
    else:
        advice = "On Linux, install plgd with one of its extras: plgd[cpu] or plgd[cuda13]."
        findings.append(Finding(level="missing", subject="mlx build", fact="none", advice=advice))
    return tuple(findings)


def check_blas(paths: Paths) -> tuple[Finding, ...]:
    """Check that an OpenBLAS can be pre-loaded where mlx brings only the slow reference BLAS."""
    preload = find_preload(os.environ, paths.blas_links)
    if not preload.needed:
        return ()
    if preload.library is not None:
        return (Finding(level="ok", subject="OpenBLAS", fact=str(preload.library)),)
    fact = f"cannot be loaded: {preload.problem}" if preload.problem else "not found"
    advice = "Install plgd[cpu], which brings OpenBLAS, or Debian's libopenblas0-pthread; edits become much faster."
    return (Finding(level="slow", subject="OpenBLAS", fact=fact, advice=advice),)


def check_places(paths: Paths) -> tuple[Finding, ...]:
    """Check that the folders can be written to and that the socket's path is short enough."""
    findings = []
    for subject, folder in (
        ("configuration", paths.config_dir),
        ("models", paths.models_dir),
        ("runtime", paths.runtime_dir),
    ):
        existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
        if os.access(existing, os.W_OK | os.X_OK):
            findings.append(Finding(level="ok", subject=f"{subject} folder", fact=str(folder)))
        else:
            advice = f"Make {existing} writable, or set PLGD_HOME to a folder that is."
            fact = f"{folder} cannot be written to"
            findings.append(Finding(level="missing", subject=f"{subject} folder", fact=fact, advice=advice))
    n_bytes = len(os.fsencode(paths.socket))
    if n_bytes > SOCKET_PATH_LIMIT:
        fact = f"its path has {n_bytes} bytes, this system allows {SOCKET_PATH_LIMIT}"
        advice = "Set PLGD_RUNTIME_DIR to a shorter folder."
        findings.append(Finding(level="missing", subject="socket", fact=fact, advice=advice))
    return tuple(findings)


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
