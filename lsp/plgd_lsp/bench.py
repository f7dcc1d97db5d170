"""What the way over the language server costs, measured on a real server's process as an editor sees it."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import anyio
import msgspec
from anyio.abc import ByteReceiveStream, ByteSendStream
from anyio.streams.buffered import BufferedByteReceiveStream

from plgd.client import Client, connect
from plgd.errors import BenchError
from plgd.paths import Paths
from plgd.protocol.base import NoParams
from plgd.protocol.edits import EditParams
from plgd.protocol.methods import EDIT, STATUS

__all__ = ("LspTimes", "measure", "say")

_URI: Final = "untitled:plgd-bench.py"
_LONG_URI: Final = "untitled:plgd-bench-long.py"
_LONG_LINES: Final = 20_000
_N_EDITS: Final = 9
_TEXT: Final = "def area(width, height):\n    return width * height\n"
# Long enough that the model is at work while the code actions are asked for.
_BUSY_TEXT: Final = _TEXT * 40


class LspTimes(msgspec.Struct, frozen=True, kw_only=True):
    """Times in milliseconds, each the median of `n_requests` but where it says otherwise.

    Attributes:
        raw_ms: `status` over the daemon's socket.
        lsp_ms: the same, as the command `plgd.status` of the language server.
        raw_edit_overhead_ms: an edit over the daemon's socket, less what the daemon says that it took; of 9 edits.
        edit_overhead_ms: the same from the command `plgd.edit` to the proposal.
        action_ms: a code-action request for ten lines of a document of 20,000 while the model works.
        action_p99_ms: the slowest hundredth of these.
        change_ms: one `didChange` in a document of 20,000 lines, its way over the pipe included.
        was_busy: the model was at work while the code actions were asked for.
    """

    n_requests: int
    raw_ms: float
    lsp_ms: float
    raw_edit_overhead_ms: float
    edit_overhead_ms: float
    action_ms: float
    action_p99_ms: float
    change_ms: float
    was_busy: bool


async def measure(n_requests: int) -> LspTimes:
    """Start a language server and time it.

    Raises:
        PlgdError: the daemon cannot be reached, or no model is on this machine.
    """
    paths = Paths.from_environment()
    async with connect(paths, client="plgd-bench") as daemon:

        async def ask_status() -> None:
            await daemon.call(STATUS, NoParams())

        # Loads the model, and says so if there is none.
        await daemon.call(EDIT, EditParams(instruction="Rename area to surface.", text=_TEXT))
        raw_edits_ms = [await _raw_overhead_ms(daemon, number) for number in range(_N_EDITS)]
        raw_ms = await _timed(ask_status, n_requests)
    command = [sys.executable, "-P", "-m", "plgd_cli", "lsp"]
    async with (
        await anyio.open_process(command, stderr=subprocess.DEVNULL, env=os.environ) as process,
        anyio.create_task_group() as group,
    ):
        if process.stdin is None or process.stdout is None:
            raise BenchError("The language server's process has no pipes.")
        editor = _Editor(process.stdin, process.stdout)
        group.start_soon(editor.listen)
        raw = _Raw(statistics.median(raw_ms), statistics.median(raw_edits_ms))
        times = await _measure_server(editor, n_requests, raw)
        await editor.request("shutdown", None)
        await editor.notify("exit", None)
        await process.wait()
        group.cancel_scope.cancel()
    return times


def say(times: LspTimes) -> str:
    """Put the times into lines for a person."""
    busy = "while the model works" if times.was_busy else "with the model idle: it was done too soon"
    return (
        f"status                {times.lsp_ms:8.3f} ms, over the raw socket {times.raw_ms:.3f} ms\n"
        f"edit, overhead        {times.edit_overhead_ms:8.3f} ms, "
        f"over the raw socket {times.raw_edit_overhead_ms:.3f} ms\n"
        f"code actions          {times.action_ms:8.3f} ms, 1 % above {times.action_p99_ms:.3f} ms ({busy})\n"
        f"a change, 20,000 lines{times.change_ms:8.3f} ms\n"
    )


class _Editor:
    """The least of an editor."""

    def __init__(self, stdin: ByteSendStream, stdout: ByteReceiveStream) -> None:
        self._stdin = stdin
        self._stdout = BufferedByteReceiveStream(stdout)
        self._n_requests = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._notes: list[dict[str, Any]] = []
        self._news = anyio.Event()

    async def request(self, method: str, params: object) -> dict[str, Any]:
        self._n_requests += 1
        request_id = self._n_requests
        await self._send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        while request_id not in self._answers:
            await self._news.wait()
        return self._answers.pop(request_id)

    async def notify(self, method: str, params: object) -> None:
        await self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def command(self, name: str, argument: object) -> dict[str, Any]:
        answer = await self.request("workspace/executeCommand", {"command": name, "arguments": [argument]})
        result: dict[str, Any] = answer["result"]
        return result

    async def wait(self, method: str, session: str) -> dict[str, Any]:
        while True:
            news = self._news
            for note in self._notes:
                params: dict[str, Any] = note.get("params") or {}
                if note["method"] == method and params.get("session") == session:
                    return params
            await news.wait()

    def has_finished(self, session: str) -> bool:
        notes = [note["params"] for note in self._notes if note["method"] == "plgd/finished"]
        return any(params["session"] == session for params in notes)

    async def listen(self) -> None:
        while True:
            try:
                header = await self._stdout.receive_until(b"\r\n\r\n", 1 << 16)
            except (anyio.EndOfStream, anyio.IncompleteRead):
                return
            length = next(line for line in header.split(b"\r\n") if line.startswith(b"Content-Length"))
            message = json.loads(await self._stdout.receive_exactly(int(length.partition(b":")[2])))
            if "method" in message:
                self._notes.append(message)
            else:
                self._answers[message["id"]] = message
            self._news.set()
            self._news = anyio.Event()

    async def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        await self._stdin.send(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))


@dataclass(frozen=True, slots=True)
class _Raw:
    """What the same takes over the daemon's socket."""

    status_ms: float
    edit_overhead_ms: float


