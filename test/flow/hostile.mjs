#!/usr/bin/env node
// Hostile: what must never hurt the host.  Each program is run, each source checked, under limits of
// time and address space; the answer must be an orderly exit with words, never a signal, a hang or
// memory without bound.
//
//   node test/flow/hostile.mjs [--abide PATH] [--only PATTERN] [--list]
//
// Then a few hundred damaged programs (cut short, bytes flipped, lines swapped; from a fixed seed)
// go through `abide check` and `abide run --batch`.  Output is TAP.  Address space is not limited when
// the binary is built with a sanitizer, which reserves terabytes of it.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { loadCorpus } from './lib/cases.mjs';
import { abideEngine, defaultAbide, runPrograms as runBatch } from './lib/engines.mjs';
import { checkSources, runPrograms } from './lib/hostile-programs.mjs';
import { Random } from './gen/random.mjs';

const ADDRESS_SPACE_KIB = 1_500_000;
const HEAP_LIMIT = 64 * 1024 * 1024;
const SCALE = Number(process.env.ABIDE_TEST_SCALE ?? 100);
const IS_SANITIZED = 'ABIDE_TEST_SANITIZED' in process.env;
const STEP_LIMIT = IS_SANITIZED ? 5_000_000 : Math.max(500_000, 50_000 * Math.min(SCALE, 100));
const TIME_LIMIT_MS = 60_000; // a hang is a hang; others use the machine as well
const OUTPUT_LIMIT = 1_000_000;
const DAMAGED = 300;
const BROKEN_TOOL = /AddressSanitizer|runtime error:|LeakSanitizer|MemorySanitizer|[Aa]ssert(?:ion)? .*failed|stack smashing|double free|corrupted/;

const { values: options } = parseArgs({ options: {
  abide: { type: 'string', default: defaultAbide },
  only: { type: 'string' },
  list: { type: 'boolean', default: false },
} });

const abide = path.resolve(options.abide);
const folder = mkdtempSync(path.join(os.tmpdir(), 'flow-hostile-'));

function isSanitized() {
  try { return readFileSync(abide).includes('__asan_init'); } catch { return false; }
}

// Runs abide under limits; resolves with how it ended.
function run(args, slowness) {
  const limit = slowness > 1 ? '' : `ulimit -v ${ADDRESS_SPACE_KIB}; `;
  return new Promise(resolve => {
    const child = spawn('/bin/sh', ['-c', `${limit}ulimit -c 0; exec "$@"`, 'sh', abide, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    let size = 0;
    let isLate = false;
    const timer = setTimeout(() => { isLate = true; child.kill('SIGKILL'); }, TIME_LIMIT_MS * slowness);
    const take = chunk => { size += chunk.length; if (text.length < 20_000) text += chunk.toString('latin1'); };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', error => { text += error.message; });
    child.on('close', (code, signal) => { clearTimeout(timer); resolve({ code, signal, isLate, text, size }); });
  });
}

// Why an end is wrong, or null.
function complaint(end, ends) {
  if (end.isLate) return `did not end within ${TIME_LIMIT_MS / 1000} s`;
  if (end.signal) return `ended by ${end.signal}`;
  if (BROKEN_TOOL.test(end.text)) return 'broke';
  if (end.code === 137 || end.code > 2) return `exit code ${end.code}`;
  if (!ends.includes(end.code)) return `exit code ${end.code}, not one of ${ends.join(', ')}`;
  if (end.code !== 0 && end.text.trim() === '') return 'failed without a word';
  return null;
}

function report(number, name, problem, end) {
  console.log(`${problem ? 'not ok' : 'ok'} ${number} - ${name}`);
  if (!problem) return true;
  console.log(`# ${problem}\n${end.text.slice(0, 600).replace(/^/gm, '#   ')}`);
  process.exitCode = 1;
  return false;
}

const isFlood = name => name === 'log flood';

async function runEntry(entry, slowness) {
  const file = path.join(folder, 'program.flow');
  writeFileSync(file, entry.make());
  const args = entry.command ? [entry.command, file] : ['run', file, '--max-steps', String(STEP_LIMIT), '--memory', String(HEAP_LIMIT)];
  const end = await run(args, slowness);
  const isTalkative = entry.command !== 'disasm' && end.size > OUTPUT_LIMIT && !isFlood(entry.name) && !/huge|large|deep|lone|big|shar|10 MB/.test(entry.name);
  const isMute = entry.says && !entry.says.test(end.text);
  return { end, problem: complaint(end, entry.ends) ?? (isMute ? `does not say ${entry.says}` : null) ?? (isTalkative ? `${end.size} bytes of output` : null) };
}

// Programs of the corpus after an accident.
function damage(source, random) {
  const bytes = Buffer.from(source);
  const at = random.int(bytes.length || 1);
  switch (random.int(5)) {
    case 0: return bytes.subarray(0, at);
    case 1: for (let i = 0; i < 3; i++) bytes[random.int(bytes.length)] = random.int(256); return bytes;
    case 2: return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.pick(['{', '}', '(', ')', '`', '${', '"', '/', '*/', '=>', '...', '?.', '#', 'await ', 'yield ', 'class ', '\0', '\u2028'])), bytes.subarray(at)]);
    case 3: return Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.min(bytes.length, at + 1 + random.int(20)))]);
    default: { const lines = source.split('\n'); const a = random.int(lines.length); const b = random.int(lines.length); [lines[a], lines[b]] = [lines[b], lines[a]]; return Buffer.from(lines.join('\n')); }
  }
}

