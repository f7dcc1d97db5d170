"""Paths that the user types, as the daemon hears of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cli.command import plgd
from cli.fake_daemon import FakeDaemon
from cli.results import edit_result
from plgd.errors import FileMissing, FileUnreadable, UnknownModel
from plgd.protocol.methods import EDIT
from plgd_cli.places import absolute_file, absolute_model


def test_a_folder_that_is_not_utf8_is_refused(daemon: FakeDaemon, tmp_path: Path) -> None:
    """Inside such a folder a relative path is refused; the daemon would edit the file of another name."""
    folder, escaped = tmp_path / os.fsdecode(b"caf\xe9"), tmp_path / "caf\\udce9"
    for place in (folder, escaped):
        place.mkdir()
        (place / "a.py").write_text("a", encoding="utf-8")
    done = plgd("edit", "a.py", "-i", "x", "--write", cwd=folder)
    expected = f"plgd: {tmp_path}/caf\\xe9/a.py cannot be read: a folder in its path has a name that is not UTF-8.\n"
    assert (1, expected) == (done.returncode, done.stderr.decode())
    assert daemon.asked.empty()


def test_the_locale_does_not_change_the_file(daemon: FakeDaemon, tmp_path: Path) -> None:
    """Under a locale of another encoding, the daemon hears the path whose bytes were typed."""
    (tmp_path / "é.py").write_text("a", encoding="utf-8")
    daemon.answers(EDIT, edit_result())
    latin = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    assert 0 == plgd("edit", "é.py".encode(), "-i", "x", cwd=tmp_path, env=latin).returncode
    assert str(tmp_path / "é.py") == daemon.next_params(EDIT).path


@pytest.mark.parametrize("path", ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/proc/self/cwd/a.py", "links/in"])
def test_what_only_this_process_sees_is_refused(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that means another file in each process is refused and points to `-`, also behind symbolic links."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("a", encoding="utf-8")
    (tmp_path / "dev").symlink_to("/dev")
    (tmp_path / "links").mkdir()
    (tmp_path / "links/in").symlink_to("../dev/stdin")
    reader, writer = os.pipe()
    stdin = os.dup(0)
    os.dup2(reader, 0)
    try:
        with pytest.raises(FileUnreadable, match="Give - for standard input"):
            absolute_file(path)
    finally:
        os.dup2(stdin, 0)
        for number in (reader, writer, stdin):
            os.close(number)


def test_links_are_no_obstacle(tmp_path: Path) -> None:
    """A file behind ordinary links keeps the path that was typed."""
    (tmp_path / "a.py").write_text("a", encoding="utf-8")
    (tmp_path / "relative").symlink_to("a.py")
    (tmp_path / "absolute").symlink_to(tmp_path / "relative")
    assert f"{tmp_path}/absolute" == absolute_file(str(tmp_path / "absolute"))


def test_links_to_nowhere_are_said(tmp_path: Path) -> None:
    """A dangling link names its target; links in a circle are called that."""
    (tmp_path / "dangling").symlink_to("gone.py")
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(FileMissing, match=r"dangling is a symbolic link to gone\.py, which does not exist"):
        absolute_file(str(tmp_path / "dangling"))
    with pytest.raises(FileUnreadable, match="circle cannot be read: its symbolic links go round in a circle"):
        absolute_file(str(tmp_path / "circle"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("builtin", "builtin"),
        ("owner/name@v1", "owner/name@v1"),
        ("./m", "{here}/m"),
        ("../m", "{here}/../m"),
        (".", "{here}"),
        ("~/m", "{home}/m"),
        ("carried.whl", "{here}/carried.whl"),
        ("/m", "/m"),
    ],
)
def test_paths_of_models_are_made_absolute(
    name: str, expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is written as a path is one from where the user is; every other name is kept."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/somebody")
    assert expected.format(here=tmp_path, home="/home/somebody") == absolute_model(name)


def test_model_in_the_home_of_nobody() -> None:
    """A home of a user that there is none of is no folder."""
    with pytest.raises(UnknownModel, match="~nobody-of-this-name/m: no such folder"):
        absolute_model("~nobody-of-this-name/m")
