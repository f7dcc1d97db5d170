/** Hunks in a text: where they are, what the text becomes, which one a line belongs to. */

import type { Hunk, Position, Range } from "../protocol/messages";

/** A hunk and the lines that it takes in the document and in the proposed text; ends are exclusive. */
export interface Placed {
  readonly hunk: Hunk;
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

export type Side = "old" | "new";

/** Hunks that still wait for a decision, from the top; those in conflict can only be rejected. */
export function undecided(hunks: readonly Hunk[]): readonly Hunk[] {
  return inOrder(hunks.filter((hunk) => hunk.state === "open" || hunk.state === "conflict"));
}

/** Hunks that can be accepted, from the top. */
export function open(hunks: readonly Hunk[]): readonly Hunk[] {
  return inOrder(hunks.filter((hunk) => hunk.state === "open"));
}

/** The document's text with every open hunk in it: what accepting the rest would make of it. */
export function proposedText(text: string, hunks: readonly Hunk[]): string {
  const starts = lineStarts(text);
  let result = "";
  let done = 0;
  for (const hunk of open(hunks)) {
    const start = offsetAt(text, starts, hunk.range.start);
    // Two hunks that overlap cannot both be shown; the server never sends such, a stale range may look so.
    if (start < done) continue;
    result += text.slice(done, start) + hunk.newText;
    done = offsetAt(text, starts, hunk.range.end);
  }
  return result + text.slice(done);
}

/** Where the undecided hunks are, in the document and in the proposed text. */
export function place(hunks: readonly Hunk[]): readonly Placed[] {
  let shift = 0;
  return undecided(hunks).map((hunk) => {
    const oldStart = hunk.range.start.line;
    const oldEnd = endLine(hunk.range);
    const newStart = oldStart + shift;
    // In the proposed text a hunk in conflict is as it is in the document.
    if (hunk.state === "conflict") return { hunk, oldStart, oldEnd, newStart, newEnd: oldEnd + shift };
    shift += lineEnds(hunk.newText) - (hunk.range.end.line - hunk.range.start.line);
    return { hunk, oldStart, oldEnd, newStart, newEnd: newStart + lineCount(hunk.newText) };
  });
}

/** The undecided hunk at a line of one side; an insertion or a deletion is at the line that it stands before. */
export function hunkAt(hunks: readonly Hunk[], side: Side, line: number): Hunk | undefined {
  return place(hunks).find((one) => {
    const [start, end] = side === "old" ? [one.oldStart, one.oldEnd] : [one.newStart, one.newEnd];
    return line >= start && line < Math.max(end, start + 1);
  })?.hunk;
}

/** The next undecided hunk below (or above) a line of one side, around the end of the text. */
export function neighbour(hunks: readonly Hunk[], side: Side, line: number, step: 1 | -1): Placed | undefined {
  const placed = place(hunks);
  const start = (one: Placed): number => (side === "old" ? one.oldStart : one.newStart);
  return step === 1
    ? (placed.find((one) => start(one) > line) ?? placed[0])
    : (placed.findLast((one) => start(one) < line) ?? placed.at(-1));
}

/** `−2 +3`: the lines that a hunk takes away and brings. */
export function lineChange(hunk: Hunk): string {
  const removed = lineCount(hunk.oldText);
  const added = lineCount(hunk.newText);
  return [removed > 0 ? `−${removed}` : "", added > 0 ? `+${added}` : ""].filter((part) => part !== "").join(" ");
}

const LINE_END = /\r\n|\n|\r/g;

function inOrder(hunks: readonly Hunk[]): readonly Hunk[] {
  return hunks.toSorted(
    (a, b) => a.range.start.line - b.range.start.line || a.range.start.character - b.range.start.character,
  );
}

function lineEnds(text: string): number {
  return text.match(LINE_END)?.length ?? 0;
}

function lineCount(text: string): number {
  return lineEnds(text) + (text === "" || /[\r\n]$/.test(text) ? 0 : 1);
}

/** The line behind a range: its last line counts when the range ends within it. */
function endLine(range: Range): number {
  return range.end.character > 0 ? range.end.line + 1 : range.end.line;
}

function lineStarts(text: string): readonly number[] {
  return [0, ...Array.from(text.matchAll(LINE_END), (match) => match.index + match[0].length)];
}

/** Positions behind the end of a line or of the text count as the end, as the protocol has it. */
function offsetAt(text: string, starts: readonly number[], position: Position): number {
  const start = starts[position.line];
  if (start === undefined) return text.length;
  const next = starts[position.line + 1];
  const end = next === undefined ? text.length : start + text.slice(start, next).replace(/[\r\n]+$/, "").length;
  return Math.min(start + position.character, end);
}
