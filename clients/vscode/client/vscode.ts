/**
 * As much of the `vscode` module as the extension and its language client name, without a window or files: texts are in
 * memory, what would be shown is noted in `seen`, and the user's answers are what the test has put there.
 *
 * It shows that the extension's own bundle, with the real client in it, and `plgd lsp` work together. That this is how
 * the editor behaves is what the tests in e2e/ show.
 */

import { Documents, type Document } from "./documents";
import {
  CancellationTokenSource,
  type CodeAction,
  type CodeLens,
  Disposable,
  EventEmitter,
  Position,
  type Range,
  Selection,
  TextEdit,
  Uri,
  type WorkspaceEdit,
} from "./values";

export * from "./values";

type Function = (...given: readonly unknown[]) => unknown;

interface Editor {
  readonly document: Document;
  selection: Selection;
  readonly viewColumn: number;
  revealRange(): void;
  setDecorations(): void;
}

/** What the user sees and does. */
class Seen {
  private readonly news = new EventEmitter<void>();
  readonly messages: string[] = [];
  readonly diffs: { readonly left: Uri; readonly right: Uri; readonly title: string }[] = [];
  readonly edits: WorkspaceEdit[] = [];
  /** Notifications with a button that cancels. */
  readonly working = new Map<string, CancellationTokenSource>();
  bar = "";
  /** What the user types into the box that asks. */
  instruction = "";

  note(): void {
    this.news.fire();
  }

  /** Wait until this is so; look whenever there is news. */
  async until(what: string, isSo: () => boolean, patienceMs = 60_000): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const end = (): void => {
        clearTimeout(limit);
        listener.dispose();
      };
      const limit = setTimeout(() => {
        end();
        reject(new Error(`${what} did not come; the bar says ${this.bar}; ${this.messages.join(" | ")}`));
      }, patienceMs);
      const look = (): void => {
        if (!isSo()) return;
        end();
        resolve();
      };
      const listener = this.news.event(look);
      look();
    });
  }
}

export const seen = new Seen();
export const documents = new Documents();
export const settings: Record<string, unknown> = {};

const nothing = new EventEmitter<never>().event;
const activated = new EventEmitter<Editor | undefined>();
const registered = new Map<string, Function>();
const contents = new Map<string, { provideTextDocumentContent(uri: Uri): Promise<string> }>();
const actions = new Set<{ provideCodeActions(...given: readonly unknown[]): Promise<readonly CodeAction[]> }>();
const lenses = new Set<{ provideCodeLenses(document: Document): readonly CodeLens[] }>();
let front: Editor | undefined;

/** What the test does in the user's place. */
export const user = {
  open(name: string, text: string): Document {
    const document = documents.open(Uri.file(name), "python", text);
    user.show(document);
    return document;
  },
  show(document: Document): void {
    const at = new Position(0, 0);
    front = { document, selection: new Selection(at, at), viewColumn: 1, revealRange: ignore, setDecorations: ignore };
    activated.fire(front);
  },
  select(anchor: Position, active: Position): void {
    if (front !== undefined) front.selection = new Selection(anchor, active);
  },
  type(document: Document, range: Range, newText: string): void {
    documents.edit(document, [new TextEdit(range, newText)]);
    seen.note();
  },
  lenses: (document: Document): readonly CodeLens[] => [...lenses].flatMap((one) => one.provideCodeLenses(document)),
  /** The menu of code actions at a place. */
  async menu(document: Document, range: Range): Promise<readonly CodeAction[]> {
    const { token } = new CancellationTokenSource();
    const context = { diagnostics: [], triggerKind: 1, only: undefined };
    const offered = [...actions].map((one) => one.provideCodeActions(document, range, context, token));
    return (await Promise.all(offered)).flat();
  },
  preview(uri: Uri): Promise<string> {
    return contents.get(uri.scheme)?.provideTextDocumentContent(uri) ?? Promise.reject(new Error("no such document"));
  },
};

function ignore(): void {
  // Nobody looks at it.
}

function message(text: string): Promise<undefined> {
  seen.messages.push(text);
  seen.note();
  return Promise.resolve(undefined);
}

function channel(): Record<string, unknown> {
  const calls = ["append", "appendLine", "info", "warn", "error", "debug", "trace", "show", "clear", "dispose"];
  return { ...Object.fromEntries(calls.map((name) => [name, ignore])), logLevel: 3, onDidChangeLogLevel: nothing };
}

export const workspace = {
  isTrusted: true,
  workspaceFolders: undefined,
  notebookDocuments: [],
  get textDocuments(): readonly Document[] {
    return documents.all;
  },
  onDidOpenTextDocument: documents.opened.event,
  onDidChangeTextDocument: documents.changed.event,
  onDidCloseTextDocument: documents.closed.event,
  onDidSaveTextDocument: nothing,
  onWillSaveTextDocument: nothing,
  onDidOpenNotebookDocument: nothing,
  onDidChangeNotebookDocument: nothing,
  onDidSaveNotebookDocument: nothing,
  onDidCloseNotebookDocument: nothing,
  onDidChangeConfiguration: nothing,
  onDidChangeWorkspaceFolders: nothing,
  onDidGrantWorkspaceTrust: nothing,
  getConfiguration: (section = "") => ({
    get: (name: string, otherwise?: unknown) => settings[`${section}.${name}`] ?? otherwise,
  }),
  openTextDocument: (uri: Uri) => Promise.resolve(documents.find(uri)),
  registerTextDocumentContentProvider(
    scheme: string,
    provider: { provideTextDocumentContent(uri: Uri): Promise<string> },
  ): Disposable {
    contents.set(scheme, provider);
    return new Disposable(() => contents.delete(scheme));
  },
  applyEdit(edit: WorkspaceEdit): Promise<boolean> {
    seen.edits.push(edit);
    for (const [uri, edits] of edit.changes) documents.edit(documents.find(uri), edits);
    seen.note();
    return Promise.resolve(true);
  },
};

