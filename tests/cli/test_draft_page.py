"""Who drafted a reply, as a page for a browser."""

from __future__ import annotations

import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.results import DRAFTS, edit_result
from plgd.errors import WriteFailed
from plgd.protocol.reply_drafts import ReplyDrafts, ReplyRun
from plgd_cli.controls import visible
from plgd_cli.draft_kinds import KINDS
from plgd_cli.draft_page import STYLE, check_place, draft_page, save_page

VOID = {"meta"}
# None of these can load or run anything.
ATTRIBUTES = {"aria-label", "charset", "class", "content", "http-equiv", "lang", "name", "scope", "tabindex", "title"}


class Page(HTMLParser):
    """Reads a page and refuses tags that are not closed in order.

    Attributes:
        tags: every element, in order, with its attributes.
        code: the text of the reply.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.code = ""
        self._path: list[str] = []
        self.feed(page)
        self.close()
        assert [] == self._path

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._path.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag == self._path.pop()

    def handle_data(self, data: str) -> None:
        if "pre" in self._path:
            self.code += data

    def with_class(self, name: str) -> list[dict[str, str | None]]:
        """Return the attributes of the elements of a class."""
        return [attrs for _, attrs in self.tags if name in (attrs.get("class") or "").split()]


def page_of(drafts: ReplyDrafts, name: str = "sum.py") -> str:
    """Make the page of an answer with these drafts."""
    return draft_page(edit_result(drafts=drafts), drafts, name=name)


def test_the_page_tells_round_width_and_proposer() -> None:
    """Each run is an element of its kind that says who drafted it, in which round and of which width."""
    page = Page(page_of(DRAFTS))
    assert "running = 0\nkeep\nprint(running)<script>␛[2J" == page.code
    assert 4 == len(page.with_class("round"))
    assert [None, "round 4, width 9: substitution, 1 token"] == [
        attrs.get("title") for attrs in page.with_class("substitution")
    ]
    assert "round 2, width 5: file, 4 tokens" in [attrs.get("title") for attrs in page.with_class("file")]


def test_the_page_has_a_legend_with_counts() -> None:
    """The table has each kind that occurs, with the tokens that were drafted and that are in the reply."""
    text = re.sub(r"\s*<[^>]+>\s*", "|", page_of(DRAFTS))
    rows = re.sub(r"\|+", "|", text)
    assert "|file|copied from the file or another source|9|7|" in rows
    assert "|correction|by the model, where a draft was wrong|1|" in rows
    assert "|some/model: 142 tokens in 4 rounds, 35.5 a round, the widest 9; policy cost|" in rows


@given(text=st.text(alphabet="<>&\"'/=! \nabscript\x00\x1b\u2028é😀", max_size=40), name=st.text(max_size=9))
def test_whatever_a_reply_says_is_text(text: str, name: str) -> None:
    """No reply, proposer or name can add an element to the page, nor an attribute."""
    named = name.encode(errors="replace").decode()
    tame = Page(page_of(ReplyDrafts(runs=(ReplyRun(text="x", by="x", round=1, n_tokens=1),), widths=(1,)), "x"))
    wild = Page(
        page_of(ReplyDrafts(runs=(ReplyRun(text=f"x{text}", by=f"x{text}", round=1, n_tokens=1),), widths=(1,)), named)
    )
    assert f"x{visible(text)}" == wild.code
    assert [(tag, attrs.keys()) for tag, attrs in tame.tags] == [(tag, attrs.keys()) for tag, attrs in wild.tags]
    assert [attrs.get("class") for _, attrs in tame.tags] == [attrs.get("class") for _, attrs in wild.tags]


def test_a_script_in_a_reply_is_harmless() -> None:
    """A reply that holds a script shows it, and the page forbids scripts and everything from elsewhere besides."""
    evil = "</code></pre><script>alert(1)</script><img src=x onerror=alert(2)>"
    drafts = ReplyDrafts(runs=(ReplyRun(text=evil, by="file", round=1, n_tokens=9),), widths=(9,))
    page = Page(page_of(drafts, name=evil))
    assert evil == page.code
    assert {"script", "img", "link", "iframe"}.isdisjoint(tag for tag, _ in page.tags)
    assert ATTRIBUTES >= {key for _, attrs in page.tags for key in attrs}
    assert ["default-src 'none'; style-src 'unsafe-inline'"] == [
        attrs["content"] for _, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    assert "url(" not in STYLE
    assert "@import" not in STYLE


def test_a_proposer_of_another_version_is_shown() -> None:
    """A name that this client does not know has a look of its own."""
    drafts = ReplyDrafts(runs=(ReplyRun(text="x", by="oracle", round=1, n_tokens=1),), widths=(2,))
    page = Page(page_of(drafts))
    assert [None, "round 1, width 2: oracle, 1 token"] == [attrs.get("title") for attrs in page.with_class("other")]


def _luminance(colour: str) -> float:
    """Reckon the relative luminance of a colour (WCAG 2, 1.4.3)."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    channels = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_page_can_be_read_by_everybody() -> None:
    """In light and dark, text and background of each kind have a contrast of 7 : 1; underlines differ as well."""
    light, dark = STYLE.split("@media", maxsplit=1)
    for theme in (light, dark.split("} }", maxsplit=1)[0]):
        colours = dict(re.findall(r"--([\w-]+): (#\w+|transparent)", theme))
        pairs = [("page", "ink"), *((kind, f"{kind}-ink") for kind in KINDS)]
        for back, ink in pairs:
            behind = colours["page"] if colours[back] == "transparent" else colours[back]
            one, other = sorted((_luminance(behind), _luminance(colours[ink])))
            assert (other + 0.05) / (one + 0.05) >= 7, (back, ink)
    underlines = re.findall(
        r"(?m)^\.(?:substitution|ngram|correction|bonus) .*text-decoration(?:-line)?: ([\w ]+);", STYLE
    )
    assert 4 == len(set(underlines))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "it is a folder"),
        ("x" * 300, "File name too long"),
        ("none/page.html", "there is no folder"),
        ("a.py", "it is a file that this edit reads"),
        ("link", "it is a file that this edit reads"),
        ("pipe", "it is a pipe"),
    ],
)
def test_a_place_that_cannot_be_is_refused(name: str, reason: str, tmp_path: Path) -> None:
    """A page never takes the place of a file that the edit reads, and never waits for a reader."""
    (tmp_path / "a.py").write_text("x")
    (tmp_path / "link").symlink_to("a.py")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(WriteFailed, match=reason):
        check_place(tmp_path / name, tmp_path / "b.py", tmp_path / "a.py")


def test_a_page_replaces_an_older_one(tmp_path: Path) -> None:
    """The same place can be used again."""
    for page in ("long page", "page"):
        check_place(tmp_path / "page.html", tmp_path / "a.py")
        save_page(tmp_path / "page.html", page)
    assert "page" == (tmp_path / "page.html").read_text()


def test_a_full_disk_is_said() -> None:
    """The system's reason is told."""
    with pytest.raises(WriteFailed, match=r"The page /dev/full cannot be written: No space left on device\."):
        save_page(Path("/dev/full"), "page")
