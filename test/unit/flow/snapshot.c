// Snapshots: every kind of thing a script can hold survives, at every single instruction; what is
// wrong with bytes, versions and sizes is said.
#include "base/array.h"
#include "base/containers/bytes.h"
#include "base/containers/hash.h"
#include "flow/realm/realm.h"
#include "flow/snapshot/format.h"
#include "flow/vm/vm.h"
#include "unit/flow/vm.h"

enum { BYTES_MAX = 16 << 20 };

static FlowVmOptions run_options(const Run *run, FlowLimits limits) {
    return (FlowVmOptions){
        .module = run->module, .host = (FlowHost *)(uintptr_t)&run->host.base, .limits = limits};
}

static void write_snapshot(Run *run, Buf *ret_bytes) {
    Diag diag = {0};
    buf_init(ret_bytes, BYTES_MAX);
    if (flow_snapshot_write(run->vm, ret_bytes, &diag) != OK) fail_msg("%s", diag.message);
}

static void replace_vm(Run *run, Str bytes, FlowLimits limits) {
    Diag diag = {0};
    flow_vm_free(run->vm);
    run->vm = NULL;
    FlowVmOptions options = run_options(run, limits);
    if (flow_snapshot_read(bytes, &options, &run->vm, &diag) != OK) fail_msg("%s", diag.message);
}

static void pass_through(Run *run, FlowLimits limits) {
    Buf bytes;
    Buf again;
    write_snapshot(run, &bytes);
    replace_vm(run, buf_str(&bytes), limits);
    write_snapshot(run, &again);
    assert_true(str_equal(buf_str(&bytes), buf_str(&again)));
    buf_done(&bytes);
    buf_done(&again);
}

static void settle_all(Run *run) {
    uint32_t ids[16];
    uint32_t count = run->result.wait_count;
    assert_true(count <= 16);
    for (uint32_t i = 0; i < count; i++) ids[i] = run->result.waits[i].id;
    for (uint32_t i = 0; i < count; i++) {
        char json[32];
        snprintf(json, sizeof json, "%u", ids[i]);
        run_settle(run, ids[i], json);
    }
}

// Runs `source` with a snapshot after every `step` instructions (0: only when it is parked).
static void run_with_snapshots(const char *source, uint64_t step, const char *json) {
    Run run;
    FlowLimits limits = FLOW_LIMITS_DEFAULT;
    limits.is_exact = 1;
    if (step) limits.instructions_per_turn = step;
    run_begin_limited(&run, source, "{\"n\":7,\"list\":[1,{\"a\":\"b\"}]}", limits);
    for (;;) {
        flow_vm_run(run.vm, &run.result);
        bool is_parked = run.result.outcome == FLOW_PARKED;
        if (!is_parked && run.result.outcome != FLOW_PREEMPTED) break;
        if (is_parked) {
            if (run.result.wait_count == 0) fail_msg("stuck: %s", source);
            settle_all(&run);
        }
        if (is_parked || step) pass_through(&run, limits);
    }
    if (run.result.outcome == FLOW_FAILED) fail_msg("%.*s", STR_ARG(run.result.failure.stack));
    assert_str_equal(run.result.result_json, json);
    run_end(&run);
}

static void assert_survives(const char *source, const char *json) {
    run_with_snapshots(source, 0, json);
    run_with_snapshots(source, 1, json);
    run_with_snapshots(source, 3, json);
}

// --- values and objects

static void primitives_survive(void **state) {
    (void)state;
    assert_survives("const v = [undefined, null, true, false, 0, -1, 46, 47, -2147483648, "
                    "2147483648,"
                    " 1e300, -0, NaN, Infinity, 0.1, 19.99, 1.005, 2**53, 1700000000123, '', 'é',"
                    " '\\u{1F600}', '漢', '\\ud800']; await Task.run('x');"
                    "return v.map(x => Object.is(x, -0) ? '-0' : typeof x + x)",
                    "[\"undefinedundefined\",\"objectnull\",\"booleantrue\",\"booleanfalse\","
                    "\"number0\",\"number-1\",\"number46\",\"number47\",\"number-2147483648\","
                    "\"number2147483648\",\"number1e+300\",\"-0\",\"numberNaN\",\"numberInfinity\","
                    "\"number0.1\",\"number19.99\",\"number1.005\",\"number9007199254740992\","
                    "\"number1700000000123\",\"string\",\"stringé\",\"string\xF0\x9F\x98\x80\","
                    "\"string漢\",\"string\\ud800\"]");
}

static void long_strings_and_ropes_survive(void **state) {
    (void)state;
    assert_survives("let s = ''; for (let i = 0; i < 40; i++) s += 'ab' + i; const t = s + s;"
                    "await Task.run('x'); return [t.length, t === s + s, t.slice(70, 76)]",
                    "[300,true,\"ab20ab\"]");
}

static void cyclic_and_shared_references_survive(void **state) {
    (void)state;
    assert_survives("const a = { n: 1 }; a.self = a; const b = [a, a, [a]]; b.push(b);"
                    "await Task.run('x'); a.n = 2;"
                    "return [b[0] === b[1], b[2][0].self.self === a, b[3] === b, b[0].n]",
                    "[true,true,true,2]");
}

