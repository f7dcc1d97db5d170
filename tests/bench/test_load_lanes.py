"""`plgd bench --load` on a real server with a model of words."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from bench.served import served_model
from plgd.bench.load.asking import Asked, Asking
from plgd.bench.load.calls import measure_calls
from plgd.bench.load.interactive import measure_interactive, replies_of
from plgd.bench.load.lanes import BATCH, INTERACTIVE, closed_loop, open_loop
from plgd.bench.load.memory import measure_memory
from plgd.bench.load.summary import count_failures, sameness
from plgd.bench.load.texts import make_edits
from plgd.config import Config, DaemonConfig
from plgd.errors import ConnectionLost, DaemonUnreachable
from plgd.paths import Paths
from plgd.server.outbox import Outbox
from scripted_model import ScriptedModel

pytestmark = pytest.mark.anyio

REPLY = "def one():\n    return 1\n\n\ndef two():\n    return 2\n```\n"
EDITS = make_edits(6)
ASKING = Asking(None, 400)


@pytest.fixture
def anyio_backend() -> str:
    """The daemon runs on asyncio."""
    return "asyncio"


async def alone_on(paths: Paths) -> dict[int, Asked]:
    """Ask for each edit with nothing else going on."""
    return {each.edit.number: each for each in await closed_loop(paths, EDITS, ASKING, n_clients=1)}


@pytest.mark.parametrize("n_clients", [1, 4])
async def test_each_edit_is_asked_for_once_and_each_client_has_its_share(n_clients: int, paths: Paths) -> None:
    """Clients take edits from one list; every one is answered with its times, its tokens and the model's words."""
    async with served_model(paths, ScriptedModel(REPLY)):
        asked = await closed_loop(paths, EDITS, ASKING, n_clients=n_clients)
    assert list(range(6)) == sorted(each.edit.number for each in asked)
    assert set(range(n_clients)) == {each.client for each in asked}
    assert {""} == {each.error for each in asked}
    # Each byte of the fence's first line is a token, and so is the end of the reply.
    assert all(each.n_tokens >= len(REPLY) - 2 for each in asked)
    assert all(each.reply is not None and each.reply.words.startswith("def one()") for each in asked)
    for each in asked:
        assert each.first_s is not None
        assert each.asked_s < each.first_s < each.ended_s


async def test_a_failure_is_counted_by_its_name(paths: Paths) -> None:
    """An edit that is refused does not end the loop: the others are answered."""
    async with served_model(paths, ScriptedModel(REPLY), Config(daemon=DaemonConfig(queue_limit=1))):
        asked = await closed_loop(paths, EDITS, ASKING, n_clients=6)
    failures = count_failures(asked)
    assert {"QueueFull"} == failures.keys()
    assert len(EDITS) == failures["QueueFull"] + sum(each.result is not None for each in asked)
    assert all((each.reply is None) == bool(each.error) for each in asked)


async def test_without_a_daemon_nothing_is_measured(paths: Paths) -> None:
    """A benchmark does not start the user's daemon by accident, and its errors come without a group around them."""
    with pytest.raises(DaemonUnreachable):
        await closed_loop(paths, EDITS, ASKING, n_clients=2)


async def test_random_arrivals_are_the_same_in_every_run(paths: Paths) -> None:
    """An open loop asks for every edit, whether or not those before are answered, some of them interactive."""
    async with served_model(paths, ScriptedModel(REPLY)):
        runs = [
            await open_loop(paths, [*EDITS, *EDITS, *EDITS], ASKING, rate_per_s=2000.0, interactive_share=0.5, seed=3)
            for _ in range(2)
        ]
    classes = [sorted((each.edit.number, each.priority) for each in run) for run in runs]
    assert classes[0] == classes[1]
    counted = Counter(each.priority for each in runs[0])
    assert len(EDITS) * 3 == counted[INTERACTIVE] + counted[BATCH]
    assert min(counted[INTERACTIVE], counted[BATCH]) >= 3


