// Oracle: Node behind the interface of `abide run --batch`.
//
// stdin: frames "LENGTH\n<program>".  stdout: for each one frame "LENGTH\n<JSON>":
//   {"ok":true,"result":...}  or  {"ok":false,"phase":"load"|"run","error":{"name","message"}}
// A program is the body of a strict async function.  Each gets a fresh realm (--reuse N: a realm per
// N programs, for generated programs, which leave the built-ins alone) whose microtasks are drained
// before the evaluation returns, so that a run is one synchronous call with one time limit.

import vm from 'node:vm';
import { FrameReader, frame } from './frames.mjs';

const TIME_LIMIT_MS = 10_000;
const reuseAt = process.argv.indexOf('--reuse');
const REUSE = reuseAt < 0 ? 1 : Number(process.argv[reuseAt + 1]);

// Host functions that Node keeps outside of fresh realms; programs that use them run in this one.
const NEEDS_MAIN_REALM = /\b(?:structuredClone|atob|btoa|crypto)\b/;

process.env.TZ = 'UTC';
process.on('unhandledRejection', () => {});
const silent = { log() {}, warn() {}, error() {}, info() {}, debug() {} };

let realm = null;
let usesLeft = 0;

function freshRealm() {
  if (usesLeft === 0) {
    realm = vm.createContext({ console: silent }, { microtaskMode: 'afterEvaluate' });
    usesLeft = REUSE;
  }
  usesLeft--;
  return realm;
}

const strictBody = source => `(async function () { "use strict";\n${source}\n})`;

function failure(phase, error) {
  const isObject = error !== null && (typeof error === 'object' || typeof error === 'function');
  if (!isObject) return { ok: false, phase, error: { name: 'Error', message: String(error) } };
  return { ok: false, phase, error: { name: String(error.name), message: String(error.message) } };
}

const success = value => ({ ok: true, result: value === undefined ? null : value });

function runInFreshRealm(source) {
  let script;
  try {
    script = new vm.Script(`${strictBody(source)}().then(v => __done(true, v), e => __done(false, e))`);
  } catch (error) { return failure('load', error); }
  let answer = null;
  const context = freshRealm();
  context.__done = (isOk, value) => { answer = isOk ? success(value) : failure('run', value); };
  try {
    script.runInContext(context, { timeout: TIME_LIMIT_MS });
  } catch (error) { return failure('run', error); }
  return answer ?? failure('run', new Error('the program never settles'));
}

const AsyncFunction = (async () => {}).constructor;

async function runInMainRealm(source) {
  let body;
  try { body = new AsyncFunction(`"use strict";\n${source}\n`); } catch (error) { return failure('load', error); }
  const console = globalThis.console;
  globalThis.console = silent;
  try { return success(await body()); } catch (error) { return failure('run', error); }
  finally { globalThis.console = console; }
}

const reader = new FrameReader();
for await (const chunk of process.stdin) {
  for (const bytes of reader.push(chunk)) {
    const source = bytes.toString('utf8');
    const answer = NEEDS_MAIN_REALM.test(source) ? await runInMainRealm(source) : runInFreshRealm(source);
    let text;
    try { text = JSON.stringify(answer); } catch (error) { text = JSON.stringify(failure('run', error)); }
    process.stdout.write(frame(Buffer.from(text)));
  }
}