static void property_order_and_deleted_properties_survive(void **state) {
    (void)state;
    assert_survives("const o = { b: 1, a: 2, 10: 'x', 2: 'y' }; delete o.b; o.c = 3; o.b = 4;"
                    "const big = {}; for (let i = 0; i < 200; i++) big['k' + i] = i; delete big.k7;"
                    "await Task.run('x');"
                    "return [Object.keys(o), Object.keys(big).length, big.k199, 'k7' in big]",
                    "[[\"2\",\"10\",\"a\",\"c\",\"b\"],199,199,false]");
}

static void accessors_and_attributes_survive(void **state) {
    (void)state;
    assert_survives(
        "let set = 0; const o = { get x() { return this.y * 2 }, set x(v) { set = v }, y: 4 };"
        "Object.defineProperty(o, 'z', { value: 1 }); await Task.run('x'); o.x = 9;"
        "let refused = 0; try { o.z = 2 } catch { refused = 1 }"
        "return [o.x, set, refused, Object.keys(o), "
        "JSON.stringify(Object.getOwnPropertyDescriptor(o, 'z'))]",
        "[8,9,1,[\"x\",\"y\"],\"{\\\"value\\\":1,\\\"writable\\\":false,\\\"enumerable\\\":false,"
        "\\\"configurable\\\":false}\"]");
}

static void frozen_sealed_and_closed_objects_survive(void **state) {
    (void)state;
    assert_survives(
        "const f = Object.freeze({ a: 1, l: Object.freeze([1, 2]) }), s = Object.seal([5]),"
        " e = Object.preventExtensions({ q: 1 }); await Task.run('x'); let n = 0;"
        "for (const t of [() => { f.a = 2 }, () => { f.l.push(3) }, () => { s.pop() }, () => { "
        "e.r = 1 },"
        " () => { f.b = 1 }]) try { t() } catch { n++ }"
        "s[0] = 6; e.q = 2; return [n, Object.isFrozen(f), Object.isSealed(s), "
        "Object.isExtensible(e), s, e]",
        "[5,true,true,false,[6],{\"q\":2}]");
}

static void sparse_arrays_and_holes_survive(void **state) {
    (void)state;
    assert_survives("const a = [1, , 3], b = []; b[4000000000] = 'x'; b[7] = 'y'; const c = new "
                    "Array(5);"
                    "Object.defineProperty(c, 2, { get: () => 'g', enumerable: true });"
                    "await Task.run('x'); return [1 in a, a.length, b.length, Object.keys(b), "
                    "c[2], c.length]",
                    "[false,3,4000000001,[\"7\",\"4000000000\"],\"g\",5]");
}

static void symbols_survive(void **state) {
    (void)state;
    assert_survives("const s = Symbol('d'), t = Symbol(), r = Symbol.for('reg'); const o = { [s]: "
                    "1, [r]: 2 };"
                    "await Task.run('x');"
                    "return [o[s], o[Symbol.for('reg')], s.description, t.description === "
                    "undefined,"
                    " Symbol.keyFor(r), Symbol.for('reg') === r, [][Symbol.iterator] === "
                    "Array.prototype.values]",
                    "[1,2,\"d\",true,\"reg\",true,true]");
}

static void big_integers_survive(void **state) {
    (void)state;
    assert_survives("const a = 123456789012345678901234567890n, b = -(2n ** 200n), z = 0n;"
                    "await Task.run('x'); return [`${a * 3n}`, `${b}`.length, `${z}`, a > b]",
                    "[\"370370367037037036703703703670\",62,\"0\",true]");
}

static void dates_wrappers_and_regular_expressions_survive(void **state) {
    (void)state;
    assert_survives("const d = new Date(1e12), bad = new Date(NaN), r = /a(?<n>b)/g, w = "
                    "[Object(1), Object('s'), Object(1n)];"
                    "r.exec('ab ab'); r.extra = 1; await Task.run('x');"
                    "return [d.toISOString(), `${bad.getTime()}`, r.lastIndex, r.exec('ab "
                    "ab').groups.n, r.flags, r.extra,"
                    " w.map(x => typeof x + x), '1-2'.replace(/-/, '+')]",
                    "[\"2001-09-09T01:46:40.000Z\",\"NaN\",2,\"b\",\"g\",1,"
                    "[\"object1\",\"objects\",\"object1\"],\"1+2\"]");
}

static void errors_survive_with_cause_and_stack(void **state) {
    (void)state;
    assert_survives("function f() { return new RangeError('bad', { cause: { n: 1 } }) }\n"
                    "const e = f(), g = f(); g.stack; const a = new AggregateError([e], 'all');"
                    "class Mine extends TypeError { code = 'X' } const m = new Mine('m');"
                    "await Task.run('x');"
                    "return [e instanceof RangeError, e.cause.n, e.stack.split('\\n').slice(0, "
                    "2), g.stack === e.stack,"
                    " a.errors[0] === e, m.code, m instanceof Mine, `${m}`]",
                    "[true,1,[\"RangeError: bad\",\"    at f "
                    "(test.flow:1:23)\"],false,true,\"X\",true,\"TypeError: m\"]");
}

