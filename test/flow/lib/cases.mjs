// Cases: reads corpus files and turns each case into a program.
//
// A corpus file holds many programs.  "// === name" starts one; what follows up to the next such
// line is its source: the body of an async function, ended by return or throw.  Marks after the name:
//   [raw]    run as it stands, without the prelude; the result is compared as JSON
//   [early]  must be refused when it is loaded, as Node refuses it with a SyntaxError

import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import path from 'node:path';

const here = path.dirname(fileURLToPath(import.meta.url));
const prelude = readFileSync(path.join(here, 'prelude.js'), 'utf8')
  .split('\n').filter(line => !line.startsWith('//')).join('\n').trim();

export const corpusFolder = path.join(here, '..', 'corpus');

export function wrapProgram(body) {
  return `${prelude}\n\nasync function __case() {\n${body}\n}\nreturn await __outcome(__case)\n`;
}

function finishCase(found) {
  const source = found.lines.join('\n').trimEnd();
  const isPlain = found.marks.includes('raw') || found.marks.includes('early');
  return {
    feature: found.feature, name: found.name, line: found.line, source,
    isRaw: isPlain, isEarly: found.marks.includes('early'),
    program: isPlain ? source : wrapProgram(source),
  };
}

export function parseCases(feature, text) {
  const cases = [];
  let current = null;
  text.split('\n').forEach((line, index) => {
    const head = /^\/\/ === (.+?)((?: \[\w+\])*)$/.exec(line);
    if (!head) { current?.lines.push(line); return; }
    if (current) cases.push(finishCase(current));
    const marks = [...head[2].matchAll(/\[(\w+)\]/g)].map(m => m[1]);
    current = { feature, name: head[1], marks, line: index + 1, lines: [] };
  });
  if (current) cases.push(finishCase(current));
  const names = new Set();
  for (const one of cases) {
    if (!one.source.trim()) throw new Error(`${feature}.cases:${one.line}: the case "${one.name}" is empty`);
    if (names.has(one.name)) throw new Error(`${feature}.cases:${one.line}: the name "${one.name}" is used twice`);
    names.add(one.name);
  }
  return cases;
}

export function loadCorpus(folder = corpusFolder) {
  return readdirSync(folder).filter(name => name.endsWith('.cases')).sort().map(name => {
    const feature = name.slice(0, -'.cases'.length);
    return { feature, cases: parseCases(feature, readFileSync(path.join(folder, name), 'utf8')) };
  });
}
