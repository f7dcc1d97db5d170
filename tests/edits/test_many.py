"""Edits of several files that are made all together or not at all, with a model that says what it is told to say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from edits.crashes import watched_disk
from edits.running import RepliesModel
from plgd.config import Config
from plgd.documents.store import DocumentStore
from plgd.edits.events import JobDelta, JobEvent, JobProgress
from plgd.edits.journal import Journal
from plgd.edits.many import edit_many_steps
from plgd.edits.request_many import prepare_many
from plgd.errors import EmptyInstruction, FileMissing, InvalidParams, LinesOutOfRange, TextTooLong, WriteFailed
from plgd.protocol.edit_many import EditManyParams, EditManyResult
from plgd.protocol.edits import EditMode, EditParams, EditPart, EditStatus, LineRange, Stage

TEXTS = {"a.py": "a = 1\n", "b.py": "b = 1\n", "c.py": "c = 1\n"}
GOOD = ["a = 2\n```\n", "b = 2\n```\n", "c = 2\n```\n"]
WRITTEN = {"a.py": "a = 2\n", "b.py": "b = 2\n", "c.py": "c = 2\n"}


@dataclass
class Ran:
    """What came of a request."""

    result: EditManyResult
    events: list[JobEvent]
    model: RepliesModel

    @property
    def statuses(self) -> list[EditStatus | None]:
        """The files' statuses; `None` for an error."""
        return [each.result.status if each.result is not None else None for each in self.result.files]

    def warnings(self, place: int) -> tuple[str, ...]:
        """A file's warnings."""
        result = self.result.files[place].result
        assert result is not None
        return result.warnings


class Desk:
    """Three files, and what edits them."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.documents = DocumentStore()
        for name, text in TEXTS.items():
            (self.root / name).write_text(text)

    @property
    def texts(self) -> dict[str, str]:
        """The files' texts."""
        return {name: (self.root / name).read_text() for name in TEXTS}

    @property
    def n_files(self) -> int:
        """Files in the folder, journal apart."""
        return sum(path.is_file() for path in self.root.rglob("*"))

    def asked(self, **changes: object) -> EditManyParams:
        """Ask for an edit of each."""
        files = [
            EditParams(**{"instruction": "Count up.", "path": str(self.root / name), "mode": EditMode.APPLY, **changes})  # type: ignore[arg-type]
            for name in TEXTS
        ]
        return EditManyParams(files=tuple(files), all_or_nothing=True)

    def run(
        self,
        replies: Sequence[str] = GOOD,
        *,
        meanwhile: Callable[[], None] = lambda: None,
        before_write: Callable[[EditManyResult], None] = lambda _: None,
        context_limit: int = 1 << 20,
        **changes: object,
    ) -> Ran:
        """Carry it out; `meanwhile` happens whenever a reply begins."""
        model = RepliesModel(replies, on_target=meanwhile)
        model.context_limit = context_limit
        edits = prepare_many(self.asked(**changes), self.documents)
        steps = edit_many_steps(
            edits,
            session="s",
            sessions=["s0", "s1", "s2"],
            received=0.0,
            documents=self.documents,
            journal=Journal(self.root / "journal"),
            model=model,
            config=Config(),
            before_write=before_write,
        )
        events: list[JobEvent] = []
        while True:
            try:
                events.append(next(steps))
            except StopIteration as done:
                return Ran(done.value, events, model)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Three files, and what edits them."""
    return Desk(tmp_path)


def test_all_files_are_written(desk: Desk) -> None:
    """Each file has its own result and session, and the next version; nothing is left beside them."""
    ran = desk.run()
    assert ran.result.complete
    assert [EditStatus.APPLIED] * 3 == ran.statuses
    assert desk.texts == WRITTEN
    assert desk.n_files == 3
    results = [each.result for each in ran.result.files]
    assert ["s0", "s1", "s2"] == [each.session for each in results if each is not None]
    assert [2, 2, 2] == [each.version for each in results if each is not None]


def test_events_say_which_file_they_are_about(desk: Desk) -> None:
    """Progress and text of the replies name the file; the files are written once all replies are there."""
    ran = desk.run()
    deltas = [(event.file, event.text) for event in ran.events if isinstance(event, JobDelta)]
    assert list(enumerate(WRITTEN.values())) == [
        (place, "".join(text for file, text in deltas if file == place)) for place in range(3)
    ]
    stages = [event.stage for event in ran.events if isinstance(event, JobProgress)]
    assert stages.index(Stage.APPLY) == len(stages) - 1


@pytest.mark.parametrize("place", range(3))
def test_a_reply_that_cannot_be_used_stops_all(desk: Desk, place: int) -> None:
    """Edits before it stay proposals, those behind it are not begun, and no file is written."""
    ran = desk.run([*GOOD[:place], "", *GOOD[place + 1 :]])
    assert not ran.result.complete
    proposed, cancelled = [EditStatus.PROPOSED] * place, [EditStatus.CANCELLED] * (2 - place)
    assert [*proposed, EditStatus.REJECTED_OUTPUT, *cancelled] == ran.statuses
    assert desk.texts == TEXTS
    stopper = desk.root / list(TEXTS)[place]
    why = f"{stopper} could not be edited, and all files were to be or none."
    assert all((f"Not written: {why}",) == ran.warnings(other) for other in range(place))
    assert all((f"Not begun: {why}",) == ran.warnings(other) for other in range(place + 1, 3))
    assert len(ran.model.targets) == place + 1


def test_a_file_without_a_change_stops_nothing(desk: Desk) -> None:
    """A file that needs no change is left as it is; the others are written."""
    ran = desk.run([GOOD[0], "b = 1\n```\n", GOOD[2]])
    assert ran.result.complete
    assert [EditStatus.APPLIED, EditStatus.NO_CHANGE, EditStatus.APPLIED] == ran.statuses
    assert desk.texts == {**WRITTEN, "b.py": "b = 1\n"}


def test_nothing_to_change_at_all(desk: Desk) -> None:
    """When no file needs a change, none is written."""
    ran = desk.run([f"{text}```\n" for text in TEXTS.values()])
    assert [EditStatus.NO_CHANGE] * 3 == ran.statuses
    assert not (desk.root / "journal").exists()


def test_an_error_stops_all(desk: Desk) -> None:
    """A text that does not fit into the context is that file's error, and no file is written."""
    (desk.root / "b.py").write_text("b = 1\n" * 100)
    ran = desk.run(context_limit=500)
    assert [EditStatus.PROPOSED, None, EditStatus.CANCELLED] == ran.statuses
    error = ran.result.files[1].error
    assert error is not None
    assert (TextTooLong.code, str(desk.root / "b.py")) == (error.code, error.path)
    assert desk.texts["a.py"] == TEXTS["a.py"]


