"""The name of a file's language, as it is written after an opening fence."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

__all__ = ("language_of",)

_BY_NAME: Final = {
    ".bashrc": "bash",
    ".env": "bash",
    ".gitignore": "text",
    ".profile": "bash",
    ".zshrc": "bash",
    "cmakelists.txt": "cmake",
    "containerfile": "dockerfile",
    "dockerfile": "dockerfile",
    "gemfile": "ruby",
    "gnumakefile": "makefile",
    "jenkinsfile": "groovy",
    "justfile": "makefile",
    "makefile": "makefile",
    "pipfile": "toml",
    "rakefile": "ruby",
}

_BY_SUFFIX: Final = {
    suffix: language
    for language, suffixes in {
        "bash": ".sh .bash .zsh .env",
        "c": ".c .h",
        "cpp": ".cc .cpp .cxx .hh .hpp .hxx .ino",
        "cmake": ".cmake",
        "csharp": ".cs",
        "css": ".css",
        "dart": ".dart",
        "diff": ".diff .patch",
        "elixir": ".ex .exs",
        "elm": ".elm",
        "erlang": ".erl .hrl",
        "fish": ".fish",
        "fsharp": ".fs .fsx",
        "go": ".go",
        "graphql": ".graphql .gql",
        "groovy": ".groovy .gradle",
        "haskell": ".hs",
        "hcl": ".hcl .tf .tfvars",
        "html": ".html .htm .xhtml .jinja .j2",
        "ini": ".ini .cfg .conf .properties .editorconfig",
        "java": ".java",
        "javascript": ".js .cjs .mjs",
        "json": ".json .jsonl .jsonc .json5 .ipynb .webmanifest",
        "jsx": ".jsx",
        "julia": ".jl",
        "kotlin": ".kt .kts",
        "latex": ".tex .sty",
        "less": ".less",
        "lisp": ".lisp .el .scm",
        "clojure": ".clj .cljs .edn",
        "lua": ".lua",
        "makefile": ".mk",
        "markdown": ".md .markdown .mdx .qmd",
        "nix": ".nix",
        "objectivec": ".m .mm",
        "ocaml": ".ml .mli",
        "perl": ".pl .pm",
        "php": ".php",
        "powershell": ".ps1 .psm1",
        "protobuf": ".proto",
        "python": ".py .pyi .pyw .pyx",
        "r": ".r",
        "rst": ".rst",
        "ruby": ".rb .gemspec",
        "rust": ".rs",
        "scala": ".scala .sc",
        "scss": ".scss .sass",
        "sql": ".sql",
        "svelte": ".svelte",
        "swift": ".swift",
        "toml": ".toml",
        "tsx": ".tsx",
        "typescript": ".ts .cts .mts",
        "vim": ".vim",
        "vue": ".vue",
        "xml": ".xml .svg .xsd .xsl .plist",
        "yaml": ".yaml .yml",
        "zig": ".zig",
    }.items()
    for suffix in suffixes.split()
}


def language_of(name: str) -> str:
    """Return the language of a file by its name, `text` when the name says nothing."""
    path = PurePath(name.lower())
    return _BY_NAME.get(path.name) or _BY_SUFFIX.get(path.suffix, "text")
