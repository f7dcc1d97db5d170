"""A file's name says what language it is in."""

from __future__ import annotations

import pytest

from plgd.edits.language import language_of


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("config.py", "python"),
        ("data.json", "json"),
        ("README.MD", "markdown"),
        ("pyproject.toml", "toml"),
        ("app.mjs", "javascript"),
        ("view.tsx", "tsx"),
        ("Makefile", "makefile"),
        ("Dockerfile", "dockerfile"),
        (".env", "bash"),
        ("notes.txt", "text"),
        ("LICENSE", "text"),
        ("archive.tar.unknown", "text"),
    ],
)
def test_language_of_a_name(name: str, language: str) -> None:
    """The language after the fence follows from the file's name; an unknown one is text."""
    assert language == language_of(name)
