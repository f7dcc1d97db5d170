"""What a model should not have said does not reach the text, and ordinary edits are not mistaken for it."""

from __future__ import annotations

import pytest

from plgd.edits.guard import Verdict, check_ending, check_text
from plgd.engine.types import StopReason
from plgd.text.lines import split_lines

MODULE = '''"""Totals."""

from typing import Protocol


class Source(Protocol):
    def read(self) -> bytes: ...


def total(items, rate=0.2):
    """Add up.

    >>> total([1])
    1.2
    """
    result = 0
    for item in items:
        result += item
    result *= 1 + rate
    print("Loading...")
    return result


def matrix(x: tuple[int, ...]) -> None:
    """Do the rest of the work..."""
    x[..., 0] = 1  # ... and so on
'''


def _check(
    source: str,
    reply: str,
    instruction: str = "Rename x",
    language: str = "python",
    *,
    before: str = "",
    after: str = "",
    max_deleted_share: float = 0.6,
) -> Verdict:
    return check_text(
        source,
        reply,
        instruction,
        before=split_lines(before),
        after=split_lines(after),
        language=language,
        control_strings=frozenset(("<|end|>", "<s>")),
        max_deleted_share=max_deleted_share,
    )


@pytest.mark.parametrize(
    ("stopped", "words"),
    [
        (StopReason.MAX_TOKENS, "cut off at the limit of 1,234 tokens"),
        (StopReason.CONTEXT, "after 1,234 tokens the model's context was full"),
        (StopReason.LOOP, "began to repeat itself"),
    ],
)
def test_a_reply_that_did_not_end_by_itself(stopped: StopReason, words: str) -> None:
    """A reply that hit a limit or a loop is told apart, with the number of tokens."""
    assert words in str(check_ending(stopped, 1234))


@pytest.mark.parametrize("stopped", [StopReason.EOS, StopReason.STOP])
def test_a_reply_that_ended_by_itself(stopped: StopReason) -> None:
    """An end token or the closing fence is a proper end."""
    assert check_ending(stopped, 1234) is None


@pytest.mark.parametrize("reply", ["", "\n", "  \n\t\n"])
def test_an_empty_reply(reply: str) -> None:
    """An empty reply never empties a file."""
    for instruction in ("Rename x", "Delete everything"):
        assert Verdict("The model's reply was empty.") == _check(MODULE, reply, instruction)


def test_lines_may_go_as_a_whole_when_asked() -> None:
    """A range may be rewritten to nothing, if the instruction asks for a deletion."""
    assert _check("a\n", "", "Delete these lines", after="x\n").refusal is None
    assert _check("a\n", "", "Rename a", after="x\n").refusal == "The model's reply was empty."


@pytest.mark.parametrize("markup", ["<|im_end|>", "<|end|>", "<think>", "[/INST]"])
def test_chat_markup(markup: str) -> None:
    """Markup of a chat is refused, unless the text or the instruction has it."""
    assert f"'{markup}'" in str(_check("a\n", f"b\n{markup}\n").refusal)
    assert _check(f"a {markup}\n", f"b {markup}\n").refusal is None
    assert _check("a\n", f"b {markup}\n", f"Append {markup}").refusal is None


def test_a_tag_that_is_a_control_token_too() -> None:
    """Some models' control tokens are tags of web pages; those may be added."""
    assert _check("<p>a</p>\n", "<p><s>a</s></p>\n", "Strike it through", "html").refusal is None


def test_a_fence_in_code() -> None:
    """A fence that leaked into code is refused; one in a Markdown file, or asked for, or there before, is not."""
    reply = "a\n```python\nb\n```\n"
    assert "the fence '```python'" in str(_check("a\n", reply).refusal)
    assert _check("a\n", reply, language="markdown").refusal is None
    assert _check("a\n", reply, "Add a code block to the docstring").refusal is None
    assert _check("```python\n```\n", reply).refusal is None


ABOVE = "import os\n\n\ndef first(path):\n    with open(path) as file:\n        return file.read()\n\n\n"
RANGE = "def second(path):\n    return os.stat(path)\n"
BELOW = "\n\ndef third(path):\n    return os.path.exists(path)\n}\n}\n"


@pytest.mark.parametrize(
    "reply",
    [ABOVE + RANGE + BELOW, RANGE + BELOW, ABOVE[11:] + RANGE, RANGE.replace("second", "2nd") + BELOW],
    ids=["whole", "beyond-the-end", "from-above", "changed"],
)
def test_a_reply_that_goes_beyond_the_range(reply: str) -> None:
    """A reply that repeats the lines around the range, which would then stand twice, is refused."""
    assert "goes beyond the lines to rewrite: it repeats 'def " in str(
        _check(RANGE, reply, before=ABOVE, after=BELOW).refusal
    )


@pytest.mark.parametrize(
    "reply",
    [
        RANGE.replace("second", "2nd"),
        f"def zero(path):\n    with open(path) as file:\n        return file.write()\n\n\n{RANGE}",
        f"{RANGE}}}\n}}\n",
        f"{RANGE}\n\ndef third(path):\n    return None\n",
    ],
)
def test_a_reply_that_resembles_its_surroundings(reply: str) -> None:
    """A line or two as they stand next to the range, or brackets, are ordinary."""
    assert Verdict() == _check(RANGE, reply, before=ABOVE, after=BELOW)
    assert Verdict() == _check(RANGE, reply, before="", after="}\n}\n}\n")


