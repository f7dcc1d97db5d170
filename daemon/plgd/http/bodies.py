"""The JSON of replies, as OpenAI's chat completions have it."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from typing import Any

import msgspec

from plgd.completions.request import CompletionResult
from plgd.protocol.models import ModelInfo

__all__ = ("ReplyBodies", "encode", "model_body", "usage_body")


def encode(body: object) -> bytes:
    """Return a body as JSON."""
    return msgspec.json.encode(body)


def usage_body(result: CompletionResult) -> dict[str, Any]:
    """Return the counts of a reply. Rejected tokens are no part of it: they were not emitted."""
    return {
        "prompt_tokens": result.n_prompt_tokens,
        "completion_tokens": result.n_tokens,
        "total_tokens": result.n_prompt_tokens + result.n_tokens,
        "prompt_tokens_details": {"cached_tokens": result.n_cached_tokens},
        "completion_tokens_details": {
            "accepted_prediction_tokens": result.n_accepted,
            "rejected_prediction_tokens": result.n_drafted - result.n_accepted,
        },
    }


def model_body(model: ModelInfo) -> dict[str, Any]:
    """Return a model; when it was made is not known."""
    return {"id": model.name, "object": "model", "created": 0, "owned_by": "plgd"}


def _new_id() -> str:
    return f"chatcmpl-{secrets.token_hex(12)}"


def _now() -> int:
    return int(time.time())


@dataclass(frozen=True, slots=True)
class ReplyBodies:
    """The bodies of one reply, in one piece or in chunks; they share id and time.

    Attributes:
        model: as the client named it.
    """

    model: str
    id: str = field(default_factory=_new_id)
    created: int = field(default_factory=_now)

    def whole(self, result: CompletionResult) -> dict[str, Any]:
        """Return the reply in one piece."""
        message = {"role": "assistant", "content": result.text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": result.finish}
        return self._body("chat.completion", [choice]) | {"usage": usage_body(result)}

    def chunk(self, delta: dict[str, str], finish: str | None = None) -> dict[str, Any]:
        """Return a chunk."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._body("chat.completion.chunk", [choice])

    def usage_chunk(self, result: CompletionResult) -> dict[str, Any]:
        """Return the chunk behind the last one that tells the counts."""
        return self._body("chat.completion.chunk", []) | {"usage": usage_body(result)}

    def _body(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model, "choices": choices}
