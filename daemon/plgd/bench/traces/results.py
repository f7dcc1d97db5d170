"""What traces in real time found: plain records, the JSON of `plgd bench --traces --json`."""

from __future__ import annotations

from plgd.bench.replay.run import Fare
from plgd.bench.results import Environment, Record

__all__ = ("PolicyTime", "TraceMeans", "TraceResult", "TracesResult")


class PolicyTime(Record, frozen=True):
    """One policy on one trace.

    Attributes:
        prefill_ms: time of the prompt, for each repeat.
        decode_ms: time of the reply behind it.
        expected_ms: what the rounds of each repeat were expected to take, by the live costs at that time.
        speedup: plain's median decode time over this one's.
        predicted: the speed-up of the same trace replayed at the prices of a table: `initial`, the one that the run
            began with; `final`, as the policy `cost` has corrected it; `measured`, as all policies together would have.
        n_rounds: rounds of the last repeat.
        tokens_per_round: tokens over rounds.
        widths: verify width -> rounds.
        proposers: how each proposer fared.
    """

    prefill_ms: tuple[float, ...]
    decode_ms: tuple[float, ...]
    expected_ms: tuple[float, ...]
    speedup: float
    predicted: dict[str, float]
    n_rounds: int
    tokens_per_round: float
    widths: dict[int, int]
    proposers: dict[str, Fare]


class TraceResult(Record, frozen=True):
    """One trace.

    Attributes:
        name: of what was edited.
        kind: of the edit.
        own: the reply is the model's own; else the trace's.
        as_meant: the model's own reply is the trace's, token for token; for the trace's reply always.
        n_prompt_tokens: length of the prompt.
        n_tokens: length of the reply.
        policies: by name; `off` is plain decoding in the pipeline.
    """

    name: str
    kind: str
    own: bool
    as_meant: bool
    n_prompt_tokens: int
    n_tokens: int
    policies: dict[str, PolicyTime]


class TraceMeans(Record, frozen=True):
    """One policy over all traces; means are geometric.

    Attributes:
        speedup: mean of the speed-ups.
        predicted: mean of the predicted ones, by table.
        of_predicted: mean of measured over predicted speed-ups, by table.
        of_expected: measured time over expected, of each reply in the order in which they were run. The live costs
            begin as another run, or none, has left them: the first says little.
    """

    speedup: float
    predicted: dict[str, float]
    of_predicted: dict[str, float]
    of_expected: tuple[float, ...]


class TracesResult(Record, frozen=True):
    """A whole run.

    Attributes:
        environment: what it was measured on.
        n_repeats: timed replies of each policy to each trace.
        n_left_out: traces that there was no time for, or whose own replies do not end.
        tables: the step costs, as data, by name.
        traces: in the order in which they were run.
        means: by policy.
    """

    environment: Environment
    n_repeats: int
    n_left_out: int
    tables: dict[str, dict[str, object]]
    traces: tuple[TraceResult, ...]
    means: dict[str, TraceMeans]
