// Builds the extension (out/extension.js), or with `test` / `e2e` the tests of that folder.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { build } from "esbuild";

const common = { bundle: true, platform: "node", target: "node20", sourcemap: true, logLevel: "warning" };
const folder = process.argv[2];

if (folder === undefined) {
  const { metafile } = await build({
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "out/extension.js",
    format: "cjs",
    external: ["vscode"],
    minify: true,
    metafile: true,
  });
  writeFileSync("out/NOTICES.txt", notices(Object.keys(metafile.inputs)));
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

/** The licences of the packages that are in the bundle: they ask to go along. */
function notices(inputs) {
  const roots = inputs.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  const packages = [...new Set(roots.filter((root) => root !== undefined))].toSorted();
  return packages.map((root) => {
    const { name, version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
    const licence = readdirSync(root).find((file) => /^licen[cs]e/i.test(file));
    if (licence === undefined) throw new Error(`${name} has no licence`);
    return `${name} ${version}\n\n${readFileSync(path.join(root, licence), "utf8").trim()}\n`;
  }).join(`\n${"=".repeat(80)}\n\n`);
}
