"""Every error travels under one code and comes back as the same exception."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from plgd import errors
from plgd.errors import BY_CODE, PlgdError, from_wire


def every_error() -> list[type[PlgdError]]:
    """Return each error class of the module."""
    return [cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, PlgdError)]


@pytest.mark.parametrize("cls", every_error())
def test_code_and_exception_are_one_to_one(cls: type[PlgdError]) -> None:
    """A code names one exception, and the exception names that code."""
    again = from_wire(cls.code, "what happened")
    assert type(again) is cls
    assert again.message == "what happened"
    assert BY_CODE[cls.code] is cls


def test_an_unknown_code_is_still_an_error() -> None:
    """A newer daemon's error reaches the user with its message."""
    assert from_wire(-1, "from the future").message == "from the future"


def test_the_tree_at_the_top_names_every_error() -> None:
    """The drawing in the docstring is complete."""
    assert errors.__doc__ is not None
    assert [cls.__name__ for cls in every_error() if cls.__name__ not in errors.__doc__] == []


def test_every_error_is_raised_somewhere() -> None:
    """No documented exception is one that nothing raises; a class with subclasses may be only their family."""
    package = Path(errors.__file__).parent
    source = package.parents[1]
    used = {
        name.id
        for path in [*source.rglob("*.py"), *(source.parent / "clients").glob("*/plgd_*/**/*.py")]
        if path.parent != package
        for name in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(name, ast.Name)
    }
    families = {cls for cls in every_error() if cls.__subclasses__()}
    assert {cls.__name__ for cls in every_error() if cls not in families and cls.__name__ not in used} == set()
