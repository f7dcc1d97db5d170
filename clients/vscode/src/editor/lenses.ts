/** Lines above each hunk: what it does, accept, reject. */

import { type CodeLens, CodeLens as Lens, type CodeLensProvider, EventEmitter, Range, type TextDocument } from "vscode";
import { lineChange, place } from "../review/hunks";
import type { Proposals } from "../review/proposals";
import { Commands, type HunkReference } from "./names";
import { proposalOf, SCHEME } from "./preview";

export class HunkLenses implements CodeLensProvider {
  private readonly changed = new EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;

  constructor(private readonly proposals: Proposals) {
    proposals.onChange(() => {
      this.changed.fire();
    });
  }

  provideCodeLenses(document: TextDocument): CodeLens[] {
    const isProposed = document.uri.scheme === SCHEME;
    const proposal = proposalOf(document, this.proposals);
    const shown = isProposed ? (proposal === undefined ? [] : [proposal]) : this.proposals.of(document.uri.toString());
    return shown.flatMap(({ session, hunks }) =>
      place(hunks).flatMap((placed) => {
        const line = Math.min(isProposed ? placed.newStart : placed.oldStart, document.lineCount - 1);
        const range = new Range(line, 0, line, 0);
        const hunk: HunkReference = { session, hunks: [placed.hunk.id] };
        const lens = (title: string, command: string): CodeLens =>
          new Lens(range, { title, command, arguments: [hunk] });
        if (placed.hunk.state === "conflict") {
          return [lens("$(warning) The text here changed meanwhile: dismiss", Commands.reject)];
        }
        return [
          lens(`$(check) Accept ${lineChange(placed.hunk)}`, Commands.accept),
          lens("$(close) Reject", Commands.reject),
          ...(isProposed ? [] : [lens("$(diff) Show", Commands.showDiff)]),
        ];
      }),
    );
  }
}
