"""What is a JSON-RPC message, and what the daemon says of what is none."""

from __future__ import annotations

import json
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.errors import InvalidParams, InvalidRequest, ParseError, PlgdError
from plgd.protocol import envelope
from plgd.protocol.base import NoParams
from plgd.protocol.daemon import CancelParams
from plgd.protocol.edits import EditParams, LineRange
from plgd.protocol.methods import CANCEL, EDIT, PING

DEEP = b"[" * 100_000


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "Not JSON"),
        (b'{"jsonrpc":"2.0","id":1,"meth', "Not JSON"),
        (b"GET / HTTP/1.1", "Not JSON"),
        (b'{"jsonrpc":5,"id":', "Not JSON"),
        (b'{"jsonrpc":"2.0","id":"\xff"}', "Not JSON"),
        (rb'{"jsonrpc":"2.0","id":1,"result":"\ud800"}', "Not JSON"),
        (rb'{"jsonrpc":"2.0","id":1,"method":"a","params":{"\ud800":1}', "Not JSON"),
        (rb'{"jsonrpc":"2.0","id":1,"method":"a","params":["\ud800",NaN]}', "Not JSON"),
        (rb'{"jsonrpc":"2.0","id":1,"method":"a","params":["\ud800",' + DEEP, "nested too deeply"),
        (rb'{"jsonrpc":"2.0","id":1,"method":"a","params":"\ud800' + b"\xed\xa0\xbd" + b'"}', "Not JSON"),
        (b'{"jsonrpc":"2.0","method":"ping"} {}', "Not JSON"),
        (DEEP, "nested too deeply"),
        (b'{"jsonrpc":"2.0","method":"ping","params":' + DEEP, "nested too deeply"),
    ],
)
def test_what_is_not_json_is_a_parse_error(line: bytes, words: str) -> None:
    """Cut, foreign and malicious lines are told apart from wrong messages."""
    with pytest.raises(ParseError, match=words):
        envelope.decode(line)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"[]", "Batches are not supported"),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', "Batches are not supported"),
        (b'"ping"', "Expected `object`"),
        (b"{}", "missing required field `jsonrpc`"),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', "field `jsonrpc`"),
        (b'{"jsonrpc":"2.0"}', "no method and is no response"),
        (b'{"jsonrpc":"2.0","id":1}', "no method and is no response"),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', "field `method`"),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', "not null"),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', "field `id`"),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', "field `id`"),
        (b'{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', "field `id`"),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}', "field `error.code`"),
    ],
)
def test_json_that_is_no_message_is_an_invalid_request(line: bytes, words: str) -> None:
    """The error says which member is wrong."""
    with pytest.raises(InvalidRequest, match=words):
        envelope.decode(line)


@pytest.mark.parametrize("request_id", [7, -(2**53), "seven", "\U0001f600"])
@pytest.mark.parametrize(
    ("params", "where"),
    [
        ({"text": "a\ud83dz"}, "field `text`"),
        ({"text": "\ude00"}, "field `text`"),
        ({"text": "\ud83d\ud83d\ude00"}, "field `text`"),
        ({"text": "ok", "changes": [{"text": "\ud83d"}, {"text": "\ude00"}]}, "field `changes[0].text`"),
        ({"changes": [[], [{}, "\udfff"]], "text": "\ud83d"}, "field `changes[1][1]`"),
        ({"range": {"\ud83d": 1}}, "a key of field `range`"),
        ({"\ud83d": 1}, "a key of field `params`"),
        ({"x" * 1000: "\ud83d"}, f"field `{'x' * 100}...`"),
    ],
)
def test_half_a_surrogate_pair_is_found(request_id: int | str, params: object, where: str) -> None:
    """A request that JSON can carry and no text can keeps its id and method, and says where it is."""
    # Python's own writer joins the halves of a pair only when it reads them.
    line = json.dumps({"jsonrpc": "2.0", "id": request_id, "method": "document/change", "params": params}).encode()
    message = envelope.decode(line)
    assert isinstance(message, envelope.Request)
    assert (request_id, "document/change", where) == (message.id, message.method, message.half)


def test_half_a_surrogate_pair_is_not_looked_for_without_end() -> None:
    """Behind more than any client sends, the request still has its id."""
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "a", "params": [[]] * 300_000 + ["\ud83d"]}).encode()
    message = envelope.decode(line)
    assert isinstance(message, envelope.Request)
    assert (1, "the message") == (message.id, message.half)


