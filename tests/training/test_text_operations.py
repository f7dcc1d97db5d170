"""What the operations on data, settings, scripts and prose make of small texts."""

from __future__ import annotations

import pytest

from edit_examples import Example, check, edit_of

ROWS = '[\n  {\n    "id": 1,\n    "name": "Ada"\n  },\n  {\n    "id": 2,\n    "name": "Ben"\n  }\n]\n'
PARAGRAPHS = "The first one is short.\n\nThe second one is longer. It has two sentences.\n\nHere is the end.\n"
PAGE = "# Title\n\nSome words here.\n\n## Usage\n\nRun it.\n\n## Help\n\nAsk.\n"
TODO = "- [ ] milk\n- [x] bread\n- [ ] eggs\n"
TABLE = "| A | B |\n| --- | --- |\n| x | 1 |\n| y | 2 |\n"

EXAMPLES = (
    Example(
        "json_add_field",
        "a.json",
        '[{"a": 1}, {"a": 2}]\n',
        '[{"a": 1, "<key>": true}, {"a": 2, "<key>": true}]\n',
        (("value", "true"),),
    ),
    Example(
        "json_add_field",
        "rows.json",
        ROWS,
        ROWS.replace('"Ada"', '"Ada",\n    "<key>": 0').replace('"Ben"', '"Ben",\n    "<key>": 0'),
        (("value", "0"),),
    ),
    Example(
        "json_add_field",
        "inner.json",
        '{"x": {}, "rows": [{"a": 1}, {"a": 2}]}\n',
        '{"x": {}, "<array>": [{"a": 1, "<key>": 0}, {"a": 2, "<key>": 0}]}\n',
        (("value", "0"), ("array", "rows")),
    ),
    Example("json_add_key", "a.json", '{"a": 1}\n', '{"a": 1, "<key>": null}\n', (("value", "null"),)),
    Example("json_add_key_to", "a.json", '{"a": {"b": 1}}\n', '{"a": {"b": 1, "<key>": null}}\n', (("value", "null"),)),
    Example(
        "json_add_key_after",
        "a.json",
        '{\n\t"a": 1,\n\t"b": 2\n}\n',
        '{\n\t"a": 1,\n\t"<key>": null,\n\t"b": 2\n}\n',
        (("value", "null"), ("after", "a")),
    ),
    Example(
        "json_rename_key",
        "a.json",
        '{"a": "a", "b": {"a": 2}}\n',
        '{"<new>": "a", "b": {"<new>": 2}}\n',
        (("old", "a"),),
    ),
    Example("json_set_value", "a.json", '{"a": 1,  "b": 2}\n', '{"a": <new>,  "b": 2}\n', (("name", "a"),)),
    Example(
        "json_set_value_of", "a.json", ROWS, ROWS.replace('"id": 2', '"id": <new>'), (("name", "id"), ("which", "Ben"))
    ),
    Example("json_remove_key", "a.json", '{"a": 1, "b": 2}\n', '{"a": 1}\n', (("name", "b"),)),
    Example(
        "json_remove_keys",
        "a.json",
        ROWS,
        '[\n  {\n    "name": "Ada"\n  },\n  {\n    "name": "Ben"\n  }\n]\n',
        (("name", "id"),),
    ),
    Example(
        "json_remove_entry", "a.json", ROWS, '[\n  {\n    "id": 1,\n    "name": "Ada"\n  }\n]\n', (("which", "Ben"),)
    ),
    Example("json_remove_item", "a.json", '{"a": ["x", "y"]}\n', '{"a": ["y"]}\n', (("item", "x"),)),
    Example("json_add_item", "a.json", '{"a": ["x", "y"]}\n', '{"a": ["x", "y", "<item>"]}\n'),
    Example("json_add_entry", "a.json", '[{"a": 1}, {"a": 2}]\n', '[{"a": 1}, {"a": 2}, <entry>]\n'),
    Example("json_sort_keys", "a.json", '{"b": {"d": 1, "c": 2}, "a": 3}\n', '{"a": 3, "b": {"c": 2, "d": 1}}\n'),
    Example("json_sort_top", "a.json", '{"b": {"d": 1, "c": 2}, "a": 3}\n', '{"a": 3, "b": {"d": 1, "c": 2}}\n'),
    Example("json_sort_array", "a.json", '{"a": ["y", "x"]}\n', '{"a": ["x", "y"]}\n'),
    Example("json_sort_by", "a.json", '[{"a": 2}, {"a": 1}]\n', '[{"a": 1}, {"a": 2}]\n'),
    Example("json_sort_by_down", "a.json", '[{"a": 1}, {"a": 2}]\n', '[{"a": 2}, {"a": 1}]\n'),
    Example("json_indent", "a.json", '{\n  "a": 1\n}\n', '{\n    "a": 1\n}\n'),
    Example("json_pretty", "a.json", '{"a": 1}\n', '{\n  "a": 1\n}\n', (("width", "2"),)),
    Example(
        "config_set",
        "a.toml",
        '[s]\nport = 1\nhost = "h"  \n',
        '[s]\nport = <new>\nhost = "h"  \n',
        (("name", "port"),),
    ),
    Example("config_set", "a.yaml", "s:\n  port: 1\n  on: true\n", "s:\n  port: 1\n  on: false\n", (("name", "on"),)),
    Example(
        "config_add",
        "a.ini",
        "[s]\na = 1\n\n[t]\nb = 2\n",
        "[s]\na = 1\n<key> = <value>\n\n[t]\nb = 2\n",
        (("section", "s"),),
    ),
    Example("config_add_last", ".env", "A=1\n", "A=1\n<key>=<value>\n"),
    Example(
        "config_remove",
        "a.ini",
        "[s]\na = 1\nb = 2\n[t]\na = 3\nc = 1\n",
        "[s]\nb = 2\n[t]\na = 3\nc = 1\n",
        (("section", "s"), ("name", "a")),
    ),
    Example("config_rename", "a.toml", "[s]\na = 1\n", "[s]\n<new> = 1\n"),
    Example("config_rename_section", "a.toml", "[s]\na = 1\n", "[<new>]\na = 1\n"),
    Example("config_remove_section", "a.toml", "[s]\na = 1\n\n[t]\nb = 2\n", "[s]\na = 1\n", (("name", "t"),)),
    Example("config_sort", "a.toml", "[s]\nc = 1\na = 2\nb = 3\n", "[s]\na = 2\nb = 3\nc = 1\n"),
    Example("comment_out", "a.toml", "[s]\na = 1\n", "[s]\n# a = 1\n"),
    Example("uncomment", "a.toml", "[s]\na = 1\n", "[s]\na = 1\n"),
    Example("js_rename_variable", "a.js", "const rows = 1;\nuse(`${rows}`);\n", "const <new> = 1;\nuse(`${<new>}`);\n"),
    Example("rename_function", "a.js", "function go() {}\ngo();\n", "function <new>() {}\n<new>();\n"),
    Example("rename_class", "a.ts", "interface Row {}\nlet a: Row;\n", "interface <new> {}\nlet a: <new>;\n"),
    Example("js_declare", "a.js", "let a = 1;\n", "const a = 1;\n"),
    Example("js_declare_all", "a.js", "var a = 1;\nvar b;\n", "let a = 1;\nlet b;\n", (("new", "let"),)),
    Example("double_quotes", "a.js", "go('a', /'/);\n", 'go("a", /\'/);\n'),
    Example("js_no_semicolons", "a.js", "a();\nb(';');\n", "a()\nb(';')\n"),
    Example("js_delete_console", "a.js", "a();\nconsole.log(1);\n", "a();\n"),
    Example("delete_comments", "a.js", "a(); // why\n// alone\nb('//');\n", "a();\nb('//');\n"),
    Example("change_literal", "a.js", "const a = 10;\n", "const a = <new>;\n"),
    Example("replace_value", "a.js", "wait(404);\n", "wait(<new>);\n"),
    Example(
        "delete_function",
        "a.js",
        "const x = 1;\n\nfunction a() {\n  b();\n}\n\nfunction c() {\n  d();\n}\n",
        "const x = 1;\n\nfunction c() {\n  d();\n}\n",
        (("name", "a"),),
    ),
    Example("js_add_doc", "a.js", "function a() {\n  b();\n}\n", "<doc>\nfunction a() {\n  b();\n}\n"),
    Example("make_async", "a.js", "function a() {}\n", "async function a() {}\n"),
    Example("add_import", "a.js", "import a from 'a'\n\nb()\n", "import a from 'a'\n<statement>\n\nb()\n"),
    Example("js_strict", "a.js", "a === b;\n", "a === b;\n"),
    Example("heading_level", "a.md", PAGE, PAGE.replace("## Usage", "<hashes> Usage"), (("title", "Usage"),)),
    Example("heading_demote", "a.md", PAGE, PAGE.replace("## Usage", "### Usage"), (("title", "Usage"),)),
    Example("heading_promote", "a.md", PAGE, PAGE.replace("## Help", "# Help"), (("title", "Help"),)),
    Example("all_headings_demote", "a.md", PAGE, PAGE.replace("## ", "### ").replace("# Title", "## Title")),
    Example("retitle", "a.md", PAGE, PAGE.replace("Usage", "<new>"), (("old", "Usage"),)),
    Example("heading_upper", "a.md", PAGE, PAGE.replace("Usage", "USAGE"), (("title", "Usage"),)),
    Example(
        "headings_upper", "a.md", PAGE, PAGE.replace("Usage", "USAGE").replace("Help", "HELP").replace("Title", "TITLE")
    ),
    Example("delete_section", "a.md", PAGE, PAGE.replace("## Usage\n\nRun it.\n\n", ""), (("title", "Usage"),)),
    Example("delete_heading", "a.md", PAGE, PAGE.replace("## Usage\n\n", ""), (("title", "Usage"),)),
    Example("bullets_to_numbers", "a.md", "- a\n- b\n", "1. a\n2. b\n"),
    Example("numbers_to_bullets", "a.md", "1. a\n2. b\n", "- a\n- b\n", (("mark", "-"),)),
    Example("change_bullets", "a.md", "- a\n- b\n", "<mark> a\n<mark> b\n"),
    Example("add_list_item", "a.md", "1. a\n2. b\n", "1. a\n2. b\n3. <item>\n"),
    Example("add_list_item_first", "a.md", "* a\n* b\n", "* <item>\n* a\n* b\n"),
    Example("remove_list_item", "a.md", TODO, "- [ ] milk\n- [ ] eggs\n", (("item", "bread"),)),
    Example("tick", "a.md", TODO, TODO.replace("[ ] eggs", "[x] eggs"), (("item", "eggs"),)),
    Example("untick", "a.md", TODO, TODO.replace("[x]", "[ ]")),
    Example("sort_list", "a.md", "- c\n- a\n- b\n", "- a\n- b\n- c\n"),
    Example("bold_word", "a.md", "Some water here.\n", "Some **water** here.\n", (("word", "water"),)),
    Example("code_word", "a.md", "Some water here.\n", "Some `water` here.\n", (("word", "water"),)),
    Example("italic_word", "a.md", "Some water here.\n", "Some *water* here.\n", (("word", "water"),)),
    Example("link_word", "a.md", "Some water here.\n", "Some [water](<url>) here.\n", (("word", "water"),)),
    Example("remove_bold", "a.md", "Some **water** here.\n", "Some water here.\n"),
    Example("remove_row", "a.md", TABLE, TABLE.replace("| x | 1 |\n", ""), (("name", "x"),)),
    Example("fence_language", "a.md", "```\na\n```\n", "```<language>\na\n```\n"),
    Example("replace_word", "a.txt", "The water under waters.\n", "The <new> under waters.\n", (("old", "water"),)),
    Example(
        "replace_phrase",
        "a.txt",
        "The cold water is in the glass.\n",
        "<new> is in the glass.\n",
        (("old", "The cold water"),),
    ),
    Example(
        "change_fact",
        "a.txt",
        "A room costs 80 euros a night. We have 80 rooms.\n",
        "A room costs <new> euros a night. We have 80 rooms.\n",
        (("what", "the price of a room"),),
    ),
    Example("fix_typos", "a.txt", PARAGRAPHS, PARAGRAPHS),
    Example("append_paragraph", "a.txt", "One.\n", "One.\n\n<paragraph>\n"),
    Example("append_sentence", "a.txt", PARAGRAPHS, PARAGRAPHS.replace("short.", "short. <text>"), (("nth", "first"),)),
    Example(
        "delete_nth_paragraph",
        "a.txt",
        PARAGRAPHS,
        PARAGRAPHS.replace("The first one is short.\n\n", ""),
        (("nth", "first"),),
    ),
    Example(
        "delete_paragraph",
        "a.txt",
        PARAGRAPHS,
        PARAGRAPHS.replace("\n\nHere is the end.", ""),
        (("head", "Here is the"),),
    ),
    Example(
        "delete_sentence",
        "a.txt",
        PARAGRAPHS,
        PARAGRAPHS.replace(" It has two sentences.", ""),
        (("text", "It has two sentences."),),
    ),
    Example(
        "insert_sentence",
        "a.txt",
        PARAGRAPHS,
        PARAGRAPHS.replace("longer.", "longer. <text>"),
        (("after", "The second one is longer."),),
    ),
    Example(
        "swap_paragraphs",
        "a.txt",
        "One is here.....\n\nTwo is there....\n\nThree is nowhere.\n",
        "Two is there....\n\nOne is here.....\n\nThree is nowhere.\n",
        (("nth", "first"), ("other", "second")),
    ),
    Example("lines_to_list", "a.txt", "milk\nbread\n", "- milk\n- bread\n"),
    Example("change_number", "a.txt", "It took 14 days.\n", "It took <new> days.\n"),
    Example(
        "delete_line_containing",
        "a.txt",
        "one two\nthree four\nfive six\n",
        "one two\nfive six\n",
        (("word", "three"),),
    ),
    Example(
        "delete_line", "a.txt", "one two\nthree four\nfive six\n", "one two\nfive six\n", (("line", "three four"),)
    ),
    Example("delete_nth_line", "a.txt", "one\ntwo\nthree\n", "one\ntwo\n", (("nth", "last"),)),
    Example(
        "duplicate_line",
        "a.txt",
        "one two\nthree four\nfive six\n",
        "one two\nthree four\nthree four\nfive six\n",
        (("line", "three four"),),
    ),
    Example("replace_line", "a.ini", "[a]\none = 1\n  two = 2\n", "[a]\none = 1\n  <new>\n", (("old", "two = 2"),)),
    Example("add_top", "a.yaml", "a: 1\n", "<line>\na: 1\n"),
    Example("add_bottom", "a.yaml", "a: 1\n", "a: 1\n<line>\n"),
    Example(
        "replace_text",
        "a.css",
        ".red { color: reds; }\n.blue {}\n",
        ".red { <new>: reds; }\n.blue {}\n",
        (("old", "color"),),
    ),
    Example("word_upper", "a.txt", "some water\n", "some WATER\n", (("word", "water"),)),
    Example("word_lower", "a.txt", "some WATER\n", "some water\n", (("word", "WATER"),)),
    Example("strip_trailing", "a.txt", "one\ntwo\n", "one\ntwo\n"),
    Example("one_blank", "a.txt", "one\n\ntwo\n", "one\n\ntwo\n"),
    Example("indent_width", "a.js", "a(\n  b(\n    c));\n", "a(\n    b(\n        c));\n"),
    Example("spaces_to_tabs", "a.js", "a(\n  b(\n    c));\n", "a(\n\tb(\n\t\tc));\n"),
    Example("tabs_to_spaces", "a.js", "a(\n  b(\n    c));\n", "a(\n  b(\n    c));\n"),
    Example("copyright_year", "a.txt", "Copyright 2010 Me\n", "Copyright <new> Me\n"),
    Example("js_semicolons", "a.js", "a();\nb();\n", "a();\nb();\n"),
    Example("add_parameter", "a.js", "function a(b) {\n}\n", "function a(b, <parameter>) {\n}\n"),
    Example("css_set", "a.css", "h1 {\n  color: red;\n}\n", "h1 {\n  color: <new>;\n}\n"),
    Example("css_add", "a.css", "h1 {\n\tcolor: red;\n}\n", "h1 {\n\tcolor: red;\n\t<declaration>;\n}\n"),
    Example("css_remove", "a.css", "h1 {\n  color: red;\n  top: 0;\n}\n", "h1 {\n  top: 0;\n}\n", (("name", "color"),)),
    Example(
        "css_remove_rule", "a.css", "a {\n  top: 0;\n}\n\nb {\n  top: 1;\n}\n", "b {\n  top: 1;\n}\n", (("name", "a"),)
    ),
    Example("html_text", "a.html", "<p>Some text</p>\n", "<p><new></p>\n"),
    Example("html_attribute", "a.html", '<a href="x.html">x</a>\n', '<a href="<new>">x</a>\n'),
    Example("link_address", "a.md", "See [this page](x.md).\n", "See [this page](<new>).\n"),
    Example("unlink", "a.md", "See [this page](x.md).\n", "See this page.\n"),
    Example("json_add_item", "a.yaml", "a:\n  - b\n  - c\nd: 1\n", "a:\n  - b\n  - c\n  - <item>\nd: 1\n"),
    Example("json_remove_item", "a.yaml", "a:\n  - xx\n  - yy\n", "a:\n  - yy\n", (("item", "xx"),)),
    Example("capitalise_word", "a.txt", "Some water, waters.\n", "Some Water, waters.\n", (("word", "water"),)),
    Example(
        "move_paragraph",
        "a.txt",
        "One is here.....\n\nTwo is there....\n\nThree is nowhere.\n",
        "Two is there....\n\nThree is nowhere.\n\nOne is here.....\n",
        (("nth", "first"),),
    ),
    Example("no_change", "a.py", "a = 1\n", "a = 1\n"),
)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example.kind}-{example.name}")
def test_the_right_answer_is_made_to_the_byte(example: Example) -> None:
    """Every operation changes what it says and nothing else."""
    check(example)


