"""The protocol's documentation, made from its own types: `python -m plgd.protocol.docs > docs/protocol.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import EnumMeta
from typing import Final

import msgspec
from msgspec import inspect as types

from plgd.errors import BY_CODE
from plgd.protocol.conversations import CONVERSATIONS
from plgd.protocol.daemon import PROTOCOL_VERSION
from plgd.protocol.edits import (
    EditResult,
    EditStats,
    EditStatus,
    Hunk,
    ProposerStats,
)
from plgd.protocol.meanings import field_meanings, first_sentence
from plgd.protocol.methods import METHODS, NOTIFICATIONS
from plgd.protocol.reply_drafts import ReplyDrafts, ReplyRun

__all__ = ("example_result", "write_page")

_INTRODUCTION: Final = """\
# Protocol

<!-- Made by `python -m plgd.protocol.docs > docs/protocol.md` from the types in `daemon/plgd/protocol`. -->

The daemon speaks JSON-RPC 2.0 over a Unix socket, `plgd.sock` in its runtime folder (see
[operations](operations.md)). The folder is private to its user, and the daemon refuses peers of other users.

- **One message per line**: UTF-8 JSON without a raw line feed, then a line feed. A message longer than the limit
  (`daemon.frame_limit`) is answered with an error and ends the connection.
- The **first request** is `hello`. A daemon of another protocol refuses it with error data
  `{"daemon_version": TEXT, "stopping": BOOL}`; one that is older than its client finishes its edits and exits
  (`stopping`), so that the client can wait for the end of the connection and start its own.
- **Ids** are strings, or integers within ±2^53. An id can be used again when its request has been answered. Requests
  of one connection run side by side and are answered in the order in which they end.
- **Parameters** are an object and may be left out when they are empty. An unknown or ill-typed field is an error that
  names it. Results may gain fields; clients skip those they do not know.
- **Half a surrogate pair** (`"\\ud83d"` alone, as JavaScript writes it) is valid in JSON, but no text: the request is
  refused under its id with `InvalidParams`, which names the field. A line that is not JSON is refused with the id null.
  After a `document/open` or `document/change` that cannot be read the document is out of step until it is opened again.
- **Batches** (arrays of messages) are refused. Notifications get no answer; unknown ones are ignored.
- `$/cancelRequest` ends a request, which is then answered with the error `Cancelled`, or with its result if that was
  there first. When a client disconnects, or half-closes its socket, its requests are cancelled.
