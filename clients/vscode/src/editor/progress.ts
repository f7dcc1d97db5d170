/** Progress of an edit as a notification with a button that cancels it. */

import { randomUUID } from "node:crypto";
import { type Progress, ProgressLocation, window } from "vscode";
import {
  type BaseLanguageClient,
  type ExecuteCommandSignature,
  State,
  WorkDoneProgress,
  type WorkDoneProgressBegin,
  WorkDoneProgressCancelNotification,
  type WorkDoneProgressEnd,
  type WorkDoneProgressReport,
} from "vscode-languageclient/node";
import { ServerCommands } from "../protocol/messages";

type Report = WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd;

/** Send a command of the server; one that begins an edit gets a token, and its progress is shown until it ends. */
export async function runWithProgress(
  client: BaseLanguageClient | undefined,
  command: string,
  parameters: unknown[],
  next: ExecuteCommandSignature,
): Promise<unknown> {
  const [first, ...rest] = parameters;
  if (client === undefined || command !== ServerCommands.edit || typeof first !== "object" || first === null) {
    return next(command, parameters);
  }
  const token = `plgd-${randomUUID()}`;
  const shown = new ShownProgress(client, token);
  try {
    return (await next(command, [{ ...first, workDoneToken: token }, ...rest])) as unknown;
  } catch (error) {
    shown.close();
    throw error;
  }
}

class ShownProgress {
  private readonly listeners;
  private readonly over: Promise<void>;
  private progress: Progress<{ message?: string; increment?: number }> | undefined;
  private reported = 0;
  private resolve: () => void = () => undefined;

  constructor(
    private readonly client: BaseLanguageClient,
    private readonly token: string,
  ) {
    this.over = new Promise((resolve) => {
      this.resolve = resolve;
    });
    this.listeners = [
      client.onProgress(WorkDoneProgress.type, token, (report: Report) => {
        this.take(report);
      }),
      // A server that is gone says no `end`.
      client.onDidChangeState(({ newState }) => {
        if (newState !== State.Running) this.close();
      }),
    ];
  }

  close(): void {
    for (const listener of this.listeners) listener.dispose();
    this.resolve();
  }

  private take(report: Report): void {
    if (report.kind === "end") {
      this.close();
      return;
    }
    if (report.kind === "begin") this.show(report);
    // The editor wants what is new since the last report.
    const increment = Math.max(0, (report.percentage ?? 0) - this.reported);
    this.reported += increment;
    this.progress?.report({ increment, ...(report.message === undefined ? {} : { message: report.message }) });
  }

  private show(begin: WorkDoneProgressBegin): void {
    const options = { location: ProgressLocation.Notification, title: begin.title, cancellable: true };
    void window.withProgress(options, (progress, cancellation) => {
      this.progress = progress;
      cancellation.onCancellationRequested(() => {
        void this.client.sendNotification(WorkDoneProgressCancelNotification.type, { token: this.token });
      });
      return this.over;
    });
  }
}
