"""Edits of CSS, HTML, and of links and lists in Markdown and YAML."""

from __future__ import annotations

import re
from random import Random
from typing import Final

from plgd.text.lines import split_lines
from training.edit import Edit, Operation, Passage
from training.made_data import json_value
from training.spans import indent_of
from training.words import ADJECTIVES, sentence, title_words, word

__all__ = (
    "OPERATIONS",
    "add_property",
    "element_text",
    "link_address",
    "remove_property",
    "remove_rule",
    "set_attribute",
    "set_property",
    "unlink",
    "yaml_item",
)

STYLES: Final = ("css", "scss")
_RULE: Final = re.compile(r"(?m)^([.#]?[a-zA-Z][\w .:#>-]*?)\s*\{\n((?:[ \t]+[\w-]+:[^;{}\n]+;\n)+)\}")
_PROPERTY: Final = re.compile(r"[ \t]+([\w-]+):(\s*)([^;{}\n]+);\n")
_COLOURS: Final = ("red", "blue", "black", "white", "#ff0000", "#222", "teal", "orange", "rebeccapurple", "silver")
_ADDED: Final = (
    ("text-align", "center"),
    ("cursor", "pointer"),
    ("font-weight", "bold"),
    ("overflow", "hidden"),
    ("line-height", "1.5"),
    ("opacity", "0.8"),
    ("position", "relative"),
    ("box-sizing", "border-box"),
    ("letter-spacing", "1px"),
    ("z-index", "10"),
)
_LINK: Final = re.compile(r"(?<!!)\[([^\[\]`!]{2,50})\]\(([^()\s]+)\)")
_TEXTS: Final = "h[1-6]|title|li|p|button|a|td|th|label|span|strong|em|summary|option|b"
_ELEMENT: Final = re.compile(rf"<({_TEXTS})\b([^<>]*)>([^<>{{}}]+)</\1>")
_NAMES: Final = "href|src|alt|id|class|type|lang|action|method|name|title|width"
_ATTRIBUTE: Final = re.compile(rf'<(\w+)[^<>]*?\s({_NAMES})="([^"<>{{}}]+)"')


def set_property(passage: Passage, rng: Random) -> Edit | None:
    """Give a property of a rule another value."""
    rules = _rules(passage.text)
    if not rules:
        return None
    rule = rng.choice(rules)
    found = list(_PROPERTY.finditer(passage.text, rule.start(2), rule.end(2)))
    one = rng.choice(found)
    name, value = one[1], one[3]
    if re.fullmatch(r"\d+(px|em|rem|%)", value):
        new = str(rng.randint(1, 60)) + re.sub(r"\d+", "", value)
    elif "color" in name or name == "background":
        new = rng.choice(_COLOURS)
    elif re.fullmatch(r"\d+", value):
        new = str(rng.randint(1, 900))
    else:
        return None
    if new == value or sum(other[1] == name for other in found) > 1:
        return None
    text = passage.text[: one.start(3)] + new + passage.text[one.end(3) :]
    slots, hints = {"name": name, "new": new}, {"old": value, "rule": rule[1]}
    if len(re.findall(rf"(?<![\w-]){name}\s*:", passage.text)) > 1:
        slots["rule"] = hints.pop("rule")
    return Edit("css_set", text, slots, hints)


def add_property(passage: Passage, rng: Random) -> Edit | None:
    """Add a property at the end of a rule."""
    rules = _rules(passage.text)
    if not rules:
        return None
    rule = rng.choice(rules)
    last = list(_PROPERTY.finditer(passage.text, rule.start(2), rule.end(2)))[-1]
    name, value = rng.choice(_ADDED)
    if re.search(rf"(?<![\w-]){name}\s*:", rule[2]):
        return None
    line = f"{indent_of(last[0])}{name}:{last[2]}{value};\n"
    text = passage.text[: rule.end(2)] + line + passage.text[rule.end(2) :]
    return Edit("css_add", text, {"declaration": f"{name}: {value}", "rule": rule[1]})


def remove_property(passage: Passage, rng: Random) -> Edit | None:
    """Remove a property from a rule."""
    rules = [rule for rule in _rules(passage.text) if rule[2].count("\n") > 1]
    if not rules:
        return None
    rule = rng.choice(rules)
    one = rng.choice(list(_PROPERTY.finditer(passage.text, rule.start(2), rule.end(2))))
    if len(re.findall(rf"(?<![\w-]){one[1]}\s*:", rule[2])) > 1:
        return None
    slots, hints = {"name": one[1]}, {"rule": rule[1]}
    if len(re.findall(rf"(?<![\w-]){one[1]}\s*:", passage.text)) > 1:
        slots["rule"] = hints.pop("rule")
    return Edit("css_remove", passage.text[: one.start()] + passage.text[one.end() :], slots, hints)


def remove_rule(passage: Passage, rng: Random) -> Edit | None:
    """Remove a rule."""
    rules = _rules(passage.text)
    if len(rules) < 2:
        return None
    rule = rng.choice(rules)
    head, tail = passage.text[: rule.start()], passage.text[rule.end() :]
    if head.rstrip().endswith("*/") or not tail.startswith("\n") or (head and not head.endswith("\n\n")):
        return None
    text = head + tail.lstrip("\n") if tail.strip() else head.rstrip("\n") + "\n"
    return Edit("css_remove_rule", text, {"name": rule[1]}) if text.strip() else None


