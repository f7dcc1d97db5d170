"""While nobody waits, open documents become warm, and what nobody uses is let go."""

from __future__ import annotations

import threading
from pathlib import Path

from doubles import FailingTarget
from plgd.config import WarmConfig
from plgd.documents.open import OpenDocuments, TextEdit
from plgd.documents.store import DocumentStore
from plgd.documents.warm import WarmStore
from plgd.engine.kept import KeepingTarget
from plgd.engine.model import Model
from plgd.engine.sampling import GREEDY, Sampling
from plgd.server.backend import Device
from plgd.server.idle import IdleWork
from scripted_model import ScriptedModel
from server.jobs import steps, submit, working
from server.machine import PATIENCE_S, Gate, Machine

DEVICE = Device(kind="cpu", name="double", memory_bytes=8_000_000, active_bytes=0, blas="openblas")
TEXT = "x = 1\ny = 2\n" * 10
CONFIG = WarmConfig(quiet_s=2.0, slice=50, drop_after_s=100.0)


class Room:
    """Idle work on a clock that the test moves."""

    def __init__(
        self, config: WarmConfig = CONFIG, model: Model | None = None, *, spill_folder: Path | None = None
    ) -> None:
        self.now = 0.0
        self.documents = DocumentStore()
        self.documents.open = OpenDocuments(clock=lambda: self.now)
        self.store = WarmStore(lambda: self.now)
        self.idle = IdleWork(self.documents, self.store, config, clock=lambda: self.now, spill_folder=spill_folder)
        self.model = model or ScriptedModel("")
        self.idle.loaded(self.model, DEVICE)

    def open(self, uri: str, text: str = TEXT) -> None:
        """Open a document."""
        self.documents.open.open(1, uri, text, 0)

    def rest(self, most: int = 100) -> int:
        """Do whatever is due now; return how many steps it took."""
        for n in range(most):
            if self.idle.due_in() != 0.0:
                return n
            self.idle.step(self.model)
        return most


def test_an_open_document_becomes_warm() -> None:
    """After a quiet time a document is prefilled, slice by slice, and then only to be forgotten one day."""
    room = Room()
    assert room.idle.due_in() is None
    room.open("untitled:1")
    assert 2.0 == room.idle.due_in()
    room.now = 2.0
    assert 3 < room.rest() < 10
    assert room.store.bytes_of("untitled:1") > 0
    assert 100.0 == room.idle.due_in()


def test_typing_puts_it_off() -> None:
    """While somebody types, nothing is prefilled; afterwards only what changed is."""
    room = Room()
    room.open("untitled:1")
    for version in range(1, 6):
        room.now += 1.0
        room.documents.open.change(1, "untitled:1", version, [TextEdit(f"{TEXT}{version}")])
        assert 2.0 == room.idle.due_in()
    room.now += 2.0
    n_first = room.rest()
    room.documents.open.change(1, "untitled:1", 6, [TextEdit(f"{TEXT}7")])
    room.now += 2.0
    assert room.rest() < n_first


def test_documents_do_not_chase_each_other() -> None:
    """Of documents that do not fit together the one changed last stays, others as far as there is room."""
    room = Room(WarmConfig(quiet_s=0.0, slice=50, drop_after_s=0.0, kv_bytes=60_000))
    for number in range(5):
        room.open(f"untitled:{number}")
    assert room.rest(1000) < 100
    assert room.idle.due_in() is None
    assert ["untitled:4", "untitled:3"] == [name for name, _, _ in room.store.counts.documents]
    room.documents.open.change(1, "untitled:0", 1, [TextEdit(TEXT + "z")])
    assert room.rest(1000) < 100
    assert ["untitled:3", "untitled:0"] == [name for name, _, _ in room.store.counts.documents]


def test_two_editors_of_a_file_do_not_chase_each_other() -> None:
    """Of the texts that two editors hold of one file the one changed last is warm; then there is nothing to do."""
    room = Room(WarmConfig(quiet_s=0.0, slice=50, drop_after_s=0.0))
    room.documents.open.open(1, "untitled:1", TEXT, 0)
    room.documents.open.open(2, "untitled:1", f"other\n{TEXT}", 0)
    n_first = room.rest()
    assert (True, None) == (n_first < 10, room.idle.due_in())
    room.documents.open.close(2, "untitled:1")
    assert 0 < room.rest() <= n_first
    assert room.idle.due_in() is None


def test_a_document_that_does_not_fit_is_left_alone() -> None:
    """A text that memory is too small for is tried once, and again only when it is shorter."""
    room = Room(WarmConfig(quiet_s=0.0, slice=50, drop_after_s=0.0, kv_bytes=20_000))
    room.open("untitled:1")
    assert 0 < room.rest() < 10
    room.documents.open.change(1, "untitled:1", 1, [TextEdit(TEXT + "more")])
    assert room.idle.due_in() is None
    room.documents.open.change(1, "untitled:1", 2, [TextEdit("x")])
    assert 0.0 == room.idle.due_in()


def test_what_cannot_be_edited_is_not_prefilled() -> None:
    """A document that is longer than any prompt costs one look."""
    model = ScriptedModel("", context_limit=1000)
    room = Room(WarmConfig(quiet_s=0.0), model)
    room.open("untitled:1", TEXT * 10_000)
    assert 1 == room.rest()
    assert [] == model.targets


