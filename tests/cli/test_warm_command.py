"""`plgd warm`: files are read before they are edited."""

from __future__ import annotations

from pathlib import Path

import msgspec

from cli.command import plgd
from cli.fake_daemon import FakeDaemon
from plgd.errors import TextTooLong
from plgd.protocol.documents import WarmParams, WarmResult
from plgd.protocol.methods import DOCUMENT_WARM


def warm_result(**changes: object) -> WarmResult:
    """What the daemon says of a file, with some fields changed."""
    result = WarmResult(
        path="/sum.py",
        model="builtin",
        head_tokens=1201,
        cached_tokens=0,
        warm_tokens=1200,
        kv_bytes=40_000_000,
        total_ms=850.5,
    )
    return msgspec.structs.replace(result, **changes)


def test_each_file_is_read_in_turn(daemon: FakeDaemon, sum_py: Path) -> None:
    """`plgd warm A B` asks for one file after the other, and says what is warm now."""
    other = sum_py.with_name("other.py")
    other.write_text("x = 1\n")
    daemon.answers(DOCUMENT_WARM, warm_result(cached_tokens=200))
    done = plgd("warm", str(sum_py), str(other), "--model", "qwen")
    for path in (sum_py, other):
        assert WarmParams(path=str(path), model="qwen") == daemon.next_params(DOCUMENT_WARM)
    words = "is warm: 1,200 tokens, 200 of them before, 40 MB.\n"
    assert f"{sum_py} {words}{other} {words}" == done.stdout.decode()
    assert (0, b"") == (done.returncode, done.stderr)


def test_no_room_is_said(daemon: FakeDaemon, sum_py: Path) -> None:
    """A file that memory is too small for is not called warm."""
    daemon.answers(DOCUMENT_WARM, warm_result(warm_tokens=0, kv_bytes=0))
    done = plgd("warm", str(sum_py))
    assert f"{sum_py} is not warm: the memory for kept KV" in done.stdout.decode()


def test_json_is_a_line_each(daemon: FakeDaemon, sum_py: Path) -> None:
    """`plgd warm --json` prints what the daemon said, a line for each file."""
    daemon.answers(DOCUMENT_WARM, warm_result())
    lines = plgd("warm", str(sum_py), str(sum_py), "--json").stdout.splitlines()
    assert [warm_result()] * 2 == [msgspec.json.decode(line, type=WarmResult) for line in lines]


def test_one_bad_file_keeps_no_other_from_it(daemon: FakeDaemon, sum_py: Path) -> None:
    """A file that is missing is an error, and those behind it become warm all the same."""
    daemon.answers(DOCUMENT_WARM, warm_result())
    done = plgd("warm", str(sum_py.with_name("missing.py")), str(sum_py))
    assert WarmParams(path=str(sum_py)) == daemon.next_params(DOCUMENT_WARM)
    assert 1 == done.returncode
    assert b"missing.py: no such file" in done.stderr
    assert b"is warm" in done.stdout


def test_a_file_that_is_too_long_is_refused(daemon: FakeDaemon, sum_py: Path) -> None:
    """What the daemon refuses is said, and is a failure."""
    daemon.answers(DOCUMENT_WARM, TextTooLong.of("sum.py", 100_000, 8192))
    done = plgd("warm", str(sum_py))
    assert 1 == done.returncode
    assert b"the model's limit is 8,192" in done.stderr
