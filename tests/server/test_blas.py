"""Which BLAS a daemon is started with, and how it is to multiply."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from plgd import blas
from plgd.blas import find_preload
from plgd.doctor import check_blas, check_installation
from plgd.launch import daemon_environment
from plgd.paths import Paths

LINUX_CPU = pytest.mark.skipif(not find_preload({}, Path(os.devnull)).needed, reason="mlx brings a fast BLAS here")


@LINUX_CPU
def test_a_process_starts_with_the_openblas_that_was_found(tmp_path: Path) -> None:
    """The library is loaded before Python starts, also where no Fortran runtime is installed."""
    preload = find_preload(os.environ, tmp_path)
    assert preload.library is not None, preload.problem
    code = "print('/libopenblas' in open('/proc/self/maps').read())"
    done = subprocess.run(
        [sys.executable, "-c", code], env=preload.environment, capture_output=True, text=True, check=True
    )
    assert ("True\n", "") == (done.stdout, done.stderr)


@LINUX_CPU
def test_an_openblas_of_the_users_own_is_kept(tmp_path: Path) -> None:
    """Who pre-loads an OpenBLAS already has chosen; other pre-loaded libraries stay as well."""
    mine = {"LD_PRELOAD": "/opt/libjemalloc.so /opt/libopenblas.so"}
    assert mine == find_preload(mine, tmp_path).environment


@LINUX_CPU
def test_a_library_that_cannot_be_loaded_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The daemon then starts with the slow BLAS, and the doctor says why."""
    broken = tmp_path / "libopenblas.so.0"
    broken.write_bytes(b"not a library")
    monkeypatch.setattr(blas, "_candidates", lambda: [broken])
    preload = find_preload({"HOME": "/"}, tmp_path / "links")
    assert (None, {"HOME": "/"}) == (preload.library, preload.environment)
    assert "libopenblas.so.0" in preload.problem
    finding = check_blas(Paths(tmp_path, tmp_path, tmp_path))[0]
    assert ("slow", True) == (finding.level, preload.problem.split(":")[0] in finding.fact)


@LINUX_CPU
@pytest.mark.parametrize(
    ("product", "problem"),
    [
        ("extern int raise(int); raise(4);", "made for another processor"),
        ("(void)a;", "it multiplies wrongly"),
    ],
)
def test_a_library_for_another_processor_is_left_out(
    product: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library that loads, but dies in its first product or gets it wrong, is found out before the daemon starts."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    library, source = tmp_path / "libopenblas.so.0", tmp_path / "blas.c"
    source.write_text(f"void cblas_sgemm(int a) {{ {product} }}")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    monkeypatch.setattr(blas, "_candidates", lambda: [library])
    preload = find_preload({"HOME": "/"}, tmp_path / "links")
    assert (None, problem) == (preload.library, preload.problem)


@LINUX_CPU
def test_links_that_cannot_be_made_are_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache folder that cannot be written leaves the slow BLAS, not a daemon that does not start."""
    (tmp_path / "links").write_text("")
    monkeypatch.setattr(blas, "_probe", lambda _environment: "needs libgfortran")
    preload = find_preload({}, tmp_path / "links")
    assert preload.library is None
    assert "needs libgfortran" in preload.problem


def test_stale_tuning_is_dropped(tmp_path: Path) -> None:
    """Variables that slow a current OpenBLAS down are not passed on."""
    assert "OPENBLAS_CORETYPE" not in find_preload({"OPENBLAS_CORETYPE": "HASWELL"}, tmp_path).environment


def test_without_the_reference_blas_nothing_is_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On macOS and with CUDA there is nothing to pre-load and nothing to report."""
    monkeypatch.setattr(blas, "_files_of", lambda _distribution: [])
    preload = find_preload({"A": "b"}, tmp_path)
    assert (False, None, {"A": "b"}) == (preload.needed, preload.library, preload.environment)
    assert () == check_blas(Paths(tmp_path, tmp_path, tmp_path))


def test_a_sound_installation_has_nothing_missing(paths: Paths) -> None:
    """Where the tests run plgd is installed."""
    assert [] == [finding for finding in check_installation(paths) if finding.level == "missing"]


def test_float32_is_whole_unless_the_user_says_otherwise(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """The daemon asks mlx for float32 products of all bits; what the user set for mlx stays."""
    monkeypatch.delenv("MLX_ENABLE_TF32", raising=False)
    assert "0" == daemon_environment(paths)["MLX_ENABLE_TF32"]
    monkeypatch.setenv("MLX_ENABLE_TF32", "1")
    assert "1" == daemon_environment(paths)["MLX_ENABLE_TF32"]


def test_what_is_missing_comes_with_advice(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """Absent packages and a socket path that is too long are found without a daemon."""
    monkeypatch.setattr("plgd.doctor._version", lambda _name: "")
    deep = Paths(paths.config_dir, paths.cache_dir, paths.runtime_dir / ("x" * 200))
    missing = {finding.subject: finding for finding in check_installation(deep) if finding.level == "missing"}
    assert {"packages", "mlx build", "socket"} == missing.keys()
    assert all(finding.advice for finding in missing.values())


def test_two_builds_of_mlx_are_reported(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two builds in one environment overwrite each other's files."""
    monkeypatch.setattr("plgd.doctor._version", lambda _name: "1.0")
    found = {finding.subject: finding for finding in check_installation(paths)}
    assert found["mlx build"].level == "missing"
    assert "fresh environment" in found["mlx build"].advice
