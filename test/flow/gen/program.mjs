// Program: one random program from a seed, as the body of an async function.
//
// It keeps a log of what happened in which order and returns the log, what the kept closures say,
// and the final values of its variables.  The same seed and features give the same text everywhere.

import { body } from './statements.mjs';
import { Writer } from './writer.mjs';

const HEAD = `
const log = [], kept = []
let fuel = 700
function tick() { if (--fuel < 0) throw new RangeError("out of fuel") }
function fit(v) {
  if (typeof v === "string") return v.length > 60 ? v.slice(0, 60) : v
  if (Array.isArray(v) && v.length > 12) v = v.slice(0, 12)
  return __show(v).length > 240 ? (Array.isArray(v) ? [] : {}) : v
}
function note(tag, v) { if (log.length < 150) log.push(tag + " " + __show(v).slice(0, 120)); return v }
function thrown(e) { return e instanceof Error ? e.name + ": " + e.message : "thrown " + __show(e) }
async function later(turns, v) { for (let i = 0; i < turns; i++) await null; return v }
function launch(f) { const p = f(); p.catch(() => {}); return p }
`.trim().split('\n');

const RICH_HEAD = `
function tag(strings, ...values) { return strings.raw.join("|") + values.length + String(values[0]).slice(0, 20) }
function* naturals() { let n = 0; while (true) { tick(); yield n++ } }
function* take(count, source) { if (count <= 0) return; for (const v of source) { tick(); yield v; if (--count <= 0) return } }
class Base { made = 0; constructor(v = 1) { this.value = v } twice(n) { return n * 2 } get total() { return this.value } }
`.trim().split('\n');

const MEANINGLESS = new Set(['fun', 'inst']);

export function generateProgram(seed, features = 'all') {
  const w = new Writer(seed, features);
  w.lines.push(...HEAD, ...(w.isAll ? RICH_HEAD : []));
  const prologue = w.lines.length;
  w.budget = w.random.between(14, 60);
  const statements = w.random.between(6, 20);
  body(w, statements);
  const finals = w.scopes[0].filter(v => !MEANINGLESS.has(v.type)).map(v => v.name);
  // `abide check` lets a name pass that the program tests for: expressions read `missing` on purpose.
  w.emit(`return [log, kept.slice(0, 20).map(f => attempt(f)), fuel, [${finals.join(', ')}], typeof missing]`);
  return { source: w.lines.join('\n'), prologue };
}
