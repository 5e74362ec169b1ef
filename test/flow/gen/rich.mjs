// Rich statements: classes, generators, accessors, symbols, big integers, weak collections.

import { any, array, arrowBody, big, bool, expression, number, object, scalar, string } from './expressions.mjs';
import { body } from './statements.mjs';

const method = (w, returns) => change => w.within({ isAsync: false, isGenerator: false, isFunction: true, loops: 0, labels: [], returns, ...change }, () => body(w, w.random.int(3)));

function classes(w) {
  const base = 'Base';
  const derived = w.fresh('C');
  const isDerived = w.random.chance(65);
  w.within({ isAsync: false, isGenerator: false, isFunction: false, isGuarded: false, loops: 0, labels: [] }, () => w.block(`class ${derived}${isDerived ? ` extends ${base}` : ''} {`, () => {
    w.emit(`${w.random.pick(['', '#'])}own${w.serial} = ${number(w, 1)}`);
    w.emit(`#secret = ${scalar(w, 1)}`);
    if (w.random.chance(50)) w.emit(`static count = ${number(w, 1)}`);
    if (w.random.chance(30)) w.emit(`static { note("static", this.name) }`);
    if (w.random.chance(60)) {
      w.within({ isAsync: false, isGenerator: false, isFunction: false, loops: 0, labels: [] }, () => w.block(`constructor(p = ${number(w, 1)}, ...rest) {`, () => {
        w.emit('tick()');
        w.declare('p', 'num', true);
        if (isDerived) { if (w.random.chance(30)) body(w, 1); w.emit('super(p, ...rest)'); }
        w.emit(`this.made = note("ctor", ${number(w, 1)})`);
        if (w.random.chance(30)) w.emit('this.target = new.target.name');
      }));
    }
    w.block('twice(p) {', () => {
      w.emit('tick()');
      w.declare('p', 'num', true);
      method(w, 'num')({});
      w.emit(`return ${isDerived && w.random.chance(70) ? 'super.twice(p)' : 'p * 2'} + ${number(w, 1)}`);
    });
    w.block('get total() {', () => { w.emit('tick()'); w.emit(`return [this.#secret, ${isDerived ? 'super.total' : 'this.made'}]`); });
    // V8 names an object with a toString of its own differently when a write fails.
    const hasText = w.random.chance(40);
    if (hasText || w.random.chance(50)) w.emit(`set total(v) { note("set total", v); this.#secret = v }`);
    if (w.random.chance(50)) w.emit(`#hidden(x) { return [x, #secret in this] } reveal(x) { return this.#hidden(x) }`);
    if (hasText) w.emit(`toString() { return "${derived}:" + String(this.made) }`);
    if (w.random.chance(30)) w.emit(`static make(...a) { return new this(...a) }`);
    if (w.random.chance(40)) w.emit(`*[Symbol.iterator]() { yield this.made; yield* ${arrowBody(w, () => array(w, 1))} }`);
  }));
  const name = w.fresh('o');
  w.emit(`const ${name} = attempt(() => new ${derived}(${arrowBody(w, () => number(w, 1))}))`);
  w.declare(name, 'inst', false);
  w.emit(`note("${name}", [attempt(() => ${name}.twice(${arrowBody(w, () => number(w, 1))})), attempt(() => ${name}.total), attempt(() => { ${name}.total = 1; return ${name}.total }), attempt(() => ${name}.reveal(1)), ${name} instanceof ${derived}, attempt(() => [...${name}])])`);
  if (w.random.chance(40)) w.emit(`note("misuse", [attempt(() => ${derived}()), attempt(() => ${derived}.make(1)), ${derived}.count])`);
}

function generators(w) {
  const name = w.fresh('g');
  w.within({ isAsync: false, isGenerator: true, isFunction: true, isGuarded: true, loops: 0, labels: [], returns: 'num' }, () => {
    w.block(`function* ${name}(p = ${number(w, 1)}) {`, () => {
      w.emit('tick()');
      w.declare('p', 'num', true);
      const steps = w.random.between(1, 4);
      for (let i = 0; i < steps; i++) {
        w.random.pick([
          () => w.emit(`p = Number(note("sent", yield ${number(w, 1)}))`),
          () => w.emit(`yield ${any(w, 1)}`),
          () => w.emit(`yield* ${w.random.pick([array(w, 1), string(w, 1)])}`),
          () => { w.emit('try {'); w.nested(() => { w.emit(`note("got", yield ${number(w, 1)})`); body(w, 1); }); w.emit(`} ${w.random.pick(['catch (e) { note("gc", thrown(e)); yield "c" }', 'finally { note("gf", 0) }', 'catch (e) { note("gc", thrown(e)) } finally { yield "f" }'])}`); },
          () => w.block(`for (let q = 0; q < ${w.random.between(1, 4)}; q++) {`, () => { w.emit('tick()'); w.declare('q', 'num', false); w.emit(`if (yield q) ${w.random.pick(['break', 'continue', 'return q'])}`); }),
          () => body(w, 1),
        ])();
      }
      w.emit(`return ${any(w, 1)}`);
    });
  });
  const it = w.fresh('it');
  w.emit(`const ${it} = ${name}(${w.random.chance(50) ? number(w, 1) : ''})`);
  for (let i = w.random.between(1, 4); i > 0; i--) {
    w.emit(`note("it", attempt(() => ${w.random.pick([() => `${it}.next(${arrowBody(w, () => scalar(w, 1))})`, () => `${it}.next()`, () => `${it}.return(${arrowBody(w, () => scalar(w, 1))})`, () => `${it}.throw(new Error("t"))`])()}))`);
  }
  w.emit(w.random.pick([
    () => `note("rest", attempt(() => [...take(6, ${it})]))`,
    () => `for (const x of ${name}(1)) { tick(); note("of", x); if (${bool(w, 1)}) break }`,
    () => `note("spread", attempt(() => { const [x, y = 1, ...z] = take(8, ${name}(2)); return [x, y, z] }))`,
  ])());
}

