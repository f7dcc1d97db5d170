"""What the docstrings of message types say, for everything that is made from them."""

from __future__ import annotations

import inspect
import re

__all__ = ("field_meanings", "first_sentence")


def first_sentence(found: type) -> str:
    """Return the first paragraph of a docstring, as one line."""
    return inspect.cleandoc(found.__doc__ or "").split("\n\n")[0].replace("\n", " ")


def field_meanings(struct: type) -> dict[str, str]:
    """Read the `Attributes:` of a docstring: a line for each field that is explained."""
    _, _, attributes = inspect.cleandoc(struct.__doc__ or "").partition("Attributes:\n")
    found = re.findall(r"^ {4}(\w+): ((?:.*)(?:\n {8}.*)*)", attributes, flags=re.MULTILINE)
    return {name: re.sub(r"\s+", " ", text) for name, text in found}
