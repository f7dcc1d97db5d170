"""From `:Plgd` to the buffer: real Neovim, real language server, real daemon, a model of words."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from nvim.editor import Editor
from nvim.talking import ListeningTalker
from plgd.version import __version__

OLD: Final = b"def total(a):\n    total = sum(a)\n    return total\n"
NEW: Final = OLD.replace(b"total = ", b"result = ").replace(b"return total", b"return result")


def test_an_edit_is_applied_and_undone_in_one_step(editor: Editor, talker: ListeningTalker) -> None:
    """`:Plgd!` puts the result into the buffer without preview; one undo restores the bytes."""
    talker.reply = NEW.decode()
    editor.open("sum.py", OLD)
    editor.command("Plgd! rename total to result")
    done = editor.finished()
    assert "applied" == done["status"], done
    assert NEW == editor.bytes()
    editor.command("undo")
    assert OLD == editor.bytes()
    assert 0 == editor.call("undotree")["seq_cur"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\U0001f600 = '\U0001f600'\n\tb = 1\n", "\U0001f600 = '\U0001f600!'\n\tb = 2\n"),
        ("\ta\n  \tb  \n\n", "\ta\n  \tc  \n\n"),
        ("a\r\nb\r\n", "a\r\nc\r\nd\r\n"),
        ("a\r\nb\nc\r\n", "a\r\nB\nC\r\n"),
        ("a\rb\nc\u2028\f\n", "A\rb\nc\u2028\f!\n"),
        ("a\nb", "a\nc"),
        ("a\nb", "c\nb"),
    ],
    ids=["emoji", "tabs", "dos", "mixed", "stray", "no final newline", "no final newline kept"],
)
def test_every_byte_survives(editor: Editor, talker: ListeningTalker, old: str, new: str) -> None:
    """Edited, written, undone and written again, a file has the bytes that it should, whatever ends its lines."""
    talker.reply = new
    editor.command("set nofixendofline")
    editor.open("file.txt", old.encode())
    path = Path(editor.call("expand", "%:p"))
    editor.command("Plgd! change it")
    done = editor.finished()
    assert "applied" == done["status"], done
    editor.command("write")
    assert new.encode() == path.read_bytes()
    editor.command("undo | write")
    assert old.encode() == path.read_bytes()


def test_another_fileformat_is_known_at_the_next_edit(editor: Editor, talker: ListeningTalker) -> None:
    """After 'fileformat' was changed, of which Neovim tells no server, an edit is applied with the new line endings."""
    talker.reply = "A\nb\n"
    editor.open("file.txt", b"a\nb\n")
    editor.command("Plgd! first")
    assert "applied" == editor.finished(1)["status"]
    editor.command("set fileformat=dos")
    talker.reply = "A\r\nB\r\n"
    editor.command("Plgd! second")
    assert "applied" == editor.finished(2)["status"]
    assert b"A\r\nB\r\n" == editor.bytes()


def test_only_the_given_lines_are_rewritten(editor: Editor, talker: ListeningTalker) -> None:
    """With a range, the model is asked for those lines and only they change."""
    talker.reply = "    return 0\n"
    editor.open("sum.py", OLD)
    editor.command("3Plgd! return nothing")
    assert "applied" == editor.finished()["status"]
    assert OLD.replace(b"return total", b"return 0") == editor.bytes()


def test_lines_are_those_that_were_meant(editor: Editor, talker: ListeningTalker) -> None:
    """Lines that move while the prompt is open or the server starts are still the ones that are rewritten."""
    talker.reply = "    return 0\n"
    editor.open("sum.py", OLD)
    editor.lua(
        """
        vim.ui.input = function(_, use) answer = use end
        vim.cmd("3Plgd!")
        vim.api.nvim_buf_set_lines(0, 0, 0, true, { "# one more" })
        answer("return nothing")
        vim.api.nvim_buf_set_lines(0, 0, 0, true, { "# and another" })
        """
    )
    assert "applied" == editor.finished()["status"]
    expected = b"# and another\n# one more\n" + OLD.replace(b"return total", b"return 0")
    assert expected == editor.bytes()


def test_typing_elsewhere_meanwhile_is_kept(editor: Editor, talker: ListeningTalker) -> None:
    """What is typed outside the lines of an edit while the model works is kept, and the edit lands around it."""
    talker.reply = OLD.replace(b"return total", b"return 0").decode()
    talker.gate.shut()
    editor.open("sum.py", OLD)
    editor.command("Plgd! return nothing")
    talker.gate.wait_reached()
    editor.type("ggO# typed<Esc>")
    editor.wait("vim.api.nvim_get_current_line() == '# typed'")
    talker.gate.open()
    assert "applied" == editor.finished()["status"]
    assert b"# typed\n" + OLD.replace(b"return total", b"return 0") == editor.bytes()


def test_lines_that_were_changed_meanwhile_are_not_overwritten(editor: Editor, talker: ListeningTalker) -> None:
    """An edit of lines that the user has changed meanwhile is not applied; it is told, and kept as a proposal."""
    talker.reply = OLD.replace(b"return total", b"return 0").decode()
    talker.gate.shut()
    editor.open("sum.py", OLD)
    editor.command("Plgd! return nothing")
    talker.gate.wait_reached()
    editor.command("3substitute/total/mine")
    talker.gate.open()
    done = editor.finished()
    assert "conflict" == done["status"]
    assert done["message"] in editor.told("changed while the model worked")
    assert OLD.replace(b"return total", b"return mine") == editor.bytes()
    editor.wait("vim.tbl_get(require('plgd.preview').hunks(0), 1, 'state') == 'conflict'")


def test_cancel_leaves_everything_as_it_was(editor: Editor, talker: ListeningTalker) -> None:
    """`:PlgdCancel` ends what runs for the buffer at once and changes nothing; without anything it says so."""
    talker.reply = NEW.decode()
    talker.gate.shut()
    editor.open("sum.py", OLD)
    editor.command("PlgdCancel")
    editor.told("nothing is running for this buffer")
    editor.command("Plgd! rename")
    talker.gate.wait_reached()
    editor.wait("require('plgd').statusline():find('^plgd %d+ %%%%')")
    editor.command("PlgdCancel")
    assert "cancelled" == editor.finished()["status"]
    assert OLD == editor.bytes()
    assert 0 == editor.call("undotree")["seq_last"]


def test_retry_asks_again_with_other_words(editor: Editor, talker: ListeningTalker) -> None:
    """`:PlgdRetry` asks the same again, or something else of the same lines."""
    talker.reply = "    return 0\n"
    editor.open("sum.py", OLD)
    editor.command("PlgdRetry")
    editor.told("nothing has been asked in this buffer yet")
    editor.command("3Plgd return nothing")
    assert "proposed" == editor.finished(1)["status"]
    talker.reply = "    return 1\n"
    editor.command("PlgdRetry return one")
    assert "proposed" == editor.finished(2)["status"]
    assert talker.times_told("return one")
    # What was proposed before is gone.
    assert 1 == editor.lua("return #require('plgd.preview').hunks(0)")
    editor.command("PlgdAccept!")
    editor.wait("vim.api.nvim_buf_get_lines(0, 2, 3, true)[1] == '    return 1'")
    assert OLD.replace(b"return total", b"return 1") == editor.bytes()


def test_the_result_lands_in_its_own_buffer(editor: Editor, talker: ListeningTalker) -> None:
    """The user may go on in another window: the edit lands in the buffer that it was asked for, in all its windows."""
    talker.reply = NEW.decode()
    talker.gate.shut()
    editor.open("sum.py", OLD)
    editor.command("split")
    editor.command("Plgd! rename")
    talker.gate.wait_reached()
    editor.open("other.py", OLD)
    talker.gate.open()
    assert "applied" == editor.finished()["status"]
    assert OLD == editor.bytes()
    editor.command("wincmd w")
    assert ("sum.py", NEW) == (editor.call("expand", "%:t"), editor.bytes())
    assert [[1, 0], [1, 0]] == editor.lua("return vim.tbl_map(vim.api.nvim_win_get_cursor, vim.api.nvim_list_wins())")


def test_a_prompt_asks_and_remembers(editor: Editor, talker: ListeningTalker) -> None:
    """Without an instruction a prompt asks for one; the next prompt completes what was typed before."""
    talker.reply = NEW.decode()
    editor.open("sum.py", OLD)
    editor.type(":Plgd!<CR>")
    editor.type("rename total<CR>")
    assert "applied" == editor.finished(1)["status"]
    assert talker.times_told("rename total")
    editor.command("undo")
    editor.type(":Plgd!<CR>")
    editor.type("ren<Tab><CR>")
    assert "applied" == editor.finished(2)["status"]
    editor.type(":Plgd!<CR>")
    editor.type("<Esc>")
    editor.wait("vim.fn.mode() == 'n'")
    assert 2 == talker.times_told("rename total")


def test_a_preset_is_a_code_action(editor: Editor, talker: ListeningTalker) -> None:
    """Presets of the options show among Neovim's own code actions, and what they propose is reviewed."""
    talker.reply = NEW.decode()
    preset = {"id": "short", "title": "Shorten it", "instruction": "make it shorter"}
    editor.stop_server()
    editor.set_up(cmd=editor.server, presets=[preset], attach="open")
    editor.open("sum.py", OLD)
    editor.wait("require('plgd.server').client_of(0) ~= nil")
    editor.lua(
        """
        vim.lsp.buf.code_action({
            filter = function(action) return action.kind == "refactor.rewrite.plgd.short" end,
            apply = true,
        })
        """
    )
    assert "proposed" == editor.finished()["status"]
    assert talker.times_told("make it shorter")
    assert OLD == editor.bytes()


def test_health_tells_what_is_there(editor: Editor, talker: ListeningTalker) -> None:
    """`:checkhealth plgd` names the version, the daemon's state and the attached buffers."""
    talker.reply = NEW.decode()
    editor.open("sum.py", OLD)
    editor.command("Plgd! rename")
    assert "applied" == editor.finished()["status"]
    editor.command("checkhealth plgd")
    page = "\n".join(editor.rows())
    assert f"OK plgd {__version__} " in page
    assert "OK daemon: state ready" in page
    assert "OK language server: 1 buffer attached, positions in utf-8" in page
    assert "ERROR" not in page
