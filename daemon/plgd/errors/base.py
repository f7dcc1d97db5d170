"""What every error of plgd has."""

from __future__ import annotations

from typing import ClassVar

__all__ = ("PlgdError",)


class PlgdError(Exception):
    """Anything plgd refuses or fails to do, said in one sentence for a person."""

    code: ClassVar[int] = -32000
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
