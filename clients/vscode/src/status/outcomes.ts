/** How the end of an edit is told. */

import type { Finished, Proposal } from "../protocol/messages";

export interface Telling {
  /** `quiet` goes to the status bar for a moment. */
  readonly level: "quiet" | "info" | "warning" | "error";
  readonly message: string;
  readonly actions: readonly ("retry" | "output")[];
}

/** What a run came to, in the server's own words where it has some. */
export function outcome(finished: Finished): Telling {
  const said = (fallback: string): string => `plgd: ${finished.message || fallback}`;
  switch (finished.status) {
    case "proposed":
      return { level: "quiet", message: said("the edit is ready for review"), actions: [] };
    case "applied":
      return { level: "quiet", message: said("the edit is applied"), actions: [] };
    case "cancelled":
      return { level: "quiet", message: said("cancelled"), actions: [] };
    case "no_change":
      return { level: "info", message: said("the model changed nothing"), actions: ["retry"] };
    case "conflict":
      return { level: "warning", message: said("the text changed meanwhile; nothing was applied"), actions: ["retry"] };
    case "truncated":
    case "rejected_output":
      return { level: "warning", message: said("the model's output cannot be used; nothing was changed"), actions: ["retry"] };
    case "failed":
      return { level: "error", message: said("the edit failed"), actions: ["retry", "output"] };
  }
}

/** The warnings of a proposal that has just arrived, or nothing. */
export function proposalWarning(proposal: Proposal): string | undefined {
  return proposal.warnings.length === 0 ? undefined : `plgd: ${proposal.warnings.join(" ")}`;
}