def test_a_file_that_changed_in_the_same_lines(desk: Desk) -> None:
    """A conflict in one file is told with its lines, and no file is written."""
    ran = desk.run(meanwhile=lambda: _write(desk.root / "b.py", "b = 7\n"))
    assert [EditStatus.PROPOSED, EditStatus.CONFLICT, EditStatus.PROPOSED] == ran.statuses
    assert desk.texts == {**TEXTS, "b.py": "b = 7\n"}
    result = ran.result.files[1].result
    assert result is not None
    assert result.conflict is not None
    assert ("b = 1\n", "b = 7\n", "b = 2\n") == (result.conflict.base, result.conflict.file, result.conflict.edit)


def test_files_that_changed_elsewhere(desk: Desk) -> None:
    """Lines that somebody added meanwhile are kept in every file."""
    for name, text in TEXTS.items():
        (desk.root / name).write_text(f"{text}\n\nend\n")
    replies = [f"{text}\n\nend\n```\n" for text in WRITTEN.values()]
    ran = desk.run(replies, meanwhile=lambda: _write(desk.root / "b.py", "b = 1\n\n\nend\nmine\n"))
    assert [EditStatus.APPLIED] * 3 == ran.statuses
    assert desk.texts["b.py"] == "b = 2\n\n\nend\nmine\n"
    assert "the edit was moved to the new text" in ran.warnings(1)[0]


def _write(path: Path, text: str) -> None:
    path.write_text(text)


