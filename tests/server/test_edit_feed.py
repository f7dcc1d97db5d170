"""What a client hears of its edit, and how often."""

from __future__ import annotations

import anyio
import msgspec
import pytest

from plgd.edits.events import JobDelta, JobProgress
from plgd.errors import Cancelled
from plgd.protocol.edits import EditDelta, EditProgress, Stage
from plgd.server.dispatch import Call
from plgd.server.edit_feed import EditFeed

pytestmark = pytest.mark.anyio


class Heard:
    """A client that keeps what it is sent, and a clock that the test moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.progress: list[EditProgress] = []
        self.text = ""

    def feed(self) -> EditFeed:
        """Make the feed of an edit with the id 1."""
        return EditFeed(Call(1, self._take), "s1", "a.py", clock=lambda: self.now)

    def _take(self, line: bytes) -> None:
        note = msgspec.json.decode(line)
        if note["method"] == "edit/delta":
            self.text += msgspec.convert(note["params"], EditDelta).text
        else:
            self.progress.append(msgspec.convert(note["params"], EditProgress))


def decoding(percent: float) -> JobProgress:
    """Return progress in the reply."""
    return JobProgress(Stage.DECODE, percent, int(percent))


async def test_progress_is_sent_ten_times_a_second() -> None:
    """Rounds that follow each other fast are told in steps of a tenth of a second, with the latest figures."""
    heard = Heard()
    feed = heard.feed()
    for n in range(10):
        feed._forward(decoding(n))
        heard.now += 0.03
    assert [0.0, 4.0, 8.0] == [progress.percent for progress in heard.progress]


async def test_a_new_stage_or_place_in_the_queue_is_told_at_once() -> None:
    """What a person waits for is never held back."""
    heard = Heard()
    feed = heard.feed()
    feed._progress(stage=Stage.QUEUED, percent=0.0, queue_position=2)
    feed._progress(stage=Stage.QUEUED, percent=0.0, queue_position=1)
    feed._progress(stage=Stage.LOADING, percent=5.0)
    feed._forward(decoding(0.0))
    assert [(Stage.QUEUED, 2), (Stage.QUEUED, 1), (Stage.LOADING, 0), (Stage.DECODE, 0)] == [
        (progress.stage, progress.queue_position) for progress in heard.progress
    ]


async def test_nothing_new_is_not_told() -> None:
    """An edit that waits is silent while its place in the queue stays."""
    heard = Heard()
    feed = heard.feed()
    for _ in range(3):
        feed._progress(stage=Stage.QUEUED, percent=0.0, queue_position=1)
        heard.now += 1.0
    assert len(heard.progress) == 1


async def test_text_is_never_held_back() -> None:
    """Every piece of the reply is sent as it comes."""
    heard = Heard()
    feed = heard.feed()
    for text in ("a", "b", "c"):
        feed._forward(JobDelta(text))
    assert heard.text == "abc"


async def test_the_status_sees_what_was_not_sent() -> None:
    """The status is as fresh as the last round, not as the last notification."""
    heard = Heard()
    feed = heard.feed()
    feed._forward(decoding(1.0))
    feed._forward(decoding(2.0))
    assert (Stage.DECODE, 2.0, "a.py", "s1") == (
        feed.info.stage,
        feed.info.percent,
        feed.info.name,
        feed.info.session,
    )


async def test_events_from_another_thread_arrive_in_order_before_the_end() -> None:
    """The worker's thread tells, the event loop sends; the outcome comes last, and nothing is sent after it."""
    heard = Heard()
    feed = heard.feed()
    feed.happened(JobDelta("a"))
    feed.happened(JobDelta("b"))
    feed.ended(Cancelled())
    feed.happened(JobDelta("c"))
    assert heard.text == ""
    await feed.over.wait()
    assert heard.text == "ab"
    await anyio.wait_all_tasks_blocked()
    assert heard.text == "ab"
    assert isinstance(feed.outcome, Cancelled)
