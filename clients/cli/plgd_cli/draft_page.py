"""A reply by who drafted it, as a page for a browser: one file, without scripts, that loads nothing."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Final

from plgd.errors import WriteFailed
from plgd.protocol.edits import EditResult
from plgd.protocol.reply_drafts import ReplyDrafts, ReplyRun
from plgd_cli.controls import visible
from plgd_cli.draft_kinds import KINDS, kind_of, rounds_said, tallies

__all__ = ("check_place", "draft_page", "save_page")

# Text and background of each pair have a contrast of at least 7 : 1. Underlines tell the kinds apart without colours.
STYLE: Final = """\
:root { color-scheme: light dark; --page: #fff; --ink: #1d2127; --soft: #57606a; --line: #d0d7de;
  --file: #e3f4e4; --file-ink: #0d3f17; --substitution: #ecdffc; --substitution-ink: #42177c;
  --ngram: #d9edfb; --ngram-ink: #0a3c5f; --plain: transparent; --plain-ink: #1d2127;
  --correction: #fde0dc; --correction-ink: #7a1208; --bonus: #fdf0c4; --bonus-ink: #574000; }
@media (prefers-color-scheme: dark) { :root { --page: #14171c; --ink: #e4e8ed; --soft: #a3adb8; --line: #3a424c;
  --file: #15301c; --file-ink: #b5ecc0; --substitution: #34204f; --substitution-ink: #e2cfff;
  --ngram: #12304a; --ngram-ink: #bfe2ff; --plain: transparent; --plain-ink: #e4e8ed;
  --correction: #4a1a16; --correction-ink: #ffd3cd; --bonus: #3d3008; --bonus-ink: #ffe69a; } }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.4rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
p { color: var(--soft); margin: .25rem 0 1rem; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
table { border-collapse: collapse; margin: 0 0 1rem; }
caption { text-align: left; color: var(--soft); }
th, td { text-align: left; font-weight: normal; padding: .2rem 1.25rem .2rem 0; border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
pre { margin: 0; padding: 1rem; border: 1px solid var(--line); border-radius: .5rem; overflow-x: auto;
  font-size: .875rem; line-height: 1.6; tab-size: 8; }
pre:focus-visible { outline: 2px solid var(--soft); }
.round { border-left: 2px solid var(--soft); }
.round:hover { outline: 2px solid var(--soft); }
.by { text-decoration-thickness: 1px; text-underline-offset: 3px; }
.file { background: var(--file); color: var(--file-ink); }
.substitution { background: var(--substitution); color: var(--substitution-ink); text-decoration-line: underline; }
.ngram { background: var(--ngram); color: var(--ngram-ink); text-decoration: underline dotted; }
.plain { background: var(--plain); color: var(--plain-ink); }
.correction { background: var(--correction); color: var(--correction-ink); text-decoration: underline wavy; }
.bonus { background: var(--bonus); color: var(--bonus-ink); text-decoration: underline dashed; }
.other { outline: 1px dotted var(--soft); }
"""


def draft_page(result: EditResult, drafts: ReplyDrafts, *, name: str) -> str:
    """Return the page.

    Whatever the reply and the names say is text on it; should some of it ever come through as markup, the page's own
    policy still forbids scripts and everything from elsewhere.

    Args:
        result: of the edit.
        drafts: its drafts.
        name: what the user called the file.
    """
    title = f"Who drafted {_text(name)}"
    rows = "".join(
        f'<tr><th scope="row"><span class="{_class(tally.kind.name)}">{_text(tally.kind.name)}</span></th>'
        f"<td>{_text(tally.kind.meaning)}</td>"
        f'<td class="n">{"" if tally.n_drafted is None else f"{tally.n_drafted:,}"}</td>'
        f'<td class="n">{tally.n_tokens:,}</td></tr>\n'
        for tally in tallies(result, drafts)
    )
    return f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
{STYLE}</style>
</head>
<body>
<main>
<h1>Who drafted <code>{_text(name)}</code></h1>
<p>{_text(result.model)}: {_text(rounds_said(result, drafts))}; policy {_text(result.stats.policy)}</p>
<table>
<caption>Tokens of the reply, by who drafted them</caption>
<thead><tr><th scope="col">drafted by</th><th scope="col">that is</th><th scope="col" class="n">drafted</th>\
<th scope="col" class="n">in the reply</th></tr></thead>
<tbody>
{rows}</tbody>
</table>
<p>A bar is where a round begins. Hover over the text to see its round, that round's width, and who drafted it.</p>
<pre tabindex="0" aria-label="The reply"><code>{"".join(_rounds(drafts))}</code></pre>
</main>
</body>
</html>
"""


def check_place(path: Path, *others: Path) -> None:
    """See that a page can be written there, before a model works for it.

    Args:
        path: where the page is to be.
        others: files that it must not take the place of.

    Raises:
        WriteFailed: it is a folder or a pipe, there is no folder for it, it is one of the others, or no file can have
            that name.
    """
    try:
        if path.is_dir():
            raise WriteFailed.page(str(path), "it is a folder")
        if path.is_fifo():  # writing to it may wait for ever
            raise WriteFailed.page(str(path), "it is a pipe")
        if not path.parent.is_dir():
            raise WriteFailed.page(str(path), f"there is no folder {path.parent}")
        if path.exists() and any(other.exists() and path.samefile(other) for other in others):
            raise WriteFailed.page(str(path), "it is a file that this edit reads")
    except OSError as error:
        raise WriteFailed.page(str(path), str(error.strerror)) from error


def save_page(path: Path, page: str) -> None:
    """Write a page.

    Raises:
        WriteFailed: with the system's reason.
    """
    try:
        path.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        raise WriteFailed.page(str(path), str(error.strerror)) from error


def _rounds(drafts: ReplyDrafts) -> Iterator[str]:
    for n_round, runs in groupby(drafts.runs, key=attrgetter("round")):
        width = drafts.widths[n_round - 1]
        yield f'<span class="round">{"".join(_run(run, width) for run in runs)}</span>'


def _run(run: ReplyRun, width: int) -> str:
    if not run.text:
        return ""
    tokens = "1 token" if run.n_tokens == 1 else f"{run.n_tokens} tokens"
    told = _text(f"round {run.round}, width {width}: {run.by}, {tokens}")
    return f'<span class="{_class(run.by)}" title="{told}">{_text(run.text)}</span>'


def _class(name: str) -> str:
    return f"by {kind_of(name).name}" if name in KINDS else "by other"


def _text(text: str) -> str:
    return escape(visible(text))
