/** The commands that begin, repeat and cancel an edit. */

import { commands, Disposable, type TextDocument, type TextEditor, Uri, window, workspace } from "vscode";
import { type Finished, ServerCommands } from "../protocol/messages";
import { undecided } from "../review/hunks";
import type { Proposals } from "../review/proposals";
import { outcome, type Telling } from "../status/outcomes";
import type { Checked } from "../settings/check";
import type { Client } from "./client";
import type { InstructionInput } from "./input";
import { Commands } from "./names";
import { SCHEME } from "./preview";
import { attempt } from "./telling";

interface Asked {
  readonly session: string;
  readonly uri: string;
  readonly instruction: string;
}

export class Asking {
  private last: Asked | undefined;

  constructor(
    private readonly client: Client,
    private readonly input: InstructionInput,
    private readonly proposals: Proposals,
    private readonly settings: () => Checked,
  ) {
    client.onFinished((finished) => void this.tell(finished));
    proposals.onChange(({ session, uri, instruction }, change) => {
      // Edits from the menu of code actions are known by their proposal only.
      if (change === "arrived") this.last = { session, uri, instruction };
    });
  }

  register(): Disposable {
    return Disposable.from(
      commands.registerCommand(Commands.ask, () => this.ask(true)),
      commands.registerCommand(Commands.askDocument, () => this.ask(false)),
      commands.registerCommand(Commands.again, () => this.again()),
      commands.registerCommand(Commands.stopEdit, () =>
        attempt(() => this.client.execute(ServerCommands.cancel, {})),
      ),
    );
  }

  /** Ask for an instruction and send it: for the selection, or where nothing is selected for the document. */
  private async ask(useSelection: boolean): Promise<void> {
    const editor = window.activeTextEditor;
    if (editor === undefined || editor.document.uri.scheme === SCHEME) {
      void window.showInformationMessage("plgd: open the text that should change and put the cursor into it.");
      return;
    }
    const { document, selection } = editor;
    const range = useSelection && !selection.isEmpty ? plain(selection) : null;
    const instruction = await this.input.ask({
      title: range === null ? "plgd: edit the document" : `plgd: edit ${lines(editor)}`,
      language: document.languageId,
      presets: this.settings().settings.presets,
    });
    if (instruction === undefined) return;
    const uri = document.uri.toString();
    await attempt(async () => {
      const { session } = await this.client.edit({ uri, range, instruction });
      this.last = { session, uri, instruction };
    });
  }

  /** Ask the last edit again, with its instruction to be changed; what is left of its proposal goes. */
  private async again(): Promise<void> {
    const last = this.last;
    if (last === undefined) {
      void window.showInformationMessage("plgd: nothing was asked yet in this window.");
      return;
    }
    const document = await workspace.openTextDocument(Uri.parse(last.uri));
    const instruction = await this.input.ask({
      title: `plgd: ask again for ${name(document)}`,
      language: document.languageId,
      presets: this.settings().settings.presets,
      instruction: last.instruction,
    });
    if (instruction === undefined) return;
    await attempt(async () => {
      const { session } = await this.client.execute<{ session: string }>(ServerCommands.retry, {
        session: last.session,
        instruction,
      });
      this.last = { session, uri: last.uri, instruction };
      const old = this.proposals.get(last.session);
      if (old !== undefined && undecided(old.hunks).length > 0) {
        await this.client.execute(ServerCommands.reject, { session: last.session });
      }
    });
  }

  private async tell(finished: Finished): Promise<void> {
    const telling = outcome(finished);
    if (telling.level === "quiet") {
      window.setStatusBarMessage(telling.message, 5000);
      return;
    }
    const labels = { retry: "Ask Again…", output: "Show Log" } as const;
    const chosen = await say(telling, telling.actions.map((action) => labels[action]));
    if (chosen === labels.retry) await this.again();
    if (chosen === labels.output) await commands.executeCommand(Commands.output);
  }
}

function say(telling: Telling, labels: readonly string[]): Thenable<string | undefined> {
  const show = {
    quiet: window.showInformationMessage,
    info: window.showInformationMessage,
    warning: window.showWarningMessage,
    error: window.showErrorMessage,
  }[telling.level];
  return show<string>(telling.message, ...labels);
}

function plain({ start, end }: TextEditor["selection"]): { start: typeof start; end: typeof end } {
  return { start, end };
}

function lines({ selection }: TextEditor): string {
  // A selection that ends at the start of a line does not take that line.
  const end = selection.end.character === 0 && !selection.isSingleLine ? selection.end.line - 1 : selection.end.line;
  const first = selection.start.line + 1;
  return first === end + 1 ? `line ${first}` : `lines ${first}–${end + 1}`;
}

function name(document: TextDocument): string {
  return document.uri.path.split("/").at(-1) ?? document.uri.toString();
}
