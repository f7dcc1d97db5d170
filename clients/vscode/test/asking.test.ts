/** What the box for an instruction offers. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { choices } from "../src/ask/choices";
import { InstructionHistory } from "../src/ask/history";

function remembered(instructions: readonly string[]): InstructionHistory {
  let kept = instructions;
  return new InstructionHistory({
    load: () => kept,
    save: (changed) => {
      kept = changed;
      return Promise.resolve();
    },
  });
}

test("the newest instruction is first and is there once", async () => {
  const history = remembered(["a", "b"]);
  await history.add("b");
  await history.add("c");
  assert.deepEqual(history.instructions, ["c", "b", "a"]);
});

test("the history keeps fifty instructions", async () => {
  const history = remembered(Array.from({ length: 50 }, (_, index) => String(index)));
  await history.add("new");
  assert.equal(history.instructions.length, 50);
  assert.equal(history.instructions[0], "new");
  assert.equal(history.instructions.at(-1), "48");
});

test("an instruction can be forgotten", async () => {
  const history = remembered(["a", "b"]);
  await history.remove("a");
  assert.deepEqual(history.instructions, ["b"]);
});

test("what is typed comes first, so that Enter means it, and is not offered a second time", () => {
  const offered = choices(" b ", ["a", "b"], [], "python");
  assert.deepEqual(offered, [
    { kind: "typed", label: "b", instruction: "b" },
    { kind: "history", label: "a", instruction: "a" },
  ]);
});

test("blanks are no instruction", () => {
  assert.deepEqual(choices("  ", ["a"], [], "python").map(({ kind }) => kind), ["history"]);
});

test("presets are offered for their languages; without any, for all", () => {
  const presets = [
    { id: "1", title: "All", instruction: "Do all." },
    { id: "2", title: "Python", instruction: "Do Python.", languages: ["python"] },
    { id: "3", title: "Go", instruction: "Do Go.", languages: ["go"] },
  ];
  assert.deepEqual(choices("", [], presets, "python"), [
    { kind: "preset", label: "All", instruction: "Do all." },
    { kind: "preset", label: "Python", instruction: "Do Python." },
  ]);
});
