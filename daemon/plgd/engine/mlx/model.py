"""A model in memory."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten

from plgd.engine.company import JointCosts
from plgd.engine.correction import LiveCosts
from plgd.engine.cost import ASSUMED_COSTS, StepCosts
from plgd.engine.mlx.caches import CacheMaker
from plgd.engine.mlx.exact_width import find_exact_width
from plgd.engine.mlx.joint import JointNetwork
from plgd.engine.mlx.passes import Forward
from plgd.engine.mlx.rollback import TRIMS_ONLY, RollbackMethod
from plgd.engine.mlx.sampling import make_sampler
from plgd.engine.mlx.shapes import FixedShapes
from plgd.engine.mlx.state_key import make_state_key
from plgd.engine.mlx.target import MlxTarget
from plgd.engine.mlx.text import MlxTokenizer
from plgd.engine.mlx.threads import BlasThreads, find_openblas
from plgd.engine.sampling import GREEDY, Sampling
from plgd.engine.together import Together

__all__ = ("MlxModel",)

# Warm-up runs behind a short prompt of this many tokens.
WARM_UP_PROMPT: Final = 8
# The output layer reckons with every token of a pass. For a prompt's tail of so many that takes less than a pass of its
# own; where a pass takes as long as the host needs to send it, for longer ones, too.
TAIL: Final = 64
TAIL_OF_FIXED_SHAPES: Final = 255  # with the head a width that there is
# Most edits end before this, and going further would lengthen every load.
WARM_TOKENS: Final = 4096


class MlxModel:
    """Implements `plgd.engine.model.Model`.

    Args:
        network: mlx-lm's model.
        tokenizer: its tokenizer.
        name: the name it was asked for by.
        eos_tokens: the tokens that end a reply.
        context_limit: the longest prompt and reply together, in tokens.
        kv_bits: bits of a quantized key or value, 8 or 4; 0 keeps them as they are.
        shapes: fixed shapes for devices on which a new shape costs time.
        threads: of another model in this process, which this one shares; its own when left out.

    Raises:
        UnsupportedModel: the model's attention cannot use quantized keys and values.
    """

    def __init__(
        self,
        network: nn.Module,
        tokenizer: MlxTokenizer,
        *,
        name: str,
        eos_tokens: frozenset[int],
        context_limit: int,
        kv_bits: int = 0,
        shapes: FixedShapes | None = None,
        threads: BlasThreads | None = None,
    ) -> None:
        self._network = network
        self._tokenizer = tokenizer
        self._name = name
        self._eos_tokens = eos_tokens
        self._context_limit = context_limit
        self._kv_bits = kv_bits
        self._make_caches = CacheMaker(network, name, kv_bits=kv_bits, shapes=shapes)
        self._threads = threads or BlasThreads(find_openblas())
        self._costs = LiveCosts(ASSUMED_COSTS)
        joint = JointNetwork(network, self._forward, self._make_caches, self.shapes)
        self._together = Together(joint, JointCosts(self._costs))

    @property
    def together(self) -> Together:
        """Runs turns of several jobs."""
        return self._together

    @property
    def name(self) -> str:
        """The name it was asked for by."""
        return self._name

    @property
    def tokenizer(self) -> MlxTokenizer:
        """Its tokenizer."""
        return self._tokenizer

    @property
    def eos_tokens(self) -> frozenset[int]:
        """The tokens that end a reply."""
        return self._eos_tokens

    @property
    def context_limit(self) -> int:
        """The longest prompt and reply together, in tokens."""
        return self._context_limit

    @property
    def kv_bits(self) -> int:
        """Bits of a quantized key or value; 0 when they are as the model makes them."""
        return self._kv_bits

    @property
    def shapes(self) -> FixedShapes | None:
        """The fixed shapes that its passes keep to; None when passes have any width."""
        return self._make_caches.shapes

    @property
    def threads(self) -> BlasThreads:
        """Keeps the threads of the matrix library off busy processors."""
        return self._threads

    @cached_property
    def state_key(self) -> str:
        """Tell its states from those of other weights, libraries and kinds of KV; the first call reads all weights."""
        return make_state_key(self._network, kv_bits=self._kv_bits, shapes=self.shapes)

    @property
    def costs(self) -> LiveCosts:
        """What rounds cost on this device, assumed until `use_costs`."""
        return self._costs

    def use_costs(self, table: StepCosts) -> None:
        """Begin anew with step costs that were measured."""
        self._costs = LiveCosts(table)
        self._together.costs = JointCosts(self._costs)

    @property
    def network(self) -> nn.Module:
        """mlx-lm's model, for comparison with mlx-lm's own decoding."""
        return self._network

    def target(self, sampling: Sampling = GREEDY) -> MlxTarget:
        """Start an empty sequence.

        Args:
            sampling: how its tokens are taken from the logits.
        """
        exact_width = self.exact_width if sampling.exact else None
        return MlxTarget(
            self._forward,
            self._make_caches(),
            context_limit=self._context_limit,
            sampler=make_sampler(sampling),
            shapes=self.shapes,
            near_tie_margin=sampling.near_tie_margin,
            exact=sampling.exact and exact_width is None,
            trims_only=exact_width is not None or getattr(self._network, "model_type", None) in TRIMS_ONLY,
            exact_width=exact_width,
            longest_tail=0 if sampling.exact else self._longest_tail,
            # A pass with other sequences is a wide one, and rounds like one.
            together=None if sampling.exact else self._together,
        )

    @cached_property
    def _longest_tail(self) -> int:
        """The longest tail of a prompt that the first round feeds."""
        weights = (array.dtype for _, array in tree_flatten(self._network.parameters()))
        if any(mx.issubdtype(dtype, mx.floating) and dtype != mx.float32 for dtype in weights):
            # In low precision the passes of a prompt are plain decoding's: others would round otherwise.
            return 0
        return TAIL if self.shapes is None else TAIL_OF_FIXED_SHAPES

    @cached_property
    def exact_width(self) -> int | None:
        """The widest pass that computes each row as a one-token pass does, bit for bit; None where it does not matter.

        Found out on first use, which takes some hundred passes; see `find_exact_width`.
        """
        return find_exact_width(
            self._start, self._forward, self._make_caches, self._context_limit, kv_bits=self._kv_bits
        )

    def _start(self, forward: Forward, caches: list[Any]) -> MlxTarget:
        return MlxTarget(forward, caches, context_limit=self._context_limit, shapes=self.shapes)

    def rollback_method(self) -> RollbackMethod:
        """Say how drafts are rolled back at the start of a sequence, for the status."""
        return self.target().rollback_method(1)

    def warm_up(self, widths: Iterable[int]) -> None:
        """Run one verify of each width and a pipelined step on a sequence of its own.

        Kernels are compiled on first use, which takes from milliseconds to half a minute a kind; nothing that is
        timed may contain it.

        Args:
            widths: the verify widths that the governor may choose, each at least 1.
        """
        for width in widths:
            target = self._start(self._forward, self._make_caches())
            target.prefill([0] * min(WARM_UP_PROMPT, self._context_limit - width - 2))
            target.verify([0] * (width - 1))
            target.rollback(width - 1)
            target.advance()

    def warm_up_lengths(self, widths: Iterable[int], n_tokens: int = WARM_TOKENS) -> None:
        """Run each width once at each length of keys and values up to a context of so many tokens.

        Where shapes are fixed, a plan is made for each such pair on its first use, for 50 to 80 ms. Elsewhere there is
        nothing to do.

        Args:
            widths: the verify widths that the governor may choose.
            n_tokens: tokens of prompt and reply.
        """
        shapes = self.shapes
        if shapes is None:
            return
        filled = sorted({shapes.fill(width) for width in widths if width > 1})
        target = self._start(self._forward, self._make_caches())
        target.prefill([0])
        while target.offset < min(n_tokens, self._context_limit - shapes.kv_step - max(filled, default=0)):
            for width in filled:
                target.verify([0] * (width - 1))
                target.rollback(width - 1)
            # Each of these rounds has moved the context on by a token.
            target.prefill([0] * (shapes.kv_step - len(filled)))

    def _forward(self, tokens: mx.array, caches: list[Any]) -> mx.array:
        """Feed tokens [B, T]; returns logits [B, T, V]."""
        self._threads.adapt()
        logits: mx.array = self._network(tokens, cache=caches)
        return logits
