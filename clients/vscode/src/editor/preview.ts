/** The diff of a document and what a proposal makes of it: the right side is a document that exists only here. */

import {
  commands,
  Disposable,
  EventEmitter,
  Range,
  TabInputTextDiff,
  type TextDocument,
  type TextDocumentContentProvider,
  Uri,
  window,
  workspace,
} from "vscode";
import type { Proposal } from "../protocol/messages";
import { place, proposedText } from "../review/hunks";
import type { Proposals } from "../review/proposals";

export const SCHEME = "plgd-proposal";

export class Preview implements TextDocumentContentProvider {
  private readonly changed = new EventEmitter<Uri>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly proposals: Proposals) {
    proposals.onChange((proposal, change) => {
      if (change === "resolved") void this.close(proposal);
      else this.changed.fire(proposedUri(proposal));
    });
  }

  register(): Disposable {
    return Disposable.from(
      workspace.registerTextDocumentContentProvider(SCHEME, this),
      // Between a keystroke and the server's word on it, hunks may be a line off: the next proposal puts it right.
      workspace.onDidChangeTextDocument(({ document }) => {
        for (const proposal of this.proposals.of(document.uri.toString())) this.changed.fire(proposedUri(proposal));
      }),
    );
  }

  /** The proposed text; the document's own once the proposal is resolved. */
  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const proposal = this.proposals.get(sessionOf(uri));
    if (proposal === undefined) return "";
    const document = await workspace.openTextDocument(Uri.parse(proposal.uri));
    return proposedText(document.getText(), proposal.hunks);
  }

  /** Open the diff with the cursor at one of its hunks, or at the first. */
  async show(proposal: Proposal, hunk?: number): Promise<void> {
    const placed = place(proposal.hunks);
    const line = (placed.find((one) => one.hunk.id === hunk) ?? placed[0])?.newStart ?? 0;
    const document = Uri.parse(proposal.uri);
    const name = document.path.split("/").at(-1) ?? proposal.uri;
    await commands.executeCommand(
      "vscode.diff",
      document,
      proposedUri(proposal),
      `${name}: ${proposal.instruction}`,
      { preview: true, selection: new Range(line, 0, line, 0) },
    );
  }

  /** Close the diff of a proposal that is resolved; where it was in front, its document comes to the front. */
  private async close(proposal: Proposal): Promise<void> {
    const uri = proposedUri(proposal).toString();
    const tabs = window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter((tab) => tab.input instanceof TabInputTextDiff && tab.input.modified.toString() === uri);
    const first = tabs.find((tab) => tab.isActive);
    if (tabs.length === 0) return;
    await window.tabGroups.close(tabs, true);
    if (first !== undefined) await window.showTextDocument(Uri.parse(proposal.uri), { viewColumn: first.group.viewColumn });
  }
}

/** The proposal that a document shows: its own on the right side of a diff, the newest elsewhere. */
export function proposalOf(document: TextDocument, proposals: Proposals): Proposal | undefined {
  if (document.uri.scheme === SCHEME) return proposals.get(sessionOf(document.uri));
  return proposals.of(document.uri.toString()).at(-1);
}

function proposedUri(proposal: Proposal): Uri {
  const document = Uri.parse(proposal.uri);
  // The path keeps the file's name and ending, so that the editor knows the language.
  return Uri.from({ scheme: SCHEME, path: document.path, query: proposal.session });
}

function sessionOf(uri: Uri): string {
  return uri.query;
}
