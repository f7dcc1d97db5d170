"""Made-up functions use one variable many times, and are code of their language."""

from __future__ import annotations

import ast
import re
from random import Random

from training.edit import Passage
from training.made_functions import make_functions
from training.operations.python_names import rename_variable


def test_made_functions_are_python() -> None:
    """Every module of functions can be parsed, and no place is left open."""
    for seed in range(150):
        text = make_functions("python", Random(seed), 40)
        ast.parse(text)
        assert not re.search(r"%[a-zA-Z]\b", text.replace("%d", "").replace("%r", ""))


def test_made_functions_are_about_as_long_as_wanted() -> None:
    """So many lines, and a function more at most."""
    for language in ("python", "javascript"):
        for n_lines in (3, 40, 200):
            text = make_functions(language, Random(n_lines), n_lines)
            assert 0.8 * n_lines - 2 <= text.count("\n") <= n_lines + 40


def test_renames_in_made_functions_have_many_places() -> None:
    """A rename changes four places or more in half of them, in spite of names that hold the old one."""
    n_places = []
    for seed in range(80):
        rng = Random(seed)
        text = make_functions("python", rng, 30)
        edit = rename_variable(Passage(text, "python", "a.py"), rng)
        if edit is not None:
            n_places.append(len(re.findall(rf"(?<!\w){edit.slots['new']}(?!\w)", edit.new_text)))
    assert len(n_places) > 60
    assert sum(n >= 4 for n in n_places) > len(n_places) / 2
