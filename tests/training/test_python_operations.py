"""What the operations on Python make of small texts."""

from __future__ import annotations

import pytest

from edit_examples import Example, check

FUNCTIONS = "def first(total):\n    return total + 1\n\n\ndef second():\n    return 2\n"

EXAMPLES = (
    Example(
        "rename_variable",
        "a.py",
        'def f(total):\n    totals = total  # totals stay\n    return {"total": totals}, x.total, f"{total}"\n',
        'def f(<new>):\n    totals = <new>  # totals stay\n    return {"total": totals}, x.total, f"{<new>}"\n',
        (("old", "total"),),
    ),
    Example(
        "rename_variable",
        "one_of_two.py",
        "def f(n_rows):\n    return n_rows\n\n\ndef g(n_rows):\n    return -n_rows\n",
        "def f(<new>):\n    return <new>\n\n\ndef g(n_rows):\n    return -n_rows\n",
        (("function", "f"),),
    ),
    Example(
        "rename_variable",
        "documented.py",
        'def f(n_rows):\n    """Count `n_rows` rows."""\n    return n_rows\n',
        'def f(<new>):\n    """Count `<new>` rows."""\n    return <new>\n',
    ),
    Example("rename_two", "a.py", "one = 1\ntwo = one\n", "<new> = 1\n<new2> = <new>\n", (("old", "one"),)),
    Example(
        "rename_function",
        "a.py",
        'def load():\n    return 1\n\n\n__all__ = ("load",)\nreload = load()\n',
        'def <new>():\n    return 1\n\n\n__all__ = ("<new>",)\nreload = <new>()\n',
    ),
    Example(
        "rename_method",
        "a.py",
        "class A:\n    def load(self):\n        return self.load()\n",
        "class A:\n    def <new>(self):\n        return self.<new>()\n",
    ),
    Example("rename_class", "a.py", "class Old:\n    pass\n\n\nOld()\n", "class <new>:\n    pass\n\n\n<new>()\n"),
    Example(
        "rename_attribute",
        "a.py",
        "class A:\n    def f(self):\n        self.size = 1\n        return self.size\n",
        "class A:\n    def f(self):\n        self.<new> = 1\n        return self.<new>\n",
    ),
    Example(
        "rename_self_attribute",
        "a.py",
        "class A:\n    def f(self, size):\n        self.size = size\n",
        "class A:\n    def f(self, size):\n        <new> = size\n",
    ),
    Example("change_case", "a.py", "n_rows = 1\nprint(n_rows)\n", "nRows = 1\nprint(nRows)\n"),
    Example("change_literal", "a.py", "LIMIT = 10\n", "LIMIT = <new>\n"),
    Example("replace_value", "a.py", "wait(404)\n", "wait(<new>)\n"),
    Example("change_default", "a.py", "def f(a, b=3):\n    pass\n", "def f(a, b=<new>):\n    pass\n"),
    Example("change_operator", "a.py", "a = b > c\n", "a = b <other> c\n"),
    Example("change_return", "a.py", "def f():\n    return 1\n", "def f():\n    return <new>\n"),
    Example("change_message", "a.py", 'raise E("not found here")\n', 'raise E("<new>")\n'),
    Example("change_condition", "a.py", "if a:\n    b()\n", "if <new>:\n    b()\n"),
    Example("change_argument", "a.py", "go(a, n=1)\n", "go(a, n=<new>)\n"),
    Example("add_argument", "a.py", "load(path)\n", "load(path, timeout=10)\n", (("argument", "timeout=10"),)),
    Example("remove_argument", "a.py", "go(a, n=1)\n", "go(a)\n"),
    Example("change_error", "a.py", "raise KeyError(1)\n", "raise <new>(1)\n"),
    Example("set_variable", "a.py", "a = f(1)\n", "a = <new>\n"),
    Example("fix_missing", "a.py", "def f(a):\n    return a\n", "def f(a):\n    return a\n", (("what", "return"),)),
    Example(
        "include_limit",
        "a.py",
        "def f(a):\n    return a < 3\n\n\ndef g(a):\n    return a == 3\n",
        "def f(a):\n    return a <= 3\n\n\ndef g(a):\n    return a == 3\n",
        (("limit", "3"), ("function", "f")),
    ),
    Example("delete_function", "a.py", FUNCTIONS, "def second():\n    return 2\n", (("name", "first"),)),
    Example(
        "delete_function", "last.py", FUNCTIONS, "def first(total):\n    return total + 1\n", (("name", "second"),)
    ),
    Example(
        "delete_method",
        "a.py",
        "class A:\n    def f(self):\n        pass\n\n    def g(self):\n        pass\n\n\nx = 1\n",
        "class A:\n    def f(self):\n        pass\n\n\nx = 1\n",
        (("name", "g"),),
    ),
    Example("delete_class", "a.py", "class A:\n    x = 1\n\n\ny = 2\n", "y = 2\n"),
    Example("delete_prints", "a.py", "def f():\n    print(1)\n    return 2\n", "def f():\n    return 2\n"),
    Example("delete_prints", "none.py", "def f():\n    return 2\n", "def f():\n    return 2\n"),
    Example("delete_asserts", "a.py", "assert a, (\n    1\n)\nb()\n", "b()\n"),
    Example("delete_comments", "a.py", 'a = "#"  # why\n# alone\nb = 1\n', 'a = "#"\nb = 1\n'),
    Example("delete_docstrings", "a.py", 'def f():\n    """Do."""\n    return 1\n', "def f():\n    return 1\n"),
    Example(
        "delete_docstring",
        "a.py",
        'def f():\n    """Do."""\n    return 1\n\n\ndef g():\n    """Go."""\n    return 1\n',
        'def f():\n    return 1\n\n\ndef g():\n    """Go."""\n    return 1\n',
        (("function", "f"),),
    ),
    Example("delete_statement", "a.py", "start()\nstop()\n", "stop()\n", (("line", "start()"),)),
    Example("delete_import", "a.py", "import os\nimport sys\n", "import sys\n", (("name", "os"),)),
    Example(
        "delete_import", "from.py", "import os\nfrom a import b, c\n", "import os\nfrom a import c\n", (("name", "b"),)
    ),
    Example("delete_decorator", "a.py", "@cache\ndef f():\n    pass\n", "def f():\n    pass\n"),
    Example("delete_annotations", "a.py", "def f(a: int, b: str) -> None:\n    pass\n", "def f(a, b):\n    pass\n"),
    Example("add_parameter", "a.py", "def f(a):\n    pass\n", "def f(a, <parameter>):\n    pass\n"),
    Example(
        "add_parameter",
        "long.py",
        "def f(\n    a,\n    b,\n):\n    pass\n",
        "def f(\n    a,\n    b,\n    <parameter>,\n):\n    pass\n",
    ),
    Example("add_parameter", "none.py", "def f():\n    pass\n", "def f(<parameter>):\n    pass\n"),
    Example("add_import", "a.py", "import a1\n\nx = 1\n", "import a1\n<statement>\n\nx = 1\n"),
    Example("insert_after", "a.py", "x = load()\n", "x = load()\n<new>\n"),
    Example("insert_before", "a.py", "x = load()\n", "<new>\nx = load()\n"),
    Example(
        "insert_at_start",
        "a.py",
        'def f():\n    """Do."""\n    return 1\n',
        'def f():\n    """Do."""\n    <new>\n    return 1\n',
    ),
    Example("insert_at_end", "a.py", "def f():\n    go()\n", "def f():\n    go()\n    <new>\n"),
    Example(
        "add_guard",
        "a.py",
        "def f(a):\n    return a\n",
        "def f(a):\n    if not a:\n        return None\n    return a\n",
        (("condition", "a is empty"), ("action", "return None")),
    ),
    Example("add_docstring", "a.py", "def f():\n    return 1\n", 'def f():\n    """<doc>"""\n    return 1\n'),
    Example("annotate_parameter", "a.py", "def f(a):\n    pass\n", "def f(a: <type>):\n    pass\n"),
    Example("annotate_return", "a.py", "def f(a):\n    pass\n", "def f(a) -> <type>:\n    pass\n"),
    Example("annotate_all", "a.py", "def f(a, b):\n    pass\n", "def f(<listed>) -> <type>:\n    pass\n"),
    Example("add_base", "a.py", "class A:\n    pass\n", "class A(<base>):\n    pass\n"),
    Example("single_quotes", "a.py", 'a = f("b")\n', "a = f('b')\n"),
    Example("double_quotes", "a.py", "a = f('b')\n", 'a = f("b")\n'),
    Example("is_none", "a.py", "a = b is None\n", "a = b is None\n"),
    Example("print_to_logging", "a.py", "print(a)\n", "<call>(a)\n"),
    Example("to_f_string", "a.py", 'a = "%s of %s" % (b, c.d)\n', 'a = f"{b} of {c.d}"\n'),
    Example("to_f_string", "back.py", 'a = f"{b}!"\n', 'a = f"{b}!"\n'),
    Example(
        "wrap_try",
        "a.py",
        "def f():\n    run_all(1)\n",
        "def f():\n    try:\n        run_all(1)\n    except <error>:\n        <action>\n",
    ),
    Example("wrap_if", "a.py", "run_all(1)\n", "if <condition>:\n    run_all(1)\n"),
    Example("wrap_with", "a.py", "run_all(1)\n", "with <manager>:\n    run_all(1)\n"),
    Example(
        "wrap_body_try",
        "a.py",
        'def f():\n    """Do."""\n    run_all(1)\n    go()\n',
        'def f():\n    """Do."""\n    try:\n        run_all(1)\n        go()\n    except <error>:\n        <action>\n',
    ),
    Example("sort_imports", "a.py", "import a\nimport b\nimport c\n", "import a\nimport b\nimport c\n"),
    Example("sort_collection", "a.py", 'A = ["c", "a", "b"]\n', 'A = ["a", "b", "c"]\n'),
    Example("make_async", "a.py", "def f():\n    pass\n", "async def f():\n    pass\n"),
    Example("make_sync", "a.py", "async def f():\n    pass\n", "def f():\n    pass\n"),
    Example(
        "swap_functions",
        "a.py",
        FUNCTIONS,
        "def second():\n    return 2\n\n\ndef first(total):\n    return total + 1\n",
    ),
    Example(
        "drop_else",
        "a.py",
        "def f(a):\n    if a:\n        return 1\n    else:\n        b()\n        return 2\n",
        "def f(a):\n    if a:\n        return 1\n    b()\n    return 2\n",
    ),
    Example("augment", "a.py", "a += 1\n", "a += 1\n"),
    Example("not_in", "a.py", "a = b not in c\n", "a = b not in c\n"),
    Example("empty_check", "a.py", "if not rows:\n    a()\n", "if not rows:\n    a()\n"),
    Example("truth_check", "a.py", "if not a.b:\n    c()\n", "if not a.b:\n    c()\n"),
    Example("type_check", "a.py", "assert isinstance(a, B)\n", "assert isinstance(a, B)\n"),
    Example("comprehension", "a.py", "a = [b(c) for c in d if c]\n", "a = [b(c) for c in d if c]\n"),
    Example("open_with", "a.py", "with open(a) as b:\n    b.read()\n", "with open(a) as b:\n    b.read()\n"),
    Example("py_add_item", "a.py", "A = [1, 2]\n", "A = [1, 2, <item>]\n"),
    Example("py_remove_item", "a.py", "A = [1, 2, 3]\n", "A = [1, 3]\n", (("item", "2"),)),
    Example(
        "py_remove_item",
        "long.py",
        "A = [\n    1,\n    2,\n    3,\n]\n",
        "A = [\n    1,\n    2,\n]\n",
        (("item", "3"),),
    ),
    Example("py_add_entry", "a.py", "A = {1: 2}\n", "A = {1: 2, <key>: <value>}\n"),
    Example("py_set_entry", "a.py", "A = {'b': 2}\n", "A = {'b': <new>}\n"),
    Example("insert_function_after", "a.py", "def f():\n    pass\n", "def f():\n    pass\n\n<code>\n"),
    Example(
        "insert_function_before", "a.py", "x = 1\n\ndef f():\n    pass\n", "x = 1\n<code>\n\n\ndef f():\n    pass\n"
    ),
    Example("replace_function", "a.py", "x = 1\ndef f():\n    pass\n", "x = 1<code>\n"),
    Example(
        "add_and_pass",
        "a.py",
        "def go(a):\n    pass\n\n\ngo(1)\n",
        "def go(a, <name>):\n    pass\n\n\ngo(1, <value>)\n",
    ),
    Example("extract_constant", "a.py", "import a\n\nwait(30)\n", "import a\n\n<name> = 30\n\nwait(<name>)\n"),
    Example(
        "modern_super",
        "a.py",
        "class A:\n    def f(self):\n        super().f()\n",
        "class A:\n    def f(self):\n        super().f()\n",
    ),
)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example.kind}-{example.name}")
def test_the_right_answer_is_made_to_the_byte(example: Example) -> None:
    """Every operation on Python changes what it says and nothing else."""
    check(example)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("rename_function", "def load():\n    pass\n\n\ndef g(load):\n    return load\n"),
        ("rename_function", 'def load():\n    pass\n\n\nwait("load")\n'),
        ("rename_variable", "def f(row):\n    # one row is enough\n    return row\n"),
        ("rename_variable", "def f(row):\n    return row\n\n\nf(row=1)\n"),
        ("rename_variable", '@parametrize("row", [1])\ndef f(row):\n    return row\n'),
        ("rename_method", "class A:\n    def go(self):\n        pass\n\n\nx.go()\n"),
        ("delete_prints", "def f():\n    print(1)\n"),
        ("delete_function", "# what it does\ndef f():\n    pass\n\n\nx = 1\n"),
        ("add_parameter", "def f(*args):\n    pass\n"),
        ("delete_comments", "a = 1\n\n# alone\n\nb = 2\n"),
        ("append_code", "# def f(): nothing but a remark\n"),
        ("rename_attribute", "class A:\n    size: int\n\n    def f(self):\n        self.size = 1\n"),
        ("rename_self_attribute", "class A:\n    size: int\n\n    def f(self):\n        self.size = 1\n"),
        ("change_literal", "a, key = 1, 2\nkey = 3\n"),
        ("py_add_item", "rows = [1, 2]\nrows = load()\n"),
        ("drop_else", "def f(a):\n    if a:\n        b()\n    else:\n        c()\n"),
    ],
)
def test_what_has_no_one_right_answer_is_left_alone(kind: str, text: str) -> None:
    """An edit is not made where people could disagree about its result."""
    with pytest.raises(AssertionError, match=f"no {kind}"):
        check(Example(kind, "a.py", text, text))


def test_an_indented_piece_is_edited_in_place() -> None:
    """The lines of a method, indented as they stand in a file, can be edited without the rest."""
    check(
        Example("annotate_return", "a.py", "    def f(a):\n        pass\n", "    def f(a) -> <type>:\n        pass\n")
    )
    check(
        Example(
            "rename_variable",
            "b.py",
            "    def f(a1):\n        return a1\n",
            "    def f(<new>):\n        return <new>\n",
        )
    )