def test_half_a_surrogate_pair_where_nobody_can_be_answered() -> None:
    """A notification stays one, and an id that no answer can carry makes a request one."""
    note = {"jsonrpc": "2.0", "method": "a", "params": {"text": "\ud83d"}}
    for message, where in ((note, "field `text`"), (note | {"id": "\ud83d", "params": {}}, "field `id`")):
        made = envelope.decode(json.dumps(message).encode())
        assert isinstance(made, envelope.Note)
        assert where == made.half


def test_whole_surrogate_pairs_are_text() -> None:
    """A pair of escapes is one character, and an escaped backslash before a `u` begins no escape."""
    line = rb'{"jsonrpc":"2.0","id":1,"method":"edit","params":{"instruction":"\ud83d\ude00\\ud83d"}}'
    message = envelope.decode(line)
    assert isinstance(message, envelope.Request)
    assert message.half is None
    assert "\U0001f600\\ud83d" == envelope.decode_params(EDIT, message.params).instruction


def test_json_with_half_a_surrogate_pair_that_is_no_message() -> None:
    """It is refused for what it is."""
    with pytest.raises(InvalidRequest, match="field `jsonrpc`"):
        envelope.decode(rb'{"id":1,"method":"\ud83d"}')


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_line_is_a_message_or_one_of_two_errors(line: bytes) -> None:
    """No line at all makes the decoder fail in another way."""
    with suppress(ParseError, InvalidRequest):
        envelope.decode(line)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "other"])


@given(st.dictionaries(MEMBERS, JSON | st.just("2.0"), max_size=6))
def test_any_object_is_a_message_or_an_invalid_request(members: dict[str, object]) -> None:
    """Whatever types the members have, a JSON object is decoded or refused as a message."""
    with suppress(InvalidRequest):
        envelope.decode(msgspec.json.encode(members))


@given(st.integers(-(2**53), 2**53) | st.text(max_size=9), st.text(max_size=30), st.integers(1, 9) | st.none())
def test_a_request_arrives_as_it_was_sent(request_id: int | str, instruction: str, first: int | None) -> None:
    """A request survives the wire, one line and nothing but a line."""
    lines = None if first is None else LineRange(first=first, last=9)
    params = EditParams(instruction=instruction, path="/x", range=lines)
    line = envelope.encode_request(request_id, EDIT, params)
    assert line.index(b"\n") == len(line) - 1
    message = envelope.decode(line)
    assert isinstance(message, envelope.Request)
    assert (request_id, "edit") == (message.id, message.method)
    assert params == envelope.decode_params(EDIT, message.params)


def test_a_message_without_id_is_a_notification() -> None:
    """Only a message with an id wants an answer."""
    message = envelope.decode(envelope.encode_note(CANCEL, CancelParams(id="a")))
    assert isinstance(message, envelope.Note)
    assert CancelParams(id="a") == envelope.decode_note(CANCEL, message.params)


def test_parameters_may_be_left_out_when_they_are_empty() -> None:
    """`ping` needs no `params` member."""
    message = envelope.decode(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert isinstance(message, envelope.Request)
    assert NoParams() == envelope.decode_params(PING, message.params)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        (b'{"instruction":"x","range":{"first":1}}', "edit: Object missing required field `last`"),
        (b'{"instruction":5}', r"Expected `str`, got `int` \(field `instruction`\)"),
        (b'{"instruction":"x","range":{"first":"a","last":2}}', "field `range.first`"),
        (b'{"instruction":"x","pth":"/a"}', "unknown field `pth`"),
        (b'{"instruction":"x","mode":"overwrite"}', "field `mode`"),
        (b'["x"]', "Expected `object`, got `array`"),
        (b"null", "Expected `object`, got `null`"),
        (b'{"instruction":"\xff"}', "Invalid UTF-8"),
        (b'{"instruction":' + DEEP, "nested too deeply|Expected `str`"),
    ],
)
def test_wrong_parameters_are_named(params: bytes, words: str) -> None:
    """A client learns which field of which method is wrong."""
    with pytest.raises(InvalidParams, match=words):
        envelope.decode_params(EDIT, msgspec.Raw(params))


def test_an_error_with_a_name_that_utf8_cannot_carry_is_still_sent() -> None:
    """File names that are not UTF-8 appear escaped in errors."""
    message = envelope.decode(envelope.encode_failure(1, PlgdError("caf\udce9.py: no such file")))
    assert isinstance(message, envelope.Failure)
    assert "caf\\udce9.py: no such file" == message.error.message


def test_request_with_half_a_character_is_refused() -> None:
    """A path that UTF-8 cannot hold is not sent under another name: that would be another file."""
    with pytest.raises(InvalidParams, match="edit: a text in it is not valid Unicode"):
        envelope.encode_request(1, EDIT, EditParams(instruction="x", path="/caf\udce9/a.py"))
