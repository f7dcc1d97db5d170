/**
 * Takes the documentation's pictures: `PLGD_E2E=... node out/e2e/pictures.mjs FOLDER`, see editing.test.ts.
 *
 * The model's reply is dictated, so that the pictures are the same each time.
 */

import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type Programs, Workbench } from "./workbench";

const [folder = "."] = process.argv.slice(2);
const programs = JSON.parse(process.env["PLGD_E2E"] ?? "{}") as Programs & { readonly pipe: string };
const invoice = readFileSync("../../docs/examples/invoice.py", "utf8");
const code = await Workbench.start(programs, { "invoice.py": invoice });
try {
  await code.page.setViewportSize({ width: 1100, height: 600 });
  await code.bar("sparkle").waitFor();
  await code.command("View: Toggle Primary Side Bar Visibility");
  await code.lines.first().click();
  await code.goTo(10);

  await code.press("Control+Alt+E");
  await code.page.locator(".quick-input-widget input[type=text]").waitFor();
  await code.type("Rename the variable subtotal to net_total.");
  await code.page.locator(".quick-input-list .monaco-list-row", { hasText: "Rename" }).first().waitFor();
  await picture("vscode-ask");

  await code.press("Enter");
  writeFileSync(programs.pipe, `${invoice.replaceAll("subtotal", "net_total")}\`\`\`\n`);
  await code.diff.waitFor();
  await code.bar("3 to review").waitFor();
  await code.button("Accept the Change").waitFor();
  // The diff is computed a moment after its editor is there.
  await code.page.locator(".monaco-diff-editor .line-insert").first().waitFor();
  await picture("vscode-diff");

  await code.press("Control+Alt+Y");
  await code.bar("2 to review").waitFor();
  await code.tab("invoice.py").first().click();
  await code.lens("Accept −3 +3").waitFor();
  await picture("vscode-inline");
} finally {
  await code.stop();
}

async function picture(name: string): Promise<void> {
  await code.page.screenshot({ path: path.join(folder, `${name}.png`) });
}
