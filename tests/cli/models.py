"""A model that the fake daemon knows."""

from __future__ import annotations

import msgspec

from plgd.protocol.models import ModelInfo

__all__ = ("model_info",)


def model_info(**changes: object) -> ModelInfo:
    """The built-in model, pulled and selected, with some fields changed."""
    builtin = ModelInfo(
        name="builtin",
        source="package index",
        pulled=True,
        path="/cache/models/builtin",
        size_bytes=98_400_000,
        memory_bytes=1_500_000_000,
        context_limit=8192,
        licence="Apache-2.0",
        description="small, always there",
        selected=True,
    )
    return msgspec.structs.replace(builtin, **changes)
