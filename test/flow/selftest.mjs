#!/usr/bin/env node
// Selftest: the harness must notice every kind of failure.  The engine under test is Node itself with one
// fault put in (lib/stand-in.mjs); with no fault everything must pass.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import path from 'node:path';

const here = path.dirname(fileURLToPath(import.meta.url));
const standIn = path.join(here, 'lib', 'stand-in.mjs');

function run(script, args, fault, extra = {}) {
  const done = spawnSync(process.execPath, [path.join(here, script), '--abide', standIn, ...args], {
    encoding: 'utf8', env: { ...process.env, STAND_IN_FAULT: fault, ...extra },
  });
  return { code: done.status, text: done.stdout + done.stderr };
}

const slice = ['--only', '^(05|12)'];
const checks = [
  ['a faithful engine passes the corpus', () => run('differential.mjs', slice, ''), r => r.code === 0 && /0 differ, 0 refused, 0 crashed/.test(r.text)],
  ['one process per case gives the same', () => run('differential.mjs', ['--only', '^05-statements/switch'], '', { ABIDE_NO_BATCH: '1' }), r => r.code === 0],
  ['a wrong value is a difference', () => run('differential.mjs', slice, 'value'), r => r.code === 1 && /differs: 05/.test(r.text)],
  ['a wrong message is a difference', () => run('differential.mjs', slice, 'message'), r => r.code === 1 && /differs: /.test(r.text)],
  ['a refusal is a failure of its own kind', () => run('differential.mjs', slice, 'refuse'), r => r.code === 1 && /refused: 05/.test(r.text)],
  ['a crash costs one case', () => run('differential.mjs', slice, 'crash'), r => r.code === 1 && /crash: 05/.test(r.text) && /, 1 crashed, 0 hung/.test(r.text)],
  ['accepting a syntax error is a difference', () => run('differential.mjs', slice, 'lenient'), r => r.code === 1 && /differs: .*refused/.test(r.text)],
  ['known failures are tolerated', () => run('differential.mjs', [...slice, '--known', path.join(here, 'lib', 'stand-in.known')], 'crash'), r => r.code === 0],
  ['a faithful engine passes random programs', () => run('fuzz-diff.mjs', ['--seeds', '1..101', '--quiet'], ''), r => r.code === 0 && /100 programs/.test(r.text)],
  ['a wrong operator is found', () => run('fuzz-diff.mjs', ['--seeds', '81..91', '--quiet', '--no-reduce'], 'operator'), r => r.code === 1 && /# differs: seed 86/.test(r.text)],
];
// Minimising takes hundreds of processes.
if (Number(process.env.ABIDE_TEST_SCALE ?? 100) >= 100) checks.push(
  ['a wrong operator is minimised', () => run('fuzz-diff.mjs', ['--seeds', '86..87', '--quiet', '--max-failures', '1'], 'operator'), r => r.code === 1 && /# differs: seed 86/.test(r.text) && r.text.split('\n').length < 60],
);

console.log(`1..${checks.length}`);
checks.forEach(([name, act, isRight], i) => {
  const result = act();
  const isOk = isRight(result);
  console.log(`${isOk ? 'ok' : 'not ok'} ${i + 1} - ${name}`);
  if (!isOk) { console.log(result.text.replace(/^/gm, '# ')); process.exitCode = 1; }
});
