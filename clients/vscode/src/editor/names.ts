/** The extension's own commands and context keys, as in package.json. The server's commands have other names. */

export const Commands = {
  ask: "plgd.ask",
  askDocument: "plgd.askDocument",
  accept: "plgd.acceptChange",
  acceptAll: "plgd.acceptAll",
  reject: "plgd.rejectChange",
  rejectAll: "plgd.rejectAll",
  next: "plgd.nextChange",
  previous: "plgd.previousChange",
  showDiff: "plgd.showDiff",
  again: "plgd.askAgain",
  stopEdit: "plgd.cancelEdit",
  menu: "plgd.menu",
  output: "plgd.showOutput",
  restart: "plgd.restart",
} as const;

export const Contexts = {
  /** An edit is being made. */
  working: "plgd.working",
  /** The document in front has a proposal. */
  reviewing: "plgd.reviewing",
} as const;

/** Hunks of one session, as the argument of a command. */
export interface HunkReference {
  readonly session: string;
  readonly hunks: readonly number[];
}
