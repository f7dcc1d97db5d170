"""How interactive and batch jobs share the model, counted in turns."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Generator

import pytest

from plgd.completions.request import PromptRead
from plgd.edits.events import JobDelta, JobProgress
from plgd.engine.model import Model
from plgd.errors import ClientBusy, PlgdError, QueueFull
from plgd.protocol.edits import Priority, Stage
from plgd.server.job import Doing, Ending, Job
from plgd.server.jobs import doing_after
from plgd.server.scheduler import BATCH_SHARE, Scheduler
from plgd.server.waiting_line import OVERTAKEN_LIMIT

PERSON, PROGRAM = Priority.INTERACTIVE, Priority.BATCH
N_PLACES = 4


class Deaf:
    """An observer that is not told anything here."""

    def waiting(self, *_: object) -> None:
        raise AssertionError

    def happened(self, _event: str) -> None:
        raise AssertionError

    def ended(self, _outcome: str | PlgdError | Ending) -> None:
        raise AssertionError


def never(_model: Model) -> Generator[str, None, str]:
    """Stand for a job's work, which a scheduler does not begin."""
    raise AssertionError


class Table:
    """Jobs of known lengths that take the turns which a scheduler gives them.

    Attributes:
        turns: the names of the jobs in each turn so far.
    """

    def __init__(self, *, together: bool = False, limit: int = 100, owner_limit: int = 100) -> None:
        self.scheduler: Scheduler[str, str] = Scheduler(limit=limit, n_places=N_PLACES, owner_limit=owner_limit)
        self.turns: list[tuple[str, ...]] = []
        self._together = together
        self._left: dict[Job[str, str], tuple[str, int, int]] = {}

    def add(
        self,
        name: str,
        priority: Priority,
        *,
        n_slices: int = 1,
        n_rounds: int = 1,
        model: str = "m",
        owner: str | None = None,
    ) -> Job[str, str]:
        """Queue a job that reads in so many slices and then writes in so many rounds."""
        job: Job[str, str] = Job(model=model, key=None, start=never, observer=Deaf(), priority=priority, owner=owner)
        self.scheduler.add(job)
        self._left[job] = name, n_slices, n_rounds
        return job

    def take_turn(self, loaded: str = "m") -> tuple[str, ...]:
        """Let the scheduler's choice make its steps, and return who it was."""
        chosen = self.scheduler.next_turn(loaded, shares=lambda _n_jobs: self._together)
        for job in chosen:
            name, n_slices, n_rounds = self._left[job]
            if n_slices:
                n_slices -= 1
                self.scheduler.note(job, Doing.READING if n_slices else Doing.STARTING)
            else:
                n_rounds -= 1
                self.scheduler.note(job, Doing.WRITING)
            self._left[job] = name, n_slices, n_rounds
            if not n_rounds or job.ending is not None:
                self.scheduler.remove(job)
        names = tuple(self._left[job][0] for job in chosen)
        self.turns.append(names)
        return names

    def take_turns(self, n: int) -> list[tuple[str, ...]]:
        """Take several turns."""
        return [self.take_turn() for _ in range(n)]


def writing(table: Table, *names: str, priority: Priority = PROGRAM) -> None:
    """Bring jobs so far that they write, and will for long."""
    jobs = [table.add(name, priority, n_rounds=1000) for name in names]
    while not all(job.doing is Doing.WRITING for job in jobs):
        table.take_turn()


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("n_slices", [1, 8, 64])
def test_an_interactive_request_gets_its_first_token_within_three_rounds(n_slices: int, together: bool) -> None:
    """It arrives during eight batch edits, in the middle of a turn, and waits for nobody's place."""
    table = Table(together=together)
    for number in range(8):
        table.add(f"b{number}", PROGRAM, n_slices=4, n_rounds=1000)
    table.take_turns(50)
    table.add("p", PERSON, n_slices=n_slices, n_rounds=5)
    taken = table.take_turns(n_slices + 3)
    first_token = [place for place, names in enumerate(taken) if "p" in names][n_slices]
    n_others = sum("p" not in names for names in taken[:first_token])
    # The turn that it arrived in is one round, its own is another.
    assert n_others + 2 <= 3


