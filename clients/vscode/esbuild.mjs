// Builds the extension (out/extension.js), or with `test` / `e2e` the tests of that folder.
import { readdirSync, rmSync } from "node:fs";
import process from "node:process";
import { build } from "esbuild";

const common = { bundle: true, platform: "node", target: "node20", sourcemap: true, logLevel: "warning" };
const folder = process.argv[2];

if (folder === undefined) {
  await build({
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "out/extension.js",
    format: "cjs",
    external: ["vscode"],
    minify: true,
    legalComments: "linked",
  });
} else {
  rmSync(`out/${folder}`, { recursive: true, force: true });
  await build({
    ...common,
    entryPoints: readdirSync(folder)
      .filter((name) => name.endsWith(".ts"))
      .map((name) => `${folder}/${name}`),
    outdir: `out/${folder}`,
    format: "esm",
    outExtension: { ".js": ".mjs" },
    packages: "external",
  });
}