async def test_interactive_edits_count_the_rounds_before_them(paths: Paths) -> None:
    """Beside batch edits an interactive edit is answered as alone, and what came before its first token is counted."""
    async with served_model(paths, ScriptedModel(REPLY)):
        alone = await alone_on(paths)
        found = await measure_interactive(paths, EDITS, ASKING, n_batch=5, n_interactive=3, alone=alone)
    assert (5, 3, {}) == (found.n_batch, len(found.waits), found.failures)
    assert found.same.n_identical == found.same.n_compared >= 3
    assert found.most_turns == max(wait.turns for wait in found.waits)
    assert all(wait.rounds_of_one <= wait.rounds_of_all for wait in found.waits)
    assert all(wait.first_token_ms > 0 < wait.alone_ms for wait in found.waits)


async def test_batch_edits_that_fail_hold_nobody_up(paths: Paths) -> None:
    """When the queue has no room for the batch edits, the measurement ends all the same and says so."""
    async with served_model(paths, ScriptedModel(REPLY), Config(daemon=DaemonConfig(queue_limit=1))):
        alone = await alone_on(paths)
        found = await measure_interactive(paths, EDITS, ASKING, n_batch=4, n_interactive=2, alone=alone)
    assert found.failures["QueueFull"] >= 3


async def test_another_reply_is_noticed(paths: Paths) -> None:
    """A reply that differs by one letter from the one alone is counted, with the number of its edit."""
    async with served_model(paths, ScriptedModel(REPLY)):
        alone = await alone_on(paths)
    model = ScriptedModel(REPLY.replace("return 2", "return 3"))
    async with served_model(paths, model):
        other = await closed_loop(paths, EDITS[:2], ASKING, n_clients=2)
    same = sameness(other, replies_of(alone))
    assert (2, 0, (0, 1)) == (same.n_compared, same.n_identical, same.differing)


async def test_every_call_is_counted(paths: Paths) -> None:
    """As many calls are made as were due, on all connections, beside edits that go on, and none fails."""
    async with served_model(paths, ScriptedModel(REPLY)):
        found = await measure_calls(paths, EDITS[:2], ASKING, n_connections=20, rate_per_s=400.0, seconds=0.5)
    assert (20, 200, 0) == (found.n_connections, found.n_asked, found.n_failed)
    assert 200 == found.latency_ms.n == found.late_ms.n
    assert found.n_edits >= 1
    assert 2 == found.edit_alone_ms.n
    assert found.latency_ms.p50 <= found.latency_ms.p99 <= found.latency_ms.longest


async def test_calls_that_are_lost_are_failures(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the daemon drops its connections under the calls, what was not answered is a failure, not left out."""
    answers = 0
    put = Outbox.put

    def put_few(self: Outbox, line: bytes) -> None:
        nonlocal answers
        answers += b'"loading_percent"' in line
        if b'"loading_percent"' in line and answers % 2 == 0:
            line = b'{"jsonrpc":"2.0","id":' + line.split(b'"id":')[1].split(b",")[0]
            line += b',"error":{"code":-32600,"message":"no"}}\n'
        put(self, line)

    async with served_model(paths, ScriptedModel(REPLY)):
        monkeypatch.setattr(Outbox, "put", put_few)
        found = await measure_calls(paths, EDITS[:1], ASKING, n_connections=4, rate_per_s=200.0, seconds=0.2)
    assert 40 == found.n_asked
    assert 20 == found.n_failed == found.n_asked - found.latency_ms.n


async def test_too_many_connections_are_an_error(paths: Paths) -> None:
    """A daemon that lets fewer clients connect than are asked for ends the measurement with the reason."""
    async with served_model(paths, ScriptedModel(REPLY), Config(daemon=DaemonConfig(connection_limit=3))):
        with pytest.raises(ConnectionLost):
            await measure_calls(paths, EDITS[:1], ASKING, n_connections=5, rate_per_s=10.0, seconds=0.1)


async def test_memory_is_read_at_each_tenth(paths: Paths) -> None:
    """Requests are made, given up and refused; the daemon's memory is read before and after each tenth of them."""
    async with served_model(paths, ScriptedModel(REPLY)):
        found = await measure_memory(paths, ASKING, n_requests=100)
    assert [0, *range(10, 101, 10)] == [reading.n_requests for reading in found.readings]
    assert 100 == found.n_requests
    assert 0 < found.n_refused < 20
    assert 0 < found.n_cancelled < 20
    assert all(reading.resident_bytes > 0 for reading in found.readings)
    first, last = found.readings[1], found.readings[-1]
    assert found.resident_growth_bytes == last.resident_bytes - first.resident_bytes
    assert math.isclose(found.device_growth_bytes, last.device_bytes - first.device_bytes)
