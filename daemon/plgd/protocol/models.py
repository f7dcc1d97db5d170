"""Models: what plgd knows of them, and fetching one. Sizes are in bytes."""

from __future__ import annotations

from plgd.protocol.base import Message, Reply

__all__ = (
    "ModelInfo",
    "ModelListResult",
    "ModelParams",
    "PullParams",
    "PullProgress",
)


class ModelParams(Message, frozen=True):
    """A model by catalog name, folder or Hugging Face id."""

    name: str


class PullParams(Message, frozen=True):
    """What to fetch.

    Attributes:
        force: fetch again what is here already.
    """

    name: str
    force: bool = False


class PullProgress(Reply, frozen=True):
    """Notification `model/progress`.

    Attributes:
        id: the id of the `model/pull` request.
        step: such as `download`, `verify`, `convert`.
        total_bytes: 0 when unknown.
    """

    id: int | str
    step: str
    done_bytes: int
    total_bytes: int


class ModelInfo(Reply, frozen=True):
    """A model that plgd knows.

    Attributes:
        source: such as `package index`, `Hugging Face`, `folder`.
        pulled: whether its files are on this machine.
        path: its folder, empty when not pulled.
        size_bytes: on disk when pulled, else of the download; 0 when unknown.
        memory_bytes: a device needs at least so much to run it; 0 when unknown.
        selected: whether edits use it by default.
    """

    name: str
    source: str
    pulled: bool
    path: str
    size_bytes: int
    memory_bytes: int
    context_limit: int
    licence: str
    description: str
    selected: bool


class ModelListResult(Reply, frozen=True):
    """The catalog and every pulled model."""

    models: tuple[ModelInfo, ...]
    recommended: str
