"""A sketch of a change, and the guess at the text that it means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.edits.placeholders import is_marker
from plgd.edits.sketch import guess_merge
from strategies import line_bodies

SOURCE = """\
import os
import sys

LIMIT = 10


class Store:
    def __init__(self, path):
        self.path = path
        self.items = []

    def add(self, item):
        self.items.append(item)
        return item

    def remove(self, item):
        self.items.remove(item)
        return item


def main():
    store = Store("a")
    store.add(1)
    return store
"""

ONE, TWO, SIX = (
    f"def {name}(a, b):\n    return a {sign} b\n" for name, sign in (("one", "+"), ("two", "-"), ("six", "*"))
)


def merged(sketch: str, source: str = SOURCE) -> str | None:
    """Guess what a sketch of a text means."""
    found = guess_merge(source.splitlines(), sketch.splitlines())
    return None if found is None else "".join(f"{line}\n" for line in found)


@pytest.mark.parametrize(
    "line",
    [
        "# ... existing code ...",
        "    # ... existing code ...",
        "// ... existing code ...",
        "/* ... existing code ... */",
        "<!-- ... existing content ... -->",
        "{/* ... existing code ... */}",
        "-- ... rest of the file ...",
        "; ... existing code ...",
        "% … existing text …",
        "# ...",
        "// ...",
        "# ... middleware setup ...",
        "# ... rest of the class unchanged",
        "... existing text ...",
        '"... existing entries ...",',
    ],
)
def test_markers(line: str) -> None:
    """A marker is known in the comment signs of any language."""
    assert is_marker(line)


@pytest.mark.parametrize(
    "line",
    [
        "...",
        "    ...",
        "x = [...]",
        "# keep the existing code",
        "print('...')",
        "",
        "# Wait... what?",
        "def f(): ...",
        "x",
    ],
)
def test_what_is_no_marker(line: str) -> None:
    """Ellipses that mean something in the language, and ordinary comments, are lines like others."""
    assert not is_marker(line)


def test_a_change_in_the_middle() -> None:
    """Lines between two lines that both have are replaced; markers stand for all that is before and behind them."""
    sketch = (
        "# ... existing code ...\n    def add(self, item):\n        self.items.insert(0, item)\n        return item\n"
    )
    sketch += "# ... existing code ...\n"
    assert SOURCE.replace("append(item)", "insert(0, item)") == merged(sketch)


def test_a_changed_line_beside_a_marker() -> None:
    """A line that was changed, next to a marker, takes the place of the line that it was made of."""
    sketch = "# ... existing code ...\n    def remove(self, item, strict):\n        self.items.remove(item)\n# ...\n"
    assert SOURCE.replace("def remove(self, item)", "def remove(self, item, strict)") == merged(sketch)


def test_an_inserted_method() -> None:
    """New lines behind a shared one are inserted there."""
    sketch = """\
class Store:
    # ... existing code ...
    def add(self, item):
        self.items.append(item)
        return item

    def clear(self):
        self.items = []

    # ... existing code ...
"""
    clear = "\n    def clear(self):\n        self.items = []\n"
    assert SOURCE.replace("        return item\n", f"        return item\n{clear}", 1) == merged(sketch)


def test_several_changes() -> None:
    """Each stretch between markers finds its own place, behind the one before it."""
    sketch = """\
import os
import sys
import json

LIMIT = 20
# ... existing code ...
def main():
    store = Store("b")
    store.add(1)
    # ... existing code ...
"""
    wanted = SOURCE.replace("import sys\n", "import sys\nimport json\n").replace("LIMIT = 10", "LIMIT = 20")
    assert wanted.replace('Store("a")', 'Store("b")') == merged(sketch)


def test_deleted_lines() -> None:
    """Lines that stand between two neighbours of the sketch go."""
    sketch = "# ... existing code ...\n        self.path = path\n\n    def add(self, item):\n# ... existing code ...\n"
    assert SOURCE.replace("        self.items = []\n", "", 1) == merged(sketch)


def test_other_indentation() -> None:
    """A sketch that was written without the indentation gets it back."""
    sketch = """\
# ... existing code ...
def add(self, item):
    self.items.append(item)
    self.log(item)
    return item
