/** Hunks in a text. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hunk, HunkState } from "../src/protocol/messages";
import { hunkAt, lineChange, neighbour, open, place, proposedText, undecided } from "../src/review/hunks";

const TEXT = "a\nb\nc\nd\ne\n";

function hunk(id: number, start: number, end: number, newText: string, state: HunkState = "open", text = TEXT): Hunk {
  const oldText = text.split(/(?<=\n)/).slice(start, end).join("");
  return { id, range: { start: at(start), end: at(end) }, oldText, newText, state };
}

function at(line: number, character = 0): { line: number; character: number } {
  return { line, character };
}

/** Replaces b by two lines, takes c away, brings a line before e. */
const THREE = [hunk(0, 1, 2, "B\nBB\n"), hunk(1, 2, 3, ""), hunk(2, 4, 4, "new\n")];

test("the proposed text has every open hunk in it and every other line as it is", () => {
  assert.equal(proposedText(TEXT, THREE), "a\nB\nBB\nd\nnew\ne\n");
});

test("hunks that are accepted, rejected or in conflict are not put into the proposed text", () => {
  for (const state of ["accepted", "rejected", "conflict"] as const) {
    const hunks = [hunk(0, 1, 2, "B\nBB\n", state), ...THREE.slice(1)];
    assert.equal(proposedText(TEXT, hunks), "a\nb\nd\nnew\ne\n", state);
  }
});

test("the order in which hunks are sent does not matter", () => {
  assert.equal(proposedText(TEXT, THREE.toReversed()), "a\nB\nBB\nd\nnew\ne\n");
});

test("a line without an end is replaced up to the end of the text", () => {
  const text = "a\nb";
  const last: Hunk = { id: 0, range: { start: at(1), end: at(1, 1) }, oldText: "b", newText: "B\nC", state: "open" };
  assert.equal(proposedText(text, [last]), "a\nB\nC");
});

test("positions behind the end of a line or of the text mean the end", () => {
  const behind = (end: { line: number; character: number }): Hunk => ({
    id: 0,
    range: { start: at(1), end },
    oldText: "",
    newText: "B",
    state: "open",
  });
  assert.equal(proposedText("a\r\nb\r\nc", [behind(at(1, 99))]), "a\r\nB\r\nc");
  assert.equal(proposedText("a\r\nb\r\nc", [behind(at(9))]), "a\r\nB");
});

test("form feeds and line separators end no line, and characters beyond the BMP count two", () => {
  const text = "😀 x\f\u2028y\nz\n";
  const word: Hunk = { id: 0, range: { start: at(0, 3), end: at(0, 4) }, oldText: "x", newText: "w", state: "open" };
  assert.equal(proposedText(text, [word]), "😀 w\f\u2028y\nz\n");
  assert.equal(proposedText(text, [hunk(0, 1, 2, "Z\n", "open", text)]), "😀 x\f\u2028y\nZ\n");
});

test("a hunk that overlaps the one above is left out instead of losing text", () => {
  const stale = [hunk(0, 1, 3, "B\n"), hunk(1, 2, 4, "C\n")];
  assert.equal(proposedText(TEXT, stale), "a\nB\nd\ne\n");
});

test("hunks know their lines in the document and in the proposed text", () => {
  const lines = place(THREE).map(({ oldStart, oldEnd, newStart, newEnd }) => [oldStart, oldEnd, newStart, newEnd]);
  assert.deepEqual(lines, [
    [1, 2, 1, 3],
    [2, 3, 3, 3],
    [4, 4, 4, 5],
  ]);
});

test("a hunk in conflict keeps its lines in the proposed text", () => {
  const hunks = [hunk(0, 1, 2, "B\nBB\n", "conflict"), hunk(1, 3, 4, "D\n")];
  const lines = place(hunks).map(({ newStart, newEnd }) => [newStart, newEnd]);
  assert.deepEqual(lines, [
    [1, 2],
    [3, 4],
  ]);
});

test("the hunk of a line is found on either side", () => {
  const ids = (side: "old" | "new"): (number | undefined)[] =>
    [0, 1, 2, 3, 4, 5].map((line) => hunkAt(THREE, side, line)?.id);
  assert.deepEqual(ids("old"), [undefined, 0, 1, undefined, 2, undefined]);
  assert.deepEqual(ids("new"), [undefined, 0, 0, 1, 2, undefined]);
});

test("the next and the previous change go around the end of the text", () => {
  assert.equal(neighbour(THREE, "old", 1, 1)?.hunk.id, 1);
  assert.equal(neighbour(THREE, "old", 4, 1)?.hunk.id, 0);
  assert.equal(neighbour(THREE, "old", 4, -1)?.hunk.id, 1);
  assert.equal(neighbour(THREE, "old", 0, -1)?.hunk.id, 2);
  assert.equal(neighbour([], "old", 0, 1), undefined);
});

test("hunks in conflict wait for a decision but cannot be accepted", () => {
  const hunks = [hunk(0, 1, 2, "B\n", "conflict"), hunk(1, 2, 3, "C\n", "accepted"), hunk(2, 3, 4, "D\n")];
  assert.deepEqual(undecided(hunks).map(({ id }) => id), [0, 2]);
  assert.deepEqual(open(hunks).map(({ id }) => id), [2]);
});

test("the change of a hunk is told in lines", () => {
  assert.deepEqual(THREE.map(lineChange), ["−1 +2", "−1", "+1"]);
  assert.equal(lineChange({ ...hunk(0, 0, 1, "x\r\ny"), oldText: "a" }), "−1 +2");
});