def test_a_failing_model_does_not_loop() -> None:
    """A document on which the model fails is not tried again until it changes."""

    class FailingModel(ScriptedModel):
        def target(self, sampling: Sampling = GREEDY) -> KeepingTarget:  # noqa: ARG002 - fails whatever is asked
            return FailingTarget(1)

    room = Room(WarmConfig(quiet_s=0.0), FailingModel(""))
    room.open("untitled:1")
    assert 1 == room.rest()


def test_unused_states_are_let_go() -> None:
    """What nobody used for the time that is set leaves memory, long before the model does."""
    room = Room()
    room.open("untitled:1")
    room.now = 2.0
    room.rest()
    room.now = 101.9
    assert not room.idle.step(room.model)
    room.now = 102.0
    assert 0.0 == room.idle.due_in()
    assert room.idle.step(room.model)
    assert 0 == room.store.counts.n_bytes


def test_another_model_begins_anew() -> None:
    """When the model goes, so does what was kept for it; with the next one, open documents become warm again."""
    room = Room()
    room.open("untitled:1")
    room.now = 2.0
    room.rest()
    room.idle.unloaded()
    assert 0 == room.store.counts.n_bytes
    room.idle.loaded(room.model, DEVICE)
    assert 3 < room.rest()
    assert room.store.counts.n_bytes > 0


def test_the_budget_is_a_share_of_the_device() -> None:
    """Without a setting, kept states may take an eighth of the device's memory; switched off, nothing."""
    assert 1_000_000 == Room().store.limit_bytes
    assert 77 == Room(WarmConfig(kv_bytes=77)).store.limit_bytes
    off = Room(WarmConfig(enabled=False, quiet_s=0.0))
    off.open("untitled:1")
    assert (0, None) == (off.store.limit_bytes, off.idle.due_in())


def test_what_was_let_go_comes_back_with_the_model(tmp_path: Path) -> None:
    """With space on disk, documents are warm again after the model left memory, and nothing is prefilled twice."""
    folder = tmp_path / "kv"
    room = Room(WarmConfig(quiet_s=2.0, slice=50, spill_bytes=10**8), spill_folder=folder)
    room.open("untitled:1")
    room.now = 2.0
    room.rest()
    n_bytes = room.store.counts.n_bytes
    room.idle.unloaded()
    assert (0, 1) == (room.store.counts.n_bytes, len(list(folder.iterdir())))
    room.idle.loaded(room.model, DEVICE)
    assert 1 == room.rest()
    assert n_bytes == room.store.counts.n_bytes > 0


def test_nothing_is_written_unasked(tmp_path: Path) -> None:
    """As it is set by default, nothing of a document goes to disk."""
    room = Room(spill_folder=tmp_path / "kv")
    room.open("untitled:1")
    room.now = 2.0
    room.rest()
    room.idle.unloaded()
    assert [] == list(tmp_path.iterdir())


def test_a_clean_stop_lets_go(machine: Machine) -> None:
    """When the worker ends, idle work hears that the model goes, so that states can be written."""
    sleeper = Sleeper()
    sleeper.wait_s = None
    with working(machine, idle=sleeper) as worker:
        assert submit(worker, steps("a"))[1].outcome() == "done by scripted"
        worker.close()
        assert worker.join(PATIENCE_S)
    assert ["loaded on cpu", "unloaded"] == sleeper.events


class Sleeper:
    """Idle work that never ends; each step waits at a gate."""

    def __init__(self) -> None:
        self.gate = Gate(is_open=False)
        self.events: list[str] = []
        self.stepped = threading.Event()
        self.wait_s: float | None = 0.0

    def loaded(self, model: Model, device: Device) -> None:  # noqa: ARG002 - any model will do
        self.events.append(f"loaded on {device.kind}")

    def unloaded(self) -> None:
        self.events.append("unloaded")

    def due_in(self) -> float | None:
        return self.wait_s

    def step(self, model: Model) -> bool:
        self.gate.pass_through()
        self.events.append(f"step of {model.name}")
        self.stepped.set()
        return False


def test_a_request_overtakes_idle_work(machine: Machine) -> None:
    """A request that comes during idle work waits for the one step that is under way, and no other."""
    sleeper = Sleeper()
    with working(machine, idle=sleeper) as worker:
        _, first = submit(worker, steps("a"))
        assert first.outcome() == "done by scripted"
        sleeper.gate.wait_reached()
        _, second = submit(worker, steps("b"))
        sleeper.wait_s = None
        sleeper.gate.open()
        assert second.outcome() == "done by scripted"
        assert ["loaded on cpu", "step of scripted"] == sleeper.events


def test_idle_work_waits_for_a_model(machine: Machine) -> None:
    """Nothing is done before a model is in memory, and the work hears when it goes for another."""
    sleeper = Sleeper()
    sleeper.gate.open()
    sleeper.wait_s = None
    with working(machine, idle=sleeper) as worker:
        for model in ("m", "n"):
            _, record = submit(worker, steps("a"), model=model)
            record.outcome()
        assert ["loaded on cpu", "unloaded", "loaded on cpu"] == sleeper.events


def test_a_wake_looks_again(machine: Machine) -> None:
    """A change that makes work due is seen at once."""
    sleeper = Sleeper()
    sleeper.wait_s = None
    with working(machine, idle=sleeper) as worker:
        _, record = submit(worker, steps("a"))
        record.outcome()
        sleeper.wait_s = 0.0
        worker.wake()
        sleeper.gate.wait_reached()
        sleeper.wait_s = None
        sleeper.gate.open()
        assert sleeper.stepped.wait(PATIENCE_S)
