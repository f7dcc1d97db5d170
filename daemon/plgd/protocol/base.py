"""What all messages share."""

from __future__ import annotations

import msgspec

__all__ = ("Message", "NoParams", "Reply")


class Message(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What all parameter types share: an unknown field is an error that names it, defaults are not sent."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What all result types share: unknown fields of a newer daemon are skipped, every field is sent."""


class NoParams(Message, frozen=True):
    """A method without parameters."""
