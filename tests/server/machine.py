"""A machine for the worker and the daemon without mlx: models made of words, loads that wait for the test."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from doubles import ScriptedTarget
from plgd.engine.kept import KeepingTarget
from plgd.engine.model import Model
from plgd.engine.sampling import GREEDY, Sampling
from plgd.errors import ModelNotPulled, UnknownModel
from plgd.protocol.models import ModelInfo, ModelListResult
from plgd.server.backend import Device
from scripted_model import EOS, ScriptedModel

__all__ = ("PATIENCE_S", "Gate", "GatedModel", "Machine", "Shelf")

# Bounds every wait of a test; never what a passing test waits for.
PATIENCE_S = 30.0


class Gate:
    """A place in a thread where a test can hold it.

    Attributes:
        reached: set when a thread has come to the gate.
    """

    def __init__(self, *, is_open: bool = True) -> None:
        self.reached = threading.Event()
        self._open = threading.Event()
        if is_open:
            self._open.set()

    def open(self) -> None:
        """Let everybody through, now and later."""
        self._open.set()

    def shut(self) -> None:
        """Hold whoever comes next."""
        self.reached.clear()
        self._open.clear()

    def pass_through(self) -> None:
        """Come to the gate; return when it is open."""
        self.reached.set()
        assert self._open.wait(PATIENCE_S), "nobody opened the gate"

    def wait_reached(self) -> None:
        """Wait until a thread has come to the gate."""
        assert self.reached.wait(PATIENCE_S), "nobody came to the gate"


class _GatedTarget(ScriptedTarget):
    """A scripted target with a gate before every round."""

    gate: Gate

    def verify(self, draft: Sequence[int]) -> Sequence[int]:
        self.gate.pass_through()
        return super().verify(draft)

    def advance(self) -> int:
        self.gate.pass_through()
        return super().advance()


class GatedModel(ScriptedModel):
    """A scripted model whose rounds wait at a gate."""

    def __init__(self, reply: str, gate: Gate) -> None:
        super().__init__(reply)
        self._gate = gate

    def target(self, sampling: Sampling = GREEDY) -> KeepingTarget:
        super().target(sampling)
        target = _GatedTarget(self.tokenizer.encode(self._reply), end=EOS, context_limit=self.context_limit)
        target.gate = self._gate
        return target


class Machine:
    """Implements `plgd.server.backend.Backend`.

    Attributes:
        load_gate: held between 0 and 50 % of every load.
        loads: names of the models that were loaded, in order.
        n_releases: how often memory was given back.
        released: set when memory is given back.
        n_rests: how often the worker came to rest.
        rested: set when it does.
        fault: raised by the next loads, if any.
    """

    def __init__(self, **models: Model) -> None:
        self.load_gate = Gate()
        self.loads: list[str] = []
        self.n_releases = 0
        self.released = threading.Event()
        self.n_rests = 0
        self.rested = threading.Event()
        self.fault: Exception | None = None
        self._models = models

    def load(self, name: str, on_progress: Callable[[float], None]) -> Model:
        self.loads.append(name)
        on_progress(10.0)
        self.load_gate.pass_through()
        on_progress(50.0)
        if self.fault is not None:
            raise self.fault
        return self._models[name]

    def release(self) -> None:
        self.n_releases += 1
        self.released.set()

    def rest(self) -> None:
        self.n_rests += 1
        self.rested.set()

    def device(self) -> Device:
        return Device(kind="cpu", name="double", memory_bytes=8 * 10**9, active_bytes=1000, blas="openblas")

    def convert(self, gguf: Path, folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "converted").write_bytes(gguf.read_bytes())


class Shelf:
    """Implements `plgd.server.model_store.ModelStore`: every model of `pulled` is on this machine.

    Attributes:
        default: what edits use that name no model.
        pull_gate: held in the middle of every pull.
        was_interrupted: set when a pull saw that nobody wants it any more.
    """

    def __init__(self, *pulled: str) -> None:
        self.default = pulled[0]
        self.pull_gate = Gate()
        self.was_interrupted = threading.Event()
        self._pulled = list(pulled)

    def wait_interrupted(self) -> None:
        """Wait until a pull has seen that nobody wants it any more."""
        assert self.was_interrupted.wait(PATIENCE_S), "the pull was not interrupted"

    def find(self, name: str | None) -> str:
        wanted = name or self.default
        if wanted == "known":
            raise ModelNotPulled.named(wanted, "1 MB")
        if wanted not in self._pulled:
            raise UnknownModel.named(wanted)
        return wanted

    def list(self) -> ModelListResult:
        return ModelListResult(models=tuple(self.info(name) for name in self._pulled), recommended=self.default)

    def info(self, name: str) -> ModelInfo:
        if name not in self._pulled:
            raise UnknownModel.named(name)
        return ModelInfo(
            name=name,
            source="folder",
            pulled=True,
            path=f"/models/{name}",
            size_bytes=1,
            memory_bytes=2,
            context_limit=3,
            licence="",
            description="",
            selected=name == self.default,
        )

    def use(self, name: str) -> ModelInfo:
        self.default = self.find(name)
        return self.info(name)

    def pull(
        self,
        name: str,
        *,
        force: bool,
        convert: Callable[[Path, Path], None],
        on_progress: Callable[[str, int, int], None],
        cancelled: Callable[[], bool],
    ) -> ModelInfo:
        del force
        on_progress("download", 1, 2)
        self.pull_gate.pass_through()
        if cancelled():
            self.was_interrupted.set()
            raise InterruptedError
        on_progress("download", 2, 2)
        gguf = Path(name)
        convert(gguf, gguf.with_suffix(".model"))
        self._pulled.append(name)
        return self.info(name)
