"""The protocol page and the types agree."""

from __future__ import annotations

from pathlib import Path

from plgd.errors import BY_CODE
from plgd.protocol.docs import write_page
from plgd.protocol.methods import METHODS, NOTIFICATIONS

PAGE = Path(__file__).parents[2] / "docs/protocol.md"


def test_the_page_is_current() -> None:
    """docs/protocol.md is what the types say: make it again with `python -m plgd.protocol.docs > docs/protocol.md`."""
    assert write_page() == PAGE.read_text(encoding="utf-8")


def test_the_page_has_every_method_notification_field_and_error() -> None:
    """Nothing of the protocol is left out of its page."""
    page = write_page()
    for name in (*METHODS, *NOTIFICATIONS):
        assert f"### `{name}`" in page
    for method in METHODS.values():
        for field in (*method.params.__struct_encode_fields__, *method.result.__struct_encode_fields__):
            assert f"| `{field}` |" in page
    for code, cls in BY_CODE.items():
        assert f"| {code} | `{cls.__name__}` |" in page
