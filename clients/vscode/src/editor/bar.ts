/** plgd in the status bar, and the menu behind it. */

import { Disposable, type QuickPickItem, StatusBarAlignment, ThemeColor, commands, window } from "vscode";
import type { Status } from "../protocol/messages";
import { undecided } from "../review/hunks";
import type { Proposals } from "../review/proposals";
import { type ServerState, statusWords } from "../status/words";
import type { Client } from "./client";
import { Commands, Contexts } from "./names";

const COLOURS = {
  normal: undefined,
  warning: new ThemeColor("statusBarItem.warningBackground"),
  error: new ThemeColor("statusBarItem.errorBackground"),
} as const;

interface Entry extends QuickPickItem {
  readonly command: string;
  readonly parameters?: readonly unknown[];
}

export class StatusBar {
  private readonly item = window.createStatusBarItem("plgd.status", StatusBarAlignment.Right, 100);
  private server: ServerState = "starting";
  private status: Status | undefined;

  constructor(
    client: Client,
    private readonly proposals: Proposals,
  ) {
    this.item.name = "plgd";
    this.item.command = Commands.menu;
    client.onState((state) => {
      this.server = state;
      if (state !== "running") this.status = undefined;
      this.show();
    });
    client.onStatus((status) => {
      this.status = status;
      this.show();
    });
    proposals.onChange(() => {
      this.show();
    });
  }

  register(): Disposable {
    this.show();
    this.item.show();
    return Disposable.from(this.item, commands.registerCommand(Commands.menu, () => this.menu()));
  }

  private show(): void {
    const words = statusWords(this.server, this.status, this.waiting);
    this.item.text = words.text;
    this.item.tooltip = words.tooltip;
    this.item.backgroundColor = COLOURS[words.severity];
    void commands.executeCommand("setContext", Contexts.working, this.status?.busy ?? false);
  }

  private get waiting(): number {
    return this.proposals.all.reduce((sum, proposal) => sum + undecided(proposal.hunks).length, 0);
  }

  private async menu(): Promise<void> {
    const entries: Entry[] = [
      ...(this.status?.busy === true ? [{ label: "$(debug-stop) Cancel the running edit", command: Commands.stopEdit }] : []),
      ...(this.waiting > 0 ? [{ label: "$(diff) Show the proposed changes", command: Commands.showDiff }] : []),
      ...(this.server === "running"
        ? [
            { label: "$(sparkle) Edit with an instruction…", command: Commands.ask },
            { label: "$(redo) Ask again…", command: Commands.again },
          ]
        : []),
      { label: "$(debug-restart) Restart the language server", command: Commands.restart },
      { label: "$(output) Show the log", command: Commands.output },
      { label: "$(gear) Settings", command: "workbench.action.openSettings", parameters: ["plgd"] },
    ];
    const chosen = await window.showQuickPick(entries, { title: "plgd", placeHolder: this.status?.message ?? "" });
    if (chosen !== undefined) await commands.executeCommand(chosen.command, ...(chosen.parameters ?? []));
  }
}
