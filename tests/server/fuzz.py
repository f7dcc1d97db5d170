"""Throws hostile messages at a daemon: `PYTHONPATH=tests python -m server.fuzz --cases 100000`.

A case passes when the daemon answers with an error or a result, or closes the connection, and serves the next client.
It fails when a request stays without an answer, when a handler fails with an exception that is not plgd's own, when
anything is logged as an error, or when a file outside the folder changes.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Final

import anyio
import msgspec

from plgd.config import Config, DaemonConfig
from plgd.paths import Paths
from plgd.stream import Stream
from scripted_model import ScriptedModel
from server.conversation import serving
from server.hostile import Hostile
from server.machine import PATIENCE_S, Machine, Shelf
from server.typed_values import SESSION

__all__ = ("Report", "fuzz", "main")

# Small, so that messages past the limit are cheap.
_FRAME_LIMIT: Final = 256 * 1024
_CASES_PER_CONNECTION: Final = 25
_FAULT_LIMIT: Final = 20
_LAST_ID: Final = "the last one"


class Report(logging.Handler):
    """What came of the cases.

    Attributes:
        outcomes: how often each error code, `result`, or `closed` was the end of a case; edits by their status.
        session: an edit's id.
        faults: what should not have happened, a sentence each.
    """

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.outcomes: Counter[str] = Counter()
        self.faults: list[str] = []
        self.session = "none yet"

    def emit(self, record: logging.LogRecord) -> None:
        """Take an error of the daemon's log for a fault."""
        self.faults.append(f"logged: {self.format(record)}")


async def fuzz(paths: Paths, folder: Path, *, n_cases: int, seed: int) -> Report:
    """Send cases to a daemon of this process.

    Args:
        paths: the daemon's places.
        folder: the only place where files may change; filled here.
        n_cases: how many.
        seed: the same seed, the same cases.
    """
    _fill(folder)
    report, hostile = Report(), Hostile(seed, folder)
    logging.getLogger("plgd").addHandler(report)
    config = Config(daemon=DaemonConfig(frame_limit=_FRAME_LIMIT, queue_limit=_CASES_PER_CONNECTION))
    machine = Machine(m=ScriptedModel("total = 2\n```\n"))
    try:
        async with serving(paths, machine, Shelf("m"), config):
            left = n_cases
            while left > 0 and len(report.faults) < _FAULT_LIMIT:
                n_now = min(left, _CASES_PER_CONNECTION)
                cases = [hostile.case() for _ in range(n_now)]
                await _converse(paths, hostile, cases, report)
                left -= n_now
    finally:
        logging.getLogger("plgd").removeHandler(report)
    return report


async def _converse(paths: Paths, hostile: Hostile, cases: list[bytes], report: Report) -> None:
    """Send cases on one connection, introduced or not, and read until the last answer or the end."""
    with closing(Stream.connect(paths.socket)) as stream:
        greeted = hostile.chance(0.95)
        pieces = [hostile.hello()] if greeted else []
        for case in cases:
            pieces += hostile.cut(case.replace(SESSION.encode(), report.session.encode()))
        # An edit is answered when those before it are; after a ping, they are cancelled.
        last = _last("edit", {"instruction": "x", "text": "x"}) if hostile.chance(0.8) else _last("ping", {})
        leaves_early = hostile.chance(0.1)
        async with anyio.create_task_group() as group:
            group.start_soon(_send, stream, pieces if leaves_early else [*pieces, last])
            if not leaves_early:
                with anyio.move_on_after(PATIENCE_S) as waiting:
                    await _read(stream, report)
                if waiting.cancelled_caught:
                    report.faults.append(f"no answer to the last of {cases!r}"[:4000])
                group.cancel_scope.cancel()


def _last(method: str, params: dict[str, str]) -> bytes:
    message = {"jsonrpc": "2.0", "id": _LAST_ID, "method": method, "params": params}
    return b"\n" + msgspec.json.encode(message) + b"\n"


async def _send(stream: Stream, pieces: list[bytes]) -> None:
    try:
        for piece in pieces:
            await stream.send(piece)
    except anyio.BrokenResourceError:
        return  # closed by the daemon, as after a message that is too long


async def _read(stream: Stream, report: Report) -> None:
    buffer = b""
    while True:
        try:
            buffer += await stream.receive(1 << 20)
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            report.outcomes["closed"] += 1
            return
        *lines, buffer = buffer.split(b"\n")
        for line in lines:
            if _is_last(msgspec.json.decode(line), report):
                return


def _is_last(message: dict[str, object], report: Report) -> bool:
    if "method" in message:
        return False
    match message.get("error"):
        case {"code": int() as code, "message": str() as words}:
            report.outcomes[str(code)] += 1
            if words.startswith("The daemon failed"):
                report.faults.append(words)
        case None:
            _note_result(message.get("result"), report)
        case other:
            report.faults.append(f"an error that is none: {other!r}")
    return message.get("id") == _LAST_ID


def _note_result(result: object, report: Report) -> None:
    match result:
        case {"session": str() as session, "status": str() as status}:
            report.session = session
            report.outcomes[status] += 1
        case _:
            report.outcomes["result"] += 1


def _fill(folder: Path) -> None:
    (folder / "a.py").write_text("total = 1\n")
    (folder / "b.txt").write_text("x\r\n" * 40)
    (folder / "empty").touch()
    (folder / "binary").write_bytes(b"\0\1\2")
    (folder / "link.py").symlink_to("a.py")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")


def main() -> int:
    """Run the fuzzer by itself."""
    parser = argparse.ArgumentParser(description="Throw hostile messages at a daemon of this process.")
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="plgd-") as root:
        places = Paths(Path(root) / "config", Path(root) / "cache", Path(root) / "run")
        folder = Path(root) / "work"
        folder.mkdir()

        async def run() -> Report:
            return await fuzz(places, folder, n_cases=arguments.cases, seed=arguments.seed)

        report = anyio.run(run)
    sys.stdout.write(f"{arguments.cases:,} cases in {time.monotonic() - started:.0f} s: {dict(report.outcomes)}\n")
    for fault in report.faults:
        sys.stdout.write(f"FAULT {fault}\n")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
