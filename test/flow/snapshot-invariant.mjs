#!/usr/bin/env node
// Snapshot invariant: straight through == with snapshots at every await == at every N-th instruction.
//
//   node test/flow/snapshot-invariant.mjs [--driver PATH] [--only PATTERN] [--modes MODE,…] [--all] [--seeds A..B]
//
// --driver PATH    the driver (snapshot_driver.c), in the build directory by default
// --only PATTERN   regular expression over "feature/case name"
// --modes MODE,…   see snapshot_driver.c; without it: awaits everywhere, and instructions at distances
//                  drawn from seeds, with a few programs stopped at every single instruction
// --all            every program at every single instruction
// --seeds A..B     programs of the random generator instead of the corpus
//
// Output is TAP: one test per corpus file. ABIDE_TEST_SCALE (percent) scales what is stopped at
// every instruction; below 100 fewer distances are tried.

import path from 'node:path';
import { parseArgs } from 'node:util';
import { loadCorpus, wrapProgram } from './lib/cases.mjs';
import { runPrograms } from './lib/engines.mjs';

const { values: options } = parseArgs({ options: {
  driver: { type: 'string', default: path.join(process.env.ABIDE_BUILD_DIR ?? 'build', 'test', 'flow', 'snapshot-driver') },
  only: { type: 'string' },
  modes: { type: 'string' },
  all: { type: 'boolean', default: false },
  seeds: { type: 'string' },
} });

const SEEDS = 8; // of distances; programs with the same ones share a process, and starting one is dear
const SHARE = 12; // one program in so many is stopped at every instruction
const SILENCE_MS = 600_000; // tens of thousands of snapshots are one answer
const scale = Number(process.env.ABIDE_TEST_SCALE ?? 100) / 100;

function modesOf(index) {
  if (options.modes) return options.modes.split(',');
  // Under sanitizers the dense ones would take longer than all others together.
  const share = scale < 1 ? (4 * SHARE) / scale : SHARE;
  const isDense = options.all || index % Math.max(1, Math.round(share)) === 0;
  const seed = 1 + index % SEEDS;
  return ['await', `97@${seed}`, ...(isDense ? ['1'] : scale < 1 ? [] : [`23@${seed}`])];
}

async function randomPrograms() {
  const { generateProgram } = await import('./gen/program.mjs');
  const [from, to] = options.seeds.split('..').map(Number);
  const cases = [];
  for (let seed = from; seed < to; seed++) {
    cases.push({ name: `seed ${seed}`, program: wrapProgram(generateProgram(seed, 'all').source) });
  }
  return [{ feature: 'random', cases }];
}

// Programs with the same modes go to one driver process.
async function runAll(all) {
  const groups = new Map();
  all.forEach((one, index) => {
    const modes = modesOf(index);
    const key = modes.join(' ');
    if (!groups.has(key)) groups.set(key, { modes, indices: [] });
    groups.get(key).indices.push(index);
  });
  const answers = [];
  for (const { modes, indices } of groups.values()) {
    const engine = { name: 'snapshots', command: path.resolve(options.driver), args: modes, silenceMs: SILENCE_MS };
    const some = await runPrograms(engine, indices.map(i => all[i].program));
    indices.forEach((i, k) => { answers[i] = some[k]; });
  }
  return answers;
}

async function main() {
  const pattern = options.only ? new RegExp(options.only) : /^/;
  const corpus = options.seeds ? await randomPrograms() : loadCorpus();
  const features = corpus
    .map(({ feature, cases }) => ({ feature, cases: cases.filter(one => !one.isEarly && pattern.test(`${feature}/${one.name}`)) }))
    .filter(({ cases }) => cases.length > 0);
  const all = features.flatMap(({ feature, cases }) => cases.map(one => ({ ...one, feature })));
  const answers = await runAll(all);
  let at = 0;
  let failures = 0;
  let snapshots = 0;
  let largest = 0;
  console.log(`1..${features.length}`);
  features.forEach(({ feature, cases }, number) => {
    let isOk = true;
    for (const one of cases) {
      const answer = answers[at++];
      snapshots += answer.snapshots ?? 0;
      largest = Math.max(largest, answer.largest ?? 0);
      if (answer.ok) continue;
      isOk = false;
      failures++;
      const text = `${answer.phase}: ${answer.error.message}`.slice(0, 2000).replaceAll('\n', '\n#     ');
      console.log(`# ${feature}/${one.name}\n#     ${text}`);
    }
    console.log(`${isOk ? 'ok' : 'not ok'} ${number + 1} - ${feature} (${cases.length} programs)`);
  });
  console.log(`# ${all.length} programs, ${failures} differ; ${snapshots} snapshots, the largest ${largest} bytes`);
  process.exitCode = failures ? 1 : 0;
}

await main();