static void maps_and_sets_survive_in_order(void **state) {
    (void)state;
    assert_survives("const k = {}; const m = new Map([[k, 'o'], [NaN, 'n'], ['s', 1], [1n, 'b'], "
                    "[0, 'z']]);"
                    "const s = new Set([3, 1, 2]); s.delete(1); s.add(1); m.delete('s'); m.set(m, "
                    "s);"
                    "await Task.run('x');"
                    "return [m.get(k), m.get(NaN), m.get(1n), m.get(-0), m.get(m) === s, "
                    "m.has('s'), m.size, [...s]]",
                    "[\"o\",\"n\",\"b\",\"z\",true,false,5,[3,2,1]]");
}

static void iterations_in_progress_survive(void **state) {
    (void)state;
    assert_survives("const m = new Map([[1, 'a'], [2, 'b'], [3, 'c']]), out = []; const i = "
                    "m.keys(); i.next();"
                    "const ai = ['p', 'q'].entries(); ai.next(); const si = "
                    "'x😀y'[Symbol.iterator](); si.next();"
                    "for (const [k, v] of m) { out.push(v); if (k === 1) { m.delete(2); m.set(4, "
                    "'d') } await Task.run('x') }"
                    "for (const k in { u: 1, v: 2 }) { out.push(k); await Task.run('y') }"
                    "for (const x of [8, 9]) { await Task.run('z'); out.push(x) }"
                    "return [out, [...i], ai.next().value, si.next().value, "
                    "['a1b2'.matchAll(/\\d/g).next().value[0]]]",
                    "[[\"a\",\"c\",\"d\",\"u\",\"v\",8,9],[3,4],"
                    "[1,\"q\"],\"\xF0\x9F\x98\x80\",[\"1\"]]");
}

static void weak_collections_keep_what_is_reachable(void **state) {
    (void)state;
    assert_survives("const k = {}, w = new WeakMap(), s = new WeakSet(); w.set(k, { v: 1 }); "
                    "w.set({}, 2); s.add(k);"
                    "const chain = new WeakMap(); const a = {}, b = {}; chain.set(a, b); "
                    "chain.set(b, 'end');"
                    "await Task.run('x'); return [w.get(k).v, s.has(k), w.has({}), "
                    "chain.get(chain.get(a))]",
                    "[1,true,false,\"end\"]");
}

static void dead_keys_of_weak_collections_are_left_out(void **state) {
    (void)state;
    Run run;
    run_begin(&run,
              "const w = new WeakMap(); for (let i = 0; i < 100; i++) w.set({}, 'value' + i);"
              "await Task.run('x'); return w.has({})",
              NULL);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    Buf bytes;
    write_snapshot(&run, &bytes);
    assert_true(bytes.len < 250);
    buf_done(&bytes);
    run_end(&run);
}

// --- functions and classes

static void closures_share_their_variables(void **state) {
    (void)state;
    assert_survives("let n = 0; const inc = () => ++n, get = () => n; const fs = [];"
                    "for (let i = 0; i < 3; i++) fs.push(() => i++); inc(); await Task.run('x'); "
                    "inc(); fs[1]();"
                    "return [get(), n, fs.map(f => f())]",
                    "[2,2,[0,2,2]]");
}

static void uninitialised_variables_stay_uninitialised(void **state) {
    (void)state;
    assert_survives("const f = () => late; let r; await Task.run('x'); try { f() } catch (e) { r "
                    "= e.name }"
                    "const late = 5; return [r, f()]",
                    "[\"ReferenceError\",5]");
}

static void bound_functions_and_function_properties_survive(void **state) {
    (void)state;
    assert_survives("function f(a, b, c) { return [this.x, a, b, c] } f.extra = 1;"
                    "const g = f.bind({ x: 1 }, 2), h = g.bind(null, 3); await Task.run('x');"
                    "return [h(4), h.name, h.length, f.extra, f.name, f.length, typeof "
                    "f.prototype, new f() instanceof f]",
                    "[[1,2,3,4],\"bound bound f\",1,1,\"f\",3,\"object\",false]");
}

static void classes_survive_with_private_names(void **state) {
    (void)state;
    assert_survives("class A { static #count = 0; #x; constructor(x) { this.#x = x; A.#count++ }"
                    " #twice() { return this.#x * 2 } get twice() { return this.#twice() } static "
                    "has(o) { return #x in o }"
                    " static get count() { return A.#count } }"
                    "class B extends A { y = this.twice + 1; toString() { return "
                    "`B${super.toString().length}` } }"
                    "const b = new B(4); await Task.run('x');"
                    "return [b.twice, b.y, A.has(b), A.has({}), B.count, `${b}`, "
                    "b.constructor.name, new B(1).y]",
                    "[8,9,true,false,1,\"B15\",\"B\",3]");
}

static void generators_survive_in_the_middle(void **state) {
    (void)state;
    assert_survives("function* g() { try { const a = yield 1; const [b, c] = yield* inner(a); "
                    "return b + c } finally { log.push('f') } }"
                    "function* inner(a) { yield a * 2; return [a, 10] } const log = [];"
                    "const i = g(), j = g(); i.next(); i.next(5); j.next(); const k = g(); await "
                    "Task.run('x');"
                    "return [i.next(), j.return('r'), k.next().value, log, i.next()]",
                    "[{\"value\":15,\"done\":true},{\"value\":\"r\",\"done\":true},1,"
                    "[\"f\",\"f\"],{\"done\":true}]");
}

