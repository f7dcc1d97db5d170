"""Reads the body of a chat completion; whatever is not supported is refused by name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from plgd.completions.request import Completion
from plgd.engine.model import Turn
from plgd.http.errors import Refused
from plgd.protocol import sampling as bounds

__all__ = ("IGNORED", "NEUTRAL", "ChatRequest", "read_request")

# They say who asks or how a service keeps its books; nothing here depends on them.
IGNORED: Final = frozenset(
    (
        "metadata",
        "parallel_tool_calls",
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
        "service_tier",
        "store",
        "user",
    )
)
# What is not supported, with the values that ask for nothing.
NEUTRAL: Final[dict[str, tuple[object, ...]]] = {
    "audio": (),
    "function_call": ("none", "auto"),
    "functions": ([],),
    "logprobs": (False,),
    "modalities": (["text"],),
    "n": (1,),
    "reasoning_effort": ("none",),
    "response_format": ({"type": "text"},),
    "tool_choice": ("none", "auto"),
    "tools": ([],),
    "top_logprobs": (0,),
    "verbosity": ("medium",),
    "web_search_options": (),
}
# Model names that ask for the default, for tools that want some name.
_DEFAULT_NAMES: Final = frozenset(("default", "plgd"))
_SEEDS: Final = 2**32
_PLACE: Final = re.compile(r" - at `(?:key in )?\$\.?(.*)`$")
_UNKNOWN: Final = re.compile(r"Object contains unknown field `([^`]*)`")

_Limit = Annotated[int, Meta(ge=1, le=2**31 - 1)]
_StopText = Annotated[str, Meta(min_length=1, max_length=1024)]


class _Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An unknown field is an error."""


class _Part(_Strict, frozen=True):
    type: Literal["text"]
    text: str


class _Message(_Strict, frozen=True):
    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[_Part]


class _Prediction(_Strict, frozen=True):
    type: Literal["content"]
    content: str | list[_Part]


class _StreamOptions(_Strict, frozen=True):
    include_usage: bool = False
    include_obfuscation: bool = False  # pads chunks against listeners on the line; there is no line


class _Body(_Strict, frozen=True):
    model: Annotated[str, Meta(min_length=1, max_length=4096)]
    messages: Annotated[list[_Message], Meta(min_length=1, max_length=4096)]
    prediction: _Prediction | None = None
    stream: bool = False
    stream_options: _StreamOptions = _StreamOptions()
    stop: _StopText | Annotated[list[_StopText], Meta(max_length=16)] = msgspec.field(default_factory=list)
    max_tokens: _Limit | None = None
    max_completion_tokens: _Limit | None = None
    temperature: bounds.Temperature | None = None
    top_p: bounds.TopP | None = None
    top_k: bounds.TopK | None = None
    min_p: bounds.MinP | None = None
    repetition_penalty: bounds.RepetitionPenalty | None = None
    presence_penalty: bounds.Penalty | None = None
    frequency_penalty: bounds.Penalty | None = None
    logit_bias: bounds.LogitBias | None = None
    seed: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | None = None


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request that can be carried out.

    Attributes:
        completion: what is asked.
        named: the model as the client named it.
        model: None for the default.
        stream: answer in chunks.
        include_usage: tell the counts in a last chunk.
    """

    completion: Completion
    named: str
    model: str | None
    stream: bool
    include_usage: bool


def read_request(data: bytes) -> ChatRequest:
    """Read a body.

    Raises:
        Refused: it is not JSON, or asks for something that is wrong or not supported; with status 400.
    """
    try:
        fields = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(400, f"The body is not JSON: {error}.") from error
    if not isinstance(fields, dict):
        raise Refused(400, "The body must be a JSON object.")
    body = _convert(_supported(fields))
    if body.messages[-1].role != "user":
        raise Refused(400, "The last message must be the user's.", param="messages")
    limit = body.max_completion_tokens or body.max_tokens
    if body.max_tokens not in {None, limit}:
        raise Refused(400, "max_tokens and max_completion_tokens contradict each other.", param="max_tokens")
    completion = Completion(
        turns=_turns(body.messages),
        prediction=_text(body.prediction.content) if body.prediction is not None else "",
        stop=(body.stop,) if isinstance(body.stop, str) else tuple(body.stop),
        max_tokens=limit,
        sampling=bounds.SamplingParams(
            temperature=body.temperature,
            top_p=body.top_p,
            top_k=body.top_k,
            min_p=body.min_p,
            repetition_penalty=body.repetition_penalty,
            presence_penalty=body.presence_penalty,
            frequency_penalty=body.frequency_penalty,
            logit_bias=body.logit_bias,
            seed=None if body.seed is None else body.seed % _SEEDS,
        ),
    )
    return ChatRequest(
        completion=completion,
        named=body.model,
        model=None if body.model in _DEFAULT_NAMES else body.model,
        stream=body.stream,
        include_usage=body.stream_options.include_usage,
    )


def _supported(fields: dict[str, Any]) -> dict[str, Any]:
    """Leave out what asks for nothing, and refuse what is not supported."""
    kept: dict[str, Any] = {}
    for name, value in fields.items():
        if value is None or name in IGNORED:
            continue
        if name not in NEUTRAL:
            kept[name] = value
        elif value not in NEUTRAL[name]:
            raise Refused(400, f"`{name}` is not supported here.", param=name, code="unsupported_parameter")
    messages = kept.get("messages")
    if isinstance(messages, list):
        # Clients send replies back with every field that a reply has, most of them null.
        kept["messages"] = [_without_nulls(message) for message in messages]
    return kept


def _without_nulls(message: object) -> object:
    if not isinstance(message, dict):
        return message
    return {name: value for name, value in message.items() if value is not None}


def _convert(fields: dict[str, Any]) -> _Body:
    try:
        return msgspec.convert(fields, _Body, str_keys=True)
    except msgspec.ValidationError as error:
        message = str(error)
        place = _PLACE.search(message)
        unknown = _UNKNOWN.search(message)
        where = place[1] if place else ""
        if unknown:
            where = f"{where}.{unknown[1]}".lstrip(".")
            raise Refused(
                400, f"`{where}` is not supported here.", param=where, code="unsupported_parameter"
            ) from error
        raise Refused(400, f"{message}.", param=where or None) from error


def _turns(messages: list[_Message]) -> tuple[Turn, ...]:
    """Put the system's messages at the beginning into one turn; templates know at most one there."""
    turns: list[Turn] = []
    for message in messages:
        text = _text(message.content)
        role: Literal["system", "user", "assistant"] = "system" if message.role == "developer" else message.role
        if role == "system" and len(turns) == 1 and turns[0].role == "system":
            turns[0] = Turn("system", f"{turns[0].text}\n\n{text}")
        else:
            turns.append(Turn(role, text))
    return tuple(turns)


def _text(content: str | list[_Part]) -> str:
    return content if isinstance(content, str) else "".join(part.text for part in content)
