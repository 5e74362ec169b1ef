#!/usr/bin/env node
// Fuzz-diff: random programs from tools/flow-gen.mjs, run by Node and by abide, must agree.
//
//   node test/flow/fuzz-diff.mjs --seeds A..B [--features everyday|all] [--minutes M] [--abide PATH]
//                                [--max-failures N] [--no-reduce] [--quiet] [--scaled]
//
// --seeds A..B     the programs of seeds A to B - 1; "A.." goes on until --minutes are over or Ctrl-C
// --scaled         do only ABIDE_TEST_SCALE percent of a closed range of seeds
// --max-failures   stop after that many differing programs (5)
// --no-reduce      print differing programs as they are
//
// Each difference is printed with its seed, both outcomes and a minimised program.  Exit 1 if any.

import { parseArgs } from 'node:util';
import { wrapProgram } from './lib/cases.mjs';
import { describe, verdict } from './lib/compare.mjs';
import { abideEngine, defaultAbide, oracleEngine, runPrograms } from './lib/engines.mjs';
import { reduceProgram } from './lib/reduce.mjs';
import { generateProgram } from './gen/program.mjs';

const BATCH = 400;
const REALM_REUSE = 500;

const { values: options } = parseArgs({ options: {
  seeds: { type: 'string', default: '1..2001' },
  features: { type: 'string', default: 'all' },
  minutes: { type: 'string' },
  abide: { type: 'string', default: defaultAbide },
  'max-failures': { type: 'string', default: '5' },
  'no-reduce': { type: 'boolean', default: false },
  quiet: { type: 'boolean', default: false },
  scaled: { type: 'boolean', default: false },
} });

const node = oracleEngine({ reuse: REALM_REUSE });
const ours = abideEngine(options.abide);

async function runBoth(bodies) {
  const programs = bodies.map(wrapProgram);
  const [expected, actual] = await Promise.all([runPrograms(node, programs), runPrograms(ours, programs)]);
  return expected.map((answer, i) => ({ expected: answer, actual: actual[i], kind: verdict(answer, actual[i]) }));
}

// Programs that Node itself does not load or finish prove nothing.
const isValid = ({ expected }) => expected.ok;

// A smaller program fails in the same way when the verdict is the same kind, and, for load errors,
// the complaint is the same one.
async function reduce(source, outcome) {
  const complaint = outcome.kind === 'refused' ? outcome.actual.error?.message?.slice(0, 30) : null;
  return reduceProgram(source, async candidates => (await runBoth(candidates)).map(result =>
    isValid(result) && result.kind === outcome.kind
    && (complaint === null || result.actual.error?.message?.slice(0, 30) === complaint)));
}

// The first place where two long outcomes part, with some text around it.
function difference(left, right) {
  if (left.length < 300 && right.length < 300) return [left, right];
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  const from = Math.max(0, at - 60);
  return [left, right].map(text => `${from ? '...' : ''}${text.slice(from, at + 120)}...`);
}

async function report(seed, outcome) {
  let source = generateProgram(seed, options.features).source;
  let shown = outcome;
  if (!options['no-reduce'] && (outcome.kind === 'differs' || outcome.kind === 'refused' || outcome.kind === 'crash')) {
    source = await reduce(source, outcome);
    [shown] = await runBoth([source]);
  }
  const [left, right] = difference(describe(shown.expected), describe(shown.actual));
  console.log(`# ${shown.kind}: seed ${seed} (${options.features})\n#   node:  ${left}\n#   abide: ${right}\n${source}\n`);
}

function parseSeeds(text) {
  const match = /^(\d+)\.\.(\d*)$/.exec(text);
  if (!match) throw new Error('--seeds wants A..B');
  const first = Number(match[1]);
  if (!match[2]) return [first, Infinity];
  const percent = options.scaled ? Number(process.env.ABIDE_TEST_SCALE ?? 100) : 100;
  return [first, first + Math.ceil((Number(match[2]) - first) * percent / 100)];
}

async function main() {
  const [first, end] = parseSeeds(options.seeds);
  const deadline = options.minutes ? Date.now() + Number(options.minutes) * 60_000 : Infinity;
  const counts = { same: 0, invalid: 0, differs: 0, refused: 0, crash: 0, hang: 0 };
  const started = Date.now();
  let failures = 0;
  let seed = first;
  let isStopped = false;
  process.on('SIGINT', () => { isStopped = true; });
  while (seed < end && !isStopped && Date.now() < deadline && failures < Number(options['max-failures'])) {
    const seeds = Array.from({ length: Math.min(BATCH, end - seed) }, (_, i) => seed + i);
    const outcomes = await runBoth(seeds.map(each => generateProgram(each, options.features).source));
    for (let i = 0; i < seeds.length; i++) {
      const kind = isValid(outcomes[i]) ? outcomes[i].kind : 'invalid';
      counts[kind]++;
      if (kind === 'same' || kind === 'invalid') continue;
      if (failures++ < Number(options['max-failures'])) await report(seeds[i], outcomes[i]);
    }
    seed += seeds.length;
    if (!options.quiet) process.stderr.write(`\rseed ${seed}: ${JSON.stringify(counts)} `);
  }
  const total = seed - first;
  if (!options.quiet) process.stderr.write('\n');
  console.log(`# seeds ${first}..${seed} (${options.features}): ${total} programs, ${counts.same} same, ${counts.differs} differ, ${counts.refused} refused, ${counts.crash} crashed, ${counts.hang} hung, ${counts.invalid} invalid, ${(total / (Date.now() - started) * 1000).toFixed(0)}/s`);
  process.exitCode = failures || counts.invalid > total / 50 ? 1 : 0;
}

await main();