static void async_generators_survive_with_their_requests(void **state) {
    (void)state;
    assert_survives("async function* g() { for (let i = 0; i < 3; i++) { const t = await "
                    "Task.run('t'); yield t } }"
                    "const i = g(); const ps = [i.next(), i.next(), i.next(), i.next(), "
                    "i.return(9)];"
                    "const all = await Promise.all(ps); return all.map(r => r.done ? 'd' + "
                    "r.value : r.value)",
                    "[1,2,3,\"dundefined\",\"d9\"]");
}

static void tagged_templates_keep_their_identity(void **state) {
    (void)state;
    assert_survives("const seen = []; const tag = s => { seen.push(s); return s.raw[0] }; const f "
                    "= () => tag`a\\n${1}b`;"
                    "f(); await Task.run('x'); f(); return [seen[0] === seen[1], "
                    "seen[0][0].length, Object.isFrozen(seen[0])]",
                    "[true,2,true]");
}

// --- async state

static void an_await_inside_an_expression_survives(void **state) {
    (void)state;
    assert_survives("const o = { m(...a) { return a } }; return o.m(1, await Task.run('a'), "
                    "[await Task.run('b'), `${await Task.run('c')}`],"
                    " 10 + await Task.run('d') * 2)",
                    "[1,1,[2,\"3\"],18]");
}

static void nested_finally_blocks_survive(void **state) {
    (void)state;
    assert_survives("const log = []; async function f() { for (const x of [1, 2, 3]) { try { try "
                    "{ await Task.run('a'); if (x === 2) return 'r' }"
                    " finally { await Task.run('b'); log.push('i' + x) } } catch (e) { "
                    "log.push('never') } finally { log.push(await Task.run('c')) } } }"
                    "const r = await f(); return [r, log]",
                    "[\"r\",[\"i1\",3,\"i2\",6]]");
}

static void promises_survive_in_every_state(void **state) {
    (void)state;
    assert_survives("const ok = Promise.resolve(1), no = Promise.reject(new Error('e')); "
                    "no.catch(() => 0); let go;"
                    "const pending = new Promise(r => { go = r }); const log = []; pending.then(v "
                    "=> log.push('a' + v)).finally(() => log.push('f'));"
                    "const { promise, reject } = Promise.withResolvers(); const caught = "
                    "promise.catch(e => 'c' + e);"
                    "await Task.run('x'); go(5); go(6); reject('z'); await pending; await "
                    "Task.run('y');"
                    "return [await ok, await no.catch(e => e.message), await pending, log, await "
                    "caught]",
                    "[1,\"e\",5,[\"a5\",\"f\"],\"cz\"]");
}

static void combinators_survive_half_done(void **state) {
    (void)state;
    assert_survives("const t = n => Task.run(n); const all = Promise.all([t('a'), 5, t('b')]), "
                    "any = Promise.any([Promise.reject(1), t('c')]),"
                    " race = Promise.race([new Promise(() => {}), t('d')]), settled = "
                    "Promise.allSettled([t('e'), Promise.reject(2)]),"
                    " mine = Task.race([t('f')]), first = Task.any([t('g')]);"
                    "const thenable = Promise.all([{ then(f) { Task.run('h').then(f) } }]);"
                    "return [await all, await any, await race, (await settled).map(s => "
                    "s.status), (await mine).result, (await first).item_id, await thenable]",
                    "[[1,5,2],3,4,[\"fulfilled\",\"rejected\"],6,\"7\",[8]]");
}

static void handles_survive_with_their_ids(void **state) {
    (void)state;
    assert_survives("const a = Task.run('a'), b = Task.delay(1)\n"
                    "await Task.run('c'); await Task.run('d')\n"
                    "const r = await Task.race([b, a])\n"
                    "return [r.item_id == b, r.item_id == a, b.id, a == '1']",
                    "[true,false,\"2\",true]");
}

static void the_microtask_queue_survives(void **state) {
    (void)state;
    assert_survives("const log = []; Promise.resolve().then(() => log.push(1)).then(() => "
                    "log.push(3)); (async () => { await 0; log.push(2); await 0; log.push(4) })();"
                    "const p = Promise.resolve({ get then() { return f => f('t') } }); "
                    "log.push(0); await null; await null; await null; log.push(await p); return "
                    "log",
                    "[0,1,2,3,4,\"t\"]");
}

static void thenables_and_subclassed_promises_survive(void **state) {
    (void)state;
    assert_survives("class P extends Promise { mine() { return 'm' } } const p = "
                    "P.resolve(1).then(x => x + 1).finally(() => 0);"
                    "const q = P.all([p, new P(r => Task.run('a').then(r))]); return [p.mine(), "
                    "await q, await { then(f, r) { f(7) } }]",
                    "[\"m\",[2,1],7]");
}

static void cancellation_survives(void **state) {
    (void)state;
    Run run;
    run_begin(&run, "try { await Task.run('x') } finally { log = 'clean' } var log", NULL);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    flow_vm_cancel(run.vm, STR("stop it"));
    pass_through(&run, FLOW_LIMITS_DEFAULT);
    assert_int_equal(run_turn(&run), FLOW_FAILED);
    assert_str_equal(run.result.failure.name, "CancelledError");
    assert_str_equal(run.result.failure.message, "stop it");
    pass_through(&run, FLOW_LIMITS_DEFAULT);
    assert_int_equal(run_turn(&run), FLOW_FAILED);
    assert_str_equal(run.result.failure.message, "stop it");
    run_end(&run);
}

