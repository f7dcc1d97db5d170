"""What is wrong with the configuration or the installation."""

from __future__ import annotations

from collections.abc import Iterable

from plgd.errors.base import PlgdError

__all__ = ("BenchError", "ConfigError")


class ConfigError(PlgdError):
    """The configuration file cannot be used; the message names the key and what is allowed."""

    code = -32001
    exit_code = 2

    @classmethod
    def without_extra(cls, what: str, missing: Iterable[str], extra: str) -> ConfigError:
        return cls(f"{what} needs {' and '.join(missing)}. {_install(extra)}")

    @classmethod
    def with_taken_port(cls, port: int, reason: str) -> ConfigError:
        return cls(f"`http.port`: 127.0.0.1:{port} cannot be had ({reason}). Choose another, or 0 for any.")

    @classmethod
    def with_bad_token(cls, path: str, reason: str) -> ConfigError:
        return cls(f"{path} cannot be used as a token: {reason}. Remove it, and a new one is made.")


class BenchError(PlgdError):
    """A measurement cannot be made here, or its result cannot be kept."""

    code = -32090

    @classmethod
    def needs(cls, module: str, extra: str) -> BenchError:
        return cls(f"This needs {module}, which is not installed. {_install(extra)}")

    @classmethod
    def unwritable(cls, path: str, reason: str) -> BenchError:
        return cls(f"{path} was not written: {reason}.")

    @classmethod
    def unreadable(cls, what: str, reason: str) -> BenchError:
        return cls(f"{what} cannot be used: {reason}.")


def _install(extra: str) -> str:
    return f"Install the extra `{extra}`, in the clone of plgd: pip install -e '.[{extra}]'"
