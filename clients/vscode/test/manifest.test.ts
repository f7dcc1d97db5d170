/** package.json says what the code does. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Commands, Contexts } from "../src/editor/names";
import { ServerCommands } from "../src/protocol/messages";

interface Manifest {
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly keybindings: readonly { readonly command: string; readonly when: string }[];
    readonly menus: Record<string, readonly { readonly command: string; readonly when?: string }[]>;
    readonly walkthroughs: readonly { readonly steps: readonly { readonly media: { readonly markdown: string } }[] }[];
  };
}

const { contributes } = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const declared = contributes.commands.map(({ command }) => command).toSorted();

test("every command that is declared exists, and the other way round", () => {
  assert.deepEqual(declared, Object.values<string>(Commands).toSorted());
});

test("no command has the name of one of the server's, which the client registers", () => {
  const taken = Object.values<string>(ServerCommands);
  assert.deepEqual(declared.filter((command) => taken.includes(command)), []);
});

test("keys and menus name commands and contexts that exist", () => {
  const entries = [...contributes.keybindings, ...Object.values(contributes.menus).flat()];
  assert.deepEqual(entries.filter(({ command }) => !declared.includes(command)), []);
  const used = entries.flatMap(({ when }) => when?.match(/plgd\.\w+/g) ?? []);
  assert.deepEqual([...new Set(used)].toSorted(), Object.values<string>(Contexts).toSorted());
});

test("every step of the walkthrough has its page", () => {
  const pages = contributes.walkthroughs.flatMap(({ steps }) => steps.map(({ media }) => media.markdown));
  assert.equal(pages.length, 4);
  for (const page of pages) assert.ok(readFileSync(page, "utf8").startsWith("# "), page);
});
