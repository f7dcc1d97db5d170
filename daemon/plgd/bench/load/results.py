"""What a load bench found: plain records, the JSON of `plgd bench --load --json`."""

from __future__ import annotations

from plgd.bench.results import Environment, Record

__all__ = (
    "Calls",
    "ClassTimes",
    "Interactive",
    "InteractiveWait",
    "Level",
    "LoadOutput",
    "LoadResult",
    "Memory",
    "MemoryReading",
    "OpenLoop",
    "Percentiles",
    "Sameness",
)


class Percentiles(Record, frozen=True):
    """So many times, in milliseconds: half of them, 90 % and 99 % took at most so long, and the longest.

    All are 0 where there is nothing to tell.
    """

    n: int
    p50: float
    p90: float
    p99: float
    longest: float


class ClassTimes(Record, frozen=True):
    """The edits of one class, as their clients saw them.

    Attributes:
        priority: `interactive` or `batch`.
        n_asked: edits that were asked for.
        first_token_ms: from the request to the first sign of the reply, of those that were answered.
        total_ms: from the request to the answer, of those that were answered.
        failures: name of an error -> edits that ended with it.
    """

    priority: str
    n_asked: int
    first_token_ms: Percentiles
    total_ms: Percentiles
    failures: dict[str, int]


class Sameness(Record, frozen=True):
    """Replies compared with those that the same edits get alone.

    Attributes:
        n_compared: replies.
        n_identical: those that are the same: the model's words, how the edit ended, the new text.
        differing: numbers of edits whose reply was another, at most ten.
    """

    n_compared: int
    n_identical: int
    differing: tuple[int, ...]


class Level(Record, frozen=True):
    """So many clients in a closed loop, all with the same list of edits.

    Attributes:
        n_clients: edits that are under way at once.
        n_edits: edits of one repeat.
        tokens_per_s: committed tokens of all replies by the time that the list took, prompts included; per repeat.
        edits_per_s: answered edits likewise.
        ratios: the first of these over that of one client in the same repeat.
        ratio: their median.
        rounds_bound: what the table of step costs makes of joint rounds at best, by the rounds that the replies took
            alone, of as many edits as the daemon lets share the model; for the time of the rounds.
        bound: the same for whole edits, whose prompts are read one after the other; to be compared with `ratio`.
        fairness: Jain's index of the clients' mean shares of the speed that their edits have alone; 1 is equal, 1 over
            `n_clients` the worst. The least of all repeats.
        times: of all repeats.
        joint_rows: edits that had part in a joint turn of the model, on average; 0 where there was none.
        joint_share: share of all turns of the model that were joint; the others are slices of prompts, and rounds of
            one edit.
        turns_because: why the daemon let rounds of several edits take turns in the end; empty while they are joint.
        same: as alone.
    """

    n_clients: int
    n_edits: int
    tokens_per_s: tuple[float, ...]
    edits_per_s: tuple[float, ...]
    ratios: tuple[float, ...]
    ratio: float
    rounds_bound: float
    bound: float
    fairness: float
    times: ClassTimes
    joint_rows: float
    joint_share: float
    turns_because: str
    same: Sameness


class OpenLoop(Record, frozen=True):
    """Random arrivals, some interactive.

    Attributes:
        rate_per_s: edits that arrive per second on average.
        tokens_per_s: committed tokens by the time from the first arrival to the last answer.
        classes: interactive and batch.
        same: as alone.
    """

    rate_per_s: float
    tokens_per_s: float
    classes: tuple[ClassTimes, ...]
    same: Sameness


class InteractiveWait(Record, frozen=True):
    """One interactive edit beside batch edits.

    Attributes:
        turns: turns of others between the request and its first token: rounds, joint ones counted once, and slices of
            their prompts. The daemon is asked before and after, so it may be one more than there were.
        rounds_of_one: rounds between the two of that batch edit that had the most, as its text came.
        rounds_of_all: rounds of all batch edits between the two.
        first_token_ms: from the request to the first token.
        alone_ms: the same for the same edit alone.
    """

    turns: int
    rounds_of_one: int
    rounds_of_all: int
    first_token_ms: float
    alone_ms: float


class Interactive(Record, frozen=True):
    """Interactive edits that arrive while batch edits keep every place taken.

    Attributes:
        n_batch: batch edits that were under way or waited all the time.
        most_turns: the most turns of others before a first token.
        waits: the edits, one by one.
        first_token_ms: of them.
        same: as alone, of both classes.
        failures: name of an error -> edits of both classes that ended with it.
    """

    n_batch: int
    most_turns: int
    waits: tuple[InteractiveWait, ...]
    first_token_ms: Percentiles
    same: Sameness
    failures: dict[str, int]


class Calls(Record, frozen=True):
    """`status` on many connections, at fixed times, beside an edit that goes on.

    Attributes:
        n_connections: open at once.
        wanted_per_s: calls that were due per second.
        answered_per_s: answers by the time from the first call to the last answer.
        n_asked: calls.
        n_failed: calls that were refused, or not answered within ten seconds of the end.
        latency_ms: from the time at which a call was due to its answer.
        late_ms: from the time at which a call was due to the time at which it was sent: this process, not the daemon.
        n_edits: edits that were answered meanwhile.
        edit_ms: of them, from request to answer.
        edit_alone_ms: of the same edits without the calls.
    """

    n_connections: int
    wanted_per_s: float
    answered_per_s: float
    n_asked: int
    n_failed: int
    latency_ms: Percentiles
    late_ms: Percentiles
    n_edits: int
    edit_ms: Percentiles
    edit_alone_ms: Percentiles


class MemoryReading(Record, frozen=True):
    """The daemon's memory after so many requests: of the process, and of the model's arrays."""

    n_requests: int
    resident_bytes: int
    device_bytes: int


class Memory(Record, frozen=True):
    """Memory over many requests on a few documents: edits, refused ones and cancelled ones.

    Attributes:
        n_requests: in all.
        n_cancelled: those that their client gave up.
        n_refused: those that were wrong.
        readings: one before and one after each tenth.
        resident_growth_bytes: of the process, from the first tenth to the last.
        device_growth_bytes: of the model's arrays likewise.
    """

    n_requests: int
    n_cancelled: int
    n_refused: int
    readings: tuple[MemoryReading, ...]
    resident_growth_bytes: int
    device_growth_bytes: int


class LoadResult(Record, frozen=True):
    """Everything that was measured; null what was not asked for.

    Attributes:
        environment: what it was measured on.
        n_repeats: of each number of clients.
        levels: by number of clients, ascending; the first is one client.
        open_loop: random arrivals.
        interactive: interactive edits beside batch edits.
        calls: many connections.
        memory: many requests.
    """

    environment: Environment
    n_repeats: int
    levels: tuple[Level, ...]
    open_loop: OpenLoop | None
    interactive: Interactive | None
    calls: Calls | None
    memory: Memory | None


class LoadOutput(Record, frozen=True):
    """The JSON: `{"load": ...}`."""

    load: LoadResult
