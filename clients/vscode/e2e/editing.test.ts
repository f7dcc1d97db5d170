/**
 * The packaged extension in Visual Studio Code, against the real language server and a daemon whose model is dictated.
 *
 * PLGD_E2E names a JSON object: `code`, `chromium`, `vsix` (see workbench.ts) and `pipe`, where the model's replies go.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync, watch } from "node:fs";
import path from "node:path";
import { after, afterEach, before, test } from "node:test";
import { promisify } from "node:util";
import { type Programs, Workbench } from "./workbench";

const setting = process.env["PLGD_E2E"];
if (setting === undefined) throw new Error("PLGD_E2E is not set");
const programs = JSON.parse(setting) as Programs & { readonly pipe: string };

const PRICES = "# 😀 prices\r\ntotal = 0\r\nfor price in prices:\r\n\ttotal += price\r\n\r\nprint(total)  # naïve";
const RENAMED = PRICES.replaceAll("total", "sum_");
const NOTES = "# plgd: shout\nname = 'ada'\n";

const execFileAsync = promisify(execFile);

let code: Workbench;

before(async () => {
  code = await Workbench.start(programs, { "prices.py": PRICES, "notes.py": NOTES });
  await code.bar("sparkle").waitFor();
});

afterEach(async (context) => {
  // What a failure looked like is the first question.
  if (!("passed" in context) || context.passed !== true) await code.page.screenshot({ path: `out/e2e/${context.name}.png` });
});

after(async () => {
  await code.stop();
});

/** The model's reply to the edit that was asked last: the new text, as it sees it, with `\n` only. */
async function reply(text: string): Promise<void> {
  // Opening a pipe waits for its reader, in a process of its own so that the wait has a bound.
  const writing = execFileAsync("sh", ["-c", 'cat > "$1"', "sh", programs.pipe], { timeout: 60_000 });
  writing.child.stdin?.end(`${text.replaceAll("\r\n", "\n").replace(/\n$/, "")}\n\`\`\`\n`);
  await writing;
}

async function focus(): Promise<void> {
  await code.lines.first().click();
  await code.focused.waitFor();
}

async function ask(instruction: string): Promise<void> {
  await code.press("Control+Alt+E");
  await code.page.locator(".quick-input-widget input[type=text]").waitFor();
  await code.type(instruction);
  await code.page.locator(".quick-input-list .monaco-list-row", { hasText: instruction }).first().waitFor();
  await code.press("Enter");
}

/** Wait until a file, which is saved by itself, has this text. */
async function saved(name: string, text: string): Promise<void> {
  const file = path.join(code.folder, name);
  const watcher = watch(code.folder);
  const signal = AbortSignal.timeout(60_000);
  try {
    while (readFileSync(file, "utf8") !== text) await once(watcher, "change", { signal });
  } catch {
    assert.equal(readFileSync(file, "utf8"), text);
  } finally {
    watcher.close();
  }
}

test("an edit is shown as a diff, accepted change by change, and taken back step by step, to the byte", async () => {
  await focus();
  await ask("Rename total to sum_.");
  await reply(RENAMED);
  await code.diff.waitFor();
  await code.bar("3 to review").waitFor();
  await code.page.locator(".statusbar-item", { hasText: "Ln 2, Col 1" }).waitFor();
  await code.button("Accept the Change").waitFor();

  await code.press("Control+Alt+Y");
  await code.bar("2 to review").waitFor();
  const first = PRICES.replace("total", "sum_");
  await saved("prices.py", first);

  await code.press("Control+Alt+Shift+Y");
  await saved("prices.py", RENAMED);
  await code.diff.waitFor({ state: "detached" });

  await focus();
  await code.press("Control+Z");
  await saved("prices.py", first);
  await focus();
  await code.press("Control+Z");
  await saved("prices.py", PRICES);
});

