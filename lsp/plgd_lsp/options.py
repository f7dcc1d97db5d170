"""What an editor sets when it starts the server: `initializationOptions`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, get_type_hints

import msgspec

from plgd.config import PresetConfig
from plgd.protocol.drafting import Policy

__all__ = ("Options", "Review", "read_options")

Review = Literal["apply", "preview"]


@dataclass(frozen=True, slots=True)
class Options:
    """How the server behaves for one editor.

    Attributes:
        review: `apply` puts a result into the buffer at once, `preview` waits until its hunks are accepted.
        model: a model's name; None takes the selected one.
        policy: the governor's policy; None takes the configured one.
        presets: instructions that the editor offers besides those of the configuration.
        comment_marker: what a comment begins with that is an instruction.
    """

    review: Review = "apply"
    model: str | None = None
    policy: Policy | None = None
    presets: tuple[PresetConfig, ...] = ()
    comment_marker: str = "plgd:"


_TYPES: Final = get_type_hints(Options)


def read_options(raw: object) -> tuple[Options, tuple[str, ...]]:
    """Decode what an editor sent; what cannot be used keeps its default.

    Returns:
        The options, and a sentence for a person about each key that was ignored.
    """
    if raw is None:
        return Options(), ()
    if not isinstance(raw, Mapping):
        return Options(), (f"plgd: initializationOptions must be an object, not {type(raw).__name__}.",)
    options, complaints = Options(), []
    for key, value in raw.items():
        if key not in _TYPES:
            near = difflib.get_close_matches(str(key), _TYPES, n=1, cutoff=0.0)[0]
            complaints.append(f"plgd: the option `{key}` is unknown and was ignored; did you mean `{near}`?")
            continue
        try:
            options = replace(options, **{key: msgspec.convert(value, _TYPES[key])})
        except msgspec.ValidationError as error:
            complaints.append(f"plgd: the option `{key}` cannot be used and was ignored: {error}.")
    if not options.comment_marker.strip():
        complaints.append("plgd: the option `comment_marker` is blank and was ignored.")
        options = replace(options, comment_marker=Options().comment_marker)
    return options, tuple(complaints)
