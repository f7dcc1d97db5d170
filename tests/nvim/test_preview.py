"""Hunks in the buffer, and what the user does with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from nvim.editor import Editor
from nvim.talking import ListeningTalker

OLD: Final = "".join(f"line {n}\n" for n in range(1, 13))
NEW: Final = (
    OLD.replace("line 2\n", "second\n").replace("line 7\n", "line 7\n\tadded\n").replace("line 12\n", "").encode()
)
# Each hunk alone.
FIRST: Final = OLD.replace("line 2\n", "second\n").encode()
SECOND: Final = OLD.replace("line 7\n", "line 7\n\tadded\n").encode()


@pytest.fixture
def proposed(editor: Editor, talker: ListeningTalker) -> Editor:
    """A Neovim with three hunks: a line replaced, one added, one deleted at the end."""
    talker.reply = NEW.decode()
    editor.open("lines.txt", OLD.encode())
    editor.command("Plgd change three lines")
    assert "proposed" == editor.finished()["status"]
    editor.told("3 changes are proposed. ]h goes to one, <Leader>pa accepts it.")
    assert (3, OLD.encode()) == (len(hunks(editor)), editor.bytes())
    return editor


def hunks(editor: Editor) -> list[dict[str, Any]]:
    """Return the hunks that the current buffer shows."""
    found: list[dict[str, Any]] = editor.lua(
        """
        return vim.tbl_map(function(hunk)
            return { id = hunk.id, first = hunk.first, last = hunk.last, state = hunk.state }
        end, require("plgd.preview").hunks(0))
        """
    )
    return found


def shown(editor: Editor) -> list[tuple[int, object]]:
    """Return what the preview shows: rows and their highlighting, rows and what hangs below (or above) them."""
    marks: list[Sequence[Any]] = editor.lua(
        """
        return vim.api.nvim_buf_get_extmarks(
            0, vim.api.nvim_get_namespaces()["plgd.preview"], 0, -1, { details = true })
        """
    )
    seen: list[tuple[int, object]] = []
    for _, row, _, details in marks:
        if "virt_lines" in details:
            seen.append((row, ["".join(part[0] for part in line) for line in details["virt_lines"]]))
        else:
            seen.append((row, (details.get("hl_group"), details["end_row"], details["virt_text"][0][0])))
    return seen


def wait_hunks(editor: Editor, *ids: int) -> None:
    """Wait until just these hunks are shown."""
    editor.wait(
        "vim.deep_equal(vim.tbl_map(function(hunk) return hunk.id end, require('plgd.preview').hunks(0)), ...)", ids
    )


def go_to(editor: Editor, line: int) -> None:
    """Put the cursor on a line."""
    editor.request("nvim_win_set_cursor", 0, (line, 0))


def test_old_lines_are_marked_and_new_ones_hang_below(proposed: Editor) -> None:
    """Lines that would go are highlighted, those that would come are virtual lines with tabs as wide as elsewhere."""
    assert [
        (1, ("PlgdDelete", 2, " plgd 1/3")),
        (1, ["second"]),
        (6, (None, 6, " plgd 2/3")),
        (6, ["        added"]),
        (11, ("PlgdDelete", 12, " plgd 3/3")),
    ] == sorted(shown(proposed), key=lambda item: (item[0], isinstance(item[1], list)))
    # What the server does for editors without a plug-in would be said twice.
    assert [] == proposed.lua("return vim.diagnostic.get(0)")
    assert [
        "line 1",
        "line 2  plgd 1/3",
        "second",
        *(f"line {n}" for n in range(3, 7)),
        "line 7  plgd 2/3",
        "        added",
        *(f"line {n}" for n in range(8, 12)),
        "line 12  plgd 3/3",
    ] == proposed.screen()[:14]


def test_what_comes_above_the_first_line_is_seen(editor: Editor, talker: ListeningTalker) -> None:
    """Lines that would come above the first one are on the screen, and land there."""
    talker.reply = "# new\n" + OLD
    editor.open("lines.txt", OLD.encode())
    editor.command("Plgd add a comment")
    wait_hunks(editor, 0)
    assert ["# new", "line 1  plgd 1/1", "line 2"] == editor.screen()[:3]
    editor.command("PlgdAccept")
    wait_hunks(editor)
    assert b"# new\n" + OLD.encode() == editor.bytes()


def test_what_comes_to_an_empty_file_is_seen(editor: Editor, talker: ListeningTalker, tmp_path: Path) -> None:
    """In an empty buffer the whole answer is shown, and accepted it is the file."""
    talker.reply = "one\ntwo\n"
    editor.open("new.txt", b"")
    editor.command("Plgd count to two")
    wait_hunks(editor, 0)
    assert {"one", "two"} < set(editor.screen())
    editor.command("PlgdAccept!")
    wait_hunks(editor)
    editor.command("write")
    assert b"one\ntwo\n" == (tmp_path / "new.txt").read_bytes()


def test_a_hunk_is_accepted_by_itself(proposed: Editor) -> None:
    """The hunk under the cursor lands alone, as one undo step; the others wait, and it is open again when undone."""
    go_to(proposed, 2)
    proposed.command("PlgdAccept")
    wait_hunks(proposed, 1, 2)
    assert FIRST == proposed.bytes()
    proposed.command("undo")
    assert OLD.encode() == proposed.bytes()
    wait_hunks(proposed, 0, 1, 2)


def test_hunks_are_accepted_and_rejected_until_none_is_left(proposed: Editor) -> None:
    """Rejected hunks vanish without a change, a range takes those within it, and at the end nothing is shown."""
    go_to(proposed, 4)
    proposed.command("PlgdAccept")
    proposed.told("there is no hunk here")
    proposed.command("1,3PlgdReject")
    wait_hunks(proposed, 1, 2)
    go_to(proposed, 7)
    proposed.command("PlgdAccept")
    wait_hunks(proposed, 2)
    proposed.command("PlgdReject!")
    wait_hunks(proposed)
    assert ([], SECOND) == (shown(proposed), proposed.bytes())
    proposed.command("PlgdAccept!")
    proposed.told("nothing is proposed for this buffer")


def test_all_are_accepted_as_one_step(proposed: Editor) -> None:
    """`:PlgdAccept!` puts every hunk into the buffer; one undo takes all of them back."""
    proposed.command("PlgdAccept!")
    wait_hunks(proposed)
    assert NEW == proposed.bytes()
    proposed.command("undo")
    assert OLD.encode() == proposed.bytes()


def test_keys_of_a_review(proposed: Editor) -> None:
    """While hunks wait, the buffer has mappings to go through them and decide; afterwards it has its own again."""
    go_to(proposed, 1)
    visited = []
    for keys in ("]h", "]h", "]h", "]h", "[h"):
        proposed.type(keys)
        line = proposed.call("line", ".")
        visited.append(line)
    assert [2, 7, 12, 2, 12] == visited
    proposed.type(r"\pr")
    wait_hunks(proposed, 0, 1)
    proposed.type(r"\pA")
    wait_hunks(proposed)
    assert "" == proposed.call("maparg", "]h", "n")
    assert NEW + b"line 12\n" == proposed.bytes()


def test_hunks_move_with_the_text(proposed: Editor) -> None:
    """Hunks stay on their lines while the user types above them, and land there."""
    proposed.command("call append(0, ['above', 'and above'])")
    assert [3, 8, 13] == [hunk["first"] for hunk in hunks(proposed)]
    go_to(proposed, 4)
    proposed.command("PlgdAccept")
    wait_hunks(proposed, 1, 2)
    assert b"above\nand above\n" + FIRST == proposed.bytes()


def test_a_proposal_of_an_older_text_never_moves_hunks_to_other_lines(proposed: Editor) -> None:
    """What the server says about a text that has changed since is shown if it still fits, and skipped otherwise."""
    late = """
        local last = vim.iter(told):filter(function(item) return item[1] == "PlgdProposal" end):last()[2]
        local client = require("plgd.server").client_of(0)
        require("plgd.sessions").handlers["plgd/proposal"](last, client.id)
        return #require("plgd.preview").hunks(0)
    """
    proposed.lua("vim.api.nvim_buf_set_lines(0, 4, 5, true, { 'same place' }) before = vim.deepcopy(told)")
    assert [1, 6, 11] == [hunk["first"] for hunk in hunks(proposed)]
    proposed.lua("require('plgd.preview').clear(require('plgd.sessions').of_buffer(vim.api.nvim_get_current_buf())[1])")
    assert 3 == proposed.lua(late)
    assert [1, 6, 11] == [hunk["first"] for hunk in hunks(proposed)]
    proposed.lua("vim.api.nvim_buf_set_lines(0, 0, 0, true, { 'above' })")
    proposed.lua("told = before")
    assert 3 == proposed.lua(late)
    assert [2, 7, 12] == [hunk["first"] for hunk in hunks(proposed)]


def test_a_hunk_whose_lines_were_changed_is_in_conflict(proposed: Editor) -> None:
    """A hunk whose lines the user has changed says so and is refused; the others can still be accepted."""
    proposed.command("2substitute/line/mine")
    proposed.wait("vim.tbl_get(require('plgd.preview').hunks(0), 1, 'state') == 'conflict'")
    go_to(proposed, 2)
    proposed.command("PlgdAccept")
    proposed.told("The text was changed at line 2")
    go_to(proposed, 7)
    proposed.command("PlgdAccept")
    wait_hunks(proposed, 0, 2)
    assert SECOND.replace(b"line 2\n", b"mine 2\n") == proposed.bytes()
