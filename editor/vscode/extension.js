// The extension: `abide lsp` for texts, `abide debug` for debugging. Both programs know the language; here
// is only what VS Code wants to hear.
"use strict"
const vscode = require("vscode")
const { Client } = require("./client.js")

const LANGUAGE = "flow"
const setting = name => vscode.workspace.getConfiguration("abide").get(name)
const isOurs = document => document.languageId === LANGUAGE

// ---- what the two sides call a place, a range, an edit ----

const positionOf = place => new vscode.Position(place.line, place.character)
const rangeOf = range => new vscode.Range(positionOf(range.start), positionOf(range.end))
const placeOf = position => ({ line: position.line, character: position.character })
const at = (document, position) => ({ textDocument: { uri: document.uri.toString() }, position: placeOf(position) })

function diagnosticOf(item) {
  const diagnostic = new vscode.Diagnostic(rangeOf(item.range), item.message, item.severity - 1)
  diagnostic.code = item.code
  diagnostic.source = item.source
  return diagnostic
}

const markdownOf = content => new vscode.MarkdownString(typeof content === "string" ? content : content.value)

function completionOf(item) {
  const completion = new vscode.CompletionItem(item.label, item.kind === undefined ? undefined : item.kind - 1)
  completion.detail = item.detail
  if (item.documentation !== undefined) completion.documentation = markdownOf(item.documentation)
  if (item.textEdit !== undefined) {
    completion.range = rangeOf(item.textEdit.range)
    completion.insertText = item.textEdit.newText
  } else if (item.insertText !== undefined) {
    completion.insertText = item.insertText
  }
  if (item.insertTextFormat === 2) completion.insertText = new vscode.SnippetString(completion.insertText)
  completion.sortText = item.sortText
  completion.filterText = item.filterText
  return completion
}

function symbolOf(item) {
  const symbol = new vscode.DocumentSymbol(item.name, item.detail ?? "", item.kind - 1, rangeOf(item.range),
    rangeOf(item.selectionRange))
  symbol.children = (item.children ?? []).map(symbolOf)
  return symbol
}

function actionOf(item) {
  const action = new vscode.CodeAction(item.title, vscode.CodeActionKind.QuickFix)
  action.edit = new vscode.WorkspaceEdit()
  for (const [uri, edits] of Object.entries(item.edit?.changes ?? {}))
    for (const edit of edits) action.edit.replace(vscode.Uri.parse(uri), rangeOf(edit.range), edit.newText)
  action.isPreferred = item.isPreferred
  return action
}

// ---- the language server ----

class Language {
  constructor() {
    this.diagnostics = vscode.languages.createDiagnosticCollection("abide")
    this.findings = new Map() // by URI, as the server sent them: a fix is asked for with the whole of one
    this.client = null
    this.providers = []
  }

  async start() {
    const client = new Client(setting("path"), ["lsp", "--stdio"], {
      notification: (method, params) => this.hear(method, params),
      ended: text => vscode.window.showErrorMessage(
        `abide lsp: ${text}. Install abide, or set abide.path; then "Abide: Restart the Language Server".`),
    })
    this.client = client
    const { capabilities } = await client.request("initialize", { processId: process.pid, rootUri: null, capabilities: {} })
    client.notify("initialized", {})
    this.register(capabilities)
    vscode.workspace.textDocuments.filter(isOurs).forEach(document => this.open(document))
  }

  async stop() {
    this.providers.splice(0).forEach(provider => provider.dispose())
    this.diagnostics.clear()
    this.findings.clear()
    await this.client?.close()
    this.client = null
  }

  async restart() {
    await this.stop()
    await this.start().catch(() => {}) // it has been said
  }

  hear(method, params) {
    if (method !== "textDocument/publishDiagnostics") return
    this.findings.set(params.uri, params.diagnostics)
    this.diagnostics.set(vscode.Uri.parse(params.uri), params.diagnostics.map(diagnosticOf))
  }

  open(document) {
    if (!isOurs(document)) return
    const textDocument = { uri: document.uri.toString(), languageId: LANGUAGE, version: document.version,
      text: document.getText() }
    this.client?.notify("textDocument/didOpen", { textDocument })
  }

