/** The commands that go through a proposal: show, go from change to change, accept, reject. */

import { commands, Disposable, Range, Selection, TextEditorRevealType, Uri, window } from "vscode";
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
      command(Commands.next, () => this.go(1)),
      command(Commands.previous, () => this.go(-1)),
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

  /** The proposal of the document in front, or of any other if there is just one. */
  private current(): Proposal | undefined {
    const document = window.activeTextEditor?.document;
    const here = document === undefined ? undefined : proposalOf(document, this.proposals);
    return here ?? (this.proposals.all.length === 1 ? this.proposals.all[0] : undefined);
  }

  private atCursor(): HunkReference | undefined {
    const proposal = this.current();
    const place = cursor();
    if (proposal === undefined || place === undefined) return undefined;
    const hunk = hunkAt(proposal.hunks, place.side, place.line);
    return hunk && { session: proposal.session, hunks: [hunk.id] };
  }

  /** Decide the hunk that was clicked, or the one at the cursor and go on to the next. */
  private async decideOne(command: string, given: HunkReference | undefined): Promise<void> {
    const hunk = given ?? this.atCursor();
    await this.decide(command, hunk);
    if (given === undefined && hunk !== undefined) await this.go(1);
  }

  /** Decide hunks; without any, since none is at the cursor, go to the next one instead of deciding what is not seen. */
  private async decide(command: string, hunks: HunkReference | undefined): Promise<void> {
    if (hunks === undefined) {
      if (this.current() !== undefined) await this.go(1);
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

  private async go(step: 1 | -1): Promise<void> {
    const proposal = this.current();
    if (proposal === undefined) return;
    const from = cursor();
    const target = neighbour(proposal.hunks, from?.side ?? "old", from?.line ?? -1, step);
    if (target === undefined) return;
    const here = window.activeTextEditor;
    const isShown = here !== undefined && proposalOf(here.document, this.proposals)?.session === proposal.session;
    const editor = isShown ? here : await window.showTextDocument(Uri.parse(proposal.uri));
    const line = editor.document.uri.scheme === SCHEME ? target.newStart : target.oldStart;
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

function cursor(): { readonly side: Side; readonly line: number } | undefined {
  const editor = window.activeTextEditor;
  if (editor === undefined) return undefined;
  return { side: editor.document.uri.scheme === SCHEME ? "new" : "old", line: editor.selection.active.line };
}

/** A button in an editor's title gives the document's address, a line above a hunk gives the hunk. */
function reference(given: unknown): HunkReference | undefined {
  return typeof given === "object" && given !== null && "session" in given ? (given as HunkReference) : undefined;
}