async function checkDamaged(number, slowness) {
  const random = new Random(20240229);
  const cases = loadCorpus().flatMap(({ cases: list }) => list);
  const damaged = Array.from({ length: DAMAGED }, () => damage(random.pick(cases).source, random));
  const files = damaged.map((bytes, i) => { const file = path.join(folder, `damaged-${i}.flow`); writeFileSync(file, bytes); return file; });
  const end = await run(['check', ...files], slowness * 3);
  report(number, `${DAMAGED} damaged programs are checked`, complaint(end, [0, 1, 2]), end);
  const answers = await runBatch(abideEngine(abide), damaged.map(bytes => bytes.toString('latin1')));
  const bad = answers.findIndex(answer => answer.phase === 'crash' || answer.phase === 'hang');
  report(number + 1, `${DAMAGED} damaged programs are run`, bad < 0 ? null : answers[bad].phase, { text: bad < 0 ? '' : `${answers[bad].error.message}\n${damaged[bad]}` });
}

async function main() {
  const pattern = options.only ? new RegExp(options.only) : /^/;
  const entries = [...runPrograms.map(entry => ({ ...entry, title: `run ${entry.name}` })), ...checkSources.map(entry => ({ ...entry, title: `check ${entry.name}`, command: 'check' })),
    ...checkSources.map(entry => ({ ...entry, title: `disasm ${entry.name}`, command: 'disasm' }))]
    .filter(entry => pattern.test(entry.title) && (SCALE >= 100 || entry.command !== 'disasm')) // what is checked compiles
    .filter((_, index) => !IS_SANITIZED || index % Math.max(1, Math.round(100 / SCALE)) === 0); // each costs seconds there
  if (options.list) { entries.forEach(entry => console.log(entry.title)); return; }
  const hasDamaged = pattern.test('damaged');
  console.log(`1..${entries.length + (hasDamaged ? 2 : 0)}`);
  const slowness = isSanitized() ? 6 : 1;
  let failed = 0;
  for (let i = 0; i < entries.length; i++) {
    const { end, problem } = await runEntry(entries[i], slowness);
    if (!report(i + 1, entries[i].title, problem, end)) failed++;
  }
  if (hasDamaged) await checkDamaged(entries.length + 1, slowness);
  console.log(`# ${entries.length} hostile inputs, ${failed} wrong`);
}

try { await main(); } finally { rmSync(folder, { recursive: true }); }
