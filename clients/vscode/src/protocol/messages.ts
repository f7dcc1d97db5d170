/** What `plgd lsp` and the extension say to each other beside the Language Server Protocol. */

export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  readonly end: Position;
}

/** `conflict`: the text at the hunk's place changed meanwhile; it cannot be accepted. */
export type HunkState = "open" | "accepted" | "rejected" | "conflict";

/** One contiguous change; `range` covers whole lines of the document as it is now. */
export interface Hunk {
  readonly id: number;
  readonly range: Range;
  readonly oldText: string;
  readonly newText: string;
  readonly state: HunkState;
}

/** An edit that waits for review; sent again when its document changes or its hunks are decided. */
export interface Proposal {
  readonly session: string;
  readonly uri: string;
  readonly version: number | null;
  readonly instruction: string;
  readonly range: Range | null;
  readonly hunks: readonly Hunk[];
  readonly warnings: readonly string[];
}

export type Outcome =
  | "proposed"
  | "applied"
  | "no_change"
  | "conflict"
  | "truncated"
  | "rejected_output"
  | "cancelled"
  | "failed";

/** The last word on a session's run. */
export interface Finished {
  readonly session: string;
  readonly uri: string;
  readonly status: Outcome;
  readonly message: string;
}

export type StatusKind = "idle" | "starting" | "loading" | "busy" | "error" | "absent";

/** What the daemon is doing. */
export interface Status {
  readonly kind: StatusKind;
  readonly message: string;
  readonly model: string | null;
  readonly busy: boolean;
  readonly percent?: number;
  readonly session?: string;
  readonly tokensPerSecond?: number;
}

/** What the server is told when it starts. */
export interface InitializationOptions {
  readonly review: Review;
  readonly model: string | null;
  readonly presets: readonly Preset[];
  readonly comment_marker: string;
}

export type Review = "apply" | "preview";

/** An instruction with a name, offered where text is selected. */
export interface Preset {
  readonly id: string;
  readonly title: string;
  readonly instruction: string;
  readonly languages?: readonly string[];
}

/** What `plgd.edit` is asked; a range of null is the whole document. */
export interface EditArgument {
  readonly uri: string;
  readonly range: Range | null;
  readonly instruction: string;
}

/** What accepting or rejecting came to: ids of hunks. */
export interface Decided {
  readonly applied?: readonly number[];
  readonly left: readonly number[];
}

export const Methods = {
  status: "plgd/status",
  proposal: "plgd/proposal",
  finished: "plgd/finished",
} as const;

/** Commands of the server; the extension's own have other names, since the client registers these in the editor. */
export const ServerCommands = {
  edit: "plgd.edit",
  accept: "plgd.accept",
  reject: "plgd.reject",
  cancel: "plgd.cancel",
  retry: "plgd.retry",
} as const;