- A client that does not read is given up when more than a message's limit waits for it.
- **Sharing**: edits take turns on the model, or share its passes. `interactive` edits (`priority`) go before `batch`
  ones, which still get their share ([architecture](architecture.md#sharing-the-model)). A newer edit of the same lines
  of a file cancels the older.
- A full queue refuses with `QueueFull`, and a client that has too much in it with `ClientBusy`; the error's data,
  `{"retry_after_s": SECONDS}`, says when to try again.
- An edit with a deadline (`deadline_ms`) that is not done by then ends with `DeadlinePassed`, wherever it is. What was
  being written in that moment is written, and answered.
- **Whatever arrives**, the daemon answers with an error or closes the connection, and serves the next client. A fuzzer
  holds it to that, with a few hundred cases in every run of the tests, and as many as wanted by
  `PYTHONPATH=tests python -m server.fuzz --cases 100000`.
- Lines are counted from 1 and ranges include both ends. Times are in milliseconds and sizes in bytes unless the name
  says otherwise.

From a shell, `plgd rpc METHOD JSON` sends a request and prints its result; [agents](agents/README.md) has examples in
Python and JavaScript.

## Versions

"""
_VERSIONS: Final = f"""\
This is protocol {PROTOCOL_VERSION}, the `protocol` of `hello`. Within a protocol,

- methods, notifications, error codes, optional parameters and fields of results are only added. Nothing is renamed,
  retyped or taken away, no default changes, results have no values besides those listed, and no error code is used for
  something else.
- So an older client understands a newer daemon: it skips fields and notifications that it does not know, and takes an
  error of an unknown code for a failure.
- A newer client does not meet an older daemon: that one makes room for it (above). A client of another make gives as
  `version` the version of plgd that it was written for.

What breaks this raises the number, and the [changelog](changelog.md) says so. For programs, the protocol is described
as JSON Schema (`plgd rpc --schema`: every line fits it) and as [OpenRPC](https://open-rpc.org) (`plgd rpc --openrpc`,
or `rpc.discover` on the socket).
"""


def write_page() -> str:
    """Return the page as Markdown."""
    parts = [_INTRODUCTION + _VERSIONS, *_conversations(), *_methods(), *_notifications(), *_types(), _errors()]
    return "\n".join(parts)


def _conversations() -> Iterator[str]:
    yield "## Conversations\n"
    yield (
        "`-->` is the client, `<--` the daemon, `#` tells what happens beside them. Answers are shortened: fields that "
        "do not matter here are left out.\n"
    )
    for title, text, lines in CONVERSATIONS:
        yield f"### {title}\n\n{text}\n\n```\n{lines}```\n"


def example_result() -> EditResult:
    """Return a result of `edit` with everything in it."""
    return EditResult(
        session="3f2a9c51d07be846",
        status=EditStatus.PROPOSED,
        path="/home/me/shop.py",
        base_fingerprint="5d41402abc4b2a76",
        new_fingerprint="7d793037a0760186",
        version=1,
        new_text="subtotal = 0\n",
        diff="--- a/shop.py\n+++ b/shop.py\n@@ -1 +1 @@\n-total = 0\n+subtotal = 0\n",
        hunks=(Hunk(id=0, old_start=1, old_lines=1, new_start=1, new_lines=1),),
        warnings=(),
        raw_reply="",
        model="builtin",
        stats=EditStats(
            prompt_tokens=61,
            output_tokens=5,
            accepted_prediction_tokens=4,
            rejected_prediction_tokens=3,
            rounds=2,
            acceptance_lengths=(1, 0, 0, 1),
            policy="cost",
            stopped_by="stop",
            proposers={"file": ProposerStats(drafts=2, drafted_tokens=7, accepted_tokens=4)},
        ),
        drafts=ReplyDrafts(
            runs=(
                ReplyRun(text="subtotal", by="correction", round=1, n_tokens=1),
                ReplyRun(text=" = 0\n```", by="file", round=2, n_tokens=4),
            ),
            widths=(4, 5),
        ),
    )


def _methods() -> Iterator[str]:
    yield "## Methods\n"
    for method in METHODS.values():
        yield f"### `{method.name}`\n\n{method.summary}\n"
        yield _table(method.params, sent_by_client=True)
        yield f"Result: {first_sentence(method.result)}\n"
        yield _table(method.result)


def _notifications() -> Iterator[str]:
    yield "## Notifications\n"
    for note in NOTIFICATIONS.values():
        yield f"### `{note.name}`\n\nSent by the {note.sender}. {note.summary}\n"
        yield _table(note.params, sent_by_client=note.sender == "client")


def _types() -> Iterator[str]:
    yield "## Types\n"
    roots = [part for method in METHODS.values() for part in (method.params, method.result)]
    roots += [note.params for note in NOTIFICATIONS.values()]
    nested = {inner.__name__: inner for root in roots for inner in _inner_types(types.type_info(root))}
    for name in sorted(nested):
        found = nested[name]
        yield f"### {name}\n\n{first_sentence(found)}\n"
        if isinstance(found, EnumMeta):
            yield "One of " + ", ".join(f"`{member.value}`" for member in found) + ".\n"  # type: ignore[var-annotated]
        else:
            yield _table(found)


def _inner_types(info: types.Type) -> Iterator[type]:
    """Yield the structs and enumerations inside a type, at any depth."""
    match info:
        case types.StructType(fields=fields):
            inner = [each.type for each in fields]
        case types.VarTupleType(item_type=item):
            inner = [item]
        case types.DictType(key_type=key, value_type=value):
            inner = [key, value]
        case types.UnionType(types=members):
            inner = list(members)
        case _:
            return
    for each in inner:
        if isinstance(each, types.StructType | types.EnumType):
            yield each.cls
        yield from _inner_types(each)


def _table(struct: type, *, sent_by_client: bool = False) -> str:
    info = types.type_info(struct)
    if not isinstance(info, types.StructType) or not info.fields:
        return "No parameters.\n" if sent_by_client else "No fields.\n"
    meanings = field_meanings(struct)
    rows = (
        ["| Parameter | Type | Default | Meaning |", "|---|---|---|---|"]
        if sent_by_client
        else ["| Field | Type | Meaning |", "|---|---|---|"]
    )
    for each in info.fields:
        cells = [f"`{each.encode_name}`", _type_name(each.type)]
        if sent_by_client:
            cells.append("required" if each.required else f"`{msgspec.json.encode(each.default).decode()}`")
        cells.append(meanings.get(each.name, "").replace("|", "\\|"))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _type_name(info: types.Type) -> str:
    match info:
        case types.StructType(cls=cls) | types.EnumType(cls=cls):
            return f"[{cls.__name__}](#{cls.__name__.lower()})"
        case types.VarTupleType(item_type=item):
            return f"array of {_type_name(item)}"
        case types.UnionType(types=members):
            return " or ".join(_type_name(member) for member in members)
        case types.DictType(key_type=key, value_type=value):
            return f"object from {_type_name(key)} to {_type_name(value)}"
        case types.LiteralType(values=values):
            return ", ".join(f"`{value}`" for value in values)
        case _:
            return _SIMPLE[type(info)]


_SIMPLE: Final[dict[type[types.Type], str]] = {
    types.StrType: "string",
    types.IntType: "integer",
    types.FloatType: "number",
    types.BoolType: "boolean",
    types.NoneType: "null",
    types.AnyType: "any",
}


def _errors() -> str:
    rows = [
        "## Errors\n",
        "An error's `message` is one sentence for a person and says what to do. Clients decide by `code`.\n",
        "| Code | Name | Meaning | Exit code of `plgd` |",
        "|---|---|---|---|",
    ]
    rows += [
        f"| {code} | `{cls.__name__}` | {first_sentence(cls)} | {cls.exit_code} |"
        for code, cls in sorted(BY_CODE.items())
    ]
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.stdout.write(write_page())
