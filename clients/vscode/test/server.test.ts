/** Finding, starting and losing the language server. */

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { findExecutable, type Found } from "../src/server/executable";
import { lossFault, Restarts, startFault } from "../src/server/faults";
import { LastWords } from "../src/server/last-words";
import { isExecutable, ServerProcess, within } from "../src/server/process";

const folder = mkdtempSync(join(tmpdir(), "plgd-vscode-"));
after(() => {
  rmSync(folder, { recursive: true });
});

function script(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

function find(setting: string, files: readonly string[], folders: readonly string[] = ["/work"]): Found {
  return findExecutable(setting, {
    home: "/home/me",
    searchPath: "/usr/bin:relative:/opt/bin",
    folders,
    isExecutable: (file) => files.includes(file),
  });
}

test("without a setting the workspace's environment comes before PATH, and PATH before the installers' places", () => {
  const venv = "/work/.venv/bin/plgd";
  const path = "/opt/bin/plgd";
  const local = "/home/me/.local/bin/plgd";
  assert.deepEqual(find("", [local, path, venv]), { command: venv });
  assert.deepEqual(find("", [local, path]), { command: path });
  assert.deepEqual(find("", [local]), { command: local });
});

test("a workspace that is not trusted offers no folders, so its environment is not run", () => {
  const found = find("", ["/work/.venv/bin/plgd"], []);
  assert.ok("missing" in found);
});

test("a folder of PATH that is relative is not searched", () => {
  assert.ok("missing" in find("", ["relative/plgd"]));
});

test("the setting may begin with ~, be relative to the workspace, or be a name on PATH", () => {
  assert.deepEqual(find("~/bin/plgd", ["/home/me/bin/plgd"]), { command: "/home/me/bin/plgd" });
  assert.deepEqual(find("env/bin/plgd", ["/work/env/bin/plgd"]), { command: "/work/env/bin/plgd" });
  assert.deepEqual(find("plgd-dev", ["/opt/bin/plgd-dev"]), { command: "/opt/bin/plgd-dev" });
});

test("a setting that names no program is refused, though plgd is on PATH", () => {
  assert.deepEqual(find("/nowhere/plgd", ["/usr/bin/plgd"]), {
    missing: 'plgd.path is "/nowhere/plgd", but there is no program that can be run.',
  });
});

test("a folder and a file that may not be run are no programs", () => {
  const file = join(folder, "plain");
  writeFileSync(file, "");
  chmodSync(file, 0o644);
  assert.deepEqual(
    [folder, file, join(folder, "nothing"), script("good", "exit 0")].map(isExecutable),
    [false, false, false, true],
  );
});

test("a process that ends tells its exit code and its last words", async () => {
  const server = new ServerProcess(script("ends", "echo first >&2; printf last >&2; exit 3"), ["lsp"]);
  await server.started;
  assert.deepEqual(await server.ended, { code: 3, signal: null, lastWords: ["first", "last"] });
});

test("a process that cannot be started is told with the system's reason", async () => {
  const server = new ServerProcess(join(folder, "nothing"), ["lsp"]);
  await assert.rejects(server.started, /ENOENT/);
  assert.equal(await server.ended, undefined);
});

test("a process that is killed tells the signal", async () => {
  const server = new ServerProcess(script("stays", "exec sleep 60"), []);
  await server.started;
  server.kill();
  assert.deepEqual(await server.ended, { code: null, signal: "SIGTERM", lastWords: [] });
});

test("a wait is bounded", async () => {
  assert.equal(await within(1, new Promise(() => undefined)), undefined);
  assert.equal(await within(60_000, Promise.resolve("done")), "done");
});

test("why the server did not start is said in words", () => {
  const ended = (code: number | null, signal: string | null, lastWords: string[]): string =>
    startFault("/bin/plgd", { code, signal, lastWords }, undefined);
  assert.match(ended(2, null, ["usage: plgd"]), /too old for the extension\. Update it\.$/);
  assert.equal(ended(1, null, ["a", "no module pygls"]), "/bin/plgd ended before it was ready (exit code 1): no module pygls");
  assert.equal(ended(null, "SIGKILL", []), "/bin/plgd ended before it was ready (signal SIGKILL).");
  assert.equal(startFault("/bin/plgd", undefined, new Error("EACCES")), "/bin/plgd could not be started: EACCES");
  assert.match(lossFault("/bin/plgd", { code: 1, signal: null, lastWords: ["oops"] }), /any more \(exit code 1\): oops$/);
});

test("a server that ends again and again within minutes is not started any more; one that ends now and then is", () => {
  const restarts = new Restarts(3, 1000);
  assert.deepEqual([0, 100, 200].map((now) => restarts.allow(now)), [true, true, false]);
  const seldom = new Restarts(3, 1000);
  assert.deepEqual([0, 2000, 4000, 6000].map((now) => seldom.allow(now)), [true, true, true, true]);
});

test("the last lines of a stream are kept, however they arrive", () => {
  const words = new LastWords();
  assert.deepEqual(words.push("one\ntw"), ["one"]);
  assert.deepEqual(words.push("o\r\n\nthree"), ["two"]);
  assert.deepEqual(words.lines, ["one", "two", "three"]);
  for (let line = 0; line < 100; line += 1) words.push(`${line}\n`);
  assert.equal(words.lines.length, 20);
  assert.equal(words.lines.at(-1), "99");
});
