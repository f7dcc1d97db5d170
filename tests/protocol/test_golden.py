"""The bytes on the wire stay what they are: an old client and a new daemon must understand each other.

A golden file changes only together with a sentence in the changelog.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from plgd.protocol import envelope
from plgd.protocol.methods import METHODS, NOTIFICATIONS
from protocol.samples import NOTES, REFUSAL, REQUESTS, RESULTS

GOLDEN = Path(__file__).parent / "golden"
LINES = {
    **{f"{name}.request": line for name, line in REQUESTS.items()},
    **{f"{name}.result": envelope.encode_success(1, result) for name, result in RESULTS.items()},
    **{f"{name}.notification": envelope.encode_note(NOTIFICATIONS[name], note) for name, note in NOTES.items()},
    "refusal": REFUSAL,
}


def file_of(name: str) -> Path:
    """Return the golden file of a message."""
    return GOLDEN / f"{name.removeprefix('$/').replace('/', '-')}.json"


@pytest.mark.parametrize("name", LINES)
def test_a_message_is_sent_as_it_always_was(name: str) -> None:
    """Encoding a sample gives the golden bytes."""
    assert file_of(name).read_bytes() == LINES[name]


@pytest.mark.parametrize("name", RESULTS)
def test_an_old_result_is_understood(name: str) -> None:
    """Decoding golden bytes gives the sample."""
    message = envelope.decode(file_of(f"{name}.result").read_bytes())
    assert isinstance(message, envelope.Success)
    assert RESULTS[name] == envelope.decode_result(METHODS[name], message.result)


@pytest.mark.parametrize("name", NOTES)
def test_an_old_notification_is_understood(name: str) -> None:
    """Decoding golden bytes gives the sample."""
    message = envelope.decode(file_of(f"{name}.notification").read_bytes())
    assert isinstance(message, envelope.Note)
    assert NOTES[name] == envelope.decode_note(NOTIFICATIONS[name], message.params)


def test_a_result_of_a_newer_daemon_is_understood() -> None:
    """Fields that a client does not know are skipped in results."""
    line = file_of("hello.result").read_bytes().replace(b'{"protocol"', b'{"news":[1],"protocol"')
    message = envelope.decode(line)
    assert isinstance(message, envelope.Success)
    assert RESULTS["hello"] == envelope.decode_result(METHODS["hello"], message.result)


def test_every_message_has_a_golden_file() -> None:
    """Each method's request and result and each notification is pinned, and no file is left over."""
    assert set(METHODS) == set(REQUESTS) == set(RESULTS)
    assert set(NOTIFICATIONS) == set(NOTES)
    assert {file_of(name) for name in LINES} == set(GOLDEN.iterdir())