@pytest.mark.parametrize("together", [False, True])
def test_the_second_of_two_interactive_requests_is_not_held_up_by_batch_jobs(together: bool) -> None:
    """Two people ask at once: between their prompts the batch jobs get one turn, not more."""
    table = Table(together=together)
    writing(table, "b0", "b1", "b2", "b3")
    n_before = len(table.turns)
    first = table.add("p", PERSON, n_slices=4, n_rounds=50)
    second = table.add("q", PERSON, n_slices=4, n_rounds=50)
    while not all(job.doing is Doing.WRITING for job in (first, second)):
        table.take_turn()
    n_batch = sum(all(name.startswith("b") for name in names) for names in table.turns[n_before:])
    assert n_batch <= 1


def test_first_rounds_share_a_pass() -> None:
    """Who has read a prompt writes with the others at once; batch jobs do not make a person's first round longer."""
    table = Table(together=True)
    writing(table, "p", priority=PERSON)
    writing(table, "b0", "b1")
    table.add("q", PERSON, n_rounds=5)
    while ("q",) not in table.turns:
        table.take_turn()
    assert ("p", "q") == next(names for names in table.take_turns(4) if "q" in names)


def test_an_event_says_what_comes_next() -> None:
    """Behind the last slice of a prompt comes the first round of the reply."""
    for percent, doing in ((50.0, Doing.READING), (100.0, Doing.STARTING)):
        assert doing is doing_after(JobProgress(Stage.PREFILL, percent, 7))
        assert doing is doing_after(PromptRead(percent))
    assert Doing.AWAITING is doing_after(JobProgress(Stage.PREFILL, 100.0, 7, awaits=True))
    assert Doing.WRITING is doing_after(JobProgress(Stage.DECODE, 1.0, 7))
    assert doing_after(JobDelta("text")) is None


def test_batch_jobs_have_their_share_while_interactive_ones_write() -> None:
    """Of each so many turns one is a batch job's."""
    table = Table()
    writing(table, "b0", "b1")
    writing(table, "p", priority=PERSON)
    taken = Counter(name for [name] in table.take_turns(10 * BATCH_SHARE))
    assert Counter(p=10 * (BATCH_SHARE - 1), b0=5, b1=5) == taken


@pytest.mark.parametrize("together", [False, True])
def test_a_stream_of_interactive_requests_does_not_starve_batch_jobs(together: bool) -> None:
    """Another person's request is always there; the batch jobs' own requests are read and answered all the same."""
    table = Table(together=together)
    for number in range(6):
        table.add(f"b{number}", PROGRAM, n_slices=3, n_rounds=10)
    for number in range(1200):
        if not any(job.priority is PERSON for job in table.scheduler.waiting):
            table.add(f"p{number}", PERSON, n_slices=5, n_rounds=2)
        table.take_turn()
    done = Counter(name for names in table.turns for name in names)
    assert {f"b{number}": 13 for number in range(6)} == {name: n for name, n in done.items() if name[0] == "b"}


def test_requests_that_are_always_replaced_do_not_starve_batch_jobs() -> None:
    """Somebody types, and every request gives way to the next before its prompt is read."""
    table = Table()
    writing(table, "b")
    for number in range(10):
        job = table.add(f"p{number}", PERSON, n_slices=100)
        table.take_turns(3)
        assert not table.scheduler.cancel(job)
        table.take_turn()
    n_batch = sum(names == ("b",) for names in table.turns[-40:])
    assert n_batch >= 9


def test_who_waits_for_a_reader_lends_it_its_priority() -> None:
    """An interactive edit of a document that a batch edit is reading goes on when that has read it."""
    table = Table()
    writing(table, "w")
    reader = table.add("r", PROGRAM, n_slices=5, n_rounds=9)
    table.take_turns(2)
    person = table.add("p", PERSON, n_slices=1)
    assert table.take_turn() == ("p",)
    table.scheduler.note(person, Doing.AWAITING)
    table._left[person] = "p", 100, 1
    n_taken = 0
    while reader.doing is not Doing.WRITING:
        assert table.take_turn() != ("w",)
        if person.doing is not Doing.AWAITING:
            table.scheduler.note(person, Doing.AWAITING)
        n_taken += 1
        assert n_taken < 20, "the reader does not get on, and the interactive job with it"


