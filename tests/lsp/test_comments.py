"""Instructions in comments: found, understood, taken out again."""

from __future__ import annotations

import pytest

from plgd.text.lines import split_lines
from plgd_lsp.blocks import block_after, block_around
from plgd_lsp.comment_place import CommentPlace, without_comment
from plgd_lsp.instruction_comment import Instruction, find_instructions
from plgd_lsp.places import Lines

SHORTEST = {
    "python": "# plgd: sort",
    "javascript": "// plgd: sort",
    "rust": "/// plgd: sort",
    "c": "/* plgd: sort */",
    "css": "/*plgd: sort*/",
    "html": "<!-- plgd: sort -->",
    "markdown": "<!-- plgd: sort -->",
    "vue": "<!-- plgd: sort -->",
    "jinja": "{# plgd: sort #}",
    "handlebars": "{{!-- plgd: sort --}}",
    "gotmpl": "{{/* plgd: sort */}}",
    "sql": "-- plgd: sort",
    "lua": "--[[ plgd: sort ]]",
    "haskell": "{- plgd: sort -}",
    "clojure": ";; plgd: sort",
    "emacs-lisp": ";;; plgd: sort",
    "ini": "; plgd: sort",
    "latex": "% plgd: sort",
    "erlang": "%% plgd: sort",
    "ocaml": "(* plgd: sort *)",
    "fsharp": "(* plgd: sort *)",
    "powershell": "<# plgd: sort #>",
    "julia": "#= plgd: sort =#",
    "vim": '" plgd: sort',
    "vb": "' plgd: sort",
    "bat": "REM plgd: sort",
    "dosbatch": ":: plgd: sort",
    "fortran": "! plgd: sort",
    "restructuredtext": ".. plgd: sort",
    "cobol": "*> plgd: sort",
    "never-heard-of": "; plgd: sort",
}


def found(text: str, start: int, end: int, language: str = "python", marker: str = "plgd:") -> list[Instruction]:
    """Find the instructions for a selection."""
    return list(find_instructions(split_lines(text), Lines(start, end), language, marker))


@pytest.mark.parametrize(("language", "comment"), SHORTEST.items())
def test_every_language_says_it_in_its_own_comment(language: str, comment: str) -> None:
    """The instruction is read without the marks of the comment, and the comment is known exactly."""
    (instruction,) = found(f"  {comment}\nb\na\n", 0, 1, language)
    assert ("sort", CommentPlace(0, comment), Lines(1, 3)) == (
        instruction.instruction,
        instruction.comment,
        instruction.lines,
    )


@pytest.mark.parametrize("text", ["# plgd:\na\n", "# a plgd: sort\n", "plgd: sort\n", "// plgd: sort\n", "# PLGD: x\n"])
def test_what_is_no_instruction(text: str) -> None:
    """An empty one, one in the middle of a comment, and one in no comment of the language are none."""
    assert [] == found(text, 0, 1)


def test_the_marker_can_be_another() -> None:
    """With another marker, plgd's own means nothing."""
    assert ["x"] == [one.instruction for one in found("# AI! x\na\n", 0, 1, marker="AI!")]
    assert [] == found("# plgd: x\na\n", 0, 1, marker="AI!")


def test_a_comment_is_found_from_the_line_below_it() -> None:
    """With the cursor in the line under the comment, the instruction is about that line."""
    text = "# plgd: sort\nb\na\n\nc\n"
    assert [Lines(1, 2)] == [one.lines for one in found(text, 1, 2)]
    assert [] == found(text, 2, 3)


def test_a_selection_says_what_the_instruction_is_about() -> None:
    """Lines that were selected together with the comment are all to be rewritten."""
    text = "a\n# plgd: sort\nb\nc\n"
    assert [Lines(0, 3)] == [one.lines for one in found(text, 0, 3)]


def test_a_comment_behind_code_is_about_its_line() -> None:
    """An instruction at the end of a line is about this line, and not seen from the next one."""
    text = "x = 1  # plgd: make it 2\ny = 1\n"
    (instruction,) = found(text, 0, 1)
    assert (Lines(0, 1), "# plgd: make it 2") == (instruction.lines, instruction.comment.text)
    assert [] == found(text, 1, 2)