function asyncGenerators(w) {
  if (!w.place.isAsync) return generators(w);
  const name = w.fresh('ag');
  w.within({ isAsync: true, isGenerator: true, isFunction: true, isGuarded: true, loops: 0, labels: [], returns: 'num' }, () => {
    w.block(`async function* ${name}(p = 2) {`, () => {
      w.emit('tick()');
      w.declare('p', 'num', true);
      w.emit(w.random.pick(['yield 1', 'yield Promise.resolve("p")', 'await null', 'yield await later(2, "l")']));
      w.emit(`try { yield ${number(w, 1)}${w.random.chance(30) ? '; throw new Error("ag")' : ''} } ${w.random.pick(['finally { await null; note("agf", p) }', 'catch (e) { yield thrown(e) }'])}`);
      if (w.random.chance(40)) w.emit(`yield* ${w.random.pick(['[1, Promise.resolve(2)]', `${name}2()`].slice(0, 1))}`);
      if (w.random.chance(40)) body(w, 1);
      w.emit(`return ${number(w, 1)}`);
    });
  });
  w.emit(`try { for await (const x of ${name}()) { tick(); note("ag", x); if (${bool(w, 1)}) ${w.random.pick(['break', 'continue'])} } } catch (e) { note("agc", thrown(e)) }`);
  if (w.random.chance(50)) {
    const it = w.fresh('it');
    w.emit(`const ${it} = ${name}(1)`);
    w.emit(`note("queue", await Promise.allSettled([${it}.next(), ${it}.next(1), ${w.random.pick([`${it}.return("r")`, `${it}.throw(new Error("q"))`, `${it}.next()`])}, ${it}.next()]))`);
  }
}

function accessors(w) {
  const name = w.fresh('acc');
  w.emit(`const ${name} = { _v: ${number(w, 1)}, get v() { tick(); return note("get", this._v) }, set v(x) { tick(); this._v = note("set", x) }, get only() { return 1 } }`);
  w.emit(w.random.pick([
    () => `${name}.v += ${number(w, 1)}`,
    () => `${name}.v++; ${name}.v ??= 5`,
    () => `note("acc", attempt(() => { ${name}.only = 2 }))`,
    () => `;[${name}.v] = [${scalar(w, 1)}]`,
    () => `Object.defineProperty(${name}, "w", { get: () => note("w", 7), enumerable: ${w.random.chance(50)}, configurable: true })`,
  ])());
  w.emit(`note("acc", [{ ...${name} }, Object.keys(${name}), JSON.stringify(${name}), attempt(() => { const { v, only } = ${name}; return [v, only] })])`);
}

function symbols(w) {
  const name = w.fresh('sym');
  w.emit(`const ${name} = Symbol(${string(w, 0)}), ${name}o = { [${name}]: ${scalar(w, 1)}, a: 1, [Symbol.toPrimitive](hint) { return note("hint", hint) === "number" ? ${number(w, 0)} : "prim" } }`);
  w.emit(`note("sym", [${name}o[${name}], String(${name}), ${name} in ${name}o, \`\${${name}o}\`, ${name}o * 2, ${name}o + 1, Object.getOwnPropertySymbols({ ...${name}o }).length, attempt(() => ${name} + "")])`);
}

function bigs(w) {
  const name = w.fresh('v');
  w.emit(`let ${name} = BigInt.asIntN(200, ${big(w, 3)})`);
  w.declare(name, 'big', true);
  w.emit(`note("big", [${name}, ${name}.toString(${w.random.pick(['2', '16', '36'])}), ${big(w, 2)} ${w.random.pick(['<', '>', '==', '==='])} ${w.random.pick([big(w, 1), number(w, 1), string(w, 0)])}, attempt(() => ${name} ${w.random.pick(['+', '*', '/', '%', '**'])} ${w.random.pick(['1', '2n', '0n', '"s"'])})])`);
}

function iterables(w) {
  const name = w.fresh('src');
  w.emit(`const ${name} = { [Symbol.iterator]() { let n = 0; return { next() { tick(); return { value: note("next", n), done: n++ >= ${w.random.between(1, 4)} } }, return(v) { note("return", v); return {} } } } }`);
  w.emit(w.random.pick([
    () => `for (const x of ${name}) { if (x > ${w.random.int(3)}) break }`,
    () => `const [${name}a, ${name}b] = ${name}`,
    () => `note("all", [...${name}, ...new Set(${name})])`,
    () => `attempt(() => { for (const x of ${name}) throw new Error("body") })`,
    () => `note("from", Array.from(${name}, x => x * 2))`,
  ])());
}

function weak(w) {
  const name = w.fresh('wk');
  w.emit(`const ${name}k = {}, ${name} = new WeakMap([[${name}k, ${scalar(w, 1)}]]), ${name}s = new WeakSet([${name}k])`);
  w.emit(`note("weak", [${name}.get(${name}k), ${name}.has({}), ${name}s.has(${name}k), attempt(() => ${name}.set(1, 1)), ${name}.delete(${name}k), ${name}.has(${name}k)])`);
}

export const richStatements = [[5, classes], [6, generators], [3, asyncGenerators], [3, accessors], [2, symbols], [3, bigs], [3, iterables], [1, weak]];