export const window = {
  get activeTextEditor(): Editor | undefined {
    return front;
  },
  get visibleTextEditors(): readonly Editor[] {
    return front === undefined ? [] : [front];
  },
  onDidChangeActiveTextEditor: activated.event,
  onDidChangeVisibleTextEditors: nothing,
  tabGroups: { all: [], onDidChangeTabs: nothing },
  createOutputChannel: channel,
  createTextEditorDecorationType: () => ({ dispose: ignore }),
  createStatusBarItem: () => ({
    set text(words: string) {
      seen.bar = words;
      seen.note();
    },
    show: ignore,
    dispose: ignore,
  }),
  setStatusBarMessage: message,
  showInformationMessage: message,
  showWarningMessage: message,
  showErrorMessage: message,
  showTextDocument: (uri: Uri) => {
    user.show(documents.find(uri));
    return Promise.resolve(front);
  },
  /** The user types `seen.instruction` and presses Enter. */
  createQuickPick() {
    const typed = new EventEmitter<string>();
    const accepted = new EventEmitter<void>();
    const hidden = new EventEmitter<void>();
    const box = {
      value: "",
      items: [] as readonly unknown[],
      get activeItems(): readonly unknown[] {
        return box.items.slice(0, 1);
      },
      onDidChangeValue: typed.event,
      onDidTriggerItemButton: nothing,
      onDidAccept: accepted.event,
      onDidHide: hidden.event,
      show(): void {
        box.value = seen.instruction;
        typed.fire(box.value);
        accepted.fire();
      },
      hide(): void {
        hidden.fire();
      },
      dispose: ignore,
    };
    return box;
  },
  async withProgress(
    options: { readonly title: string },
    task: (progress: { report(): void }, token: CancellationTokenSource["token"]) => Promise<void>,
  ): Promise<void> {
    const source = new CancellationTokenSource();
    seen.working.set(options.title, source);
    seen.note();
    await task({ report: ignore }, source.token);
    seen.working.delete(options.title);
    seen.note();
  },
};

export const commands = {
  registerCommand(name: string, action: Function): Disposable {
    if (registered.has(name)) throw new Error(`command '${name}' already exists`);
    registered.set(name, action);
    return new Disposable(() => registered.delete(name));
  },
  executeCommand(name: string, ...given: readonly unknown[]): Promise<unknown> {
    if (name === "vscode.diff") {
      const [left, right, title] = given as [Uri, Uri, string];
      seen.diffs.push({ left, right, title });
      seen.note();
    }
    return Promise.resolve(registered.get(name)?.(...given));
  },
};

export const languages = {
  match: (selector: readonly { readonly scheme?: string }[], document: Document) =>
    selector.some((one) => one.scheme === undefined || one.scheme === document.uri.scheme) ? 10 : 0,
  createDiagnosticCollection: () => ({ set: ignore, clear: ignore, delete: ignore, dispose: ignore }),
  registerCodeLensProvider: (_selector: unknown, provider: { provideCodeLenses(document: Document): readonly CodeLens[] }) => {
    lenses.add(provider);
    return new Disposable(() => lenses.delete(provider));
  },
  registerCodeActionsProvider: (
    _selector: unknown,
    provider: { provideCodeActions(...given: readonly unknown[]): Promise<readonly CodeAction[]> },
  ) => {
    actions.add(provider);
    return new Disposable(() => actions.delete(provider));
  },
};

export const env = { appName: "a double of Visual Studio Code", language: "en" };
export const version = "1.91.0";

/** The client makes its own kinds of these; none is used here. */
class Named {
  readonly data?: unknown;
}
export {
  Named as CallHierarchyItem,
  Named as CompletionItem,
  Named as Diagnostic,
  Named as DocumentLink,
  Named as InlayHint,
  Named as SymbolInformation,
  Named as TabInputCustom,
  Named as TabInputNotebook,
  Named as TabInputText,
  Named as TypeHierarchyItem,
};

export const LogLevel = { Off: 0, Trace: 1, Debug: 2, Info: 3, Warning: 4, Error: 5 };
export const OverviewRulerLane = { Left: 1 };
export const ProgressLocation = { Window: 10, Notification: 15 };
export const QuickPickItemKind = { Separator: -1, Default: 0 };
export const StatusBarAlignment = { Left: 1, Right: 2 };
export const TextEditorRevealType = { InCenterIfOutsideViewport: 2 };
export const CodeActionTriggerKind = { Invoke: 1, Automatic: 2 };
