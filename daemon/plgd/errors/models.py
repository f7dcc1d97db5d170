"""What is wrong with a model, or with a round of it."""

from __future__ import annotations

from plgd.errors.base import PlgdError

__all__ = (
    "DamagedModel",
    "EngineError",
    "HashMismatch",
    "ModelError",
    "ModelNotPulled",
    "NoSpace",
    "PullFailed",
    "RollbackFailed",
    "UnknownModel",
    "UnsupportedModel",
)


class ModelError(PlgdError):
    """A model cannot be found, fetched, checked or run."""

    code = -32040


class UnknownModel(ModelError):
    """The name is no catalog entry, no folder and no Hugging Face id."""

    code = -32041
    exit_code = 2

    @classmethod
    def named(cls, name: str, nearest: str | None = None, origin: str = "") -> UnknownModel:
        hint = (f" {origin}" if origin else "") + (f" Did you mean {nearest!r}?" if nearest else "")
        return cls(
            f"No model is called {name!r}.{hint} Use a name of `plgd model list`, a folder, or a Hugging Face id "
            "(owner/name)."
        )

    @classmethod
    def no_folder(cls, path: str) -> UnknownModel:
        return cls(f"{path}: no such folder. A model's folder holds config.json, model*.safetensors and a tokenizer.")


class ModelNotPulled(ModelError):
    """The model is known but not on this machine; plgd never downloads unasked."""

    code = -32042

    @classmethod
    def named(cls, name: str, size: str) -> ModelNotPulled:
        return cls(f"The model {name!r} is not on this machine. Fetch it ({size}) with: plgd model pull {name}")


class UnsupportedModel(ModelError):
    """The model's architecture or format is not one that mlx-lm or plgd can load."""

    code = -32043

    @classmethod
    def of(cls, name: str, reason: str) -> UnsupportedModel:
        return cls(f"The model {name!r} cannot be run: {reason}.")


class DamagedModel(ModelError):
    """A model's files on disk are incomplete or changed."""

    code = -32044

    @classmethod
    def of(cls, name: str, reason: str) -> DamagedModel:
        is_folder = name.startswith(("/", "./", "../", "~"))
        remedy = "Copy or make the folder again." if is_folder else f"Fetch it again: plgd model pull {name} --force"
        return cls(f"The files of model {name!r} are damaged: {reason}. {remedy}")

    @classmethod
    def adapter(cls, name: str, file: str, reason: str) -> DamagedModel:
        return cls(
            f"The adapter {file} of model {name!r} cannot be used: {reason}. "
            f"Install plgd again; the model `{name}-base` works without the adapter."
        )


class PullFailed(ModelError):
    """A download did not finish; what arrived is kept and resumed by the next pull."""

    code = -32045

    @classmethod
    def of(cls, name: str, reason: str) -> PullFailed:
        return cls(
            f"{name!r} was not fetched: {reason}. Nothing was installed; "
            f"run `plgd model pull {name}` again to go on where it stopped."
        )


class HashMismatch(ModelError):
    """A downloaded file is not the one that was asked for; it was deleted."""

    code = -32046

    @classmethod
    def of(cls, name: str, expected: str, found: str) -> HashMismatch:
        return cls(
            f"{name} has SHA-256 {found[:16]}..., expected {expected[:16]}...; the download was deleted. "
            "Try again; if it happens twice, the server sends another file than the published one."
        )


class NoSpace(ModelError):
    """The disk cannot hold the model."""

    code = -32047

    @classmethod
    def at(cls, path: str, needed_bytes: int, free_bytes: int) -> NoSpace:
        return cls(
            f"{path} has {free_bytes / 1e6:,.0f} MB free, {needed_bytes / 1e6:,.0f} MB are needed. "
            "Free some space or set PLGD_CACHE_DIR to another disk."
        )


class EngineError(PlgdError):
    """A round of the model failed; its session is dropped and the daemon lives."""

    code = -32050

    @classmethod
    def during(cls, what: str, reason: str) -> EngineError:
        return cls(f"The model failed during {what}: {reason}. The text is unchanged; try again.")


class RollbackFailed(EngineError):
    """A cache did not drop the tokens it was asked to drop; its session must not be used again."""

    code = -32051

    @classmethod
    def of(cls, asked: int, went: int, where: str) -> RollbackFailed:
        return cls(f"Rollback of {asked} tokens dropped {went} in {where}; the session was closed.")
