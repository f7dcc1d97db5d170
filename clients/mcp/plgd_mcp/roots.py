"""The folders that an agent may reach, and the files in them by their real paths."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mcp.server.mcpserver.exceptions import ToolError

__all__ = ("Roots",)


@dataclass(frozen=True, slots=True)
class Roots:
    """Folders by their real paths. Everything outside of them is refused."""

    folders: tuple[Path, ...]

    @classmethod
    def of(cls, folders: Iterable[str | os.PathLike[str]]) -> Roots:
        """Take folders, symbolic links followed; relative ones begin at the working directory."""
        return cls(tuple(Path(os.path.realpath(folder)) for folder in folders))

    @classmethod
    def of_uris(cls, uris: Iterable[str]) -> Roots:
        """Take folders by their `file:` URIs; those of other kinds or machines are none."""
        parts = [urlsplit(uri) for uri in uris]
        local = [part for part in parts if part.scheme == "file" and part.netloc in {"", "localhost"}]
        return cls.of(path for part in local if (path := unquote(part.path)) and "\0" not in path)

    def find(self, path: str) -> str:
        """Return the real path of a file that may be reached. Whether there is one is not looked at.

        Args:
            path: absolute, or relative to the only root.

        Raises:
            ToolError: it leads outside the roots, or it is relative and there are several.
        """
        if not path.startswith("/"):
            if len(self.folders) != 1:
                raise ToolError(f"{path!r} is relative, and there are {len(self.folders)} roots. Give the whole path.")
            path = f"{self.folders[0]}/{path}"
        try:
            real = os.path.realpath(path)
            os.fsencode(real).decode()  # what the daemon hears is UTF-8
        except (ValueError, OSError) as error:
            raise ToolError(f"{path!r} is no path: {error}.") from error
        if not self.hold(real):
            among = ", ".join(map(str, self.folders)) or "none"
            raise ToolError(f"{path!r} leads outside the allowed folders ({among}). Nothing was done.")
        return real

    def hold(self, real: str) -> bool:
        """Whether a real path is in one of the folders."""
        return any(Path(real).is_relative_to(folder) for folder in self.folders)