def test_rounds_of_all_that_write_are_one_turn() -> None:
    """A newcomer's prompt goes slice by slice between them; its first round is theirs already."""
    table = Table(together=True)
    writing(table, "a", "b")
    table.add("c", PROGRAM, n_slices=2, n_rounds=9)
    assert [("c",), ("a", "b"), ("c",), ("a", "b", "c"), ("a", "b", "c")] == table.take_turns(5)


def test_while_a_person_waits_only_interactive_rounds_go_between_the_slices() -> None:
    """Rounds of batch jobs would make each pass longer."""
    table = Table(together=True)
    writing(table, "b0", "b1")
    writing(table, "p", priority=PERSON)
    table.take_turns(2)  # the batch jobs' turn after that of the first token
    table.add("q", PERSON, n_slices=3, n_rounds=9)
    taken = table.take_turns(6)
    assert [("q",), ("p",), ("q",), ("p",), ("q",), ("p", "q")] == taken


def test_interactive_jobs_leave_places_to_batch_jobs() -> None:
    """Each priority has places of its own."""
    table = Table()
    for number in range(6):
        table.add(f"p{number}", PERSON)
        table.add(f"b{number}", PROGRAM)
    table.take_turn()
    assert Counter({PERSON: N_PLACES, PROGRAM: N_PLACES}) == Counter(job.priority for job in table.scheduler.running)
    assert [PERSON, PERSON, PROGRAM, PROGRAM] == [job.priority for job in table.scheduler.waiting]


def test_a_batch_job_is_not_overtaken_for_ever() -> None:
    """A person uses one model, a batch job waits for another: after so many edits its model's turn comes."""
    table = Table()
    table.add("p", PERSON, n_rounds=1000)
    table.take_turn()
    batch = table.add("b", PROGRAM, model="n")
    for number in range(OVERTAKEN_LIMIT + 3):
        table.add(f"p{number}", PERSON)
    place = table.scheduler.waiting.index(batch)
    assert place == OVERTAKEN_LIMIT


def test_one_client_cannot_fill_the_queue() -> None:
    """A client's limit counts what waits and what runs; others, and those without an owner, come in."""
    table = Table(limit=10, owner_limit=3)
    for number in range(3):
        table.add(f"a{number}", PROGRAM, owner="a", n_rounds=9)
        if not number:
            table.take_turn()
    with pytest.raises(ClientBusy, match="3 requests of this client"):
        table.add("a3", PROGRAM, owner="a")
    table.add("b", PROGRAM, owner="b")
    for number in range(6):
        table.add(f"c{number}", PROGRAM)
    with pytest.raises(QueueFull, match="10 requests are"):
        table.add("d", PROGRAM, owner="d")
    table.scheduler.remove(table.scheduler.running[0])
    table.add("a3", PROGRAM, owner="a")


def test_a_full_client_may_still_replace_its_own_request() -> None:
    """The newest edit of the same lines takes the place of the one that waits."""
    table = Table(owner_limit=1)
    older: Job[str, str] = Job(model="n", key="k", start=never, observer=Deaf(), owner="a")
    newer: Job[str, str] = Job(model="n", key="k", start=never, observer=Deaf(), owner="a")
    table.scheduler.add(older)
    assert (older,) == table.scheduler.add(newer)


@pytest.mark.parametrize("seed", range(20))
def test_every_job_ends_whatever_comes(seed: int) -> None:
    """Random arrivals of both priorities: each job gets all its turns, and none in which it is not running."""
    draw = random.Random(seed)  # noqa: S311
    table = Table(together=draw.random() < 0.5)
    wanted: Counter[str] = Counter()
    for number in range(60):
        n_slices, n_rounds = draw.randrange(6), draw.randrange(1, 8)
        name = f"{number}"
        table.add(name, draw.choice([PERSON, PROGRAM]), n_slices=n_slices, n_rounds=n_rounds)
        wanted[name] = n_slices + n_rounds
        table.take_turns(draw.randrange(8))
    while table.scheduler.running or table.scheduler.waiting:
        assert table.take_turn()
    assert wanted == Counter(name for names in table.turns for name in names)
