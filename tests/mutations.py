"""Deliberate defects: one expression of a function is replaced, and the checks are to notice."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import pytest

__all__ = ("Mutation", "Noticed")


class Noticed(AssertionError):
    """A check found the defect."""


@dataclass(frozen=True)
class Mutation:
    """One expression to be replaced in one function."""

    owner: object
    function: Callable[..., object]
    old: str
    new: str

    def apply(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Put the changed function in the place of the intact one."""
        source = textwrap.dedent(inspect.getsource(self.function))
        assert source.count(self.old) == 1, f"the mutation no longer fits: {self.old}"
        namespace = dict(vars(sys.modules[self.function.__module__]))
        exec(source.replace(self.old, self.new), namespace)  # noqa: S102 - our own source, one expression changed
        changed = namespace[self.function.__name__]
        monkeypatch.setattr(self.owner, self.function.__name__, changed)
