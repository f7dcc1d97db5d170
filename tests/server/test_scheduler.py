"""Who gets the model next."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from plgd.engine.model import Model
from plgd.errors import PlgdError, QueueFull
from plgd.server.job import Ending, Job
from plgd.server.scheduler import Scheduler


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


def job(model: str = "m", key: str | None = None) -> Job[str, str]:
    """Make a job."""
    return Job(model=model, key=key, start=never, observer=Deaf())


def turn(jobs: Scheduler[str, str], model: str = "m") -> Job[str, str]:
    """Return the one job whose turn it is."""
    [chosen] = jobs.next_turn(model)
    return chosen


def scheduler(limit: int = 10, n_places: int = 2) -> Scheduler[str, str]:
    """Make a scheduler."""
    return Scheduler(limit=limit, n_places=n_places, owner_limit=limit)


def test_jobs_take_turns() -> None:
    """Each running job gets every n-th step."""
    jobs = scheduler()
    first, second = job(), job()
    jobs.add(first)
    jobs.add(second)
    assert [first, second, first, second] == [turn(jobs) for _ in range(4)]


def test_later_jobs_wait_for_a_place() -> None:
    """Only so many jobs run at once; the next starts when one is over."""
    jobs = scheduler(n_places=2)
    first, second, third = job(), job(), job()
    for each in (first, second, third):
        jobs.add(each)
    assert turn(jobs) is first
    assert (third,) == jobs.waiting
    jobs.remove(first)
    assert {second, third} == {turn(jobs), turn(jobs)}


def test_a_job_that_ends_takes_no_turn_from_another() -> None:
    """When one of three jobs is over, the turns go on where they were."""
    jobs = scheduler(n_places=3)
    first, second, third = job(), job(), job()
    for each in (first, second, third):
        jobs.add(each)
    assert [first, second] == [turn(jobs), turn(jobs)]
    jobs.remove(first)
    assert [third, second, third] == [turn(jobs) for _ in range(3)]


def test_a_model_is_wanted_only_when_nothing_runs() -> None:
    """A job for another model waits until the running ones are over; then its model is to be loaded."""
    jobs = scheduler()
    first, other, late = job("m"), job("n"), job("m")
    for each in (first, other, late):
        jobs.add(each)
    assert jobs.wanted_model() == "m"
    assert [first, first] == [turn(jobs), turn(jobs)]
    assert jobs.wanted_model() is None
    jobs.remove(first)
    assert jobs.next_turn("m") == (), "a later job must not overtake and starve the other model"
    assert jobs.wanted_model() == "n"
    assert turn(jobs, "n") is other


def test_the_queue_is_bounded() -> None:
    """One more than the limit is refused, whether the others wait or run."""
    jobs = scheduler(limit=2, n_places=1)
    jobs.add(job())
    jobs.add(job())
    jobs.next_turn("m")
    with pytest.raises(QueueFull, match="2 requests"):
        jobs.add(job())


def test_a_newer_job_replaces_a_waiting_one() -> None:
    """Of two jobs with one key only the newer is run, and it may take the older one's place in a full queue."""
    jobs = scheduler(limit=2)
    older, other, newer = job(key="k"), job(key="l"), job(key="k")
    jobs.add(older)
    jobs.add(other)
    assert (older,) == jobs.add(newer)
    assert (other, newer) == jobs.waiting


def test_a_newer_job_ends_a_running_one() -> None:
    """A running job with the same key is to end, and its end comes before anything else."""
    jobs = scheduler(n_places=3)
    other, older = job(), job(key="k")
    jobs.add(older)
    jobs.add(other)
    jobs.next_turn("m")
    assert () == jobs.add(job(key="k"))
    assert older.ending is Ending.REPLACED
    assert turn(jobs) is older


def test_a_refused_job_replaces_nothing() -> None:
    """When the queue is full of others, the older job goes on."""
    jobs = scheduler(limit=1)
    older = job(key="k")
    jobs.add(older)
    jobs.next_turn("m")
    with pytest.raises(QueueFull):
        jobs.add(job(key="k"))
    assert older.ending is None


def test_jobs_without_a_key_never_compete() -> None:
    """Texts that are no files do not replace each other."""
    jobs = scheduler()
    jobs.add(job())
    assert () == jobs.add(job())
    assert len(jobs.waiting) == 2


def test_a_cancelled_job_leaves_the_queue_or_is_told_to_end() -> None:
    """Cancelling takes a waiting job out at once; a running one ends at its next turn; one that is over stays over."""
    jobs = scheduler(n_places=1)
    running, waiting = job(), job()
    jobs.add(running)
    jobs.add(waiting)
    jobs.next_turn("m")
    assert jobs.cancel(waiting)
    assert not jobs.cancel(running)
    assert running.ending is Ending.CANCELLED
    jobs.remove(running)
    assert not jobs.cancel(running)
    assert jobs.next_turn("m") == ()
