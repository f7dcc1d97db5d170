/** Colours of the lines that a proposal changes, with the new text on hover. */

import {
  type DecorationOptions,
  Disposable,
  MarkdownString,
  OverviewRulerLane,
  Range,
  type TextEditor,
  ThemeColor,
  window,
} from "vscode";
import type { Hunk } from "../protocol/messages";
import { place } from "../review/hunks";
import type { Proposals } from "../review/proposals";

const ruler = { isWholeLine: true, overviewRulerLane: OverviewRulerLane.Left };

export class Marks {
  private readonly replaced = window.createTextEditorDecorationType({
    ...ruler,
    backgroundColor: new ThemeColor("diffEditor.removedLineBackground"),
    overviewRulerColor: new ThemeColor("diffEditorOverview.removedForeground"),
  });
  private readonly inserted = window.createTextEditorDecorationType({
    ...ruler,
    borderColor: new ThemeColor("diffEditorOverview.insertedForeground"),
    borderStyle: "dashed none none none",
    borderWidth: "1px",
    overviewRulerColor: new ThemeColor("diffEditorOverview.insertedForeground"),
  });
  private readonly conflicting = window.createTextEditorDecorationType({
    ...ruler,
    backgroundColor: new ThemeColor("merge.commonContentBackground"),
    overviewRulerColor: new ThemeColor("editorOverviewRuler.warningForeground"),
  });

  constructor(private readonly proposals: Proposals) {
    proposals.onChange(() => {
      this.paint();
    });
  }

  register(): Disposable {
    const editors = window.onDidChangeVisibleTextEditors(() => {
      this.paint();
    });
    return Disposable.from(editors, this.replaced, this.inserted, this.conflicting);
  }

  private paint(): void {
    // The sides of a diff, which have no column of their own, are coloured by the diff.
    for (const editor of window.visibleTextEditors) if (editor.viewColumn !== undefined) this.paintOne(editor);
  }

  private paintOne(editor: TextEditor): void {
    const placed = this.proposals.of(editor.document.uri.toString()).flatMap((proposal) => place(proposal.hunks));
    const replaced: DecorationOptions[] = [];
    const inserted: DecorationOptions[] = [];
    const conflicting: DecorationOptions[] = [];
    for (const { hunk, oldStart, oldEnd } of placed) {
      const isInsertion = oldEnd === oldStart;
      const range = new Range(oldStart, 0, isInsertion ? oldStart : oldEnd - 1, Number.MAX_SAFE_INTEGER);
      const list = hunk.state === "conflict" ? conflicting : isInsertion ? inserted : replaced;
      list.push({ range: editor.document.validateRange(range), hoverMessage: hover(hunk) });
    }
    editor.setDecorations(this.replaced, replaced);
    editor.setDecorations(this.inserted, inserted);
    editor.setDecorations(this.conflicting, conflicting);
  }
}

function hover(hunk: Hunk): MarkdownString {
  const signed = (sign: string, text: string): string[] =>
    text === "" ? [] : text.replace(/(\r\n|\n|\r)$/, "").split(/\r\n|\n|\r/).map((line) => sign + line);
  const lines = [...signed("-", hunk.oldText), ...signed("+", hunk.newText)];
  return new MarkdownString().appendCodeblock(lines.join("\n"), "diff");
}
