"""Pieces of Python that instructions bring along: statements, parameters, decorators, imports, functions."""

from __future__ import annotations

from random import Random
from typing import Final

from training.words import NOUNS, VERBS, line_list, pascal, sentence, snake, title_words, word, word_list

__all__ = (
    "new_class",
    "new_decorator",
    "new_function",
    "new_import",
    "new_method",
    "new_parameter",
    "new_statement",
    "new_type",
)

_TYPES: Final = line_list("types")
_MODULES: Final = word_list("modules")
_MEMBERS: Final = tuple((module, member) for module, member in map(str.split, line_list("members")))
_DECORATORS: Final = line_list("decorators")


def new_type(rng: Random) -> str:
    """Return a type as it is written in an annotation."""
    return rng.choice(_TYPES)


def new_import(rng: Random) -> tuple[str, str]:
    """Return an import statement, and the name that it brings."""
    if rng.random() < 0.5:
        module = rng.choice(_MODULES)
        return f"import {module}", module
    module, member = rng.choice(_MEMBERS)
    if rng.random() < 0.2:
        module, member = f"{rng.choice(NOUNS)}s", snake([rng.choice(VERBS), word(rng)])
    return f"from {module} import {member}", member


def new_decorator(rng: Random) -> str:
    """Return a decorator with its `@`."""
    return rng.choice(_DECORATORS) if rng.random() < 0.8 else f"@{rng.choice(VERBS)}_{word(rng)}"


def new_parameter(rng: Random, *, with_default: bool, annotated: bool) -> str:
    """Return a parameter, with a default or an annotation as its neighbours have them."""
    name = snake(title_words(rng, rng.choice((1, 2))))
    kind, default = rng.choice(
        (
            ("bool", "False"),
            ("bool", "True"),
            ("int", "0"),
            ("int", "10"),
            ("str", '""'),
            ("float", "1.0"),
            ("str | None", "None"),
        )
    )
    if not with_default and rng.random() < 0.4:
        return f"{name}: {kind}" if annotated else name
    return f"{name}: {kind} = {default}" if annotated else f"{name}={default}"


def new_statement(rng: Random) -> str:
    """Return a statement of one line."""
    name, other = snake(title_words(rng, rng.choice((1, 2)))), word(rng)
    verb = rng.choice(VERBS)
    return rng.choice(
        (
            f"{name} = None",
            f"{name} = []",
            f"{name} = {rng.randint(0, 99)}",
            f"{name} += 1",
            f"{name} = {verb}_{other}()",
            f"{name} = {name}.strip()",
            f"print({name})",
            f'print("{sentence(rng).lower()}")',
            f'logger.info("{sentence(rng).lower()}")',
            f'logger.debug("{verb} %s", {name})',
            f"log.{rng.choice(('debug', 'info', 'warning'))}({name!r})",
            f"assert {name}",
            f"assert {name} is not None",
            f"self.{name} = {other}",
            f"self.{verb}()",
            f"self._{name}.{verb}({other})",
            f"{verb}_{other}({name})",
            f"{name}.append({other})",
            f"time.sleep({rng.randint(1, 5)})",
            f'raise ValueError("{sentence(rng).lower()}")' if rng.random() < 0.2 else f"{verb}({name})",
            f"{name} = {other} or {rng.randint(1, 50)}",
            f"del {name}",
        )
    )


def new_function(rng: Random) -> str:
    """Return a short function of the top level."""
    name, argument, other = snake([rng.choice(VERBS), word(rng)]), word(rng), word(rng)
    body = rng.choice(
        (
            f"    return {argument}\n",
            f"    return len({argument})\n",
            f'    """{sentence(rng)}."""\n    return {argument}.{rng.choice(VERBS)}()\n',
            f"    if not {argument}:\n        return None\n    return {argument}[0]\n",
            f"    for {other} in {argument}:\n        print({other})\n",
            f"    {other} = sorted({argument})\n    return {other}[-1]\n",
            "    pass\n",
            f'    """{sentence(rng)}."""\n    raise NotImplementedError\n',
            f"    with open({argument}) as file:\n        return file.read()\n",
            f"    return sum({other}.{word(rng)} for {other} in {argument})\n",
        )
    )
    head = rng.choice(("def {}({}):", "def {}({}):", "def {}({}) -> None:", "async def {}({}):"))
    if "return" in body:
        head = head.replace(" -> None", "")
    return head.format(name, argument) + "\n" + body


def new_method(rng: Random) -> str:
    """Return a short method."""
    name, attribute, argument = snake([rng.choice(VERBS), word(rng)]), word(rng), word(rng)
    return rng.choice(
        (
            f"def {name}(self):\n    return self.{attribute}\n",
            f"def {name}(self, {argument}):\n    self.{attribute} = {argument}\n",
            f"def {name}(self):\n    self.{attribute}.clear()\n",
            f"@property\ndef {attribute}_{argument}(self):\n    return self._{attribute}\n",
            f"def __len__(self):\n    return len(self.{attribute})\n",
            f"def __iter__(self):\n    return iter(self.{attribute})\n",
            f'def __repr__(self):\n    return f"<{{type(self).__name__}} {{self.{attribute}}}>"\n',
            f"def __eq__(self, other):\n    return self.{attribute} == other.{attribute}\n",
            f'def {name}(self):\n    """{sentence(rng)}."""\n    raise NotImplementedError\n',
            f"@staticmethod\ndef {name}({argument}):\n    return {argument} * 2\n",
            f"@classmethod\ndef from_{argument}(cls, {argument}):\n    return cls({argument})\n",
            f"def {name}(self, {argument}=None):\n    if not {argument}:\n        return []\n    return {argument}\n",
            f"async def {name}(self):\n    await self.{attribute}.{rng.choice(VERBS)}()\n",
            f"def __enter__(self):\n    return self\n\ndef __exit__(self, *exc):\n    self.{rng.choice(VERBS)}()\n",
        )
    )


def new_class(rng: Random) -> str:
    """Return a short class."""
    name, attribute = pascal(title_words(rng, 2)), word(rng)
    return rng.choice(
        (
            f"class {name}Error(Exception):\n    pass\n",
            f'class {name}:\n    """{sentence(rng)}."""\n',
            f"class {name}:\n    def __init__(self, {attribute}):\n        self.{attribute} = {attribute}\n",
            f"@dataclass\nclass {name}:\n    {attribute}: str\n    {word(rng)}_id: int = 0\n",
        )
    )
