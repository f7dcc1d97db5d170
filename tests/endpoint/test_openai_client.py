"""OpenAI's own client against the endpoint."""

from __future__ import annotations

from collections.abc import Iterable

import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from endpoint.talking import REPLY, answering, openai_client
from plgd.config import EngineConfig
from plgd.paths import Paths
from scripted_model import ScriptedModel

pytestmark = pytest.mark.anyio

ASKED: Iterable[ChatCompletionMessageParam] = [
    {"role": "system", "content": "You write Python."},
    {"role": "user", "content": "Add up the items."},
]


async def test_a_completion_in_one_piece(paths: Paths) -> None:
    """The client gets the model's reply, why it ended, and the counts of its tokens."""
    async with answering(paths) as daemon, openai_client(daemon) as client:
        got = await client.chat.completions.create(model="m", messages=ASKED)
    assert got.usage is not None
    assert ("m", REPLY, "stop") == (got.model, got.choices[0].message.content, got.choices[0].finish_reason)
    # A byte is a token; each turn begins with one, and one ends the reply.
    n_prompt = len("You write Python.") + len("Add up the items.") + 3
    assert (n_prompt, len(REPLY) + 1) == (got.usage.prompt_tokens, got.usage.completion_tokens)
    assert n_prompt + len(REPLY) + 1 == got.usage.total_tokens


async def test_a_completion_as_it_comes(paths: Paths) -> None:
    """A stream begins with the role, brings the reply in pieces, ends with the reason and, if wanted, the counts."""
    async with answering(paths, engine=EngineConfig(policy="off")) as daemon, openai_client(daemon) as client:
        stream = await client.chat.completions.create(
            model="m", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
    assert "assistant" == chunks[0].choices[0].delta.role
    pieces = [chunk.choices[0].delta.content or "" for chunk in chunks[:-1]]
    assert REPLY == "".join(pieces)
    assert len(REPLY) == len([piece for piece in pieces if piece])
    assert [None, "stop"] == [choice.finish_reason for chunk in chunks[-3:-1] for choice in chunk.choices]
    assert [] == chunks[-1].choices
    assert chunks[-1].usage is not None
    assert len(REPLY) + 1 == chunks[-1].usage.completion_tokens
    assert 1 == len({chunk.id for chunk in chunks})


async def test_a_stream_tells_no_counts_unasked(paths: Paths) -> None:
    """Without `include_usage` the last chunk is the one with the reason."""
    async with answering(paths) as daemon, openai_client(daemon) as client:
        stream = await client.chat.completions.create(model="m", messages=ASKED, stream=True)
        chunks = [chunk async for chunk in stream]
    assert "stop" == chunks[-1].choices[0].finish_reason


async def test_an_empty_reply_is_a_reply(paths: Paths) -> None:
    """A model that says nothing is answered with an empty message, in one piece and as a stream."""
    async with answering(paths, ScriptedModel("")) as daemon, openai_client(daemon) as client:
        got = await client.chat.completions.create(model="m", messages=ASKED)
        stream = await client.chat.completions.create(model="m", messages=ASKED, stream=True)
        chunks = [chunk async for chunk in stream]
    assert ("", "stop") == (got.choices[0].message.content, got.choices[0].finish_reason)
    assert ["assistant", None] == [chunk.choices[0].delta.role for chunk in chunks]


async def test_a_prediction_is_accepted(paths: Paths) -> None:
    """What the client expects is drafted from: of a prediction that comes true, nearly all tokens are accepted."""
    async with answering(paths) as daemon, openai_client(daemon) as client:
        plain = await client.chat.completions.create(model="m", messages=ASKED)
        got = await client.chat.completions.create(
            model="m", messages=ASKED, prediction={"type": "content", "content": REPLY}
        )
        parts = await client.chat.completions.create(
            model="m",
            messages=ASKED,
            prediction={"type": "content", "content": [{"type": "text", "text": REPLY}]},
        )
    assert REPLY == got.choices[0].message.content == parts.choices[0].message.content
    accepted = [
        each.usage.completion_tokens_details.accepted_prediction_tokens or 0
        for each in (plain, got, parts)
        if each.usage is not None and each.usage.completion_tokens_details is not None
    ]
    assert accepted[0] < len(REPLY) // 2
    assert accepted[1] == accepted[2] >= len(REPLY) - 4


async def test_a_wrong_prediction_changes_nothing(paths: Paths) -> None:
    """The reply is the model's own whatever was expected; what it did not confirm is counted as rejected."""
    wrong = REPLY.replace("sum(items)", "max(items)")
    async with answering(paths) as daemon, openai_client(daemon) as client:
        got = await client.chat.completions.create(
            model="m", messages=ASKED, prediction={"type": "content", "content": wrong}
        )
    assert REPLY == got.choices[0].message.content
    assert got.usage is not None
    assert got.usage.completion_tokens_details is not None
    assert got.usage.completion_tokens_details.rejected_prediction_tokens


async def test_what_the_user_said_is_drafted_from(paths: Paths) -> None:
    """A tool that sends no prediction gains all the same when the text to rewrite is in its message."""
    async with answering(paths) as daemon, openai_client(daemon) as client:
        got = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": f"Tidy this up:\n{REPLY}"}]
        )
    assert got.usage is not None
    assert got.usage.completion_tokens_details is not None
    assert (got.usage.completion_tokens_details.accepted_prediction_tokens or 0) > len(REPLY) // 2