// --- built-ins

static void built_ins_survive_in_the_middle(void **state) {
    (void)state;
    assert_survives("const l = [3, 1, 2].sort((a, b) => a - b).map((x, i) => x * i).filter(x => "
                    "x); const m = new Map([[1, 2]]); let n = 0;"
                    "m.forEach((v, k) => n += v + k); const s = 'a-b'.replace(/[ab]/g, c => c + "
                    "c); const j = JSON.stringify({ a: [{ toJSON: () => 'j' }] }, null, 1);"
                    "const c = structuredClone({ d: new Date(5), m, e: new Error('x') }); return "
                    "[l, n, s, j, c.m.get(1), c.d.getTime(), c.e.message, `${{ valueOf: () => 1 "
                    "}}`]",
                    "[[2,6],3,\"aa-bb\",\"{\\n \\\"a\\\": [\\n  \\\"j\\\"\\n "
                    "]\\n}\",2,5,\"x\",\"[object Object]\"]");
}

static void changed_built_ins_survive(void **state) {
    (void)state;
    assert_survives("Array.prototype.last = function () { return this.at(-1) }; delete "
                    "Array.prototype.reverse; Math.max = () => 'm'; globalThis.g = 4;"
                    "Object.defineProperty(String.prototype, 'loud', { get() { return "
                    "this.toUpperCase() } }); class X {} Object.setPrototypeOf(Map, X);"
                    "await Task.run('x');"
                    "return [[1, 2].last(), [].reverse === undefined, Math.max(1), g, 'a'.loud, "
                    "Object.getPrototypeOf(Map) === X, Math.min(3, 2), "
                    "Object.keys(Array.prototype)]",
                    "[2,true,\"m\",4,\"A\",true,2,[\"last\"]]");
}

static void inputs_and_random_numbers_survive(void **state) {
    (void)state;
    assert_survives("const a = Math.random(); Inputs.list[1].a = 'c'; await Task.run('x'); const "
                    "b = Math.random();"
                    "return [Inputs.n, Inputs.list[1].a, a !== b, Context.runId]",
                    "[7,\"c\",true,\"r1\"]");
}

// --- bytes, versions, sizes

static const char order_example[] =
    "export const config = { timeout: \"30d\", retry: { attempts: 5 }, idleTimeout: \"5m\" }\n"
    "const { orderId, items } = Inputs\n"
    "const total = items.reduce((sum, i) => sum + i.price * i.qty, 0)\n"
    "const charge = await Task.run(\"charge\", { orderId, total }, { retry: { attempts: 3, delay: "
    "\"1s\" }, timeout: \"20s\" })\n"
    "\n"
    "const approval = await Signal.when(\"approval\", { timeout: \"24h\" }).catch(e => null)\n"
    "if (!approval?.ok) {\n"
    "  await Task.run(\"refund\", { id: charge.id })\n"
    "  return { status: \"rejected\" }\n"
    "}\n"
    "await Promise.all(items.map(async i => {\n"
    "  await Task.run(\"reserve\", i)\n"
    "  await Timer.delay(\"2s\")\n"
    "}))\n"
    "return { status: \"done\", total }\n";
static const char order_input[] =
    "{\"orderId\":\"ord-2024-000123\",\"items\":[{\"sku\":\"A-1\",\"price\":19.99,\"qty\":2},"
    "{\"sku\":\"B-7\",\"price\":5,\"qty\":10}]}";

static void the_example_is_small(void **state) {
    (void)state;
    Run run;
    run_begin(&run, order_example, order_input);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    Buf bytes;
    write_snapshot(&run, &bytes);
    assert_true(bytes.len < 300);
    buf_done(&bytes);
    flow_vm_park(run.vm);
    FlowVmStats stats;
    flow_vm_stats(run.vm, &stats);
    assert_true(stats.total_bytes < 16 << 10);
    run_end(&run);
}

static void the_same_state_gives_the_same_bytes(void **state) {
    (void)state;
    Buf bytes[2];
    for (int i = 0; i < 2; i++) {
        Run run;
        run_begin(&run, order_example, order_input);
        assert_int_equal(run_turn(&run), FLOW_PARKED);
        if (i) flow_vm_park(run.vm);
        write_snapshot(&run, &bytes[i]);
        run_end(&run);
    }
    assert_true(str_equal(buf_str(&bytes[0]), buf_str(&bytes[1])));
    buf_done(&bytes[0]);
    buf_done(&bytes[1]);
}

static void a_snapshot_names_its_code(void **state) {
    (void)state;
    Run run;
    run_begin(&run, order_example, order_input);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    Buf bytes;
    write_snapshot(&run, &bytes);
    char hash[65];
    Diag diag = {0};
    assert_ok(flow_snapshot_module_hash(buf_str(&bytes), hash, &diag));
    assert_str_equal(flow_module_hash(run.module), hash);
    buf_done(&bytes);
    run_end(&run);
}

