"""Messages that nobody should send, made from a seed: the ammunition of the fuzzer.

A case is what is put on the wire at once. `stop`, and a `hello` that makes a daemon make room, are left out where they
would be obeyed: they end a daemon rightly.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from plgd.protocol.daemon import PROTOCOL_VERSION
from plgd.protocol.methods import CANCEL, EDIT, HELLO, METHODS, STOP
from plgd.version import __version__
from server.typed_values import TypedValues

__all__ = ("Hostile",)

_SCALARS: Final[tuple[object, ...]] = (
    None, True, False, 0, -1, 1, 2**31, 2**53, 2**53 + 1, -(2**63), 2**64, 10**40, 0.5, -0.0, 1e308,
    "", " ", "x", "\0", "\n", "\r\n", "\u2028", "\x1b[2J", "é", "🙂", "\ud800", "../..", "/", "null", "a" * 300,
    [], {}, [[]], {"": {}}, [None] * 40, {"jsonrpc": "2.0"},
)  # fmt: skip
_FRAGMENTS: Final = (
    b"", b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"\\u", b"\\ud83d", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf",
    b"\0", b"\r", b" ", b"\t", b"NaN", b"Infinity", b"-", b"1e999", b"0x1", b"01", b"nul", b"true", b"{}", b"[]",
    b'{"jsonrpc":"2.0"}', b'{"jsonrpc":"2.0","id":1}', b'{"jsonrpc":"2.0","method":"ping"}', b"//", b"GET / HTTP/1.1",
    b"Content-Length: 5\r\n\r\n", b'{"id":1,"id":2}',
)  # fmt: skip
# Bytes of a line's end are worth more than others to whoever cuts lines.
_BYTES: Final = b'\n\r\0"\\{}[]:,0' + bytes(range(256))
_WORDS: Final = ("instruction", "path", "text", "uri", "range", "hunks", "session", "id", "method", "__class__")


class Hostile:
    """Makes cases.

    Args:
        seed: the same seed, the same cases.
        folder: where files may be read and written; paths lead to it, or to nothing that can be written.
    """

    def __init__(self, seed: int, folder: Path) -> None:
        self._random = random.Random(seed)
        self._ids = 0
        self._paths = [
            *(f"{folder}/{name}" for name in ("a.py", "b.txt", "empty", "binary", "link.py", "folder", "gone", "pipe")),
            f"{folder}/../{folder.name}/a.py", f"{folder}/a.py/", f"{folder}/a.py\0", f"{folder}/{'x' * 300}",
            "", ".", "a.py", "/nowhere/a.py", "/dev/null", "/dev/zero", "~/a.py", "file:///nowhere", "/" * 5000,
        ]  # fmt: skip
        self._values = TypedValues(self._random, self._paths)
        self._kinds: Sequence[tuple[int, Callable[[], bytes]]] = (
            (8, self._noise),
            (14, self._broken_line),
            (14, self._envelope),
            (30, self._wrong_params),
            (20, self._plausible),
            (6, self._cancel),
            (4, self._many),
            (3, self._deep),
            (1, self._oversized),
        )

    def case(self) -> bytes:
        """Make the bytes of one case."""
        weights = [weight for weight, _ in self._kinds]
        [(_, make)] = self._random.choices(self._kinds, weights)
        return make()

    @staticmethod
    def hello() -> bytes:
        """Make the line that introduces a client as it should."""
        params = {"protocol": PROTOCOL_VERSION, "version": __version__}
        return _line({"jsonrpc": "2.0", "id": "hello", "method": HELLO.name, "params": params})

    def chance(self, probability: float) -> bool:
        """Draw."""
        return self._random.random() < probability

    def cut(self, data: bytes) -> list[bytes]:
        """Cut bytes into the pieces that are sent one by one."""
        places = sorted(self._random.randrange(len(data) + 1) for _ in range(self._random.randrange(4)))
        return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]

    # The kinds -----------------------------------------------------------------------------------------

    def _noise(self) -> bytes:
        parts = [self._random.choice(_FRAGMENTS) for _ in range(self._random.randrange(1, 9))]
        if self.chance(0.3):
            parts.append(self._random.randbytes(self._random.randrange(200)))
        return b"".join(parts) + (b"\n" if self.chance(0.9) else b"")

    def _broken_line(self) -> bytes:
        """Take a good line and change bytes of it."""
        line = bytearray(self._plausible())
        for _ in range(self._random.randrange(1, 4)):
            at = self._random.randrange(len(line))
            match self._random.randrange(4):
                case 0:
                    line[at] = self._random.choice(_BYTES)
                case 1:
                    del line[at : at + self._random.randrange(1, 20)]
                case 2:
                    line[at:at] = self._random.choice(_FRAGMENTS)
                case _:
                    line[at:at] = line[: self._random.randrange(60)]
            if not line:
                break
        return _defused(bytes(line).rstrip(b"\n") + b"\n")

    def _envelope(self) -> bytes:
        """Make an object whose members are right by chance only."""
        message: dict[str, object] = {}
        for member in ("jsonrpc", "id", "method", "params", "result", "error"):
            if self.chance(0.6):
                message[member] = self._value()
        if self.chance(0.7):
            message["jsonrpc"] = "2.0"
        if self.chance(0.5):
            message["method"] = self._method()
        if self.chance(0.3):
            message[self._random.choice(_WORDS)] = self._value()
        return _defused(_line(message if self.chance(0.9) else [message] * self._random.randrange(3)))

    def _wrong_params(self) -> bytes:
        """Take parameters of a method and make some of them wrong."""
        name = self._method()
        params = self._params(name) if isinstance(name, str) and name in METHODS else {}
        for _ in range(self._random.randrange(1, 3)):
            if params and self.chance(0.7):
                params[self._random.choice(list(params))] = self._value()
            elif params and self.chance(0.5):
                del params[self._random.choice(list(params))]
            else:
                params[self._random.choice(_WORDS)] = self._value()
        return _defused(self._request(name, params))

    def _plausible(self) -> bytes:
        """Make a request that may well be carried out."""
        often = [name for name in METHODS if name.startswith(("edit", "document"))]
        others = [name for name in METHODS if name not in {STOP.name, "model/pull"}]
        name = self._random.choice(often if self.chance(0.7) else others)
        return _defused(self._request(name, self._params(name)))

    def _cancel(self) -> bytes:
        targets: list[object] = [self._ids, self._ids - 1, "x", None, [], -1]
        return _line({"jsonrpc": "2.0", "method": CANCEL.name, "params": {"id": self._random.choice(targets)}})

    def _many(self) -> bytes:
        """Many requests at once, some under one id."""
        same = self.chance(0.3)
        first = self._random.randrange(1000)
        return b"".join(
            _line({"jsonrpc": "2.0", "id": first if same else first + number, "method": "ping"})
            for number in range(self._random.randrange(2, 300))
        )

    def _deep(self) -> bytes:
        depth = self._random.choice([50, 500, 1024, 5000, 50_000])
        opening, closing = self._random.choice([(b"[", b"]"), (b'{"a":', b"}")])
        nested = opening * depth + b"1" + closing * (depth if self.chance(0.5) else 0)
        if self.chance(0.5):
            return b'{"jsonrpc":"2.0","id":1,"method":"edit","params":' + nested + b"}\n"
        return nested + b"\n"

    def _oversized(self) -> bytes:
        line = b'{"jsonrpc":"2.0","id":1,"method":"edit","params":{"instruction":"' + b"x" * 300_000
        return line + (b'"}}\n' if self.chance(0.5) else b"")

    # Their parts ---------------------------------------------------------------------------------------

    def _request(self, name: object, params: object) -> bytes:
        self._ids += 1
        return _line({"jsonrpc": "2.0", "id": self._ids, "method": name, "params": params})

    def _method(self) -> object:
        if self.chance(0.9):
            return self._random.choice([name for name in METHODS if name != "model/pull"])
        return self._random.choice(["edti", "Edit", "edit/", "rpc.", "$/cancelRequest", "edit/progress", *_SCALARS])

    def _value(self) -> object:
        if self.chance(0.2):
            return self._random.choice(self._paths)
        if self.chance(0.1):
            return [self._random.choice(_SCALARS) for _ in range(3)]
        return self._random.choice(_SCALARS)

    def _params(self, name: str) -> dict[str, Any]:
        made = self._values.params(METHODS[name].params)
        if name == EDIT.name and self.chance(0.8):
            # Few edits would get as far as the model otherwise.
            place = self._random.choice(["path", "path", "text", "uri"])
            value = self._values.text(place)
            for other in ("path", "text", "uri", "edits"):
                made.pop(other, None)
            made |= {"instruction": "x", place: value}
        return made


def _line(message: object) -> bytes:
    # Half a surrogate pair goes as an escape, as JSON allows.
    return json.dumps(message).encode() + b"\n"


def _defused(lines: bytes) -> bytes:
    """Take out what rightly ends a daemon: `stop`, and a `hello` that makes it make room for its client."""
    kept = []
    for line in lines.split(b"\n"):
        try:
            message = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            message = None
        kept.append(b"{}" if _ends_daemon(message) else line)
    return b"\n".join(kept)


def _ends_daemon(message: object) -> bool:
    match message:
        case {"method": STOP.name}:
            return True
        case {"method": HELLO.name, "params": {"version": str() as version}}:
            return version[:1].isdecimal()
        case _:
            return False
