"""What the endpoint refuses, in the form that OpenAI's clients understand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from endpoint.talking import REPLY, TOKEN, answering, bare_client
from plgd.config import HttpConfig
from plgd.errors import ClientBusy, TextTooLong
from plgd.http.errors import error_response, refusal_of
from plgd.http.request import IGNORED, NEUTRAL
from plgd.paths import Paths

pytestmark = pytest.mark.anyio

ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Add up the items."}]}
PATH = "/chat/completions"


def error_of(response: httpx2.Response) -> dict[str, Any]:
    """Return the error of a response, which has all four fields of OpenAI's."""
    error: dict[str, Any] = response.json()["error"]
    assert {"message", "type", "param", "code"} == set(error)
    assert error["message"].endswith(".")
    return error


@pytest.mark.parametrize(("seconds", "header"), [(7.2, "8"), (0.2, "1"), (0.0, "1")])
def test_a_full_queue_says_when_to_come_again(seconds: float, header: str) -> None:
    """The daemon's own estimate is told in whole seconds; where it has none, a second."""
    error = ClientBusy.of(3)
    error.retry_after_s = seconds
    assert header == error_response(refusal_of(error)).headers["retry-after"]
    assert "retry-after" not in error_response(refusal_of(TextTooLong("It is too long."))).headers


async def test_another_host_is_refused(paths: Paths) -> None:
    """A page of another site whose name leads here gets nothing, even if it knew the token (DNS rebinding)."""
    async with answering(paths) as daemon, bare_client(daemon) as client:
        for host in (
            "evil.example",
            "evil.example:8791",
            "127.0.0.1.evil.example",
            "localhost@evil",
            "[::1]x",
            "127.0.0.1:x",
            "",
        ):
            for response in (
                await client.get("/models", headers={"host": host}),
                await client.post(PATH, json=ASKED, headers={"host": host}),
            ):
                assert (403, "wrong_host") == (response.status_code, error_of(response)["code"])


async def test_names_of_this_machine_are_no_other_host(paths: Paths) -> None:
    """The loopback address may be named in any way."""
    async with answering(paths) as daemon, bare_client(daemon) as client:
        for host in ("localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8791"):
            assert 200 == (await client.get("/models", headers={"host": host})).status_code


async def test_without_the_token_nothing_is_told(paths: Paths) -> None:
    """Without the token, every path is refused alike, those that do not exist included."""
    async with answering(paths) as daemon, bare_client(daemon) as client:
        for shown in ("", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", TOKEN):
            for path in ("/models", "/nothing"):
                response = await client.get(path, headers={"authorization": shown})
                assert (401, "Bearer") == (response.status_code, response.headers["www-authenticate"])
                assert "invalid_api_key" == error_of(response)["code"]
        assert 200 == (await client.get("/models", headers={"authorization": f"bearer {TOKEN}"})).status_code


async def test_a_body_that_is_too_long(paths: Paths) -> None:
    """A body past the limit is refused, whether it says its length or comes in pieces."""
    http = HttpConfig(enabled=True, port=0, token=TOKEN, body_limit=4096)

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b" " * 1000

    async with answering(paths, http=http) as daemon, bare_client(daemon) as client:
        declared = await client.post(PATH, content=b" " * 4097)
        assert (413, "request_too_large") == (declared.status_code, error_of(declared)["code"])
        in_pieces = await client.post(PATH, content=pieces())
        assert (413, "request_too_large") == (in_pieces.status_code, error_of(in_pieces)["code"])
        assert 200 == (await client.post(PATH, json=ASKED)).status_code


NO_REQUESTS = [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"model": "\\ud800"}', b"[" * 100_000, b'{"a":' * 100_000]


async def test_a_body_that_is_no_request(paths: Paths) -> None:
    """What is not a JSON object of a request is refused, and the next request is answered."""
    async with answering(paths) as daemon, bare_client(daemon) as client:
        for body in NO_REQUESTS:
            response = await client.post(PATH, content=body)
            assert 400 == response.status_code
            assert "invalid_request_error" == error_of(response)["type"]
        assert 200 == (await client.post(PATH, json=ASKED)).status_code


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"messages": []}, "messages"),
    ({"messages": [{"role": "assistant", "content": "x"}]}, "messages"),
    ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
    ({"messages": [{"role": "user"}]}, "messages[0]"),
    ({"messages": [{"role": "user", "content": "x", "name": "me"}]}, "messages[0].name"),
    (
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
        "messages[0].content[0].type",
    ),
    ({"temperature": 2.5}, "temperature"),
    ({"temperature": "hot"}, "temperature"),
    ({"top_p": 0}, "top_p"),
    ({"max_tokens": 0}, "max_tokens"),
    ({"max_tokens": 5, "max_completion_tokens": 6}, "max_tokens"),
    ({"stop": ""}, "stop"),
    ({"logit_bias": {"1": 101}}, "logit_bias[...]"),
    ({"prediction": {"type": "other", "content": "x"}}, "prediction.type"),
    ({"n": 2}, "n"),
    ({"tools": [{"type": "function"}]}, "tools"),
    ({"response_format": {"type": "json_object"}}, "response_format"),
    ({"logprobs": True}, "logprobs"),
    ({"made_up": 1}, "made_up"),
]


async def test_a_wrong_or_unsupported_field_is_named(paths: Paths) -> None:
    """Nothing that would change the reply is ignored: the refusal names the field."""
    async with answering(paths) as daemon, bare_client(daemon) as client:
        for fields, param in WRONG:
            response = await client.post(PATH, json=ASKED | fields)
            assert 400 == response.status_code, fields
            assert param == error_of(response)["param"], fields


async def test_fields_that_ask_for_nothing_are_taken(paths: Paths) -> None:
    """Fields that change nothing, and unsupported ones with the value that asks for nothing, do no harm."""
    asked = ASKED | {name: values[0] if values else None for name, values in NEUTRAL.items()}
    asked |= dict.fromkeys(IGNORED, "x") | {"temperature": None, "stream_options": {"include_obfuscation": True}}
    asked["messages"] = [
        {"role": "developer", "content": [{"type": "text", "text": "You write "}, {"type": "text", "text": "Python."}]},
        {"role": "user", "content": "Add up the items."},
        {"role": "assistant", "content": REPLY, "refusal": None, "tool_calls": None},
        {"role": "user", "content": "Again."},
    ]
    async with answering(paths) as daemon, bare_client(daemon) as client:
        response = await client.post(PATH, json=asked)
    assert (200, REPLY) == (response.status_code, response.json()["choices"][0]["message"]["content"])


async def test_other_paths_and_methods(paths: Paths) -> None:
    """What the endpoint does not have is refused in the same form."""
    async with answering(paths) as daemon, bare_client(daemon) as client:
        assert 404 == (await client.post("/embeddings", json={})).status_code
        wrong = await client.get(PATH)
    assert (405, "not_supported") == (wrong.status_code, error_of(wrong)["code"])