static Status read_as(const char *source, Str bytes, Diag *diag) {
    FlowModule *module = NULL;
    assert_ok(flow_compile(STR("test.flow"), str_from(source), &module, NULL, diag));
    FlowVmOptions options = {.module = module, .limits = FLOW_LIMITS_DEFAULT};
    FlowVm *vm = NULL;
    Status status = flow_snapshot_read(bytes, &options, &vm, diag);
    flow_vm_free(vm);
    flow_module_release(module);
    return status;
}

static void other_code_is_a_conflict(void **state) {
    (void)state;
    Run run;
    run_begin(&run, "await Task.run('x')", NULL);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    Buf bytes;
    write_snapshot(&run, &bytes);
    Diag diag = {0};
    assert_status(read_as("await Task.run('y')", buf_str(&bytes), &diag), ERR_CONFLICT);
    assert_string_equal(diag.code, "SNAPSHOT_OTHER_CODE");
    run.module->code_checksum++; // as if another compiler had made it
    Buf other;
    write_snapshot(&run, &other);
    assert_status(read_as("await Task.run('x')", buf_str(&other), &diag), ERR_CONFLICT);
    assert_string_equal(diag.code, "SNAPSHOT_OTHER_COMPILER");
    run.module->code_checksum--;
    buf_done(&other);
    buf_done(&bytes);
    run_end(&run);
}

static void damaged_bytes_are_corrupt(void **state) {
    (void)state;
    Run run;
    run_begin(&run, order_example, order_input);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    Buf bytes;
    write_snapshot(&run, &bytes);
    Diag diag = {0};
    for (size_t cut = 0; cut < bytes.len; cut++) {
        Str part = {bytes.data, cut};
        assert_status(read_as(order_example, part, &diag), ERR_CORRUPT);
    }
    for (size_t at = 0; at < bytes.len; at++) {
        bytes.data[at] ^= 0x10;
        Status status = read_as(order_example, buf_str(&bytes), &diag);
        assert_true(status == ERR_CORRUPT || (at == 3 && status == ERR_UNSUPPORTED));
        bytes.data[at] ^= 0x10;
    }
    buf_done(&bytes);
    run_end(&run);
}

static void a_large_state_is_compressed(void **state) {
    (void)state;
    Run run;
    run_begin(&run,
              "const rows = []; for (let i = 0; i < 500; i++) rows.push({ id: i, name: "
              "'customer ' + i, open: true });"
              "await Task.run('x'); return rows[499].name",
              NULL);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    Buf bytes;
    write_snapshot(&run, &bytes);
    assert_true(bytes.data[4] & SNAPSHOT_COMPRESSED);
    assert_true(bytes.len < 8000);
    replace_vm(&run, buf_str(&bytes), FLOW_LIMITS_DEFAULT);
    run_settle(&run, 1, "null");
    assert_int_equal(run_turn(&run), FLOW_COMPLETED);
    assert_str_equal(run.result.result_json, "\"customer 499\"");
    buf_done(&bytes);
    run_end(&run);
}

static void a_state_over_the_limit_names_its_largest_variables(void **state) {
    (void)state;
    Run run;
    FlowLimits limits = FLOW_LIMITS_DEFAULT;
    limits.snapshot_bytes = 20000;
    run_begin_limited(&run,
                      "let seed = 1; const noise = n => { let s = ''; for (let i = 0; i < "
                      "n; i++) { seed = (seed * 48271) % 2147483647; s += seed.toString(36) "
                      "} return s };"
                      "const orders = []; for (let i = 0; i < 40; i++) orders.push({ text: "
                      "noise(400) }); const cache = new Map([['a', noise(900)]]); const "
                      "small = 1;"
                      "await Task.run('x')",
                      NULL, limits);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    Buf bytes;
    Diag diag = {0};
    buf_init(&bytes, BYTES_MAX);
    assert_status(flow_snapshot_write(run.vm, &bytes, &diag), ERR_LIMIT);
    assert_string_equal(diag.code, "SNAPSHOT_TOO_LARGE");
    const char *orders = strstr(diag.message, "orders: ");
    const char *cache = strstr(diag.message, "cache: ");
    assert_non_null(orders);
    assert_non_null(cache);
    assert_true(orders < cache);
    assert_non_null(strstr(diag.message, " kB"));
    assert_int_equal(bytes.len, 0);
    buf_done(&bytes);
    run_end(&run);
}

static void a_small_heap_refuses_a_large_snapshot(void **state) {
    (void)state;
    Run run;
    run_begin(&run,
              "const rows = []; for (let i = 0; i < 5000; i++) rows.push([i]); await "
              "Task.run('x')",
              NULL);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    Buf bytes;
    write_snapshot(&run, &bytes);
    FlowLimits limits = FLOW_LIMITS_DEFAULT;
    limits.heap_bytes = 100000;
    FlowVmOptions options = run_options(&run, limits);
    FlowVm *vm = NULL;
    Diag diag = {0};
    assert_status(flow_snapshot_read(buf_str(&bytes), &options, &vm, &diag), ERR_LIMIT);
    buf_done(&bytes);
    run_end(&run);
}

