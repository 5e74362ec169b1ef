// Drives `abide lsp` with the client library of VS Code: node lsp.mjs ABIDE STEPS
//
// STEPS is JSON, a list of [method, params]; what begins with "$" is no request: $open, $change and
// $close are notifications about a text. Prints {"results": […], "diagnostics": [[uri, version, […]]…],
// "code": exit code}.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const require = createRequire(process.env.ABIDE_EDITOR_MODULES + "/");
const lsp = require("vscode-languageserver-protocol/node");

const [abide, steps] = [process.argv[2], JSON.parse(process.argv[3])];
const server = spawn(abide, ["lsp", "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
const ended = new Promise(resolve => server.on("exit", resolve));
const connection = lsp.createProtocolConnection(
  new lsp.StreamMessageReader(server.stdout), new lsp.StreamMessageWriter(server.stdin));
const diagnostics = [];
let heard = () => {};
connection.onNotification(lsp.PublishDiagnosticsNotification.type, params => {
  diagnostics.push([params.uri, params.version ?? null, params.diagnostics]);
  heard();
});
connection.listen();

const published = count => new Promise(resolve => {
  heard = () => diagnostics.length >= count && resolve();
  heard();
});

const results = [];
results.push(await connection.sendRequest(lsp.InitializeRequest.type,
  { processId: process.pid, rootUri: null, capabilities: {} }));
await connection.sendNotification(lsp.InitializedNotification.type, {});
for (const [method, params] of steps) {
  const before = diagnostics.length;
  if (method === "$open") {
    await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, { textDocument: params });
    await published(before + 1);
  } else if (method === "$change") {
    await connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, params);
    await published(before + 1);
  } else if (method === "$close") {
    await connection.sendNotification(lsp.DidCloseTextDocumentNotification.type, params);
    await published(before + 1);
  } else {
    results.push(await connection.sendRequest(method, params).catch(error => ({ error: error.code })));
  }
}
await connection.sendRequest(lsp.ShutdownRequest.type);
await connection.sendNotification(lsp.ExitNotification.type);
console.log(JSON.stringify({ results, diagnostics, code: await ended }));
