/** Values of the `vscode` module: addresses, places, edits, events. */

import { pathToFileURL } from "node:url";

type Listener<T> = (value: T) => unknown;

export class Disposable {
  static from(...parts: readonly { dispose(): unknown }[]): Disposable {
    return new Disposable(() => {
      for (const part of parts) part.dispose();
    });
  }

  constructor(private readonly end: () => unknown) {}

  dispose(): void {
    this.end();
  }
}

export class EventEmitter<T> {
  private readonly listeners = new Set<Listener<T>>();

  readonly event = (listener: Listener<T>, self?: unknown, disposables?: Disposable[]): Disposable => {
    const bound: Listener<T> = (value) => listener.call(self, value);
    this.listeners.add(bound);
    const end = new Disposable(() => this.listeners.delete(bound));
    disposables?.push(end);
    return end;
  };

  fire(value: T): void {
    for (const listener of [...this.listeners]) listener(value);
  }

  dispose(): void {
    this.listeners.clear();
  }
}

export class CancellationTokenSource {
  private readonly requested = new EventEmitter<void>();
  readonly token = { isCancellationRequested: false, onCancellationRequested: this.requested.event };

  cancel(): void {
    this.token.isCancellationRequested = true;
    this.requested.fire();
  }

  dispose(): void {
    this.requested.dispose();
  }
}

export class CancellationError extends Error {}

interface UriParts {
  readonly scheme: string;
  readonly path: string;
  readonly query?: string;
}

export class Uri {
  static from(parts: UriParts): Uri {
    return new Uri(parts.scheme, parts.path, parts.query ?? "");
  }

  static parse(text: string): Uri {
    const [, scheme = "", path = "", query = ""] = /^([a-z-]+):(?:\/\/)?([^?]*)(?:\?(.*))?$/.exec(text) ?? [];
    return new Uri(scheme, decodeURIComponent(path), decodeURIComponent(query));
  }

  static file(path: string): Uri {
    return Uri.parse(pathToFileURL(path).href);
  }

  readonly authority = "";
  readonly fragment = "";

  private constructor(
    readonly scheme: string,
    readonly path: string,
    readonly query: string,
  ) {}

  get fsPath(): string {
    return this.path;
  }

  /** As the editor writes addresses: what is not plain is escaped, a colon too. */
  toString(): string {
    const path = this.path.split("/").map(encodeURIComponent).join("/");
    return `${this.scheme}:${this.scheme === "file" ? "//" : ""}${path}${this.query && `?${encodeURIComponent(this.query)}`}`;
  }
}

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}

  isBefore(other: Position): boolean {
    return this.line < other.line || (this.line === other.line && this.character < other.character);
  }

  isEqual(other: Position): boolean {
    return this.line === other.line && this.character === other.character;
  }
}

export class Range {
  readonly start: Position;
  readonly end: Position;

  constructor(start: Position | number, end: Position | number, line?: number, character?: number) {
    this.start = start instanceof Position ? start : new Position(start, end as number);
    this.end = end instanceof Position ? end : new Position(line ?? 0, character ?? 0);
  }

  get isEmpty(): boolean {
    return this.start.isEqual(this.end);
  }

  get isSingleLine(): boolean {
    return this.start.line === this.end.line;
  }
}

export class Selection extends Range {
  readonly anchor: Position;
  readonly active: Position;

  constructor(anchor: Position, active: Position) {
    super(active.isBefore(anchor) ? active : anchor, active.isBefore(anchor) ? anchor : active);
    this.anchor = anchor;
    this.active = active;
  }
}

export class TextEdit {
  constructor(
    readonly range: Range,
    readonly newText: string,
  ) {}
}

export class WorkspaceEdit {
  readonly changes: [Uri, readonly TextEdit[]][] = [];

  set(uri: Uri, edits: readonly (TextEdit | readonly [TextEdit, unknown])[]): void {
    this.changes.push([uri, edits.map((edit) => (edit instanceof TextEdit ? edit : edit[0]))]);
  }
}

export class CodeLens {
  constructor(
    readonly range: Range,
    readonly command?: { readonly title: string; readonly command: string; readonly arguments?: readonly unknown[] },
  ) {}
}

export class CodeActionKind {
  static readonly Empty = new CodeActionKind("");
  static readonly QuickFix = new CodeActionKind("quickfix");
  static readonly Refactor = new CodeActionKind("refactor");
  static readonly RefactorExtract = new CodeActionKind("refactor.extract");
  static readonly RefactorInline = new CodeActionKind("refactor.inline");
  static readonly RefactorMove = new CodeActionKind("refactor.move");
  static readonly RefactorRewrite = new CodeActionKind("refactor.rewrite");
  static readonly Source = new CodeActionKind("source");
  static readonly SourceOrganizeImports = new CodeActionKind("source.organizeImports");
  static readonly SourceFixAll = new CodeActionKind("source.fixAll");
  static readonly Notebook = new CodeActionKind("notebook");

  constructor(readonly value: string) {}

  append(part: string): CodeActionKind {
    return new CodeActionKind(this.value === "" ? part : `${this.value}.${part}`);
  }
}

export class CodeAction {
  command?: { readonly title: string; readonly command: string; readonly arguments?: readonly unknown[] };

  constructor(
    readonly title: string,
    readonly kind?: CodeActionKind,
  ) {}
}

export class MarkdownString {
  value = "";

  appendCodeblock(code: string): this {
    this.value += code;
    return this;
  }
}

export class ThemeColor {
  constructor(readonly id: string) {}
}

export class ThemeIcon {
  constructor(readonly id: string) {}
}

export class TabInputTextDiff {
  constructor(
    readonly original: Uri,
    readonly modified: Uri,
  ) {}
}
