// Drives `abide debug` with the debug client of VS Code: node dap.mjs ABIDE STEPS
//
// STEPS is JSON, a list of [command, arguments]. "$stopped" waits for the next stopped event and answers
// [reason, text, top frames as "function:line"]; "$ended" for the end, with the exit code; "$locals" answers the
// local variables of the innermost frame; the requests `launch` and `attach` wait for the initialized event. A request that
// fails answers {"error": message}. Prints {"results": […], "output": [[category, text]…]}.
import { createRequire } from "node:module";

const require = createRequire(process.env.ABIDE_EDITOR_MODULES + "/");
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const [abide, steps] = [process.argv[2], JSON.parse(process.argv[3])];
const client = new DebugClient(abide, "debug", "abide");
client.defaultTimeout = 0;
const seen = { stopped: [], exited: [], initialized: [] };
const waiting = {};
for (const name of Object.keys(seen))
  client.on(name, event => { seen[name].push(event.body); waiting[name]?.(); });
const output = [];
client.on("output", event => output.push([event.body.category, event.body.output]));

const next = async name => {
  while (seen[name].length === 0) await new Promise(resolve => { waiting[name] = resolve; });
  return seen[name].shift();
};

const locals = async frame => {
  const scopes = (await client.send("scopes", { frameId: frame })).body.scopes;
  const { variables } = (await client.send("variables", { variablesReference: scopes[0].variablesReference })).body;
  return variables;
};

const special = {
  $stopped: async () => {
    const { reason, text } = await next("stopped");
    const { stackFrames } = (await client.send("stackTrace", { threadId: 1 })).body;
    return [reason, text ?? null, stackFrames.map(frame => `${frame.name}:${frame.line}`)];
  },
  $ended: async () => (await next("exited")).exitCode,
  $locals: async () => Object.fromEntries((await locals(1)).map(item => [item.name, item.value])),
  $members: async ({ name, start, count }) => {
    const found = (await locals(1)).find(item => item.name === name);
    const answer = await client.send("variables", { variablesReference: found.variablesReference, start, count });
    return { indexed: found.indexedVariables ?? null, items: answer.body.variables.map(item => [item.name, item.value]) };
  },
  $set: async ({ name, value }) => {
    const scopes = (await client.send("scopes", { frameId: 1 })).body.scopes;
    return (await client.send("setVariable",
      { variablesReference: scopes[0].variablesReference, name, value })).body.value;
  },
};

await client.start();
const results = [];
try {
  for (const [command, given] of steps) {
    const answer = special[command] ? special[command](given) : client.send(command, given).then(reply => reply.body);
    results.push(await answer.catch(error => ({ error: error.message })));
    if (["launch", "attach"].includes(command) && !results.at(-1)?.error) await next("initialized");
  }
} finally {
  await client.stop();
}
console.log(JSON.stringify({ results, output }));
process.exit(0);
