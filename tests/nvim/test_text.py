"""A buffer's text as the server has it."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Final, get_args

import pytest

from nvim.editor import Editor
from plgd.text.positions import Encoding, Position, PositionCodec

# A language server inside Neovim that writes down what it is told.
RECORDING_SERVER: Final = """
    heard = {}
    local config = require("plgd.server").config()
    config.name = "plgd"
    config.cmd = function()
        return {
            request = function(method, _, answer)
                local change = vim.lsp.protocol.TextDocumentSyncKind.Incremental
                local capabilities = { textDocumentSync = { openClose = true, change = change } }
                answer(nil, method == "initialize" and { capabilities = capabilities } or vim.NIL)
                return true, 1
            end,
            notify = function(method, params)
                table.insert(heard, { method, params })
                return true
            end,
            is_closing = function() return false end,
            terminate = function() end,
        }
    end
    config.root_dir = nil
    vim.lsp.start(config)
"""


def is_utf8(data: bytes) -> bool:
    """Say what Python says."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_utf8_is_told_from_other_bytes(bare: Editor) -> None:
    """Bytes pass for UTF-8 just when Python decodes them: overlong forms, surrogates and cut characters do not."""
    borders = (0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF)
    cases = [
        b"a" + bytes((lead, second)) + rest
        for lead, second, rest in product(range(256), borders, (b"", b"\x80", b"\xbf\x80", b"\x80a", b"\x80\xbf\x80"))
    ] + [bytes((lead,)) for lead in range(256)]
    code = "return vim.tbl_map(require('plgd.text').is_utf8, ...)"
    assert [is_utf8(case) for case in cases] == bare.lua(code, cases)


def test_positions_beyond_the_text_are_its_end(bare: Editor) -> None:
    """A position past a line's end means the line's end, one past the last line the text's end, as for the server."""
    text = "a\U0001f600\r\nb\rc\n"
    bare.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'a\U0001f600\\r', 'b\\rc' })")
    assert text.encode() == bare.bytes()
    encodings: tuple[Encoding, ...] = get_args(Encoding)
    for encoding in encodings:
        codec = PositionCodec(text, encoding)
        inside = [codec.to_position(offset) for offset in range(len(text) + 1)]
        places = [(place.line, place.character) for place in inside] + [(line, 99) for line in range(6)]
        offsets = bare.lua(
            """
            local text = require("plgd.text").of_buffer(0, ...)
            return vim.tbl_map(function(place)
                return text:offset({ line = place[1], character = place[2] })
            end, select(2, ...))
            """,
            encoding,
            places,
        )
        assert [len(text[: codec.to_offset(Position(*place))].encode()) for place in places] == offsets


@pytest.mark.parametrize(
    ("old", "changes"),
    [
        (b"a\nb\nc\n", [(1, 3, [])]),
        (b"a\nb\nc", [(3, 3, ["d"]), (0, 1, [])]),
        (b"\n\naa\nx", [(2, 3, ["a", "ab"]), (3, 5, []), (1, 3, [""]), (1, 2, [])]),
        (b"\r\n\r\n", [(0, 0, [""]), (2, 2, ["ab"]), (0, 3, []), (1, 1, ["", ""])]),
        (b"a\nb\r\nc\r\n\n", [(2, 2, ["d"]), (1, 3, ["", "e\r"]), (3, 5, [])]),
        (b"a\rb\nc\n", [(1, 1, ["d\re"]), (0, 1, ["f"]), (1, 2, [])]),
    ],
    ids=["last lines", "no final newline", "empty rows", "dos", "mixed", "stray"],
)
def test_what_is_typed_reaches_the_server_to_the_byte(
    bare: Editor, tmp_path: Path, old: bytes, changes: list[tuple[int, int, list[str]]]
) -> None:
    """The server has the buffer's bytes when it is opened and after every change, whatever ends the lines."""
    bare.open(tmp_path / "file", old)
    bare.lua(RECORDING_SERVER)
    opened = bare.wait("heard[2] and heard[2][2].textDocument.text")
    assert old.decode() == opened
    for first, last, rows in changes:
        bare.lua("heard = {}")
        bare.request("nvim_buf_set_lines", 0, first, last, True, rows)
        (change,) = bare.wait("heard[1] and heard[1][2].contentChanges")
        assert {"text": bare.bytes().decode()} == change