static void inspection_says_where_and_what(void **state) {
    (void)state;
    Run run;
    run_begin(&run,
              "async function reserve(item) {\n  const tries = [1, 2]\n  await "
              "Task.run('reserve', item)\n}\n"
              "const note = 'x'.repeat(3)\nawait reserve({ sku: 'A' })",
              NULL);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    Buf json;
    buf_init(&json, BYTES_MAX);
    flow_vm_inspect(run.vm, 0, &json);
    const char *text = buf_cstr(&json);
    assert_non_null(strstr(text, "{\"file\":\"test.flow\",\"line\":3,\"column\":3,"
                                 "\"function\":\"reserve\","
                                 "\"locals\":{\"item\":\"{sku}\",\"tries\":\"Array(2)\"},"));
    assert_non_null(strstr(text, "\"line\":6,"));
    assert_non_null(strstr(text, "\"note\":\"\\\"xxx\\\"\""));
    assert_non_null(strstr(text, "\"waits\":[{\"id\":1,\"kind\":\"task\",\"awaited\":true}]"));
    assert_non_null(strstr(text, "\"variables\":["));
    buf_done(&json);
    run_end(&run);
}

static void views_are_as_deep_as_asked_and_paths_lead_inside(void **state) {
    (void)state;
    Run run;
    run_begin(&run,
              "const order = { items: [{ price: 3 }], 'a b': new Map([['k', 'x'.repeat(100)]]) }\n"
              "const many = Array.from({ length: 150 }, (_, i) => i)\n"
              "const self = {}; self.self = self\n"
              "await Task.run('x')\nreturn [order, many, self]",
              NULL);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    Buf json;
    Diag diag = {0};
    buf_init(&json, BYTES_MAX);
    flow_vm_inspect(run.vm, 16, &json);
    assert_non_null(
        strstr(buf_cstr(&json), "{\"key\":\"price\",\"type\":\"number\",\"text\":\"3\"}"));
    assert_non_null(strstr(buf_cstr(&json), "\"left_out\":50"));
    static const struct {
        const char *path, *text;
        Status status;
    } cases[] = {
        {"order.items[0].price",
         "{\"path\":\"order.items[0].price\",\"type\":\"number\",\"text\":\"3\"}", OK},
        {"order[\"a b\"].k", "\"size\":100}", OK},
        {"order.items[1]", "", ERR_NOT_FOUND},
        {"order.none", "", ERR_NOT_FOUND},
        {"order.items.length[0]", "", ERR_NOT_FOUND},
        {"nothing", "", ERR_NOT_FOUND},
        {"", "", ERR_INVALID},
        {"order.", "", ERR_INVALID},
        {"order[", "", ERR_INVALID},
        {"order[99999999999]", "", ERR_INVALID},
        {"order[\"a", "", ERR_INVALID},
        {"order items", "", ERR_INVALID},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        buf_clear(&json);
        Status status = flow_vm_inspect_path(run.vm, str_from(cases[i].path), 0, &json, &diag);
        assert_status(status, cases[i].status);
        if (status == OK) assert_non_null(strstr(buf_cstr(&json), cases[i].text));
    }
    buf_done(&json);
    run_end(&run);
}

static void post_mortem_has_the_frames_that_the_exception_left(void **state) {
    (void)state;
    Run run;
    run_begin(&run,
              "function inner(n) { const deep = [n]; return deep.x.y }\n"
              "async function outer(a) { const kept = 'k'; await null; return inner(a + 1) }\n"
              "try { inner(7) } catch {}\n"
              "const mine = { big: 'z'.repeat(500000) }\n"
              "await outer(1)",
              NULL);
    assert_int_equal(run_turn(&run), FLOW_FAILED);
    Buf json;
    buf_init(&json, 64 << 10);
    assert_true(flow_vm_post_mortem(run.vm, &json));
    const char *text = buf_cstr(&json);
    const char *first = strstr(text, "\"function\":\"inner\"");
    const char *second = strstr(text, "\"function\":\"outer\"");
    assert_true(first && second && first < second);
    assert_non_null(strstr(text, "\"name\":\"n\",\"type\":\"number\",\"text\":\"2\""));
    assert_non_null(strstr(text, "\"name\":\"kept\""));
    assert_non_null(strstr(text, "\"name\":\"mine\""));
    assert_non_null(strstr(text, "{\"line\":1,\"text\":\"function inner"));
    buf_done(&json);
    buf_init(&json, 500); // however small the room is, it is valid or nothing
    if (flow_vm_post_mortem(run.vm, &json)) assert_false(json.is_overflown);
    buf_done(&json);
    run_end(&run);
}

static void post_mortem_names_the_causes(void **state) {
    (void)state;
    Run run;
    run_begin(&run, "try { null.x } catch (e) { throw new Error('outer', { cause: e }) }", NULL);
    assert_int_equal(run_turn(&run), FLOW_FAILED);
    Buf json;
    buf_init(&json, 64 << 10);
    assert_true(flow_vm_post_mortem(run.vm, &json));
    assert_non_null(strstr(buf_cstr(&json), "\"causes\":[{\"type\":\"TypeError\""));
    buf_done(&json);
    run_end(&run);
}

// --- what snapshots rely on

static void every_intrinsic_has_types(void **state) {
    (void)state;
    flow_realm();
    const FlowNativeEntry *entry;
    for (uint32_t i = 0; (entry = flow_intrinsic(i)); i++) {
        if (!flow_intrinsic_is_typed(entry))
            fail_msg("%%%s is not in "
                     "intrinsic_types.c",
                     entry->name);
    }
}

