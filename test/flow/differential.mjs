#!/usr/bin/env node
// Differential: every program of the corpus is run by Node and by abide; outcomes must be the same.
//
//   node test/flow/differential.mjs [--abide PATH] [--only PATTERN] [--known FILE] [--list-failures]
//                                   [--oracle-only] [--export FOLDER]
//
// --abide PATH      the binary, build/abide by default
// --only PATTERN    regular expression over "feature/case name"
// --known FILE      lines "feature/case name" that may fail; one of them that passes is an error too
// --list-failures   print the failing names only, one per line, ready for --known
// --oracle-only     run Node alone and print its outcomes (to read a case, or to check the corpus)
// --export FOLDER   write each case as a stand-alone program FOLDER/<feature>/<name>.flow and stop
//
// Output is TAP: one test per corpus file, each failing case in the diagnostics with both outcomes.
// ABIDE_NO_BATCH=1 runs one process per case.

import { mkdirSync, writeFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { loadCorpus } from './lib/cases.mjs';
import { abideEngine, defaultAbide, oracleEngine, runPrograms } from './lib/engines.mjs';
import { describe, verdict } from './lib/compare.mjs';

const { values: options } = parseArgs({ options: {
  abide: { type: 'string', default: defaultAbide },
  only: { type: 'string' },
  known: { type: 'string' },
  'list-failures': { type: 'boolean', default: false },
  'oracle-only': { type: 'boolean', default: false },
  export: { type: 'string' },
} });

const fullName = one => `${one.feature}/${one.name}`;
const fileName = name => name.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '').toLowerCase();

function exportCases(cases, folder) {
  const used = new Set();
  for (const one of cases.filter(each => !each.isEarly)) {
    let file = path.join(folder, one.feature, fileName(one.name));
    while (used.has(file)) file += '-x';
    used.add(file);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(`${file}.flow`, one.program);
  }
  console.log(`${used.size} programs in ${folder}`);
}

async function printOracle(cases) {
  const answers = await runPrograms(oracleEngine(), cases.map(one => one.program));
  cases.forEach((one, i) => console.log(`${fullName(one)}\n    ${describe(answers[i]).replaceAll('\n', '\n    ')}`));
}

function readKnown(file) {
  if (!file) return new Set();
  return new Set(readFileSync(file, 'utf8').split('\n').map(line => line.trim()).filter(line => line && !line.startsWith('#')));
}

const indent = text => text.split('\n').map(line => `#     ${line}`).join('\n');

function printFailure(one, kind, expected, actual) {
  console.log(`# ${kind}: ${fullName(one)} (corpus/${one.feature}.cases:${one.line})`);
  console.log(`#   node:\n${indent(describe(expected))}\n#   abide:\n${indent(describe(actual))}`);
}

// A case marked [early] that Node runs after all is a mistake in the corpus.
function corpusMistake(one, expected) {
  if (one.isEarly && (expected.ok || expected.phase !== 'load')) return 'is marked [early] but Node loads it';
  if (!one.isEarly && !expected.ok && expected.phase !== 'run') return `Node does not run it: ${describe(expected)}`;
  return null;
}

async function main() {
  const pattern = options.only ? new RegExp(options.only) : /^/;
  const features = loadCorpus()
    .map(({ feature, cases }) => ({ feature, cases: cases.filter(one => pattern.test(fullName(one))) }))
    .filter(({ cases }) => cases.length > 0);
  const all = features.flatMap(({ cases }) => cases);
  if (options.export) return exportCases(all, options.export);
  if (options['oracle-only']) return printOracle(all);

  const programs = all.map(one => one.program);
  const [expected, actual] = await Promise.all([
    runPrograms(oracleEngine(), programs), runPrograms(abideEngine(options.abide), programs),
  ]);
  const known = readKnown(options.known);
  const counts = { same: 0, differs: 0, refused: 0, crash: 0, hang: 0 };
  let isFailed = false;
  let index = 0;
  if (!options['list-failures']) console.log(`TAP version 13\n1..${features.length}`);
  features.forEach(({ feature, cases }, number) => {
    const failures = [];
    for (const one of cases) {
      const i = index++;
      const mistake = corpusMistake(one, expected[i]);
      const kind = mistake ? 'differs' : verdict(expected[i], actual[i]);
      counts[kind]++;
      const isKnown = known.has(fullName(one));
      if (kind === 'same' && !isKnown) continue;
      if (kind !== 'same' && isKnown) continue;
      failures.push({ one, kind: mistake ?? (kind === 'same' ? 'passes, remove it from the known list' : kind), i });
    }
    if (failures.length) isFailed = true;
    if (options['list-failures']) { failures.forEach(({ one }) => console.log(fullName(one))); return; }
    console.log(`${failures.length ? 'not ok' : 'ok'} ${number + 1} - ${feature} (${cases.length - failures.length} of ${cases.length})`);
    failures.forEach(({ one, kind, i }) => printFailure(one, kind, expected[i], actual[i]));
  });
  if (!options['list-failures']) {
    console.log(`# ${all.length} cases: ${counts.same} same, ${counts.differs} differ, ${counts.refused} refused, ${counts.crash} crashed, ${counts.hang} hung`);
  }
  process.exitCode = isFailed ? 1 : 0;
}

await main();
