// Programs whose snapshots the decoder is fuzzed with: between them they hold every kind of thing.
// An input's first byte names one; append only, or the corpus means something else.
#pragma once
#include "base/array.h"

static const char *const snapshot_programs[] = {
    // 0: plain data, awaits, combinators
    "const { n, list } = Inputs\n"
    "const shared = { list, date: new Date(5), big: 12345678901234567890n, re: /a(b)/gi }\n"
    "shared.self = shared\n"
    "const t = Task.run('a', shared.list)\n"
    "const all = Promise.all([t, Promise.resolve(3), Task.run('b')])\n"
    "const any = Promise.any([Task.run('c'), Timer.delay(1)]).finally(() => shared.done = 1)\n"
    "const raced = Task.race([Task.run('d'), Signal.when('s', { timeout: '1s' })])\n"
    "try { shared.r = await all } catch (e) { shared.e = e.message } finally { shared.f = true }\n"
    "const settled = await Promise.allSettled([any, raced])\n"
    "return [settled.length, shared.r, shared.re.exec('xab'), `${shared.big + 1n}`]\n",
    // 1: closures, classes, private names, accessors, symbols
    "const sym = Symbol('s'), reg = Symbol.for('r')\n"
    "class A { #x = 1; static s = 2; get x() { return this.#x } set x(v) { this.#x = v }\n"
    "  #m() { return this.#x * 2 } m() { return this.#m() } [sym]() { return 's' } }\n"
    "class B extends A { y = super.m(); constructor() { super(); this.x = 5 } m() { return "
    "super.m() + 1 } }\n"
    "const b = new B(); Object.defineProperty(b, 'z', { get() { return this.y }, enumerable: "
    "false })\n"
    "let count = 0; const inc = () => ++count, dec = () => --count\n"
    "const bound = function (a, c) { return this.x + a + c }.bind(b, 1)\n"
    "const frozen = Object.freeze({ a: [1, , 3] }); const o = Object.create(null); o[sym] = reg\n"
    "inc(); await Task.run('x'); inc(); dec()\n"
    "try { frozen.a = 1 } catch (e) { o.e = e.constructor.name + e.stack.length }\n"
    "return [b.m(), b.z, bound(2), b[sym](), count, o.e, o[sym] === Symbol.for('r')]\n",
    // 2: generators, iteration in progress, maps and sets, weak maps
    "function* g(n) { for (let i = 0; i < n; i++) { try { const x = yield i * 2; if (x) i += x } "
    "finally { i += 0 } } return 'end' }\n"
    "async function* ag() { let i = 0; while (i < 4) { yield await Task.run('t' + i); i++ } }\n"
    "const it = g(5); it.next(); it.next(1)\n"
    "const map = new Map([['a', 1], [{}, 2], [NaN, 3]]), set = new Set([1, 'x', map])\n"
    "const weak = new WeakMap(); weak.set(map, set); weak.set({}, 1)\n"
    "const mi = map.entries(); mi.next(); map.delete('a'); map.set('b', 4)\n"
    "const out = []\n"
    "for await (const v of ag()) { out.push(v && v.id); for (const [k] of map) out.push(typeof k) "
    "}\n"
    "for (const k in { p: 1, q: 2 }) { await Promise.resolve(k); out.push(k) }\n"
    "const [p, ...rest] = it; const { length, ...others } = 'abc'\n"
    "return [out, p, rest, mi.next().value, weak.has(map), set.size, others]\n",
    // 3: built-ins in progress, overrides, tagged templates, subclassed promises
    "Array.prototype.last = function () { return this[this.length - 1] }\n"
    "class P extends Promise { static get [Symbol.species]() { return P } }\n"
    "const tag = (s, ...v) => s.raw.join('|') + v.join('+'); const t = n => tag`a${n}\\n${n}b`\n"
    "const text = ['c', 'a', 'b'].sort((x, y) => x < y ? -1 : 1).map((x, i) => x + i).reduce((a, "
    "x) => a + x, '')\n"
    "const p = new P(r => Task.run('q').then(r)).then(x => ({ x, t: t(1) })).finally(() => 7)\n"
    "const thenable = { then(f) { f({ get then() { return undefined } }) } }\n"
    "const json = JSON.stringify({ a: [1, { toJSON() { return 'j' } }] }, (k, v) => v, 1)\n"
    "const s = 'x-y-z'.replace(/-/g, () => '+') + [3, 1, 2].sort() + `${{ toString: () => 'obj' "
    "}}`\n"
    "const a = await p, b = await thenable\n"
    "const sparse = []; sparse[5000000] = 1; sparse.length\n"
    "return [text, a, b, json, s, t(2), [1, 2].last(), sparse.length, structuredClone({ m: new "
    "Map([[1, 2]]) })]\n",
    // 4: deep recursion, exceptions on their way, labels, finally
    "function f(n) { if (n === 0) throw new RangeError('deep', { cause: [n] }); try { return 1 + "
    "f(n - 1) } finally { log.push(n) } }\n"
    "const log = []\n"
    "async function h(i) { outer: for (;;) { try { await Timer.delay(i); if (i > 1) break outer; "
    "return i } catch (e) { log.push(e.name) } finally { i++; log.push('f') } } return f(3) }\n"
    "const results = await Promise.allSettled([h(0), h(2), Task.run('z').catch(e => e.message)])\n"
    "return results.map(r => r.status + (r.reason?.cause ?? r.value)).concat(log)\n",
};
enum { SNAPSHOT_PROGRAM_COUNT = COUNT_OF(snapshot_programs) };