test("an edit that was taken back waits again; asked again, its new proposal takes the old one's place", async () => {
  await code.bar("3 to review").waitFor();
  await code.command("plgd: Ask Again…");
  await code.page.locator(".quick-input-list .monaco-list-row", { hasText: "Rename total to sum_." }).first().waitFor();
  await code.press("Enter");
  await reply(PRICES.replaceAll("total", "amount"));
  await code.diff.waitFor();
  await code.lines.getByText("amount").first().waitFor();
  await code.bar("3 to review").waitFor();
  await code.command("plgd: Reject All Changes");
  await code.bar("sparkle").waitFor();
  await saved("prices.py", PRICES);
});

test("shown in place, changes move along with typing, and one whose lines were changed is not written over", async () => {
  code.set({ "plgd.preview": "inline", "plgd.presets": [{ id: "x", title: "Now in place", instruction: "x" }] });
  await code.bar("starting").waitFor();
  await code.bar("sparkle").waitFor();
  await ask("Rename total to sum_.");
  await reply(RENAMED);
  await code.lens("Accept −1 +1").nth(2).waitFor();

  await code.goTo(1);
  await code.type("import this\n");
  await code.goTo(7);
  await code.type("# mine: ");
  await code.lens("changed meanwhile").waitFor();
  const typed = `import this\r\n${PRICES.replace("print", "# mine: print")}`;
  await saved("prices.py", typed);

  await code.lens("Accept −1 +1").nth(1).click();
  await saved("prices.py", typed.replace("\ttotal", "\tsum_"));
  await code.lens("Reject").first().click();
  await code.lens("changed meanwhile").click();
  await code.bar("sparkle").waitFor();
  await saved("prices.py", typed.replace("\ttotal", "\tsum_"));
});

test("a running edit is cancelled from its message, and nothing changes", async () => {
  const text = readFileSync(path.join(code.folder, "prices.py"), "utf8");
  await focus();
  await ask("Take your time.");
  await code.message("Take your time.").locator("a", { hasText: "Cancel" }).click();
  await reply(text.toUpperCase());
  await code.message("Take your time.").waitFor({ state: "detached" });
  await code.bar("sparkle").waitFor();
  await saved("prices.py", text);
});

test("with review off, a comment's instruction is applied from the menu of code actions as one step of undo", async () => {
  code.set({ "plgd.review": "apply" });
  await code.bar("starting").waitFor();
  await code.bar("sparkle").waitFor();
  await code.page.locator(".explorer-folders-view .monaco-list-row", { hasText: "notes.py" }).dblclick();
  await code.tab("notes.py").waitFor();
  await focus();
  await code.goTo(1);
  await code.press("Control+.");
  await code.page.locator(".action-widget .monaco-list-row.focused", { hasText: "plgd: shout" }).waitFor();
  await code.press("Enter");
  await reply("name = 'ADA'");
  await saved("notes.py", "name = 'ADA'\n");
  await code.press("Control+Z");
  await saved("notes.py", NOTES);
});

test("a language server that is killed is started again, and the next edit, of a selection, works", async () => {
  code.killLanguageServer();
  await code.bar("starting").waitFor();
  await code.bar("sparkle").waitFor();
  await code.goTo(2);
  await code.press("Shift+End");
  await ask("Shout.");
  await reply("NAME = 'ADA'");
  await saved("notes.py", NOTES.replace("name = 'ada'", "NAME = 'ADA'"));
});

test("a path that leads nowhere and settings that make no sense are said, and mended without a restart", async () => {
  code.set({ "plgd.path": "/nowhere/plgd", "plgd.presets": [{ id: "x" }] });
  await code.message('plgd.path is "/nowhere/plgd", but there is no program that can be run.').waitFor();
  await code.message('plgd.presets, entry 1: "title" must be a text that is not empty; it is left out.').waitFor();
  await code.bar("could not be started").waitFor();
  code.set({});
  await code.bar("sparkle").waitFor();
});