  change({ document }) { // the whole text: it is small, and nothing can get out of step
    if (!isOurs(document)) return
    this.client?.notify("textDocument/didChange", {
      textDocument: { uri: document.uri.toString(), version: document.version },
      contentChanges: [{ text: document.getText() }],
    })
  }

  close(document) {
    if (!isOurs(document)) return
    this.client?.notify("textDocument/didClose", { textDocument: { uri: document.uri.toString() } })
    this.diagnostics.delete(document.uri)
  }

  ask(method, params) {
    return this.client.request("textDocument/" + method, params)
  }

  register(capabilities) {
    const { languages } = vscode
    const triggers = capabilities.completionProvider?.triggerCharacters ?? []
    this.providers.push(
      languages.registerCompletionItemProvider(LANGUAGE, { provideCompletionItems: async (document, position) => {
        const found = await this.ask("completion", at(document, position))
        return (Array.isArray(found) ? found : found?.items ?? []).map(completionOf)
      } }, ...triggers),
      languages.registerHoverProvider(LANGUAGE, { provideHover: async (document, position) => {
        const found = await this.ask("hover", at(document, position))
        return found ? new vscode.Hover(markdownOf(found.contents), found.range && rangeOf(found.range)) : null
      } }),
      languages.registerDefinitionProvider(LANGUAGE, { provideDefinition: async (document, position) => {
        const found = await this.ask("definition", at(document, position))
        return [found ?? []].flat().map(place => new vscode.Location(vscode.Uri.parse(place.uri), rangeOf(place.range)))
      } }),
      languages.registerDocumentSymbolProvider(LANGUAGE, { provideDocumentSymbols: async document =>
        (await this.ask("documentSymbol", { textDocument: { uri: document.uri.toString() } }) ?? []).map(symbolOf) }),
      languages.registerCodeActionsProvider(LANGUAGE, { provideCodeActions: async (document, range, context) => {
        const isShown = finding => context.diagnostics.some(item => item.message === finding.message &&
          item.range.start.line === finding.range.start.line)
        const diagnostics = (this.findings.get(document.uri.toString()) ?? []).filter(isShown)
        const found = await this.ask("codeAction",
          { textDocument: { uri: document.uri.toString() }, range, context: { diagnostics } })
        return (found ?? []).map(actionOf)
      } }),
    )
  }
}

// ---- the debugger ----

const adapters = { createDebugAdapterDescriptor: () => new vscode.DebugAdapterExecutable(setting("path"), ["debug"]) }

const configurations = {
  resolveDebugConfiguration(folder, configuration) {
    if (!configuration.type) // F5 without a launch.json
      return { type: "abide", request: "launch", name: "Debug this flow", program: "${file}", stopOnEntry: true }
    const server = setting("server")
    if (configuration.request === "attach" && !configuration.server && !configuration.store && server)
      return { ...configuration, server }
    return configuration
  },
}

async function debugRun() {
  const run = await vscode.window.showInputBox({ prompt: "The run whose copy is debugged", placeHolder: "order-7" })
  if (run) await vscode.debug.startDebugging(undefined, { type: "abide", request: "attach", name: run, run })
}

// ---- life ----

let language = null

async function activate(context) {
  language = new Language()
  context.subscriptions.push(
    language.diagnostics,
    vscode.workspace.onDidOpenTextDocument(document => language.open(document)),
    vscode.workspace.onDidChangeTextDocument(event => language.change(event)),
    vscode.workspace.onDidCloseTextDocument(document => language.close(document)),
    vscode.commands.registerCommand("abide.restart", () => language.restart()),
    vscode.commands.registerCommand("abide.debugRun", debugRun),
    vscode.debug.registerDebugAdapterDescriptorFactory("abide", adapters),
    vscode.debug.registerDebugConfigurationProvider("abide", configurations),
  )
  await language.start().catch(() => {}) // it has been said
}

async function deactivate() {
  await language?.stop()
}

module.exports = { activate, deactivate }