async def _measure_server(editor: _Editor, n_requests: int, raw: _Raw) -> LspTimes:
    capabilities = {
        "experimental": {"plgd": {"proposals": True}},
        "textDocument": {"codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}}},
    }
    options = {"review": "preview"}
    await editor.request(
        "initialize",
        {"processId": os.getpid(), "rootUri": None, "capabilities": capabilities, "initializationOptions": options},
    )
    await editor.notify("initialized", {})
    await _open(editor, _URI, _TEXT)
    overheads_ms = [await _edit_overhead_ms(editor, number) for number in range(_N_EDITS)]
    lsp_ms = await _timed(lambda: editor.command("plgd.status", None), n_requests)
    await _open(editor, _LONG_URI, "value = compute(left, right)  # a line\n" * _LONG_LINES)
    await _open(editor, f"{_URI}.busy", _BUSY_TEXT)
    asked = {"uri": f"{_URI}.busy", "instruction": "Rename area to surface."}
    session = (await editor.command("plgd.edit", asked))["session"]
    params = {
        "textDocument": {"uri": _LONG_URI},
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}},
        "context": {"diagnostics": [], "triggerKind": 1},
    }
    actions_ms = await _timed(lambda: editor.request("textDocument/codeAction", params), n_requests)
    was_busy = not editor.has_finished(session)
    await editor.command("plgd.cancel", {})
    await editor.wait("plgd/finished", session)
    return LspTimes(
        n_requests=n_requests,
        raw_ms=raw.status_ms,
        raw_edit_overhead_ms=raw.edit_overhead_ms,
        lsp_ms=statistics.median(lsp_ms),
        edit_overhead_ms=statistics.median(overheads_ms),
        action_ms=statistics.median(actions_ms),
        action_p99_ms=sorted(actions_ms)[-max(1, n_requests // 100)],
        change_ms=await _change_ms(editor, n_requests),
        was_busy=was_busy,
    )


async def _raw_overhead_ms(daemon: Client, number: int) -> float:
    start = time.perf_counter()
    result = await daemon.call(EDIT, EditParams(instruction=f"Rename area to surface{number}.", text=_TEXT))
    return (time.perf_counter() - start) * 1000 - result.stats.total_ms


async def _edit_overhead_ms(editor: _Editor, number: int) -> float:
    start = time.perf_counter()
    asked = {"uri": _URI, "instruction": f"Rename area to surface{number}."}
    session = (await editor.command("plgd.edit", asked))["session"]
    finished = await editor.wait("plgd/finished", session)
    elapsed_ms = (time.perf_counter() - start) * 1000
    return elapsed_ms - float(finished["daemonMs"])


async def _change_ms(editor: _Editor, n_requests: int) -> float:
    await editor.command("plgd.cancel", {})
    start = time.perf_counter()
    for number in range(n_requests):
        place = {"line": number * (_LONG_LINES // n_requests), "character": 3}
        change = {"range": {"start": place, "end": place}, "text": "x"}
        identifier = {"uri": _LONG_URI, "version": 2 + number}
        await editor.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": [change]})
    await editor.command("plgd.cancel", {})
    return (time.perf_counter() - start) * 1000 / n_requests


async def _open(editor: _Editor, uri: str, text: str) -> None:
    document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
    await editor.notify("textDocument/didOpen", {"textDocument": document})


async def _timed(call: Callable[[], Any], n: int) -> Sequence[float]:
    await call()  # the first answer also pays for what both sides set up lazily
    times_ms = []
    for _ in range(n):
        start = time.perf_counter()
        await call()
        times_ms.append((time.perf_counter() - start) * 1000)
    return times_ms
