"""What a target leaves behind for a later one: the model's state after the beginning of a history."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from plgd.engine.target import Target

__all__ = ("KeepingTarget", "Kept")


class Kept(Protocol):
    """The model's state after some tokens. The target that resumes from it takes it over."""

    @property
    def tokens(self) -> Sequence[int]:
        """The tokens that the state has seen."""
        ...

    @property
    def n_tokens(self) -> int:
        """How many tokens the state has seen."""
        ...

    @property
    def n_bytes(self) -> int:
        """The memory that it takes."""
        ...

    def reach(self, tokens: Sequence[int]) -> int:
        """Count the tokens of a history to come that would not have to be fed again.

        They are the beginning that both have in common, or less where the state cannot go back so exactly. The
        history's last token always has to be fed.
        """
        ...

    def save(self, path: Path, model_key: str) -> None:
        """Write the state to a file; it stays as it is.

        Args:
            path: ends in `.safetensors`; overwritten.
            model_key: `plgd.engine.model.Model.state_key`.

        Raises:
            OSError: the file could not be written.
            ValueError: no file can hold such a state.
        """
        ...


class KeepingTarget(Target, Protocol):
    """A target whose state outlives it."""

    def resume(self, kept: Kept, tokens: Sequence[int]) -> int:
        """Begin with a kept state. Only for a target that was not used yet.

        Args:
            kept: by a target of the same model; it must not be used any more.
            tokens: the history to come, at least one token.

        Returns:
            n tokens that the state has seen. The history is `tokens[: n + 1]` then, its last token the head; when n
            is 0, it is empty still.

        Raises:
            RollbackFailed: a cache did not go back as far as it should.
        """
        ...

    def load(self, path: Path, model_key: str) -> Kept:
        """Read a state that `Kept.save` wrote. Only for a target that was not used yet, and it still is not then.

        Args:
            path: of the file.
            model_key: of this target's model.

        Raises:
            OSError: the file could not be read.
            ValueError: it is damaged, of another model or of another version.
        """
        ...

    def copy(self, other: KeepingTarget, n: int) -> Kept | None:
        """Copy what another target has prefilled. Only for a target that was not used yet, and it still is not then.

        Args:
            other: of the same model, between two of its steps; it goes on as if nothing had happened.
            n: tokens of its history's beginning that are of use, at least 0.

        Returns:
            The state after n tokens, or fewer where it cannot go back so exactly, or where fewer were prefilled. None
            when nothing is left.

        Raises:
            RollbackFailed: a cache did not go back as far as it should; `other` is not affected.
        """
        ...

    def keep(self, n: int) -> Kept | None:
        """Hand over the state after what was prefilled. The target must not be used any more.

        Args:
            n: tokens of the history's beginning that are worth keeping, at least 0.

        Returns:
            The state after n tokens, or fewer where it cannot go back so exactly, or where fewer were prefilled. What
            the model said itself is never kept. None when nothing is left.

        Raises:
            RollbackFailed: a cache did not go back as far as it should.
        """
        ...
