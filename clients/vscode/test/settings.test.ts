/** Settings are checked once, at the edge. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { checkSettings, DEFAULTS } from "../src/settings/check";

function check(given: Record<string, unknown>): ReturnType<typeof checkSettings> {
  return checkSettings((name) => given[name]);
}

const PRESET = { id: "types", title: "Add types", instruction: "Add type annotations." };

test("without settings everything has its default and nothing is complained about", () => {
  assert.deepEqual(check({}), { settings: DEFAULTS, problems: [] });
});

test("the defaults are those that the settings page shows", () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
    contributes: { configuration: { properties: Record<string, { default: unknown }> } };
  };
  const shown = Object.entries(manifest.contributes.configuration.properties)
    .filter(([name]) => name !== "plgd.trace.server")
    .map(([name, { default: value }]) => [name.replace("plgd.", ""), value]);
  assert.deepEqual(Object.fromEntries(shown), DEFAULTS);
});

test("good settings are taken, blanks around them are not", () => {
  const given = { path: " ~/bin/plgd ", review: "apply", preview: "inline", model: " m ", presets: [PRESET] };
  const { settings, problems } = check(given);
  assert.deepEqual(problems, []);
  assert.deepEqual(settings, {
    path: "~/bin/plgd",
    review: "apply",
    preview: "inline",
    model: "m",
    presets: [PRESET],
    commentMarker: "plgd:",
  });
});

test("an empty model means the one that plgd is set to", () => {
  assert.equal(check({ model: "" }).settings.model, null);
});

test("each wrong setting is named with its value and replaced by its default", () => {
  const { settings, problems } = check({ path: 1, review: "ask", preview: null, model: ["m"], commentMarker: " " });
  assert.deepEqual(settings, DEFAULTS);
  assert.deepEqual(problems, [
    "plgd.path must be a string, not 1.",
    'plgd.commentMarker must not be empty; "plgd:" is used.',
    'plgd.model must be a string, not ["m"].',
    'plgd.review must be "preview" or "apply", not "ask"; "preview" is used.',
  ]);
});

test("a wrong preset is left out, its entry and fault are named, and the others stay", () => {
  const wrong: [unknown, string][] = [
    ["types", 'must be an object, not "types"'],
    [{ ...PRESET, languges: [] }, '"languges" is no key of a preset (id, title, instruction, languages)'],
    [{ ...PRESET, title: " " }, '"title" must be a text that is not empty'],
    [{ ...PRESET, id: "a.b" }, '"id" may hold letters, digits, "-" and "_" only'],
    [{ ...PRESET, id: "other", languages: "python" }, '"languages" must be a list of language ids'],
    [{ ...PRESET }, 'the id "types" is there twice'],
  ];
  for (const [preset, fault] of wrong) {
    const { settings, problems } = check({ presets: [PRESET, preset] });
    assert.deepEqual(settings.presets, [PRESET]);
    assert.deepEqual(problems, [`plgd.presets, entry 2: ${fault}; it is left out.`]);
  }
});

test("presets that are no list are told", () => {
  assert.deepEqual(check({ presets: PRESET }).problems.length, 1);
});
