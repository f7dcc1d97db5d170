/** What the status bar says. */

import type { Status } from "../protocol/messages";

/** How the language server is: `failed` when it could not be started. */
export type ServerState = "starting" | "running" | "stopped" | "failed";

export interface Words {
  readonly text: string;
  readonly tooltip: string;
  readonly severity: "normal" | "warning" | "error";
}

/** Args: what the server said last, if it said something, and the number of hunks that wait for review. */
export function statusWords(server: ServerState, status: Status | undefined, waiting: number): Words {
  if (server === "failed") return words("$(error) plgd", "plgd could not be started. Click for what to do.", "error");
  if (server === "stopped") return words("$(circle-slash) plgd", "plgd is stopped. Click to start it.", "warning");
  if (server === "starting") return words("$(loading~spin) plgd", "plgd is starting.");
  // A server that was shown no text yet has nothing to say.
  if (status === undefined) return words("$(sparkle) plgd", "Click for commands.");
  const tooltip = [status.message, status.model === null ? "" : `Model: ${status.model}`, "Click for commands."];
  const told = tooltip.filter((part) => part !== "").join("\n");
  switch (status.kind) {
    case "idle":
      return waiting > 0
        ? words(`$(diff) plgd: ${waiting} to review`, told)
        : words("$(sparkle) plgd", told);
    case "starting":
      return words("$(loading~spin) plgd", told);
    case "loading":
      return words(`$(loading~spin) plgd: loading${percent(status)}`, told);
    case "busy":
      return words(`$(sync~spin) plgd:${percent(status) || " working"}${rate(status)}`, told);
    case "absent":
      // The daemon ends when it is idle for long and starts with the next edit.
      return words("$(sparkle) plgd", told);
    case "error":
      return words("$(warning) plgd", told, "warning");
  }
}

function words(text: string, tooltip: string, severity: Words["severity"] = "normal"): Words {
  return { text, tooltip, severity };
}

function percent(status: Status): string {
  return status.percent === undefined ? "" : ` ${Math.round(status.percent)} %`;
}

function rate(status: Status): string {
  return status.tokensPerSecond === undefined ? "" : `, ${Math.round(status.tokensPerSecond)} tokens/s`;
}
