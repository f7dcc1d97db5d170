/** The proposals that wait for review. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { HunkState, Proposal } from "../src/protocol/messages";
import { Proposals } from "../src/review/proposals";

function proposal(session: string, state: HunkState, uri = "file:///a.py"): Proposal {
  const start = { line: 0, character: 0 };
  const hunks = [{ id: 0, range: { start, end: start }, oldText: "", newText: "x\n", state }];
  return { session, uri, version: 1, instruction: "Do it.", range: null, hunks, warnings: [] };
}

function watched(): { proposals: Proposals; changes: string[] } {
  const proposals = new Proposals();
  const changes: string[] = [];
  proposals.onChange(({ session }, change) => changes.push(`${session} ${change}`));
  return { proposals, changes };
}

test("a proposal arrives once, is updated after that, and is resolved with its last hunk", () => {
  const { proposals, changes } = watched();
  for (const state of ["open", "conflict", "rejected"] as const) proposals.update(proposal("s", state));
  assert.deepEqual(changes, ["s arrived", "s updated", "s resolved"]);
  assert.deepEqual(proposals.all, []);
});

test("a proposal that comes back since its edit was undone does not arrive again", () => {
  const { proposals, changes } = watched();
  for (const state of ["open", "accepted", "open"] as const) proposals.update(proposal("s", state));
  assert.deepEqual(changes, ["s arrived", "s resolved", "s updated"]);
  assert.equal(proposals.get("s")?.hunks[0]?.state, "open");
});

test("a proposal without anything to decide never arrives", () => {
  const { proposals, changes } = watched();
  proposals.update(proposal("s", "rejected"));
  assert.deepEqual(changes, []);
});

test("a document has its own proposals only, oldest first", () => {
  const { proposals } = watched();
  proposals.update(proposal("1", "open"));
  proposals.update(proposal("2", "open", "file:///b.py"));
  proposals.update(proposal("3", "open"));
  assert.deepEqual(proposals.of("file:///a.py").map(({ session }) => session), ["1", "3"]);
});

test("when the server ends, every proposal is resolved, and nothing of it is left to decide", () => {
  const { proposals, changes } = watched();
  proposals.update(proposal("1", "open"));
  proposals.update(proposal("2", "open"));
  const left: number[] = [];
  proposals.onChange(({ hunks }) => left.push(hunks.length));
  proposals.clear();
  assert.deepEqual(changes.slice(2), ["1 resolved", "2 resolved"]);
  assert.deepEqual(left, [0, 0]);
  assert.deepEqual(proposals.all, []);
});
