/** The commands that go through a proposal: show, go from change to change, accept, reject. */

import {
  commands,
  Disposable,
  Range,
  Selection,
  type TextEditor,
  TextEditorRevealType,
  Uri,
  window,
} from "vscode";
import { type Decided, type Proposal, ServerCommands } from "../protocol/messages";
import { hunkAt, neighbour, open, type Side, undecided } from "../review/hunks";
import type { Proposals } from "../review/proposals";
import type { Preview as Where } from "../settings/check";
import { proposalWarning } from "../status/outcomes";
import type { Client } from "./client";
import { Commands, Contexts, type HunkReference } from "./names";
import { type Preview, proposalOf, SCHEME } from "./preview";
import { attempt } from "./telling";

export class Reviewing {
  constructor(
    private readonly client: Client,
    private readonly proposals: Proposals,
    private readonly preview: Preview,
    private readonly where: () => Where,
  ) {
    proposals.onChange((proposal, change) => {
      this.setContext();
      if (change === "arrived") void attempt(() => this.present(proposal));
    });
  }

  register(): Disposable {
    const command = (name: string, action: (given?: HunkReference) => Promise<void>): Disposable =>
      commands.registerCommand(name, (given?: unknown) => attempt(() => action(reference(given))));
    return Disposable.from(
      window.onDidChangeActiveTextEditor(() => {
        this.setContext();
      }),
      command(Commands.accept, (given) => this.decideOne(ServerCommands.accept, given)),
      command(Commands.reject, (given) => this.decideOne(ServerCommands.reject, given)),
      command(Commands.acceptAll, () => this.decideAll(ServerCommands.accept)),
      command(Commands.rejectAll, () => this.decideAll(ServerCommands.reject)),
      commands.registerCommand(Commands.next, () => {
        this.go(1);
      }),
      commands.registerCommand(Commands.previous, () => {
        this.go(-1);
      }),
      command(Commands.showDiff, (given) => this.showDiff(given)),
    );
  }

  private async present(proposal: Proposal): Promise<void> {
    const warning = proposalWarning(proposal);
    if (warning !== undefined) void window.showWarningMessage(warning);
    if (this.where() === "diff") {
      await this.preview.show(proposal);
      return;
    }
    const line = undecided(proposal.hunks)[0]?.range.start.line ?? 0;
    const editor = await window.showTextDocument(Uri.parse(proposal.uri), { preserveFocus: true });
    editor.revealRange(new Range(line, 0, line, 0), TextEditorRevealType.InCenterIfOutsideViewport);
  }

  /** The proposal of the document in front: nothing is decided in a document that is not seen. */
  private current(): Proposal | undefined {
    const document = window.activeTextEditor?.document;
    return document === undefined ? undefined : proposalOf(document, this.proposals);
  }

  /** The hunk at the cursor, of the newest proposal that has one there. */
  private atCursor(): HunkReference | undefined {
    const editor = window.activeTextEditor;
    if (editor === undefined) return undefined;
    const { document, selection } = editor;
    const side = sideOf(editor);
    const shown = side === "new" ? this.current() : undefined;
    const proposals = shown === undefined ? this.proposals.of(document.uri.toString()).toReversed() : [shown];
    for (const { session, hunks } of proposals) {
      const hunk = hunkAt(hunks, side, selection.active.line);
      if (hunk !== undefined) return { session, hunks: [hunk.id] };
    }
    return undefined;
  }

  /** Decide the hunk that was clicked, or the one at the cursor and go on to the next. */
  private async decideOne(command: string, given: HunkReference | undefined): Promise<void> {
    const hunk = given ?? this.atCursor();
    await this.decide(command, hunk);
    if (given === undefined && hunk !== undefined) this.go(1);
  }

  /** Decide hunks; without any, since none is at the cursor, go to the next one instead of deciding what is not seen. */
  private async decide(command: string, hunks: HunkReference | undefined): Promise<void> {
    if (hunks === undefined) {
      this.go(1);
      window.setStatusBarMessage("plgd: no change is at the cursor", 5000);
      return;
    }
    const decided = await this.client.execute<Decided>(command, hunks);
    const missed = hunks.hunks.filter((id) => decided.left.includes(id)).length;
    if (command === ServerCommands.accept && missed > 0) {
      void window.showWarningMessage(
        `plgd: ${missed === 1 ? "1 change was" : `${missed} changes were`} not applied: the text there changed meanwhile.`,
      );
    }
  }

  private async decideAll(command: string): Promise<void> {
    const proposal = this.current();
    if (proposal === undefined) {
      await this.decide(command, undefined);
      return;
    }
    const which = command === ServerCommands.accept ? open(proposal.hunks) : undecided(proposal.hunks);
    await this.decide(command, { session: proposal.session, hunks: which.map((hunk) => hunk.id) });
  }

  private go(step: 1 | -1): void {
    const proposal = this.current();
    const editor = window.activeTextEditor;
    if (proposal === undefined || editor === undefined) return;
    const side = sideOf(editor);
    const target = neighbour(proposal.hunks, side, editor.selection.active.line, step);
    if (target === undefined) return;
    const line = side === "new" ? target.newStart : target.oldStart;
    const at = editor.document.validateRange(new Range(line, 0, line, 0)).start;
    editor.selection = new Selection(at, at);
    editor.revealRange(new Range(at, at), TextEditorRevealType.InCenterIfOutsideViewport);
  }

  private async showDiff(given: HunkReference | undefined): Promise<void> {
    const proposal = given === undefined ? (this.current() ?? this.proposals.all.at(-1)) : this.proposals.get(given.session);
    if (proposal === undefined) {
      window.setStatusBarMessage("plgd: nothing waits for review", 5000);
      return;
    }
    await this.preview.show(proposal, given?.hunks[0]);
  }

  private setContext(): void {
    const document = window.activeTextEditor?.document;
    const isReviewing = document !== undefined && proposalOf(document, this.proposals) !== undefined;
    void commands.executeCommand("setContext", Contexts.reviewing, isReviewing);
  }
}

function sideOf(editor: TextEditor): Side {
  return editor.document.uri.scheme === SCHEME ? "new" : "old";
}

/** A button in an editor's title gives the document's address, a line above a hunk gives the hunk. */
function reference(given: unknown): HunkReference | undefined {
  return typeof given === "object" && given !== null && "session" in given ? (given as HunkReference) : undefined;
}
