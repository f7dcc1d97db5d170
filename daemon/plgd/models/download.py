"""Downloads one file of known size and hash, going on where an earlier try stopped."""

from __future__ import annotations

import errno
import hashlib
import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import httpx2

from plgd.errors import HashMismatch, NoSpace, PullFailed
from plgd.models.index import Location
from plgd.models.steps import Pulling

__all__ = ("KnownFile", "download", "read_chunks", "verify")

CHUNK_BYTES: Final = 256 * 1024
TIMEOUT: Final = httpx2.Timeout(30.0)


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file that was published once and for all."""

    name: str
    sha256: str
    n_bytes: int


class _EndedEarly(Exception):
    """A source came to its end, in order, before the file's."""


def download(location: Location, file: KnownFile, target: Path, pulling: Pulling) -> None:
    """Fetch a file, check it, and put it at `target`; until then it is `target` with `.part` added.

    A broken connection is taken up again at once as long as each try brings new bytes; after that the part stays for
    the next call.

    Args:
        location: where it is to be had.
        file: what it must be.
        target: its place; the folder exists.
        pulling: progress as `download` and `verify`.

    Raises:
        PullFailed: no network, the server refuses, or the connection breaks without bringing anything.
        HashMismatch: another file came; it was deleted.
        NoSpace: the disk is full.
        Cancelled: by the caller.
    """
    part = target.with_name(target.name + ".part")
    while True:
        before = part.stat().st_size if part.exists() else 0
        if before > file.n_bytes:
            part.unlink()
            continue
        if before == file.n_bytes:
            break
        try:
            _append(location, file, part, before, pulling)
        except _EndedEarly as error:
            if part.stat().st_size <= before:
                raise PullFailed.of(pulling.name, f"{_host(location.url)} has {error}") from error
        except (httpx2.TransportError, httpx2.InvalidURL, httpx2.TooManyRedirects) as error:
            if not part.exists() or part.stat().st_size <= before:
                raise PullFailed.of(pulling.name, f"{_host(location.url)} cannot be reached ({error})") from error
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise NoSpace.at(str(part.parent), file.n_bytes - before, 0) from error
            raise PullFailed.of(pulling.name, str(error)) from error
    verify(part, file, pulling)
    part.replace(target)


def verify(path: Path, file: KnownFile, pulling: Pulling) -> None:
    """Compare the SHA-256 of the whole file with the published one.

    Raises:
        HashMismatch: it differs; the file was deleted.
        Cancelled: by the caller.
    """
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        for chunk in read_chunks(stream.fileno()):
            digest.update(chunk)
            pulling.report("verify", os.lseek(stream.fileno(), 0, os.SEEK_CUR), file.n_bytes)
    if digest.hexdigest() != file.sha256:
        path.unlink()
        raise HashMismatch.of(file.name, file.sha256, digest.hexdigest())


def read_chunks(descriptor: int) -> Iterator[bytes]:
    """Read an open file to its end."""
    while chunk := os.read(descriptor, CHUNK_BYTES):
        yield chunk


def _append(location: Location, file: KnownFile, part: Path, start: int, pulling: Pulling) -> None:
    with _open(location, start, pulling) as (real_start, chunks), part.open("ab") as stream:
        stream.truncate(real_start)
        done = real_start
        pulling.report("download", done, file.n_bytes)
        for chunk in chunks:
            # A server that sends more than the published file sends another file; its hash will say so.
            stream.write(chunk[: file.n_bytes - done])
            done = min(done + len(chunk), file.n_bytes)
            pulling.report("download", done, file.n_bytes)
        stream.flush()
        os.fsync(stream.fileno())
    if done < file.n_bytes:
        raise _EndedEarly(f"only {done:,} of the {file.n_bytes:,} bytes of {file.name}")


@contextmanager
def _open(location: Location, start: int, pulling: Pulling) -> Iterator[tuple[int, Iterator[bytes]]]:
    """Open the file at byte `start`, or at 0 when the server knows no ranges; yields where it begins, and the rest."""
    address = urlsplit(location.url)
    if address.scheme == "file":
        with Path(unquote(address.path)).open("rb") as stream:
            stream.seek(start)
            yield start, read_chunks(stream.fileno())
        return
    headers = {**location.headers, "Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    trust = ssl.create_default_context(cafile=location.cert) if location.cert else True
    with (
        httpx2.Client(verify=trust, proxy=location.proxy, timeout=TIMEOUT, follow_redirects=True) as client,
        client.stream("GET", location.url, headers=headers) as response,
    ):
        if response.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            yield 0, iter(())  # its file is shorter than our part: drop the part
            return
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            raise PullFailed.of(
                pulling.name, f"{_host(location.url)} answered {response.status_code} {response.reason_phrase}"
            )
        yield _first_byte(response, start), response.iter_raw()  # as it comes: a break loses nothing


def _first_byte(response: httpx2.Response, start: int) -> int:
    if response.status_code != HTTPStatus.PARTIAL_CONTENT:
        return 0
    sent = response.headers.get("Content-Range", "")
    if not sent.startswith(f"bytes {start}-"):
        raise httpx2.RemoteProtocolError(f"asked for the bytes from {start}, it sent {sent or 'no range'}")
    return start


def _host(url: str) -> str:
    address = urlsplit(url)
    return address.hostname or address.path
