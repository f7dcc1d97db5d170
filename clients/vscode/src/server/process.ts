/** A process of the language server, and how it ended. */

import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import type { Ending } from "./faults";
import { LastWords } from "./last-words";

export class ServerProcess {
  /** The process once it runs; rejected with the system's reason when it cannot be started. */
  readonly started: Promise<ChildProcess>;
  /** How it ended; undefined when it never ran. */
  readonly ended: Promise<Ending | undefined>;
  private readonly child: ChildProcess;

  constructor(command: string, parameters: readonly string[]) {
    const child = spawn(command, parameters, { stdio: "pipe" });
    this.child = child;
    const lastWords = new LastWords();
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      lastWords.push(piece);
    });
    this.started = new Promise((resolve, reject) => {
      child.once("spawn", () => {
        resolve(child);
      });
      child.once("error", reject);
    });
    this.ended = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        resolve(child.pid === undefined ? undefined : { code, signal, lastWords: lastWords.lines });
      });
    });
  }

  kill(): void {
    this.child.kill();
  }
}

/** Say whether a path names a file that this user may run. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Wait for a promise, but not for longer than a while; undefined when it took longer. */
export async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
