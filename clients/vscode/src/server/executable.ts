/** Where the `plgd` command is. */

import path from "node:path";

/** What the search may look at. */
export interface Surroundings {
  readonly home: string;
  /** The environment's PATH. */
  readonly searchPath: string;
  /** Folders of the workspace, if it is trusted: a command in them is run. */
  readonly folders: readonly string[];
  isExecutable(file: string): boolean;
}

export type Found = { readonly command: string } | { readonly missing: string };

/**
 * Find the command that starts plgd.
 *
 * A path that was set is taken or refused, never replaced. Without one, the virtual environments of the workspace come
 * first, then PATH, then the places of installers: an editor that was not started from a shell may have a short PATH.
 *
 * Args:
 *   setting: `plgd.path`; empty for a search.
 */
export function findExecutable(setting: string, around: Surroundings): Found {
  if (setting !== "") {
    const wanted = resolve(setting, around);
    const command = wanted.find((file) => around.isExecutable(file));
    return command === undefined
      ? { missing: `plgd.path is "${setting}", but there is no program that can be run.` }
      : { command };
  }
  const command = places(around).find((file) => around.isExecutable(file));
  if (command !== undefined) return { command };
  return { missing: "The plgd command was not found: not in the workspace's .venv, not on PATH, not in ~/.local/bin." };
}

function resolve(setting: string, around: Surroundings): readonly string[] {
  if (setting === "~" || setting.startsWith("~/")) return [path.join(around.home, setting.slice(1))];
  if (path.isAbsolute(setting)) return [setting];
  if (setting.includes("/")) return around.folders.map((folder) => path.resolve(folder, setting));
  return onPath(setting, around);
}

function places(around: Surroundings): readonly string[] {
  return [
    ...around.folders.map((folder) => path.join(folder, ".venv", "bin", "plgd")),
    ...onPath("plgd", around),
    path.join(around.home, ".local", "bin", "plgd"),
    "/opt/homebrew/bin/plgd",
    "/usr/local/bin/plgd",
  ];
}

function onPath(name: string, around: Surroundings): readonly string[] {
  const folders = around.searchPath.split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders.map((folder) => path.join(folder, name));
}