PLACEHOLDERS = [
    "# ... rest of the code unchanged ...",
    "# ... existing code ...",
    "    # ... (rest of the function remains the same)",
    "# rest of the code remains unchanged",
    "// ... existing code ...",
    "// rest of the file unchanged",
    "/* ... remaining methods ... */",
    "<!-- ... existing content ... -->",
    "-- ... other columns unchanged",
    "; … rest the same as before …",
    "[... rest of the text unchanged ...]",
    "(rest of the document unchanged)",
    "... remaining items ...",
    "...the rest of the code stays the same...",
    "# ... rest of calculate_total ...",
    "# Remaining code omitted for brevity",
    "{/* ... existing markup unchanged ... */}",
    "# ... (previous code) ...",
    "...",
    "# ...",
    "    # …",
    "// ...",
    '  "...": "...",',
]


@pytest.mark.parametrize("line", PLACEHOLDERS)
def test_a_placeholder_in_place_of_text(line: str) -> None:
    """A line that stands for text the model did not write is refused, in every comment style."""
    lines = MODULE.splitlines(keepends=True)
    reply = "".join(lines[:10]) + line + "\n" + "".join(lines[-2:])
    assert (
        _check(MODULE, reply).refusal == f"The reply leaves text out: it says {line.strip()!r} instead of writing it."
    )


@pytest.mark.parametrize("body", ["def f(x): { ... }", "function f() { … }", "def f(x):  # ..."])
def test_an_elided_body(body: str) -> None:
    """A body that shrank to an ellipsis is refused."""
    assert "leaves text out" in str(_check("a\nb\nc\nd\ne\n", f"a\n{body}\ne\n").refusal)


@pytest.mark.parametrize(
    "line",
    [
        "    def write(self, data: bytes) -> None: ...",
        "        ...",
        "    x[..., 1] = 2",
        "    values: tuple[str, ...] = ()",
        '    print("Same as before...")',
        "# Keep the rest of the arguments for the subcommand",
        "# Wait for the remaining workers to finish...",
        "    *rest, last = items",
        "    existing = load(code)",
        "# See the previous section for the file format.",
        "...and they lived happily ever after.",
        "# Rest of the day",
        "# The remaining functions",
        "* Existing users are kept",
        "    return {**existing, 'code': code}",
        "def f(*args, **kwargs): ...",
    ],
)
def test_ordinary_lines_with_such_words(line: str) -> None:
    """An Ellipsis, a spread, an unfinished sentence and comments with such words are ordinary text."""
    lines = MODULE.splitlines(keepends=True)
    assert Verdict() == _check(MODULE, "".join((*lines[:9], line + "\n", *lines[9:])))


@pytest.mark.parametrize("comment", ["# Add the remaining workers", "# ... and so on", "# Same day"])
def test_an_ordinary_comment_where_lines_went(comment: str) -> None:
    """A comment that says something of its own is ordinary, also where lines became fewer."""
    source = "a = 1\nfor x in y:\n    a += x\nreturn a\n"
    assert Verdict() == _check(source, f"{comment}\nreturn 1 + sum(y)\n")


@pytest.mark.parametrize(
    ("instruction", "line"),
    [
        ("Turn total into a stub", "    ..."),
        ("Replace the body of total by ...", "    ..."),
        ("Write '# ... existing code ...' instead of the body", "    # ... existing code ..."),
    ],
)
def test_a_placeholder_that_was_asked_for(instruction: str, line: str) -> None:
    """An ellipsis or a remark that the instruction asks for is let through."""
    lines = MODULE.splitlines(keepends=True)
    assert _check(MODULE, "".join((*lines[:16], line + "\n", *lines[20:])), instruction).refusal is None


def test_a_placeholder_that_was_there_before() -> None:
    """A remark that the text had already may stay or move."""
    source = "# ... existing code ...\na\nb\nc\nd\n"
    assert Verdict() == _check(source, "a\n    # ... existing code ...\n")


def test_most_of_the_text_gone_unasked() -> None:
    """A reply that lost most of the text is refused; asked for, it is let through with a warning."""
    reply = "".join(MODULE.splitlines(keepends=True)[:8])
    refused = _check(MODULE, reply, "Rename rate to tax_rate")
    assert "deletes 72% of the text, and the instruction does not ask" in str(refused.refusal)
    for instruction in (
        "Delete total",
        "remove the functions",
        "Summarize it",
        "Shorten this",
        "take it all out",
        "total has to go",
        "I want total gone",
        "we don\u2019t need total and vat",
        "nobody uses these, scrap them",
        "there should be no total",
        "We no longer want to see vat.",
        "The function total isn't used",
    ):
        assert Verdict(warnings=("The edit deletes 72% of the text.",)) == _check(MODULE, reply, instruction)
    assert Verdict() == _check(MODULE, reply, max_deleted_share=1.0)


@pytest.mark.parametrize(
    ("source", "reply"),
    [
        ("result = 0\nfor item in items:\n    result += item\nreturn result\n", "return sum(items)\n"),
        (MODULE, MODULE.replace("    ", "\t").replace("total", "t")),
        ("a\n" * 100, "a\n" * 45),
    ],
)
def test_ordinary_shrinking(source: str, reply: str) -> None:
    """A short loop that became one line, other indentation or half of the text are ordinary edits."""
    assert Verdict() == _check(source, reply)