def element_text(passage: Passage, rng: Random) -> Edit | None:
    """Change the text of an element."""
    found = [one for one in _ELEMENT.finditer(passage.text) if one[3].strip() == one[3] and 1 < len(one[3]) < 70]
    found = [one for one in found if passage.text.count(one[3]) == 1 and re.search(r"[A-Za-z]", one[3])]
    if not found:
        return None
    one = rng.choice(found)
    new = sentence(rng) if " " in one[3] else " ".join(title_words(rng, rng.choice((1, 2)))).capitalize()
    if new in passage.text:
        return None
    text = passage.text[: one.start(3)] + new + passage.text[one.end(3) :]
    slots, hints = {"old": one[3], "new": new}, {}
    names = {
        "h1": "heading",
        "title": "title",
        "button": "button",
        "a": "link",
        "label": "label",
        "p": "paragraph",
        "li": "item",
    }
    if one[1] in names:
        hints["what"] = names[one[1]]
    return Edit("html_text", text, slots, hints)


def set_attribute(passage: Passage, rng: Random) -> Edit | None:
    """Change an attribute's value."""
    found = [one for one in _ATTRIBUTE.finditer(passage.text) if passage.text.count(f'"{one[3]}"') == 1]
    if not found:
        return None
    one = rng.choice(found)
    old = one[3]
    new = (
        re.sub(r"[A-Za-z-]{3,}(?=[^A-Za-z]*$|\.\w+$)", word(rng), old, count=1)
        if one[2] in ("href", "src")
        else word(rng)
    )
    if new == old or f'"{new}"' in passage.text:
        return None
    text = passage.text[: one.start(3)] + new + passage.text[one.end(3) :]
    slots, hints = {"name": one[2], "new": new}, {"old": old, "element": one[1]}
    if len(re.findall(rf"\b{one[2]}=", passage.text)) > 1:
        slots["old"] = hints.pop("old")
    return Edit("html_attribute", text, slots, hints)


def link_address(passage: Passage, rng: Random) -> Edit | None:
    """Change where a link of Markdown leads."""
    found = [one for one in _LINK.finditer(passage.text) if passage.text.count(one[2]) == 1]
    found = [one for one in found if passage.text.count(f"[{one[1]}]") == 1]
    if not found:
        return None
    one = rng.choice(found)
    new = rng.choice(
        (
            f"https://{word(rng)}.example.com",
            f"docs/{word(rng)}.md",
            f"#{word(rng)}",
            f"https://example.com/{word(rng)}",
        )
    )
    text = passage.text[: one.start(2)] + new + passage.text[one.end(2) :]
    return Edit("link_address", text, {"title": one[1], "new": new}, {"old": one[2]})


def unlink(passage: Passage, rng: Random) -> Edit | None:
    """Leave the text of a link and take its address away."""
    found = list(_LINK.finditer(passage.text))
    found = [one for one in found if passage.text.count(one[1]) == 1]
    if not found:
        return None
    one = rng.choice(found)
    return Edit(
        "unlink", passage.text[: one.start()] + one[1] + passage.text[one.end() :], {"title": one[1]}, {"url": one[2]}
    )


def yaml_item(passage: Passage, rng: Random) -> Edit | None:
    """Add a plain item at the end of a list in YAML, or remove one."""
    lines = list(split_lines(passage.text))
    found = []
    for index, line in enumerate(lines[:-1]):
        head = re.match(r"(\s*)([\w-]+):\s*$", line)
        end = index + 1
        while head and end < len(lines) and re.match(r"\s*- [\w./@ -]+$", lines[end]):
            end += 1
        if (
            head
            and end > index + 2
            and not (end < len(lines) and len(indent_of(lines[end])) > len(indent_of(lines[end - 1])))
        ):
            found.append((head[2], index + 1, end))
    found = [one for one in found if len(re.findall(rf"(?m)^\s*{one[0]}:", passage.text)) == 1]
    if not found:
        return None
    name, first, last = rng.choice(found)
    if rng.random() < 0.5:
        index = rng.randrange(first, last)
        item = lines[index].strip()[2:]
        if passage.text.count(item) != 1:
            return None
        return Edit("json_remove_item", "".join([*lines[:index], *lines[index + 1 :]]), {"item": item}, {"array": name})
    item = (
        json_value(lines[last - 1].strip()[2:], rng) if rng.random() < 0.7 else f"{rng.choice(ADJECTIVES)}-{word(rng)}"
    )
    new = f"{indent_of(lines[last - 1])}- {item}\n"
    if item in passage.text:
        return None
    return Edit("json_add_item", "".join([*lines[:last], new, *lines[last:]]), {"item": item, "array": name})


def _rules(text: str) -> list[re.Match[str]]:
    """Return the rules of the top level that no other has the name of."""
    found = list(_RULE.finditer(text))
    return [one for one in found if len(re.findall(rf"(?m)^\s*{re.escape(one[1])}\s*[{{,]", text)) == 1]


OPERATIONS: Final = (
    Operation("css_set", set_property, STYLES, 3, "{"),
    Operation("css_add", add_property, STYLES, 2, "{"),
    Operation("css_remove", remove_property, STYLES, 1.5, "{"),
    Operation("css_remove_rule", remove_rule, STYLES, 1.2, "{"),
    Operation("html_text", element_text, ("html",), 3, "<"),
    Operation("html_attribute", set_attribute, ("html",), 1.2, "="),
    Operation("link_address", link_address, ("markdown",), 1.2, "]("),
    Operation("unlink", unlink, ("markdown",), 0.6, "]("),
    Operation("yaml_item", yaml_item, ("yaml",), 1.2, "- ", makes=("json_add_item", "json_remove_item")),
)