# ...
"""
    wanted = SOURCE.replace("append(item)\n", "append(item)\n        self.log(item)\n")
    assert wanted == merged(sketch)
    deeper = (
        sketch.replace("def ", "        def ")
        .replace("    self", "            self")
        .replace("    ret", "            ret")
    )
    assert wanted == merged(deeper)


def test_new_lines_at_the_end() -> None:
    """New lines that end the sketch are appended, and such that begin it go on top."""
    assert f"{SOURCE}\n\ndef other():\n    pass\n" == merged(
        "LIMIT = 10\n# ... existing code ...\n\n\ndef other():\n    pass\n"
    )
    assert f'"""Stores."""\n{SOURCE}' == merged('"""Stores."""\nimport os\n# ... existing code ...\n')


def test_a_whole_text_is_its_own_sketch() -> None:
    """A sketch without markers that is the whole new text is the guess."""
    wanted = SOURCE.replace("item", "entry").replace("LIMIT = 10", "LIMIT = 11")
    assert wanted == merged(wanted)


def test_nothing_in_common() -> None:
    """A sketch that shares no telling line with the text gives no guess."""
    assert merged("# ... existing code ...\n}\nz = 1\n") is None
    assert merged("") is None
    assert merged("# ...\n") is None


def test_a_chance_match_far_away_is_not_believed() -> None:
    """A short line that also stands far below does not make everything between go."""
    source = "".join(f"first_{number} = compute({number})\n" for number in range(40)) + "pass\n"
    sketch = "first_3 = compute(3)\nnew = 1\npass\n# ... existing code ...\n"
    assert source.replace("compute(3)\n", "compute(3)\nnew = 1\npass\n", 1) == merged(sketch, source)


@given(st.lists(line_bodies(), max_size=12), st.lists(line_bodies() | st.just("# ... existing code ..."), max_size=12))
def test_any_sketch_of_any_text(source: list[str], sketch: list[str]) -> None:
    """Whatever two texts hold, a guess has every line of the sketch that is no marker, up to its indentation."""
    found = guess_merge(source, sketch)
    if found is not None:
        rest = iter([line.strip() for line in found])
        assert all(line.strip() in rest for line in sketch if not is_marker(line))


@given(st.lists(st.sampled_from(["alpha", "beta ", "gamma", ""]), min_size=1, max_size=30))
def test_a_text_is_its_own_guess(lines: list[str]) -> None:
    """A sketch that repeats the text changes nothing."""
    assert guess_merge(lines, lines) in (None, tuple(lines))


def test_a_stretch_of_changed_lines_alone() -> None:
    """Lines that were all changed take the place of the lines that they are most like."""
    sketch = "# ... existing code ...\nLIMIT = 20\n# ... existing code ...\n    return store.items\n"
    assert SOURCE.replace("10", "20").replace("return store", "return store.items") == merged(sketch)


def test_a_body_that_is_written_anew_takes_the_old_ones_place() -> None:
    """A line that both share, with other lines deeper below it in the sketch, begins a block that is written anew."""
    sketch = "    def add(self, item):\n        return self.insert(0, item)\n\n    # ... existing code ...\n"
    expected = SOURCE.replace(
        "        self.items.append(item)\n        return item\n", "        return self.insert(0, item)\n", 1
    )
    assert expected == merged(f"# ...\n{sketch}")
    inside = "    def add(self, item):\n        check(item)\n        # ... existing code ...\n"
    added = SOURCE.replace("add(self, item):\n", "add(self, item):\n        check(item)\n")
    assert added == merged(f"# ...\n{inside}# ...\n")


@pytest.mark.parametrize(
    ("sketch", "expected"),
    [
        (f"{ONE}\n\n{SIX}\n\n# ... existing code ...\n", f"{ONE}\n\n{SIX}\n\n{TWO}"),
        (f"# ... existing code ...\n\n\n{SIX}\n\n{TWO}", f"{ONE}\n\n{SIX}\n\n{TWO}"),
    ],
    ids=["before", "after"],
)
def test_a_marker_always_stands_for_something(sketch: str, expected: str) -> None:
    """A function like the only one that a marker can stand for is added beside it and does not take its place."""
    assert expected == merged(sketch, f"{ONE}\n\n{TWO}")