typedef struct Walk { // over everything a script can reach without making anything
    FlowObject *objects[4096];
    size_t count;
} Walk;

static void visit(Walk *walk, FlowValue value, FlowKey key) {
    if (flow_is_symbol(value)) {
        assert_false(str_is_null(flow_realm_path(flow_as_pointer(value))));
        return;
    }
    if (!flow_is_object(value)) return;
    for (size_t i = 0; i < walk->count; i++) {
        if (walk->objects[i] == flow_as_object(value)) return;
    }
    if (str_is_null(flow_realm_path(flow_as_object(value)))) {
        const FlowString *name = flow_as_string((FlowValue){key.bits});
        bool is_text = !flow_key_is_symbol(key);
        fail_msg("a built-in without a path: %.*s", is_text ? (int)name->cell.aux : 1,
                 is_text ? (const char *)name->latin1 : "?");
    }
    assert_true(walk->count < COUNT_OF(walk->objects));
    walk->objects[walk->count++] = flow_as_object(value);
}

static void every_built_in_has_a_path(void **state) {
    (void)state;
    static Walk walk;
    const FlowRealm *realm = flow_realm();
    FlowKey none = flow_key_atom(realm->names[NAME_empty]);
    visit(&walk, flow_from_object(realm->global), none);
    for (size_t i = 0; i < PROTO_COUNT; i++) {
        if (realm->protos[i]) visit(&walk, flow_from_object(realm->protos[i]), none);
    }
    for (size_t at = 0; at < walk.count; at++) {
        const FlowObject *object = walk.objects[at];
        if (object->shape->proto) visit(&walk, flow_from_object(object->shape->proto), none);
        for (uint32_t i = 0; i < object->shape->count; i++) {
            const struct FlowKeyEntry *entry = &object->shape->keys->entries[i];
            if (!(entry->attributes & PROPERTY_ACCESSOR)) {
                visit(&walk, object->slots[i], entry->key);
                continue;
            }
            const FlowAccessor *accessor = flow_as_pointer(object->slots[i]);
            visit(&walk, accessor->getter, entry->key);
            visit(&walk, accessor->setter, entry->key);
        }
    }
    assert_true(walk.count > 400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primitives_survive),
        cmocka_unit_test(long_strings_and_ropes_survive),
        cmocka_unit_test(cyclic_and_shared_references_survive),
        cmocka_unit_test(property_order_and_deleted_properties_survive),
        cmocka_unit_test(accessors_and_attributes_survive),
        cmocka_unit_test(frozen_sealed_and_closed_objects_survive),
        cmocka_unit_test(sparse_arrays_and_holes_survive),
        cmocka_unit_test(symbols_survive),
        cmocka_unit_test(big_integers_survive),
        cmocka_unit_test(dates_wrappers_and_regular_expressions_survive),
        cmocka_unit_test(errors_survive_with_cause_and_stack),
        cmocka_unit_test(maps_and_sets_survive_in_order),
        cmocka_unit_test(iterations_in_progress_survive),
        cmocka_unit_test(weak_collections_keep_what_is_reachable),
        cmocka_unit_test(dead_keys_of_weak_collections_are_left_out),
        cmocka_unit_test(closures_share_their_variables),
        cmocka_unit_test(uninitialised_variables_stay_uninitialised),
        cmocka_unit_test(bound_functions_and_function_properties_survive),
        cmocka_unit_test(classes_survive_with_private_names),
        cmocka_unit_test(generators_survive_in_the_middle),
        cmocka_unit_test(async_generators_survive_with_their_requests),
        cmocka_unit_test(tagged_templates_keep_their_identity),
        cmocka_unit_test(an_await_inside_an_expression_survives),
        cmocka_unit_test(nested_finally_blocks_survive),
        cmocka_unit_test(promises_survive_in_every_state),
        cmocka_unit_test(combinators_survive_half_done),
        cmocka_unit_test(handles_survive_with_their_ids),
        cmocka_unit_test(the_microtask_queue_survives),
        cmocka_unit_test(thenables_and_subclassed_promises_survive),
        cmocka_unit_test(cancellation_survives),
        cmocka_unit_test(built_ins_survive_in_the_middle),
        cmocka_unit_test(changed_built_ins_survive),
        cmocka_unit_test(inputs_and_random_numbers_survive),
        cmocka_unit_test(the_example_is_small),
        cmocka_unit_test(the_same_state_gives_the_same_bytes),
        cmocka_unit_test(a_snapshot_names_its_code),
        cmocka_unit_test(other_code_is_a_conflict),
        cmocka_unit_test(damaged_bytes_are_corrupt),
        cmocka_unit_test(a_large_state_is_compressed),
        cmocka_unit_test(a_state_over_the_limit_names_its_largest_variables),
        cmocka_unit_test(a_small_heap_refuses_a_large_snapshot),
        cmocka_unit_test(inspection_says_where_and_what),
        cmocka_unit_test(views_are_as_deep_as_asked_and_paths_lead_inside),
        cmocka_unit_test(post_mortem_has_the_frames_that_the_exception_left),
        cmocka_unit_test(post_mortem_names_the_causes),
        cmocka_unit_test(every_intrinsic_has_types),
        cmocka_unit_test(every_built_in_has_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