def test_a_block_comment_may_have_several_lines() -> None:
    """The lines of a block comment are one instruction."""
    (instruction,) = found("/* plgd: sort\n   the list */\nb\n", 0, 2, "c")
    assert ("sort the list", Lines(2, 3)) == (instruction.instruction, instruction.lines)


def test_several_instructions_are_all_offered() -> None:
    """Each comment in the selection is an action of its own."""
    text = "# plgd: one\na\n# plgd: two\nb\n"
    assert ["one", "two"] == [one.instruction for one in found(text, 0, 4)]


@pytest.mark.parametrize(
    ("text", "n_lines"),
    [
        ("class A:\n    a = 1\n\n    b = 2\n\n\nclass B:\n", 4),
        ("@decorated\ndef f():\n    pass\nx = 1\n", 3),
        ("if a:\n    b\nelse:\n    c\nd\n", 4),
        ("int f() {\n  return 1;\n}\nint g;\n", 3),
        ("int f()\n{\n  return 1;\n}\nint g;\n", 4),
        ("A line.\nAnother one.\n\nA paragraph.\n", 2),
        ("\n\n  x\n  y\nz\n", 4),
        ("<ul>\n\t<li>a</li>\n</ul>\n<p>\n", 3),
    ],
)
def test_the_block_behind_a_comment(text: str, n_lines: int) -> None:
    """A block is what is indented under its first lines, with what closes it, or else a paragraph."""
    block = block_after(split_lines(text), 0)
    assert block is not None
    assert n_lines == block.end


def test_there_may_be_no_block() -> None:
    """Nothing but blank lines to the end is no block."""
    assert block_after(split_lines("\n \n"), 0) is None


def test_a_fault_stands_among_its_neighbours() -> None:
    """The lines around a place reach to the blank lines beside it."""
    assert Lines(2, 5) == block_around(split_lines("a\n\nb\nc\nd\n\ne\n"), Lines(3, 4))
    assert Lines(30, 91) == block_around(split_lines("x\n" * 200), Lines(60, 61))


@pytest.mark.parametrize(
    ("base", "new", "expected"),
    [
        ("# plgd: x\nb\n", "# plgd: x\nB\n", "B\n"),
        ("a\n  # plgd: x\nb", "a\n  # plgd: x\nB", "a\nB"),
        ("a  # plgd: x\n", "A  # plgd: x\n", "A\n"),
        ("a  # plgd: x\r\nb\r\n", "A  # plgd: x\r\nb\r\n", "A\r\nb\r\n"),
        ("# plgd: x\r\nb\r\n", "# plgd: x\r\nB\r\n", "B\r\n"),
        ("# plgd: x\nb\n", "B\n", "B\n"),
        ("a\n# plgd: x", "A\n# plgd: x", "A\n"),
    ],
)
def test_the_comment_goes_with_the_edit(base: str, new: str, expected: str) -> None:
    """The comment is taken out, its whole line where it was alone; a model that did so already is let be."""
    line = next(number for number, line in enumerate(split_lines(base)) if "# plgd" in line)
    assert expected == without_comment(split_lines(base), new, CommentPlace(line, "# plgd: x"))


def test_code_behind_a_block_comment_keeps_its_indentation() -> None:
    """Only the comment goes from before code."""
    assert "   x\n" == without_comment(("  /*plgd: y*/ x\n",), "  /*plgd: y*/ x\n", CommentPlace(0, "/*plgd: y*/"))


def test_of_two_equal_comments_the_right_one_goes() -> None:
    """The comment that was asked for is taken out, where it is after the edit."""
    base = "# plgd: x\na\n# plgd: x\nb\n"
    new = "# plgd: x\na\na2\n# plgd: x\nB\n"
    assert "# plgd: x\na\na2\nB\n" == without_comment(split_lines(base), new, CommentPlace(2, "# plgd: x"))
