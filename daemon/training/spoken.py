"""Things of code and data told by what they are, where nothing else could be meant."""

from __future__ import annotations

import re
from collections.abc import Iterable

from training.new_names import spoken
from training.words import VERBS, parts_of

__all__ = ("doing", "said")


def said(name: str, others: Iterable[str]) -> str | None:
    """Say a key or a variable in words; None when it says nothing or another one's words hold them all."""
    words = spoken(name)
    if not re.fullmatch(r"[a-z]{3,}(?: [a-z]{2,})*", words):
        return None
    own = set(words.split())
    return None if any(own <= set(spoken(other).split()) for other in others if other != name) else words


def doing(name: str, others: Iterable[str]) -> str | None:
    """Say what a function does: `loads user settings` for `load_user_settings`; None as for `said`, or without verb."""
    verb, *rest = parts_of(name) or [""]
    words = said(name, others)
    if words is None or verb not in VERBS or not rest:
        return None
    ending = "ies" if re.search(r"[^aeiou]y$", verb) else "es" if verb.endswith(("s", "sh", "ch", "x", "z")) else "s"
    stem = verb[:-1] if ending == "ies" else verb
    return f"{stem}{ending} {' '.join(words.split()[1:])}"