async def test_the_next_turn_finds_the_conversation_read(paths: Paths) -> None:
    """A conversation that goes on is not read again from its beginning; the client is told how much was known."""
    async with answering(paths) as daemon, openai_client(daemon) as client:
        await client.chat.completions.create(model="m", messages=ASKED)
        got = await client.chat.completions.create(
            model="m",
            messages=[*ASKED, {"role": "assistant", "content": REPLY}, {"role": "user", "content": "Thanks."}],
        )
    assert got.usage is not None
    assert got.usage.prompt_tokens_details is not None
    assert len("You write Python.") + len("Add up the items.") + 2 == got.usage.prompt_tokens_details.cached_tokens


@pytest.mark.parametrize("stream", [False, True])
async def test_a_stop_text_ends_the_reply(paths: Paths, stream: bool) -> None:
    """The reply ends before a stop text, of which nothing is sent."""
    async with answering(paths) as daemon, openai_client(daemon) as client:
        if stream:
            chunks = await client.chat.completions.create(
                model="m", messages=ASKED, stop=["nothing", "sum("], stream=True
            )
            got = "".join([chunk.choices[0].delta.content or "" async for chunk in chunks])
        else:
            whole = await client.chat.completions.create(model="m", messages=ASKED, stop="sum(")
            got = whole.choices[0].message.content or ""
            assert "stop" == whole.choices[0].finish_reason
    assert REPLY.partition("sum(")[0] == got


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
async def test_a_reply_is_cut_off_where_the_client_wants(paths: Paths, name: str) -> None:
    """At the limit the reply ends, and the client is told that it was cut off."""
    async with answering(paths) as daemon, openai_client(daemon) as client:
        got = await client.chat.completions.create(model="m", messages=ASKED, extra_body={name: 7})
    assert (REPLY[:7], "length") == (got.choices[0].message.content, got.choices[0].finish_reason)


async def test_sampling_reaches_the_model(paths: Paths) -> None:
    """Temperature, top_p, penalties, biases and the seed are what the model samples by."""
    model = ScriptedModel(REPLY)
    async with answering(paths, model) as daemon, openai_client(daemon) as client:
        await client.chat.completions.create(
            model="default",
            messages=ASKED,
            temperature=0.5,
            top_p=0.9,
            presence_penalty=0.25,
            frequency_penalty=-0.5,
            logit_bias={"65": -100},
            seed=-1,
        )
    used = model.samplings[-1]
    assert (0.5, 0.9, 0.25, -0.5) == (used.temperature, used.top_p, used.presence_penalty, used.frequency_penalty)
    assert (((65, -100.0),), 2**32 - 1) == (used.logit_bias, used.seed)


async def test_the_models_are_listed(paths: Paths) -> None:
    """The client finds the models that it can ask, and one by its name."""
    async with answering(paths) as daemon, openai_client(daemon) as client:
        assert ["m"] == [model.id async for model in client.models.list()]
        assert "m" == (await client.models.retrieve("m")).id
        with pytest.raises(openai.NotFoundError):
            await client.models.retrieve("owner/none")


async def test_a_wrong_token_is_refused(paths: Paths) -> None:
    """Who does not know the token gets nothing but the client's own error for that."""
    async with answering(paths) as daemon, openai_client(daemon, "0123456789abcdeg") as client:
        with pytest.raises(openai.AuthenticationError) as refused:
            await client.chat.completions.create(model="m", messages=ASKED)
    assert "invalid_api_key" == refused.value.code


async def test_a_model_that_is_not_there(paths: Paths) -> None:
    """An unknown model, and one that was not fetched, are not found."""
    async with answering(paths) as daemon, openai_client(daemon) as client:
        for name in ("unheard-of", "known"):
            with pytest.raises(openai.NotFoundError) as refused:
                await client.chat.completions.create(model=name, messages=ASKED)
            assert ("model_not_found", "model") == (refused.value.code, refused.value.param)


async def test_a_conversation_that_is_too_long(paths: Paths) -> None:
    """What does not fit into the model's context is refused, by the count of tokens or long before that."""
    async with answering(paths, ScriptedModel(REPLY, context_limit=64)) as daemon, openai_client(daemon) as client:
        for n in (64, 2000):
            for stream in (False, True):
                with pytest.raises(openai.BadRequestError) as refused:
                    await client.chat.completions.create(
                        model="m", messages=[{"role": "user", "content": "x" * n}], stream=stream
                    )
                assert "context_length_exceeded" == refused.value.code
