/** The last lines of a stream of text. */

const LIMIT = 20;

export class LastWords {
  private kept: string[] = [];
  private rest = "";

  /** Take a piece of text and return the lines that it completed; the last ones of all are kept. */
  push(piece: string): readonly string[] {
    const parts = (this.rest + piece).split(/\r\n|\n|\r/);
    this.rest = parts.pop() ?? "";
    const complete = parts.filter((line) => line.trim() !== "");
    this.kept = [...this.kept, ...complete].slice(-LIMIT);
    return complete;
  }

  get lines(): readonly string[] {
    return this.rest.trim() === "" ? this.kept : [...this.kept, this.rest].slice(-LIMIT);
  }
}
