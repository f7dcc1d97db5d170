/**
 * The extension's own bundle, the real vscode-languageclient in it, against the real language server and a daemon whose
 * model is dictated; only the editor is a double (vscode.ts).
 *
 * PLGD_E2E names a JSON object: `pipe`, where the model's replies go.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import Module, { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import * as vscode from "./vscode";

const setting = process.env["PLGD_E2E"];
if (setting === undefined) throw new Error("PLGD_E2E is not set");
const { pipe } = JSON.parse(setting) as { readonly pipe: string };

const PRICES = "# 😀 prices\u2028\r\ntotal = 0\r\nfor price in prices:\r\n\ttotal += price\f\r\n\r\nprint(total)  # naïve";
const RENAMED = PRICES.replaceAll("total", "sum_");

const { commands, Position, Range, seen, user } = vscode;
const execFileAsync = promisify(execFile);

interface Extension {
  activate(context: unknown): Promise<void>;
  deactivate(): Promise<void>;
}

// Where the bundle says `require("vscode")`, it gets the double.
const loader = Module as unknown as { _load(name: string, ...more: unknown[]): unknown };
const load = loader._load.bind(Module);
loader._load = (name, ...more) => (name === "vscode" ? vscode : load(name, ...more));
const extension = createRequire(import.meta.url)("../extension.js") as Extension;

before(async () => {
  const memory = new Map<string, unknown>();
  const globalState = {
    get: (key: string, otherwise: unknown) => memory.get(key) ?? otherwise,
    update: (key: string, value: unknown) => Promise.resolve(memory.set(key, value)),
  };
  await extension.activate({ subscriptions: [], globalState });
  await bar("sparkle");
});

after(async () => {
  await extension.deactivate();
});

async function bar(words: string): Promise<void> {
  await seen.until(`the bar "${words}"`, () => seen.bar.includes(words));
}

/**
 * The model's reply to the edit that was asked last: the new text, as it sees it, with `\n` only.
 *
 * @param meanwhile what happens once the model is at work and before it says anything
 */
async function reply(text: string, meanwhile: () => void = () => undefined): Promise<void> {
  const writing = execFileAsync("sh", ["-c", 'exec 3> "$1"; echo open; exec cat >&3', "sh", pipe], { timeout: 60_000 });
  const { stdin, stdout } = writing.child;
  assert.ok(stdin !== null && stdout !== null);
  // The pipe opens when the model begins to read from it.
  await Promise.race([writing, once(stdout, "data")]);
  meanwhile();
  stdin.end(`${text.replaceAll("\r\n", "\n").replace(/\n$/, "")}\n\`\`\`\n`);
  await writing;
}

async function ask(instruction: string): Promise<void> {
  seen.instruction = instruction;
  await commands.executeCommand("plgd.ask");
}

function titles(document: ReturnType<typeof user.open>): readonly string[] {
  return user.lenses(document).map((lens) => lens.command?.title ?? "");
}

/** The process of the language server, which is a child of this one. */
function server(): number {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ").map(Number);
  const found = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").endsWith("plgd\0lsp\0"));
  assert.ok(found !== undefined);
  return found;
}

test("an edit is shown as a diff, and each acceptance is one edit of the text, exact to the byte", async () => {
  const document = user.open("/work/prices.py", PRICES);
  await ask("Rename total to sum_.");
  await reply(RENAMED);
  await bar("3 to review");
  const [shown] = seen.diffs.splice(0);
  assert.equal(shown?.title, "prices.py: Rename total to sum_.");
  assert.equal(await user.preview(shown.right), RENAMED);
  assert.equal(document.getText(), PRICES);

  user.select(new Position(3, 1), new Position(3, 1));
  await commands.executeCommand("plgd.acceptChange");
  await bar("2 to review");
  assert.equal(document.getText(), PRICES.replace("\ttotal", "\tsum_"));
  assert.equal(await user.preview(shown.right), RENAMED);
  await commands.executeCommand("plgd.acceptAll");
  await bar("sparkle");
  assert.equal(document.getText(), RENAMED);
  assert.equal(seen.edits.splice(0).length, 2);
});

test("changes move along with typing, and one whose lines were changed is not written over", async () => {
  const document = user.open("/work/typed.py", PRICES);
  await ask("Rename total to sum_.");
  await reply(RENAMED);
  await bar("3 to review");
  user.type(document, new Range(0, 0, 0, 0), "import this\r\n");
  user.type(document, new Range(6, 0, 6, 0), "# mine: ");
  await seen.until("the conflict", () => titles(document).some((title) => title.includes("changed meanwhile")));
  await commands.executeCommand("plgd.acceptAll");
  const expected = `import this\r\n${RENAMED.replace("print(sum_)", "# mine: print(total)")}`;
  await seen.until("the rest", () => document.getText() === expected);
  await commands.executeCommand("plgd.rejectAll");
  await bar("sparkle");
  assert.equal(document.getText(), expected);
});

test("a running edit is cancelled from its message, and nothing changes", async () => {
  const document = user.open("/work/cancelled.py", PRICES);
  await ask("Take your time.");
  await seen.until("the message", () => seen.working.has("plgd: Take your time."));
  await reply(PRICES.toUpperCase(), () => seen.working.get("plgd: Take your time.")?.cancel());
  await seen.until("its end", () => seen.working.size === 0);
  await bar("sparkle");
  assert.equal(document.getText(), PRICES);
});

test("the menu of code actions has an instruction in a comment, which goes with the edit", async () => {
  const document = user.open("/work/notes.py", "# plgd: shout\nname = 'ada'\n");
  const offered = await user.menu(document, new Range(0, 0, 0, 0));
  const action = offered.find((one) => one.title === "plgd: shout");
  assert.equal(action?.kind?.value, "refactor.rewrite.plgd.comment");
  await commands.executeCommand(action.command?.command ?? "", ...(action.command?.arguments ?? []));
  await reply("name = 'ADA'");
  await bar("to review");
  await commands.executeCommand("plgd.acceptAll");
  await seen.until("the edit", () => document.getText() === "name = 'ADA'\n");
  await bar("sparkle");
});

test("a language server that is killed is started again, and the next edit, of a selection, works", async () => {
  const document = user.open("/work/killed.py", "name = 'ada'\nage = 36\n");
  const killed = server();
  process.kill(killed, "SIGKILL");
  await bar("loading");
  await bar("sparkle");
  assert.notEqual(server(), killed);
  user.select(new Position(0, 0), new Position(1, 0));
  await ask("Shout.");
  await reply("NAME = 'ADA'");
  await bar("to review");
  await commands.executeCommand("plgd.acceptAll");
  await seen.until("the edit", () => document.getText() === "NAME = 'ADA'\nage = 36\n");
});

test("what the server refuses is a message for a person", async () => {
  await commands.executeCommand("plgd.acceptChange", { session: "gone", hunks: [0] });
  assert.equal(seen.messages.at(-1), "plgd: There is no edit 'gone', or it ended long ago.");
});