def test_a_typo_that_is_named_is_mended_alone() -> None:
    """The named word gets its letters back; other typos stay."""
    edit, _ = edit_of(Example("fix_typo", "a.txt", PARAGRAPHS, ""))
    assert edit.shown is not None
    before, after = edit.shown.split(), edit.new_text.split()
    changed = [(one, other) for one, other in zip(before, after, strict=True) if one != other]
    assert [(edit.slots["wrong"], edit.hints["right"])] == [tuple(word.strip(".") for word in pair) for pair in changed]


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        ("json_add_field", "a.json", "[1, 2]\n"),
        ("json_set_value", "a.json", '{"a": 1} // JSON with comments\n'),
        ("json_set_value_of", "a.json", '[{"a": 1, "b": 2}, {"a": 1, "b": 2}, {"c": [{"d": 1}]}]\n'),
        ("js_rename_variable", "a.js", "const rows = 1;\nuse({ rows });\n"),
        ("js_rename_variable", "a.js", "const rows = 1;\nuse({ rows: 2 });\n"),
        ("js_rename_variable", "a.js", "const rows = 1; // rows of a table\n"),
        ("js_declare", "a.js", "let rows;\n"),
        ("config_set", "a.toml", '[s]\na = """\nb = 1\n"""\n'),
        ("retitle", "a.md", "# Water\n\nWater is wet.\n"),
        ("bullets_to_numbers", "a.md", "- a\n  more of a\n- b\n"),
        ("sort_list", "a.md", "- c\n- a\n- b\n\n* y\n* x\n"),
        ("replace_word", "a.txt", "Water and water.\n"),
        ("replace_word", "a.md", "The budget.\n\n```\nset budget\n```\n"),
        ("replace_word", "a.md", "The budget: https://example.com/budget.html\n"),
        ("fix_typos", "a.md", "```\nthe budget of the summer party is larger than before\n```\n"),
        ("delete_section", "a.md", "# A\n\n## Usage\n\nRun it.\n\n(help)=\n## Help\n\nAsk.\n"),
        ("delete_line_containing", "a.txt", "Some old words.\nOLD Words, some.\nsome words; Old\n"),
        ("replace_line", "a.md", "A sentence that\ngoes on over some\nlines and on\n"),
        ("append_sentence", "a.txt", "The office closes at eight.\n\n- apples\n"),
        ("delete_comments", "a.js", "a();\n\n// alone\n\nb();\n"),
        ("delete_comments", "a.js", "/* So much is said about so little. */\na();\n"),
    ],
)
def test_what_has_no_one_right_answer_is_left_alone(kind: str, name: str, text: str) -> None:
    """An edit is not made where people could disagree about its result."""
    with pytest.raises(AssertionError, match=f"no {kind}"):
        check(Example(kind, name, text, text))
