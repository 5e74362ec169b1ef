// Engines: runs programs through a process that speaks the batch interface, or one process each.
//
// An answer is {ok:true,result} | {ok:false,phase:"load"|"run",error:{name,message}}, or, when the
// engine itself failed, {ok:false,phase:"crash"|"hang",error}.  A process that dies or stops
// answering costs the program it was at (the first one without an answer) and nothing else: a new
// process goes on with the next.

import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import os from 'node:os';
import path from 'node:path';
import { FrameReader, frame } from './frames.mjs';

const SILENCE_LIMIT_MS = 30_000;
const STDERR_KEPT = 4000;
const oraclePath = fileURLToPath(new URL('./oracle.mjs', import.meta.url));

export function oracleEngine({ reuse = 1 } = {}) {
  return { name: 'node', command: process.execPath, args: [oraclePath, '--reuse', String(reuse)] };
}

// Where the build put the binary: the test runner says so, people stand in the project's root.
export const defaultAbide = path.join(process.env.ABIDE_BUILD_DIR ?? 'build', 'abide');

// A path ending in .mjs is a stand-in written in JavaScript: the harness tests itself with one.
export function abideEngine(file, { isBatch = !process.env.ABIDE_NO_BATCH } = {}) {
  const isScript = file.endsWith('.mjs');
  const command = isScript ? process.execPath : path.resolve(file);
  return { name: 'abide', command, args: [...(isScript ? [path.resolve(file)] : []), 'run', ...(isBatch ? ['--batch'] : [])], isSingle: !isBatch };
}

const engineFailure = (phase, message) => ({ ok: false, phase, error: { name: phase, message } });

// One process, programs from `start` on; resolves with how far it got.
function runStretch(engine, programs, start, onAnswer) {
  return new Promise(resolve => {
    const child = spawn(engine.command, engine.args, {
      stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, TZ: 'UTC' },
    });
    const reader = new FrameReader();
    let next = start;
    let stderr = '';
    let failure = null;
    let timer = null;
    const watch = () => {
      clearTimeout(timer);
      timer = setTimeout(() => { failure = 'hang'; child.kill('SIGKILL'); }, engine.silenceMs ?? SILENCE_LIMIT_MS);
    };
    child.stderr.on('data', chunk => { stderr = (stderr + chunk).slice(-STDERR_KEPT); });
    child.stdin.on('error', () => {});
    child.stdout.on('data', chunk => {
      watch();
      try {
        for (const bytes of reader.push(chunk)) {
          if (next === programs.length) throw new Error('more answers than programs');
          onAnswer(next++, JSON.parse(bytes.toString('utf8')));
        }
      } catch (error) { stderr += `\n${error.message}`; child.kill('SIGKILL'); }
    });
    child.on('error', error => { stderr += error.message; });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const reason = failure === 'hang' ? `no answer within ${engine.silenceMs ?? SILENCE_LIMIT_MS} ms`
        : `ended with ${signal ?? `exit code ${code}`}: ${stderr.trim().slice(-1500)}`;
      resolve({ next, phase: failure ?? 'crash', reason });
    });
    watch();
    feed(child.stdin, programs, start);
  });
}

async function feed(stdin, programs, start) {
  let wake = () => {};
  stdin.on('drain', () => wake());
  stdin.on('close', () => wake());
  for (let i = start; i < programs.length && !stdin.destroyed; i++) {
    if (!stdin.write(frame(Buffer.from(programs[i], 'utf8')))) {
      await new Promise(resolve => { wake = resolve; });
    }
  }
  stdin.end();
}

async function runInBatches(engine, programs, onAnswer) {
  let next = 0;
  while (next < programs.length) {
    const before = next;
    const stretch = await runStretch(engine, programs, next, onAnswer);
    next = stretch.next;
    if (next === programs.length) return;
    onAnswer(next, engineFailure(stretch.phase, stretch.reason));
    next++;
    if (before === 0 && next === 1 && /ENOENT|EACCES/.test(stretch.reason)) {
      throw new Error(`cannot start ${engine.command}: ${stretch.reason}`);
    }
  }
}

function runSingle(engine, file) {
  return new Promise(resolve => {
    const child = spawn(engine.command, [...engine.args, file], {
      stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, TZ: 'UTC' },
    });
    let stdout = '';
    let stderr = '';
    let isHung = false;
    const timer = setTimeout(() => { isHung = true; child.kill('SIGKILL'); }, engine.silenceMs ?? SILENCE_LIMIT_MS);
    child.stdout.on('data', chunk => { stdout += chunk; });
    child.stderr.on('data', chunk => { stderr = (stderr + chunk).slice(-STDERR_KEPT); });
    child.on('error', error => { stderr += error.message; });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (isHung) return resolve(engineFailure('hang', `no answer within ${engine.silenceMs ?? SILENCE_LIMIT_MS} ms`));
      if (code === 0) {
        try { return resolve({ ok: true, result: JSON.parse(stdout) }); } catch { /* not JSON: a crash below */ }
      }
      const text = /(?:^|\n)(?:error: )?(?:Uncaught )?([A-Za-z]*Error): ?(.*)/.exec(stderr);
      if (code === 1) return resolve({ ok: false, phase: 'run', error: { name: text?.[1] ?? 'Error', message: text?.[2] ?? stderr.trim() } });
      if (code === 2) return resolve({ ok: false, phase: 'load', error: { name: 'SyntaxError', message: stderr.trim() } });
      resolve(engineFailure('crash', `ended with ${signal ?? `exit code ${code}`}: ${stderr.trim()}`));
    });
  });
}

async function runOneByOne(engine, programs, onAnswer) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'flow-cases-'));
  try {
    for (let i = 0; i < programs.length; i++) {
      const file = path.join(folder, 'case.flow');
      writeFileSync(file, programs[i]);
      onAnswer(i, await runSingle(engine, file));
    }
  } finally { rmSync(folder, { recursive: true }); }
}

// Runs all programs; resolves with the answers in their order.
export async function runPrograms(engine, programs) {
  const answers = new Array(programs.length);
  const run = engine.isSingle ? runOneByOne : runInBatches;
  await run(engine, programs, (index, answer) => { answers[index] = answer; });
  return answers;
}
