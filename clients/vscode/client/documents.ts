/** Texts in memory, as the editor holds them. */

import { TextDocument as Text } from "vscode-languageserver-textdocument";
import { EventEmitter, Position, Range, type TextEdit, Uri } from "./values";

export class Document {
  isClosed = false;
  readonly isUntitled = false;
  private readonly held: Text;

  constructor(
    readonly uri: Uri,
    readonly languageId: string,
    text: string,
  ) {
    this.held = Text.create(uri.toString(), languageId, 1, text);
  }

  get version(): number {
    return this.held.version;
  }

  get lineCount(): number {
    return this.held.lineCount;
  }

  getText(): string {
    return this.held.getText();
  }

  validateRange(range: Range): Range {
    return new Range(this.validate(range.start), this.validate(range.end));
  }

  /** Apply edits, none of which touches another, and return them as the event of the change has them. */
  apply(edits: readonly TextEdit[]): readonly { range: Range; text: string }[] {
    const changes = edits
      .map((edit) => ({ range: this.validateRange(edit.range), text: edit.newText }))
      .toSorted((a, b) => (a.range.start.isBefore(b.range.start) ? 1 : -1));
    Text.update(this.held, changes, this.version + 1);
    return changes;
  }

  private validate(position: Position): Position {
    const { line, character } = this.held.positionAt(this.held.offsetAt(position));
    return new Position(line, character);
  }
}

export class Documents {
  readonly opened = new EventEmitter<Document>();
  readonly changed = new EventEmitter<{ document: Document; contentChanges: ReturnType<Document["apply"]>; reason: undefined }>();
  readonly closed = new EventEmitter<Document>();
  private readonly held = new Map<string, Document>();

  get all(): readonly Document[] {
    return [...this.held.values()];
  }

  find(uri: Uri): Document {
    const found = this.held.get(uri.toString());
    if (found === undefined) throw new Error(`${uri.toString()} is not open`);
    return found;
  }

  open(uri: Uri, languageId: string, text: string): Document {
    const document = new Document(uri, languageId, text);
    this.held.set(uri.toString(), document);
    this.opened.fire(document);
    return document;
  }

  edit(document: Document, edits: readonly TextEdit[]): void {
    this.changed.fire({ document, contentChanges: document.apply(edits), reason: undefined });
  }
}