def test_a_disk_that_is_full(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot be written is told by its error, and no file is written."""
    with watched_disk(monkeypatch) as disk:
        desk.run()
    links = [number for number, (name, _) in enumerate(disk.calls) if name == "link"]
    for name, text in TEXTS.items():
        (desk.root / name).write_text(text)
    with watched_disk(monkeypatch, fails_at=links[1] - 1, error=28):
        ran = desk.run()
    assert [EditStatus.PROPOSED, None, EditStatus.PROPOSED] == ran.statuses
    error = ran.result.files[1].error
    assert error is not None
    assert error.code == WriteFailed.code
    assert desk.texts == TEXTS
    assert desk.n_files == 3


def test_a_dry_run_writes_nothing(desk: Desk) -> None:
    """A dry run proposes what would be written."""
    ran = desk.run(dry_run=True)
    assert ran.result.complete
    assert [EditStatus.PROPOSED] * 3 == ran.statuses
    assert desk.texts == TEXTS


def test_what_is_about_to_be_written_is_told_before(desk: Desk) -> None:
    """The result is known before a file is touched; when it cannot be kept, none is."""
    told: list[EditManyResult] = []

    def refuse(result: EditManyResult) -> None:
        assert desk.texts == TEXTS
        told.append(result)
        raise WriteFailed.at("x", "its reply cannot be kept")

    with pytest.raises(WriteFailed):
        desk.run(before_write=refuse)
    assert desk.texts == TEXTS
    assert [EditStatus.APPLIED] * 3 == [each.result.status for each in told[0].files if each.result is not None]


def test_several_edits_of_several_files(desk: Desk) -> None:
    """Each file may have several edits."""
    edits = (EditPart(instruction="Count up."), EditPart(instruction="Count on."))
    replies = [f"{name[0]} = {number}\n```\n" for name in TEXTS for number in (2, 3)]
    ran = desk.run(replies, instruction="", edits=edits)
    assert [EditStatus.APPLIED] * 3 == ran.statuses
    assert desk.texts == {name: f"{name[0]} = 3\n" for name in TEXTS}
    assert {(file, part) for file in range(3) for part in range(2)} <= {
        (event.file, event.part) for event in ran.events
    }


def test_what_does_not_go_together(desk: Desk) -> None:
    """Mistakes are refused before anything is done, with the file's place."""
    good = desk.asked().files
    propose = EditParams(instruction="x", path=str(desk.root / "b.py"))
    cases: list[tuple[EditManyParams, type[Exception], str]] = [
        (EditManyParams(files=()), InvalidParams, "has 0 edits; there are 1 to 64"),
        (EditManyParams(files=good * 22), InvalidParams, "has 66 edits"),
        (EditManyParams(files=(*good, good[1])), InvalidParams, r"`files\[1\]` and `files\[3\]` are the same file"),
        (EditManyParams(files=(good[0], propose), all_or_nothing=True), InvalidParams, r"`files\[1\]` is `propose`"),
        (EditManyParams(files=(good[0], _with(good[1], model="n")), all_or_nothing=True), InvalidParams, "`model`"),
        (
            EditManyParams(files=(good[0], _with(good[1], dry_run=True)), all_or_nothing=True),
            InvalidParams,
            "`dry_run`",
        ),
        (EditManyParams(files=(_with(good[0], idempotency_key="k"),)), InvalidParams, "belongs to the request"),
        (EditManyParams(files=(good[0], EditParams(instruction="x"))), InvalidParams, r"`files\[1\]`: .*exactly one"),
        (EditManyParams(files=(good[0], _with(good[1], instruction=" "))), EmptyInstruction, r"`files\[1\]`: "),
        (EditManyParams(files=(good[0], _with(good[1], path="/no/such"))), FileMissing, "/no/such"),
        (EditManyParams(files=(_with(good[1], range=LineRange(first=2, last=2)),)), LinesOutOfRange, "b.py"),
    ]
    for params, error, words in cases:
        with pytest.raises(error, match=words):
            prepare_many(params, desk.documents)


def _with(params: EditParams, **changes: object) -> EditParams:
    return msgspec.structs.replace(params, **changes)


def test_a_file_by_another_name_is_the_same_file(desk: Desk) -> None:
    """A symbolic link to a file is that file."""
    (desk.root / "link.py").symlink_to("a.py")
    link = _with(desk.asked().files[0], path=str(desk.root / "link.py"))
    with pytest.raises(InvalidParams, match="are the same file"):
        prepare_many(EditManyParams(files=(desk.asked().files[0], link)), desk.documents)
