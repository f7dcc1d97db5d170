/**
 * Fetches Visual Studio Code for the tests, from the npm registry: `node e2e/vscode.mjs FOLDER`.
 *
 * The package code-server carries the open-source build of VS Code's server. Of it only that build is taken, and of its
 * dependencies only what editing text needs: a tenth of the download, and nothing to compile. The folder is left alone
 * when it is complete.
 */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";

const CODE_SERVER = "4.139.1";
const INTEGRITY = "sha512-fUYvJVdz4ZoVJfakGiGWXFMpF8K1ObsrpGvX17ZxNpKOzdNHs7lANT670JTr4ZhA8DnWqyvvmFG/d3HV9Yy6ew==";
/** What VS Code 1.139 runs on. */
const NODE = "24.21.0";
const MODULES = {
  [`node-${process.platform}-${process.arch}`]: NODE,
  "@microsoft/1ds-core-js": "3.2.13",
  // Settings that change are seen at once.
  "@parcel/watcher": "2.5.6",
  "@vscode/iconv-lite-umd": "0.7.1",
  "@vscode/proxy-agent": "0.45.0",
  cookie: "0.7.2",
  "http-proxy-agent": "7.0.0",
  "https-proxy-agent": "7.0.2",
  jschardet: "3.1.4",
  minimist: "1.2.8",
  "tas-client": "0.4.6",
  undici: "7.29.0",
  "vscode-oniguruma": "1.7.0",
  "vscode-regexpp": "3.1.0",
  "vscode-textmate": "9.3.2",
  ws: "8.21.0",
  yauzl: "3.3.1",
  yazl: "2.4.3",
};
const PARTS = ["out", "package.json", "product.json", "resources", "extensions/python", "extensions/theme-defaults"];

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: node e2e/vscode.mjs FOLDER");
const target = path.resolve(folder, `code-${CODE_SERVER}`);
if (!existsSync(target)) {
  const partial = `${target}.${process.pid}`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  fetchCode(partial);
  fetchModules(partial);
  renameSync(partial, target);
}
process.stdout.write(`${target}\n`);

function fetchCode(into) {
  const [packed] = JSON.parse(npm(into, "pack", `code-server@${CODE_SERVER}`, "--json"));
  if (packed.integrity !== INTEGRITY) throw new Error(`${packed.filename} is not the package that was tested`);
  const members = PARTS.map((part) => `package/lib/vscode/${part}`);
  execFileSync("tar", ["-xzf", packed.filename, "--strip-components=3", ...members], { cwd: into });
  rmSync(path.join(into, packed.filename));
  // Nothing is looked up in a market of extensions.
  const product = path.join(into, "product.json");
  writeFileSync(product, JSON.stringify({ ...JSON.parse(readFileSync(product, "utf8")), extensionsGallery: undefined }));
}

function fetchModules(into) {
  const names = Object.entries(MODULES).map(([name, version]) => `${name}@${version}`);
  npm(into, "install", "--prefix", "modules", "--ignore-scripts", "--no-audit", "--no-fund", ...names);
  renameSync(path.join(into, "modules", "node_modules"), path.join(into, "node_modules"));
}

function npm(cwd, ...words) {
  return execFileSync("npm", words, { cwd, encoding: "utf8", maxBuffer: 1 << 26, stdio: ["ignore", "pipe", "inherit"] });
}

