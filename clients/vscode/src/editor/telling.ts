/** Errors of the server are for a person to read; they are shown. */

import { window } from "vscode";

/** Do something that the server may refuse. */
export async function attempt(action: () => Promise<unknown>): Promise<void> {
  try {
    await action();
  } catch (error) {
    void window.showErrorMessage(`plgd: ${error instanceof Error ? error.message : String(error)}`);
  }
}
