"""The fingerprint: a hash of a text's bytes, by which a changed text is told from the same one."""

from __future__ import annotations

import hashlib

__all__ = ("fingerprint",)


def fingerprint(data: bytes) -> str:
    """Return the SHA-256 of the bytes, in hexadecimal (64 characters)."""
    return hashlib.sha256(data).hexdigest()
