"""The reference workloads are what their names say."""

from __future__ import annotations

import json

from plgd.bench.compare.prompts import tokenize
from plgd.bench.compare.workloads import WORKLOADS, EditWorkload
from plgd.documents.document import Document
from plgd.edits.prompt import make_prompt
from plgd.protocol.edits import LineRange
from scripted_model import ByteTokenizer


def edit(name: str) -> EditWorkload:
    """Return a workload that is an edit."""
    workload = WORKLOADS[name]
    assert isinstance(workload, EditWorkload)
    return workload


def test_edit_fn_is_a_rename_in_a_function() -> None:
    """`edit_fn` renames a variable that a 20-line function uses, to a name that it lacks."""
    workload = edit("edit_fn")
    compile(workload.text, workload.file, "exec")
    assert 20 == len(workload.text.splitlines())
    old, new = workload.instruction.rstrip(".").split()[-3::2]
    assert old in workload.text
    assert new not in workload.text


def test_edit_json_adds_a_field_to_each_object() -> None:
    """`edit_json` adds a field to each of five objects, none of which has it."""
    workload = edit("edit_json")
    objects = json.loads(workload.text)
    assert 5 == len(objects)
    assert '"in_stock"' in workload.instruction
    assert all("in_stock" not in found for found in objects)


def test_edits_get_the_prompt_of_a_real_edit() -> None:
    """The prompt of an edit workload is the one that `plgd edit` makes for the whole file."""
    workload = edit("edit_fn")
    tokenizer = ByteTokenizer()
    document = Document.of_text(workload.text, workload.file)
    whole = LineRange(first=1, last=20)
    assert make_prompt(document, whole, workload.instruction, tokenizer).tokens == tokenize(workload, tokenizer)


def test_other_workloads_are_a_users_message() -> None:
    """The others are one message in the model's chat template, with nothing of the reply in front."""
    tokenizer = ByteTokenizer()
    for name in ("summary", "write", "story"):
        workload = WORKLOADS[name]
        assert not isinstance(workload, EditWorkload)
        text = bytes(token % 256 for token in tokenize(workload, tokenizer))
        assert workload.user.encode() in text
