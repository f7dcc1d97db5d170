/** Visual Studio Code with the packaged extension, in a browser that nobody sees. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";

/** Bounds every wait; never what a passing test waits for. */
const PATIENCE_MS = 45_000;

const SETTINGS = {
  "security.workspace.trust.enabled": false,
  "workbench.startupEditor": "none",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.colorTheme": "Default Light Modern",
  "chat.disableAIFeatures": true,
  "editor.minimap.enabled": false,
  "editor.autoIndent": "none",
  "files.autoSave": "afterDelay",
  "files.autoSaveDelay": 50,
  "telemetry.telemetryLevel": "off",
};

/** Where the programs are. */
export interface Programs {
  /** What e2e/vscode.mjs made. */
  readonly code: string;
  readonly chromium: string;
  readonly vsix: string;
}

export class Workbench {
  private constructor(
    readonly page: Page,
    /** The folder that is open. */
    readonly folder: string,
    private readonly home: string,
    private readonly browser: Browser,
    private readonly server: ChildProcess,
  ) {}

  /** Install the extension, start the server and open a folder with these files; the first one is in the editor. */
  static async start(programs: Programs, files: Record<string, string>): Promise<Workbench> {
    const home = mkdtempSync(path.join(tmpdir(), "plgd-code-"));
    const folder = path.join(home, "work");
    mkdirSync(path.join(folder, ".vscode"), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
    mkdirSync(path.join(home, "User"));
    writeFileSync(path.join(home, "User", "settings.json"), JSON.stringify(SETTINGS));
    const node = path.join(programs.code, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
    const main = path.join(programs.code, "out", "server-main.js");
    const places = ["--server-data-dir", home, "--user-data-dir", home, "--extensions-dir", path.join(home, "extensions")];
    const terms = "--accept-server-license-terms";
    const installed = spawnSync(node, [main, terms, ...places, "--install-extension", programs.vsix], { encoding: "utf8" });
    if (!installed.stdout.includes("was successfully installed")) throw new Error(installed.stdout + installed.stderr);
    const server = spawn(
      node,
      // The environment of the tests is not replaced by that of a login shell.
      [main, terms, ...places, "--host", "127.0.0.1", "--port", "0", "--without-connection-token", "--force-disable-user-env"],
      { stdio: ["ignore", "pipe", "ignore"] },
    );
    const address = `127.0.0.1:${await port(server)}`;
    const browser = await chromium.launch({ executablePath: programs.chromium, args: ["--no-sandbox", "--disable-gpu"] });
    const page = await browser.newPage({ viewport: { width: 1280, height: 760 } });
    page.setDefaultTimeout(PATIENCE_MS);
    const first = Object.keys(files)[0] ?? "";
    const payload = JSON.stringify([["openFile", `vscode-remote://${address}${folder}/${first}`]]);
    const query = new URLSearchParams({ folder, payload });
    await page.goto(`http://${address}/?${query.toString()}`, { waitUntil: "commit" });
    const workbench = new Workbench(page, folder, home, browser, server);
    await workbench.lines.first().waitFor();
    return workbench;
  }

  async stop(): Promise<void> {
    await this.browser.close();
    this.server.kill();
    await once(this.server, "close");
    rmSync(this.home, { recursive: true });
  }

  /** The lines of the editor in front, or of the right side of a diff. */
  get lines(): Locator {
    return this.page.locator(".editor-instance .editor.modified .view-lines, .editor-instance > .monaco-editor .view-lines");
  }

  /** The text in front, once keys go to it. */
  get focused(): Locator {
    return this.page.locator(".editor-instance > .monaco-editor.focused");
  }

  get diff(): Locator {
    return this.page.locator(".monaco-diff-editor");
  }

  /** plgd in the status bar, once it says this. */
  bar(words: string): Locator {
    return this.page.locator(`.statusbar-item[aria-label*="${words}"]`);
  }

  /** A message in the corner. */
  message(words: string): Locator {
    return this.page.locator(".notification-toast", { hasText: words });
  }

  /** A button at the top right of the editor in front. */
  button(words: string): Locator {
    return this.page.locator(`.editor-actions a[aria-label*="${words}"]`);
  }

  /** A link above a line. */
  lens(words: string): Locator {
    return this.page.locator(".codelens-decoration a", { hasText: words });
  }

  tab(name: string): Locator {
    return this.page.getByRole("tab", { name, exact: false });
  }

  async press(keys: string): Promise<void> {
    await this.page.keyboard.press(keys);
  }

  async type(text: string): Promise<void> {
    await this.page.keyboard.insertText(text);
  }

  /** Run a command by its title. */
  async command(title: string): Promise<void> {
    await this.press("F1");
    const box = this.page.locator(".quick-input-widget input[type=text]");
    await box.fill(`>${title}`);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().click();
  }

  /** Put the cursor at the start of a line of the editor in front. */
  async goTo(line: number): Promise<void> {
    await this.press("Control+G");
    await this.page.locator(".quick-input-widget input[type=text]").fill(`:${line}`);
    await this.press("Enter");
    await this.page.locator(".statusbar-item", { hasText: `Ln ${line}, Col 1` }).waitFor();
  }

  /** Set the folder's settings; those not named are the user's or have their defaults. */
  set(settings: Record<string, unknown>): void {
    writeFileSync(path.join(this.folder, ".vscode", "settings.json"), JSON.stringify(settings));
  }

  /** Kill `plgd lsp` without warning. */
  killLanguageServer(): void {
    const killed = descendants(this.server.pid ?? 0).filter((pid) => commandLine(pid).endsWith("plgd\0lsp\0"));
    if (killed.length !== 1) throw new Error(`${killed.length} language servers run`);
    for (const pid of killed) process.kill(pid, "SIGKILL");
  }
}

function descendants(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

function commandLine(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8");
}

async function port(server: ChildProcess): Promise<string> {
  if (server.stdout === null) throw new Error("the server has no output");
  for await (const line of createInterface(server.stdout)) {
    const found = /listening on (\d+)/.exec(line)?.[1];
    if (found !== undefined) {
      server.stdout.resume();
      return found;
    }
  }
  throw new Error("the server ended before it listened");
}
