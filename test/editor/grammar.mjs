// Tokens of a text by the grammar, as VS Code finds them: node grammar.mjs GRAMMAR TEXT. Prints [[text, innermost scope]…].
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(process.env.ABIDE_EDITOR_MODULES + "/");
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const [grammarPath, textPath] = process.argv.slice(2);
await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: patterns => new oniguruma.OnigScanner(patterns),
    createOnigString: text => new oniguruma.OnigString(text),
  }),
  loadGrammar: async () => textmate.parseRawGrammar(readFileSync(grammarPath, "utf8"), grammarPath),
});
const grammar = await registry.loadGrammar(JSON.parse(readFileSync(grammarPath, "utf8")).scopeName);
let state = textmate.INITIAL;
const tokens = [];
for (const line of readFileSync(textPath, "utf8").split("\n")) {
  const found = grammar.tokenizeLine(line, state);
  state = found.ruleStack;
  for (const token of found.tokens)
    tokens.push([line.slice(token.startIndex, token.endIndex), token.scopes.at(-1)]);
}
console.log(JSON.stringify(tokens));
