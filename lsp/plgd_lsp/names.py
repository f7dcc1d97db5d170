"""What the model is told a text is called, so that it knows what is written in it."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final
from urllib.parse import unquote, urlsplit

__all__ = ("file_name",)

# Languages as editors name them -> the ending of a file; where a file says it itself, it is not looked up.
_ENDINGS: Final[dict[str, str]] = {
    "bash": ".sh",
    "bat": ".bat",
    "c": ".c",
    "clojure": ".clj",
    "cpp": ".cpp",
    "csharp": ".cs",
    "css": ".css",
    "dart": ".dart",
    "dockerfile": ".dockerfile",
    "elixir": ".ex",
    "erlang": ".erl",
    "fsharp": ".fs",
    "go": ".go",
    "haskell": ".hs",
    "html": ".html",
    "java": ".java",
    "javascript": ".js",
    "javascriptreact": ".jsx",
    "json": ".json",
    "jsonc": ".jsonc",
    "julia": ".jl",
    "kotlin": ".kt",
    "latex": ".tex",
    "less": ".less",
    "lua": ".lua",
    "makefile": ".mk",
    "markdown": ".md",
    "objective-c": ".m",
    "perl": ".pl",
    "php": ".php",
    "powershell": ".ps1",
    "python": ".py",
    "r": ".r",
    "restructuredtext": ".rst",
    "ruby": ".rb",
    "rust": ".rs",
    "sass": ".sass",
    "scala": ".scala",
    "scss": ".scss",
    "sh": ".sh",
    "shellscript": ".sh",
    "sql": ".sql",
    "swift": ".swift",
    "tex": ".tex",
    "toml": ".toml",
    "typescript": ".ts",
    "typescriptreact": ".tsx",
    "vim": ".vim",
    "xml": ".xml",
    "yaml": ".yaml",
    "zig": ".zig",
}


def file_name(uri: str, language_id: str) -> str:
    """Return the name of a document.

    A file has its own. A buffer that is on no disk, and a notebook's cell, get the ending of their language.
    """
    parts = urlsplit(uri)
    name = PurePosixPath(unquote(parts.path)).name or "text"
    if parts.scheme in {"file", ""}:
        return name
    ending = _ENDINGS.get(language_id.lower(), ".txt" if "." not in name else "")
    stem = name.removesuffix(".ipynb") if parts.fragment else name
    return stem if not ending or stem.endswith(ending) else f"{stem}{ending}"
