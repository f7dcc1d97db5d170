/** plgd in the editor: the parts, and what each is given. */

import { commands, Disposable, type ExtensionContext, languages, window, workspace } from "vscode";
import { Asking } from "./editor/asking";
import { StatusBar } from "./editor/bar";
import { Client, type Fault } from "./editor/client";
import { InstructionInput } from "./editor/input";
import { HunkLenses } from "./editor/lenses";
import { Marks } from "./editor/marks";
import { Commands } from "./editor/names";
import { Preview } from "./editor/preview";
import { Reviewing } from "./editor/reviewing";
import { readSettings, showProblems } from "./editor/settings";
import { Proposals } from "./review/proposals";

const WALKTHROUGH = "plgd.plgd#start";

let client: Client | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const log = window.createOutputChannel("plgd", { log: true });
  const trace = window.createOutputChannel("plgd (protocol)", { log: true });
  const proposals = new Proposals();
  const preview = new Preview(proposals);
  const server = new Client(log, trace);
  let checked = readSettings();
  client = server;

  const start = (): Promise<void> => {
    proposals.clear();
    return server.start(checked.settings);
  };
  server.onProposal((proposal) => {
    proposals.update(proposal);
  });
  server.onState((state) => {
    // A server that ended takes its sessions along.
    if (state !== "running") proposals.clear();
  });
  server.onFault((fault) => void explain(fault));

  const input = new InstructionInput(context.globalState);
  context.subscriptions.push(
    log,
    trace,
    preview.register(),
    new Marks(proposals).register(),
    new StatusBar(server, proposals).register(),
    new Asking(server, input, proposals, () => checked).register(),
    new Reviewing(server, proposals, preview, () => checked.settings.preview).register(),
    languages.registerCodeLensProvider({ pattern: "**" }, new HunkLenses(proposals)),
    commands.registerCommand(Commands.restart, start),
    commands.registerCommand(Commands.output, () => {
      log.show();
    }),
    workspace.onDidGrantWorkspaceTrust(start),
    workspace.onDidChangeConfiguration(async (event) => {
      if (!event.affectsConfiguration("plgd")) return;
      const before = JSON.stringify({ ...checked.settings, preview: undefined });
      checked = readSettings();
      void showProblems(checked);
      // The server is told its options once, when it starts.
      if (JSON.stringify({ ...checked.settings, preview: undefined }) !== before) await start();
    }),
    Disposable.from({ dispose: () => void server.stop() }),
  );
  void showProblems(checked);
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function explain(fault: Fault): Promise<void> {
  const actions = { install: "How to Install", settings: "Set Path", retry: "Try Again", log: "Show Log" };
  const offered = fault.missing ? [actions.install, actions.settings, actions.retry] : [actions.log, actions.retry];
  const chosen = await window.showErrorMessage(`plgd: ${fault.message}`, ...offered);
  if (chosen === actions.install) await commands.executeCommand("workbench.action.openWalkthrough", WALKTHROUGH);
  if (chosen === actions.settings) await commands.executeCommand("workbench.action.openSettings", "plgd.path");
  if (chosen === actions.retry) await commands.executeCommand(Commands.restart);
  if (chosen === actions.log) await commands.executeCommand(Commands.output);
}
