// Runs the extension for VS Code with a stand-in for the editor and the real `abide`: node vscode.mjs FOLDER ABIDE STEPS
//
// FOLDER has the extension. STEPS is JSON, a list of [what, value]: "open", "change" and "close" a text and wait for its
// diagnostics; "completion", "hover", "definition", "symbols" and "actions" ask the registered provider at [line, character];
// "command" runs a command; "debug" asks what is started for a configuration. Prints {"results", "commands", "messages",
// "started"}.
import { createRequire } from "node:module";
import Module from "node:module";
import path from "node:path";

const [folder, abide, steps] = [process.argv[2], process.argv[3], JSON.parse(process.argv[4])];

class Position { constructor(line, character) { Object.assign(this, { line, character }); } }
class Range { constructor(start, end) { Object.assign(this, { start, end }); } }
class Diagnostic { constructor(range, message, severity) { Object.assign(this, { range, message, severity }); } }
class CompletionItem { constructor(label, kind) { Object.assign(this, { label, kind }); } }
class MarkdownString { constructor(value) { this.value = value; } }
class SnippetString { constructor(value) { this.value = value; } }
class Hover { constructor(contents, range) { Object.assign(this, { contents, range }); } }
class Location { constructor(uri, range) { Object.assign(this, { uri: uri.toString(), range }); } }
class DocumentSymbol { constructor(name, detail, kind, range) { Object.assign(this, { name, detail, kind, range }); } }
class CodeAction { constructor(title, kind) { Object.assign(this, { title, kind }); } }
class WorkspaceEdit { constructor() { this.edits = []; } replace(uri, range, text) { this.edits.push([range, text]); } }
class DebugAdapterExecutable { constructor(command, args) { Object.assign(this, { command, args }); } }
class Uri { constructor(text) { this.text = text; } toString() { return this.text; } static parse(text) { return new Uri(text); } }

const providers = {}, commands = {}, listeners = {}, messages = [], started = [], diagnostics = new Map();
let heard = () => {};
const provider = name => (language, object, ...triggers) => {
  providers[name] = Object.assign(object, { triggers, language });
  return { dispose: () => delete providers[name] };
};
const event = name => listener => { listeners[name] = listener; return { dispose() {} }; };
let answer = null; // of showInputBox
const settings = { path: abide, server: "http://configured:1" };
const vscode = {
  Position, Range, Diagnostic, CompletionItem, MarkdownString, SnippetString, Hover, Location, DocumentSymbol, CodeAction,
  WorkspaceEdit, DebugAdapterExecutable, Uri, CodeActionKind: { QuickFix: "quickfix" },
  languages: {
    createDiagnosticCollection: () => ({
      set: (uri, items) => { diagnostics.set(uri.toString(), items); heard(); },
      delete: uri => { diagnostics.delete(uri.toString()); heard(); },
      clear: () => diagnostics.clear(), dispose() {},
    }),
    registerCompletionItemProvider: provider("completion"), registerHoverProvider: provider("hover"),
    registerDefinitionProvider: provider("definition"), registerDocumentSymbolProvider: provider("symbols"),
    registerCodeActionsProvider: provider("actions"),
  },
  workspace: {
    textDocuments: [], getConfiguration: section => ({ get: name => section === "abide" ? settings[name] : undefined }),
    onDidOpenTextDocument: event("open"), onDidChangeTextDocument: event("change"), onDidCloseTextDocument: event("close"),
  },
  window: { showErrorMessage: text => messages.push(text), showInputBox: async () => answer },
  commands: { registerCommand: (name, run) => { commands[name] = run; return { dispose() {} }; } },
  debug: {
    registerDebugAdapterDescriptorFactory: provider("adapter"),
    registerDebugConfigurationProvider: provider("configuration"),
    startDebugging: async (where, configuration) => started.push(configuration),
  },
};

const load = Module._load;
Module._load = (name, ...rest) => name === "vscode" ? vscode : load(name, ...rest);
const extension = createRequire(import.meta.url)(path.join(folder, "extension.js"));
const context = { subscriptions: [] };
await extension.activate(context);

const uri = new Uri("file:///flows/order.flow");
const document = { uri, languageId: "flow", version: 0, text: "", getText() { return this.text; } };
const changed = () => new Promise(resolve => { heard = resolve; });
const settle = async (name, text) => {
  document.text = text ?? document.text;
  document.version++;
  const done = changed();
  if (name === "open") vscode.workspace.textDocuments.push(document);
  listeners[name](name === "change" ? { document } : document);
  await done;
  return diagnostics.get(uri.toString()) ?? null;
};
const place = ([line, character]) => new Position(line, character);
const run = {
  open: text => settle("open", text), change: text => settle("change", text), close: () => settle("close"),
  completion: async at => (await providers.completion.provideCompletionItems(document, place(at))).map(item => item.label),
  hover: async at => (await providers.hover.provideHover(document, place(at)))?.contents.value ?? null,
  definition: async at => providers.definition.provideDefinition(document, place(at)),
  symbols: async () => (await providers.symbols.provideDocumentSymbols(document)).map(item => item.name),
  actions: async () => {
    const [first] = diagnostics.get(uri.toString());
    const found = await providers.actions.provideCodeActions(document, first.range, { diagnostics: [first] });
    return found.map(action => [action.title, action.edit.edits]);
  },
  command: async ([name, given]) => { answer = given; return await commands[name]() ?? null; },
  setting: async ([name, value]) => { settings[name] = value; },
  debug: async configuration => providers.configuration.resolveDebugConfiguration(undefined, configuration),
  adapter: async () => providers.adapter.createDebugAdapterDescriptor(),
};
const { triggers = null } = providers.completion ?? {};
const results = [];
for (const [name, value] of steps) results.push(await run[name](value) ?? null);
await extension.deactivate();
console.log(JSON.stringify({ results, commands: Object.keys(commands), messages, started,
  triggers, left: Object.keys(providers) }));
