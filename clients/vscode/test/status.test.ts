/** What the status bar and the messages say. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outcome, Proposal, Status } from "../src/protocol/messages";
import { outcome, proposalWarning } from "../src/status/outcomes";
import { type ServerState, statusWords } from "../src/status/words";

const IDLE: Status = { kind: "idle", message: "ready", model: "builtin", busy: false };

function bar(status: Partial<Status>, waiting = 0): string {
  return statusWords("running", { ...IDLE, ...status }, waiting).text;
}

test("the status bar says what the daemon does, with percent and rate where they are known", () => {
  assert.equal(bar({}), "$(sparkle) plgd");
  assert.equal(bar({ kind: "absent" }), "$(sparkle) plgd");
  assert.equal(bar({ kind: "starting" }), "$(loading~spin) plgd");
  assert.equal(bar({ kind: "loading", percent: 36.6 }), "$(loading~spin) plgd: loading 37 %");
  assert.equal(bar({ kind: "busy", busy: true }), "$(sync~spin) plgd: working");
  assert.equal(
    bar({ kind: "busy", busy: true, percent: 50, tokensPerSecond: 81.4 }),
    "$(sync~spin) plgd: 50 %, 81 tokens/s",
  );
  assert.equal(bar({ kind: "error" }), "$(warning) plgd");
});

test("hunks that wait for review are counted while nothing runs", () => {
  assert.equal(bar({}, 3), "$(diff) plgd: 3 to review");
  assert.equal(bar({ kind: "busy", busy: true }, 3), "$(sync~spin) plgd: working");
});

test("the tooltip has the daemon's message and the model", () => {
  assert.equal(statusWords("running", IDLE, 0).tooltip, "ready\nModel: builtin\nClick for commands.");
  assert.equal(statusWords("running", { ...IDLE, model: null }, 0).tooltip, "ready\nClick for commands.");
});

test("a server that was shown no text yet is at rest, not starting for ever", () => {
  assert.equal(statusWords("running", undefined, 0).text, "$(sparkle) plgd");
  assert.equal(statusWords("starting", undefined, 0).text, "$(loading~spin) plgd");
});

test("a server that does not run is told, whatever it said before", () => {
  const severities = (["starting", "stopped", "failed"] as ServerState[]).map(
    (server) => statusWords(server, IDLE, 1).severity,
  );
  assert.deepEqual(severities, ["normal", "warning", "error"]);
});

test("success is quiet; what did not become an edit is said aloud and can be asked again", () => {
  const told = (status: Outcome): string => {
    const { level, actions } = outcome({ session: "s", uri: "file:///a", status, message: "" });
    return [level, ...actions].join(" ");
  };
  assert.deepEqual(
    (["proposed", "applied", "cancelled"] as const).map(told),
    ["quiet", "quiet", "quiet"],
  );
  assert.equal(told("no_change"), "info retry");
  assert.deepEqual((["conflict", "truncated", "rejected_output"] as const).map(told), [
    "warning retry",
    "warning retry",
    "warning retry",
  ]);
  assert.equal(told("failed"), "error retry output");
});

test("the server's own words are passed on", () => {
  const finished = { session: "s", uri: "file:///a", status: "failed", message: "no model is selected" } as const;
  assert.equal(outcome(finished).message, "plgd: no model is selected");
});

test("the warnings of a proposal are one message, and no warnings are none", () => {
  const proposal = { warnings: ["One.", "Two."] } as unknown as Proposal;
  assert.equal(proposalWarning(proposal), "plgd: One. Two.");
  assert.equal(proposalWarning({ ...proposal, warnings: [] }), undefined);
});
