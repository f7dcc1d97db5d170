/** What is said when the language server does not start or does not stay. */

/** How a process of the server ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  /** The last lines that it wrote to standard error. */
  readonly lastWords: readonly string[];
}

/** A usage error: this `plgd` knows no `lsp`. */
const UNKNOWN_COMMAND = 2;

/** Why a server that was asked to start is not there. */
export function startFault(command: string, ending: Ending | undefined, error: Error | undefined): string {
  if (ending === undefined) return `${command} could not be started: ${error?.message ?? "no reason was given"}`;
  if (ending.code === UNKNOWN_COMMAND) {
    return `${command} has no language server ("plgd lsp"): this plgd is too old for the extension. Update it.`;
  }
  return `${command} ended before it was ready${how(ending)}${said(ending)}`;
}

/** What is said when a server that ran has ended too often to be started again. */
export function lossFault(command: string, ending: Ending | undefined): string {
  const end = ending === undefined ? "" : `${how(ending)}${said(ending)}`;
  return `plgd's language server (${command}) ended again and again and is not started any more${end}`;
}

/** Decides whether a server that ended is started again: not when it ended too often within a while. */
export class Restarts {
  private readonly times: number[] = [];

  constructor(
    private readonly limit = 4,
    private readonly windowMs = 180_000,
  ) {}

  /** Args: the time of the end, from any clock, in milliseconds. */
  allow(nowMs: number): boolean {
    this.times.push(nowMs);
    while ((this.times[0] ?? nowMs) < nowMs - this.windowMs) this.times.shift();
    return this.times.length < this.limit;
  }
}

function how(ending: Ending): string {
  if (ending.signal !== null) return ` (signal ${ending.signal})`;
  return ending.code === null ? "" : ` (exit code ${ending.code})`;
}

function said(ending: Ending): string {
  const words = ending.lastWords.at(-1);
  return words === undefined ? "." : `: ${words}`;
}
