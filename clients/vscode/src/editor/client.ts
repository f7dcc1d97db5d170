/** The connection to the language server: started, watched, started again, explained. */

import { homedir } from "node:os";
import { EventEmitter, type LogOutputChannel, workspace } from "vscode";
import {
  type ClientCapabilities,
  CloseAction,
  type CloseHandlerResult,
  ErrorAction,
  ExecuteCommandRequest,
  LanguageClient,
  type LanguageClientOptions,
  RevealOutputChannelOn,
  State,
  type StaticFeature,
} from "vscode-languageclient/node";
import {
  type EditArgument,
  type Finished,
  type InitializationOptions,
  Methods,
  type Proposal,
  ServerCommands,
  type Status,
} from "../protocol/messages";
import { findExecutable } from "../server/executable";
import { lossFault, Restarts, startFault } from "../server/faults";
import { isExecutable, ServerProcess, within } from "../server/process";
import type { Settings } from "../settings/check";
import type { ServerState } from "../status/words";
import { runWithProgress } from "./progress";

/** Why there is no server; `missing`: there is no plgd on this machine, or not where the settings say. */
export interface Fault {
  readonly message: string;
  readonly missing: boolean;
}

const NOT_RUNNING = "plgd's language server does not run.";

/** How long the end of a process is waited for when its connection is gone. */
const END_MS = 2000;

/** Logs errors of the protocol; what a person should know is said in plgd's own words. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** Tells the server that this editor shows proposals itself. */
const proposals: StaticFeature = {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    capabilities.experimental = { ...(capabilities.experimental as object | undefined), plgd: { proposals: true } };
  },
  initialize: () => undefined,
  getState: () => ({ kind: "static" }),
  clear: () => undefined,
};

export class Client {
  private readonly stateEvent = new EventEmitter<ServerState>();
  private readonly faultEvent = new EventEmitter<Fault>();
  private readonly statusEvent = new EventEmitter<Status>();
  private readonly proposalEvent = new EventEmitter<Proposal>();
  private readonly finishedEvent = new EventEmitter<Finished>();

  readonly onState = this.stateEvent.event;
  readonly onFault = this.faultEvent.event;
  readonly onStatus = this.statusEvent.event;
  readonly onProposal = this.proposalEvent.event;
  readonly onFinished = this.finishedEvent.event;

  private client: LanguageClient | undefined;
  private process: ServerProcess | undefined;
  private command = "plgd";
  private restarts = new Restarts();
  /** Starts and stops follow each other. */
  private turn: Promise<void> = Promise.resolve();

  constructor(
    private readonly log: LogOutputChannel,
    private readonly trace: LogOutputChannel,
  ) {}

  /** Start the server with these settings; one that runs is stopped first. Faults are told by `onFault`. */
  start(settings: Settings): Promise<void> {
    this.turn = this.turn.then(() => this.startNow(settings));
    return this.turn;
  }

  stop(): Promise<void> {
    this.turn = this.turn.then(async () => {
      await this.stopNow();
      this.stateEvent.fire("stopped");
    });
    return this.turn;
  }

  /**
   * Have the server carry out a command.
   *
   * Raises:
   *   Error: the server refused, with a message for a person, or does not run.
   */
  async execute<R>(command: string, argument: object): Promise<R> {
    if (this.client?.isRunning() !== true) throw new Error(NOT_RUNNING);
    return (await this.client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [argument] })) as R;
  }

  /** Begin an edit; its progress is shown. Raises as `execute` does. */
  async edit(argument: EditArgument): Promise<{ readonly session: string }> {
    const { client } = this;
    if (client?.isRunning() !== true) throw new Error(NOT_RUNNING);
    const send = (command: string, parameters: unknown[]): Promise<unknown> =>
      client.sendRequest(ExecuteCommandRequest.type, { command, arguments: parameters });
    return (await runWithProgress(client, ServerCommands.edit, [argument], send)) as { session: string };
  }

  private async startNow(settings: Settings): Promise<void> {
    await this.stopNow();
    this.stateEvent.fire("starting");
    const found = findExecutable(settings.path, {
      home: homedir(),
      searchPath: process.env["PATH"] ?? "",
      folders: workspace.isTrusted ? (workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath) : [],
      isExecutable,
    });
    if ("missing" in found) {
      this.fail({ message: found.missing, missing: true });
      return;
    }
    this.command = found.command;
    this.restarts = new Restarts();
    const client = new QuietClient("plgd", "plgd", () => this.startProcess(), this.options(settings));
    this.client = client;
    client.registerFeature(proposals);
    client.onNotification(Methods.status, (status: Status) => {
      this.statusEvent.fire(status);
    });
    client.onNotification(Methods.proposal, (proposal: Proposal) => {
      this.proposalEvent.fire(proposal);
    });
    client.onNotification(Methods.finished, (finished: Finished) => {
      this.finishedEvent.fire(finished);
    });
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Starting) this.stateEvent.fire("starting");
      if (newState === State.Running) this.stateEvent.fire("running");
    });
    try {
      await client.start();
    } catch (error) {
      await this.explain(error);
    }
  }

  private async stopNow(): Promise<void> {
    const { client, process } = this;
    this.client = undefined;
    this.process = undefined;
    if (client?.needsStop() !== true) return;
    try {
      await client.stop();
    } catch (error) {
      this.log.warn(`The language server did not stop as it should: ${String(error)}`);
      process?.kill();
    }
  }

  private options(settings: Settings): LanguageClientOptions {
    const initializationOptions: InitializationOptions = {
      review: settings.review,
      model: settings.model,
      presets: settings.presets,
      comment_marker: settings.commentMarker,
    };
    return {
      documentSelector: [{ scheme: "file" }, { scheme: "untitled" }, { scheme: "vscode-notebook-cell" }],
      initializationOptions,
      outputChannel: this.log,
      traceOutputChannel: this.trace,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationFailedHandler: () => false,
      errorHandler: { error: () => ({ action: ErrorAction.Continue, handled: true }), closed: () => this.closed() },
      middleware: {
        // Edits from the menu of code actions come through here, so that every edit has the same progress.
        executeCommand: (command, parameters: unknown[], next) =>
          runWithProgress(this.client, command, parameters, next),
      },
    };
  }

  private startProcess(): Promise<Awaited<ServerProcess["started"]>> {
    this.log.info(`Starting ${this.command} lsp`);
    this.process = new ServerProcess(this.command, ["lsp"]);
    return this.process.started;
  }

  /** The connection is gone unasked: while the server started, `start` fails and explains it; later it starts again. */
  private async closed(): Promise<CloseHandlerResult> {
    const { client, process } = this;
    const ending = process && (await within(END_MS, process.ended));
    if (client?.state !== State.Running) return { action: CloseAction.DoNotRestart, handled: true };
    if (this.restarts.allow(Date.now())) return { action: CloseAction.Restart, handled: true };
    this.fail({ message: lossFault(this.command, ending), missing: false });
    return { action: CloseAction.DoNotRestart, handled: true };
  }

  private async explain(error: unknown): Promise<void> {
    const cause = error instanceof Error ? error : new Error(String(error));
    const ending = this.process && (await within(END_MS, this.process.ended));
    this.fail({ message: startFault(this.command, ending, cause), missing: false });
  }

  private fail(fault: Fault): void {
    this.log.error(fault.message);
    this.stateEvent.fire("failed");
    this.faultEvent.fire(fault);
  }
}
