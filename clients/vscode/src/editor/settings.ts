/** The settings as the editor has them; what is wrong with them is shown. */

import { commands, window, workspace } from "vscode";
import { type Checked, checkSettings } from "../settings/check";

export function readSettings(): Checked {
  const configuration = workspace.getConfiguration("plgd");
  return checkSettings((name) => configuration.get<unknown>(name));
}

export async function showProblems(checked: Checked): Promise<void> {
  if (checked.problems.length === 0) return;
  const action = "Open Settings";
  const chosen = await window.showWarningMessage(`plgd: ${checked.problems.join(" ")}`, action);
  if (chosen === action) await commands.executeCommand("workbench.action.openSettings", "plgd");
}
