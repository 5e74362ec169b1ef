// Statements: control flow, declarations, closures, destructuring, exceptions, async orderings.
//
// Each kind of statement is a function of the writer that emits lines.  A body is several of them;
// the writer's budget says how many more the program may have.

import { KEYS, any, array, arrowBody, bool, collection, expression, member, number, numbers, object, scalar, string, trouble } from './expressions.mjs';
import { TYPES } from './writer.mjs';
import { richStatements } from './rich.mjs';

const ERRORS = ['Error', 'TypeError', 'RangeError', 'SyntaxError'];

const DEPTH = 3;

// Stored strings, arrays and objects are cut when they have grown [W2].
export function stored(type, text) {
  if (type === 'str' || type === 'arr' || type === 'nums' || type === 'obj') return `fit(${text})`;
  return type === 'big' ? `BigInt.asIntN(200, ${text})` : text;
}

function typeOf(w) {
  return w.random.pick(w.isAll && w.random.chance(12) ? ['big'] : TYPES);
}

function declare(w, type = typeOf(w)) {
  const keyword = w.random.weighted([[5, 'let'], [4, 'const'], [1, 'var']]);
  const shadowed = keyword === 'let' && w.place.depth > 0 && w.random.chance(15) ? w.variable(type) : null;
  const isOwn = shadowed && w.scopes.at(-1).some(v => v.name === shadowed);
  const name = shadowed && !isOwn && !w.isParameter(shadowed) ? shadowed : w.fresh('v');
  w.hidden.add(name);
  const text = stored(type, expression(w, type, DEPTH));
  w.hidden.delete(name);
  w.emit(`${keyword} ${name} = ${text}`);
  w.declare(name, type, keyword !== 'const');
  return name;
}

function assign(w) {
  const found = w.variables(v => v.isMutable && v.type !== 'inst' && v.type !== 'any');
  if (!found.length) return declare(w);
  const { name, type } = w.random.pick(found);
  if (type === 'num' && w.random.chance(60)) return w.emit(`${name} ${w.random.pick(['+=', '-=', '*=', '/=', '%=', '|=', '&=', '^=', '<<=', '>>=', '>>>='])} ${number(w, DEPTH)}`);
  if (type === 'str' && w.random.chance(40)) return w.emit(`${name} = fit(${name} + ${any(w, DEPTH - 1)})`);
  if (type === 'bool' && w.random.chance(40)) return w.emit(`${name} ${w.random.pick(['&&=', '||=', '??='])} ${bool(w, 2)}`);
  w.emit(`${name} = ${stored(type, expression(w, type, DEPTH))}`);
}

function observe(w) {
  const value = w.random.chance(40) ? `attempt(() => ${arrowBody(w, () => any(w, DEPTH))})` : any(w, DEPTH);
  w.emit(`note("${w.fresh('n')}", ${value})`);
}

function mutateArray(w) {
  const name = w.variable('nums', false) && w.random.chance(40) ? null : w.variable('arr');
  const nums = w.variable('nums');
  if (!name && !nums) return declare(w, 'arr');
  const target = name ?? nums;
  const value = () => name ? scalar(w, 2) : number(w, 2);
  w.emit(w.random.pick([
    () => `if (${target}.length < 12) ${target}.push(${value()}, ${value()})`,
    () => `note("pop", ${target}.${w.random.pick(['pop', 'shift'])}())`,
    () => `if (${target}.length < 12) ${target}.unshift(${value()})`,
    () => `note("splice", ${target}.splice(${number(w, 1)}, ${w.random.int(3)}, ${value()}))`,
    () => `${target}.reverse()`,
    () => name ? `${target}.sort()` : `${target}.sort((p, q) => p - q)`,
    () => `${target}[${w.random.int(5)}] = ${value()}`,
    () => `${target}.fill(${value()}, ${w.random.int(3)})`,
    () => `${target}.copyWithin(${w.random.int(3)}, ${w.random.int(3)})`,
    () => `${target}.length = Math.min(${target}.length, ${w.random.int(6)})`,
    () => `delete ${target}[${w.random.int(3)}]`,
    () => `${target}.forEach((x, i) => { if (i < 3) note("each" + i, x) })`,
    () => `;[${target}[0], ${target}[1]] = [${target}[1], ${target}[0]]`,
  ].filter((_, i) => name || i !== 10))());
}

function mutateObject(w) {
  const name = w.variable('obj');
  if (!name) return declare(w, 'obj');
  w.emit(w.random.pick([
    () => `attempt(() => { ${name}${member(w, true)} = ${arrowBody(w, () => scalar(w, 2))} })`,
    () => `attempt(() => delete ${name}${member(w, true)})`,
    () => `attempt(() => Object.assign(${name}, ${arrowBody(w, () => flatObject(w))}))`,
    () => `note("def", attempt(() => Object.keys(Object.defineProperty(${name}, ${JSON.stringify(w.random.pick(KEYS))}, { value: ${arrowBody(w, () => scalar(w, 1))}, enumerable: ${w.random.chance(60)}, writable: ${w.random.chance(60)}, configurable: ${w.random.chance(60)} }))))`,
    () => `note("freeze", attempt(() => { Object.${w.random.pick(['freeze', 'seal', 'preventExtensions'])}(${name}); ${name}.a = 1; return ${name} }))`,
    () => `note("nullish", attempt(() => ${name}${member(w, true)} ${w.random.pick(['??=', '||=', '&&='])} ${arrowBody(w, () => scalar(w, 1))}))`,
    () => `note("keys", [Object.keys(${name}), Object.entries(${name})])`,
  ])());
}

const flatObject = w => `({ ${w.random.pick(['a', 'b', 'c'])}: ${scalar(w, 1)}, ${w.random.pick(['c', 'd', 'e'])}: ${scalar(w, 1)} })`;

function mutateCollection(w) {
  const map = w.variable('map');
  const set = w.variable('set');
  if (!map && !set) return declare(w, w.random.pick(['map', 'set']));
  if (map && (w.random.chance(50) || !set)) {
    return w.emit(w.random.pick([
      () => `if (${map}.size < 12) ${map}.set(${scalar(w, 1)}, ${scalar(w, 2)})`,
      () => `note("del", ${map}.delete(${scalar(w, 1)}))`,
      () => `for (const [k, v] of ${map}) { tick(); note("entry", [k, v]); if (k === ${scalar(w, 0)}) ${map}.delete(k) }`,
      () => `${map}.forEach((v, k) => note("m", [k, v]))`,
    ])());
  }
  w.emit(w.random.pick([
    () => `if (${set}.size < 12) ${set}.add(${scalar(w, 2)})`,
    () => `note("del", ${set}.delete(${scalar(w, 1)}))`,
    () => `for (const v of ${set}) { tick(); note("member", v); if (${set}.size < 8) ${set}.add(${scalar(w, 0)}) }`,
    () => `note("set", [...${set}].map(String).join())`,
  ])());
}

function destructure(w) {
  const n = ['a', 'b', 'c'].map(() => w.fresh('v'));
  const keyword = w.random.pick(['let', 'const']);
  const isMutable = keyword === 'let';
  const fallback = () => w.random.chance(60) ? ` = ${number(w, 1)}` : '';
  const nested = w.random.chance(30);
  w.emit(w.random.pick([
    () => `${keyword} [${n[0]}${fallback()}, ${w.random.pick(['', ', '])}${n[1]}${fallback()}, ...${n[2]}] = ${array(w, 2)}`,
    // Not a computed key and a rest together: V8 then reads a getter that is left out of the rest.
    () => `${keyword} { a: ${n[0]}${fallback()}, b: ${n[1]}${fallback()}, ...${n[2]} } = ${object(w, 2)}`,
    () => `${keyword} { a: ${n[0]}${fallback()}, ["b"]: ${n[1]}${fallback()}, ["l" + 1]: ${n[2]} } = ${object(w, 2)}`,
    () => `${keyword} [{ a: ${n[0]} = ${number(w, 1)} } = {}, [${n[1]}${fallback()}] = []${nested ? `, ...[${n[2]}]` : `, ${n[2]}`}] = [${object(w, 1)}, ${numbers(w, 1)}, ${any(w, 1)}]`,
    () => `${keyword} { length: ${n[0]}, 0: ${n[1]} = "none", [${string(w, 0)}]: ${n[2]}${fallback()} } = ${string(w, 2)}`,
  ])());
  n.forEach(name => w.declare(name, 'any', isMutable));
  w.emit(`note("${w.fresh('d')}", [${n.join(', ')}])`);
}

function destructureAssign(w) {
  const a = w.variable('num', true);
  const b = w.variable('num', true);
  if (!a || !b) return destructure(w);
  w.emit(w.random.pick([
    () => `;[${a}, ${b} = ${number(w, 1)}] = [${b}, ${w.random.pick([a, 'undefined'])}]`,
    () => `;({ x: ${a}, y: { z: ${b} = ${number(w, 1)} } = {} } = { x: ${number(w, 2)}, y: ${w.random.pick(['undefined', `{ z: ${number(w, 1)} }`])} })`,
  ])());
}

function branch(w) {
  w.emit(`if (${bool(w, DEPTH)}) {`);
  w.nested(() => body(w, w.random.between(1, 3)));
  if (w.random.chance(25)) {
    w.emit(`} else if (${bool(w, 2)}) {`);
    w.nested(() => body(w, w.random.between(1, 2)));
  }
  if (w.random.chance(50)) {
    w.emit('} else {');
    w.nested(() => body(w, w.random.between(1, 2)));
  }
  w.emit('}');
}

// A loop body: ticks [W1], may leave early, may keep closures over the loop's variables.
function loopBody(w, label, variable) {
  w.emit('tick()');
  w.within({ loops: w.place.loops + 1, labels: label ? [...w.place.labels, label] : w.place.labels }, () => {
    if (variable && w.random.chance(25)) w.emit(`kept.push(() => ${variable})`);
    body(w, w.random.between(1, 3));
    if (w.random.chance(30)) w.emit(`if (${bool(w, 2)}) ${exit(w)}`);
    if (w.random.chance(30)) body(w, 1);
  });
}

// break, continue or return, whichever is possible here.
function exit(w) {
  const table = [];
  if (w.place.loops > 0) table.push([3, 'break'], [3, 'continue']);
  for (const label of w.place.labels) table.push([2, `break ${label}`], [2, `continue ${label}`]);
  if (w.place.isFunction) table.push([3, `return ${w.place.isGenerator ? number(w, 1) : expression(w, w.place.returns ?? 'num', 1)}`]);
  if (w.place.isGuarded || table.length === 0) table.push([1, w.place.isGuarded ? `throw new ${w.random.pick(ERRORS)}("x${w.random.int(9)}")` : 'tick()']);
  return w.random.weighted(table);
}

function loop(w) {
  const label = w.random.chance(25) ? w.fresh('loop') : null;
  const prefix = label ? `${label}: ` : '';
  const name = w.fresh('i');
  w.random.pick([
    () => w.block(`${prefix}for (let ${name} = ${w.random.int(3)}; ${name} < ${w.random.between(2, 6)}; ${name}${w.random.pick(['++', ' += 2'])}) {`, () => { w.declare(name, 'num', false); loopBody(w, label, name); }),
    () => { w.emit(`let ${name} = 0`); w.block(`${prefix}while (${name}++ < ${w.random.between(1, 5)}) {`, () => loopBody(w, label, null)); w.declare(name, 'num', false); },
    () => { w.emit(`let ${name} = ${w.random.between(1, 4)}`); w.block(`${prefix}do {`, () => loopBody(w, label, null), `} while (--${name} > 0)`); w.declare(name, 'num', false); },
    () => w.block(`${prefix}for (const ${name} of ${w.random.pick([() => `${array(w, 2)}.slice(0, 5)`, () => `${string(w, 1)}.slice(0, 5)`, () => collection(w, 1), () => numbers(w, 1)])()}) {`, () => { w.declare(name, 'any', false); loopBody(w, label, name); }),
    () => w.block(`${prefix}for (${w.random.pick(['const', 'let'])} ${name} in ${object(w, 2)}) {`, () => { w.declare(name, 'str', false); loopBody(w, label, name); }),
    () => w.block(`${prefix}for (const [${name}, ${name}b = ${number(w, 1)}] of Object.entries(${object(w, 2)})) {`, () => { w.declare(name, 'str', false); w.declare(`${name}b`, 'any', false); loopBody(w, label, `${name}b`); }),
  ])();
}

function choose(w) {
  const subject = w.random.pick([() => number(w, 2), () => string(w, 1), () => `${number(w, 1)} & 3`, () => 'true'])();
  w.block(`switch (${subject}) {`, () => {
    const count = w.random.between(1, 4);
    const at = w.random.int(count + 1);
    for (let i = 0; i <= count; i++) {
      w.emit(i === at ? 'default: {' : `case ${w.random.pick([() => number(w, 0), () => string(w, 0), () => bool(w, 1), () => String(i)])()}: {`);
      w.nested(() => { body(w, w.random.between(1, 2)); if (w.random.chance(60)) w.emit('break'); });
      w.emit('}');
    }
  });
}

// try / catch / finally mazes: every way of leaving from every part.
function maze(w) {
  const hasCatch = w.random.chance(w.place.isGuarded ? 60 : 85);
  const hasFinally = !hasCatch || w.random.chance(50);
  const isGuarded = hasCatch || w.place.isGuarded;
  w.emit('try {');
  w.within({ isGuarded }, () => w.nested(() => {
    body(w, w.random.between(1, 2));
    if (isGuarded && w.random.chance(60)) w.emit(w.random.pick([() => `throw new ${w.random.pick(ERRORS)}(${string(w, 1)})`, () => `if (${bool(w, 2)}) ${exit(w)}`, () => `throw ${scalar(w, 1)}`, () => `;${trouble(w)}`])());
  }));
  if (hasCatch) {
    const name = w.fresh('err');
    w.emit(w.random.chance(85) ? `} catch (${name}) {` : '} catch {');
    const isBound = w.lines.at(-1).includes(name);
    w.nested(() => {
      if (isBound) w.emit(`note("caught", thrown(${name}))`);
      body(w, w.random.int(2));
      if (w.random.chance(25)) w.emit(isBound && w.place.isGuarded && w.random.chance(50) ? `throw ${name}` : exit(w));
    });
  }
  if (hasFinally) {
    w.emit('} finally {');
    w.nested(() => { w.emit(`note("finally${w.serial}", ${number(w, 1)})`); body(w, w.random.int(2)); if (w.random.chance(20)) w.emit(`if (${bool(w, 1)}) ${exit(w)}`); });
  }
  w.emit('}');
}

function parameterList(w) {
  const params = Array.from({ length: w.random.int(4) }, () => ({ name: w.fresh('p'), type: w.random.pick(['num', 'str', 'nums', 'obj', 'num']) }));
  const texts = params.map((p, i) => {
    if (p.type === 'obj' && w.random.chance(40)) { p.isPattern = p.hasDefault = true; return `{ a: ${p.name} = ${number(w, 1)} } = {}`; }
    p.hasDefault = w.random.chance(40);
    return p.hasDefault ? `${p.name} = ${i > 0 && p.type === 'num' && params[i - 1].type === 'num' ? params[i - 1].name : expression(w, p.type, 1)}` : p.name;
  });
  const rest = w.random.chance(25) ? w.fresh('r') : null;
  if (rest) texts.push(`...${rest}`);
  return { params, rest, text: texts.join(', ') };
}

function makeFunction(w) {
  const name = w.fresh('f');
  const returns = w.random.pick(['num', 'str', 'arr', 'obj', 'bool', 'num']);
  const isAsync = w.random.chance(30);
  const level = w.scopes.length;
  const scope = w.scopes.at(-1);
  const list = w.within({ isAsync: false, isGenerator: false }, () => parameterList(w));
  const prefix = isAsync ? 'async ' : '';
  const isArrow = w.random.chance(35);
  const head = isArrow ? `const ${name} = ${prefix}(${list.text}) => {` : w.random.chance(60) ? `${prefix}function ${name}(${list.text}) {` : `const ${name} = ${prefix}function (${list.text}) {`;
  w.within({ isAsync, isGenerator: false, isFunction: true, isGuarded: w.random.chance(30), loops: 0, labels: [], returns }, () => {
    w.block(head, () => {
      for (const p of list.params) w.declare(p.name, p.isPattern ? 'any' : p.type, true), w.parameters.add(p.name);
      if (list.rest) w.declare(list.rest, 'arr', true), w.parameters.add(list.rest);
      w.emit('tick()');
      if (!isArrow && w.random.chance(15)) w.emit('note("args", arguments.length)');
      body(w, w.random.between(1, 4));
      w.emit(`return ${expression(w, returns, 2)}`);
    });
  });
  w.functions.push({ name, params: list.params, hasRest: Boolean(list.rest), returns, isAsync, isVisible: writer => writer.scopes.length >= level && writer.scopes.includes(scope) });
  if (w.random.chance(70)) w.emit(`note("${name}", ${isAsync ? (w.place.isAsync ? 'await attemptAsync' : 'typeof') : 'attempt'}(() => ${list.params.every(p => p.hasDefault) ? `${name}()` : `${name}(${list.params.map(p => arrowBody(w, () => expression(w, p.type, 1))).join(', ')})`}))`);
}

// Several tasks whose steps interleave: the log shows the order of microtasks.
function tasks(w) {
  if (!w.place.isAsync) return observe(w);
  const count = w.random.between(2, 3);
  const names = [];
  for (let t = 0; t < count; t++) {
    const name = w.fresh('t');
    names.push(name);
    w.within({ isAsync: true, isGenerator: false, isFunction: true, isGuarded: true, loops: 0, labels: [], returns: 'num' }, () => {
      w.block(`const ${name} = launch(async () => {`, () => {
        for (let i = w.random.between(1, 4); i > 0; i--) {
          w.emit(`note("${name}", ${number(w, 1)})`);
          w.emit(w.random.pick(['await null', 'await Promise.resolve()', 'await later(2)', `await ${names.length > 1 ? names[0] : 'null'}.catch?.(() => 0)`.replace('null.catch?.(() => 0)', 'null'), `try { await Promise.reject(${scalar(w, 1)}) } catch (e) { note("rej", e) }`, 'await { then(r) { r(1) } }']));
        }
        if (w.random.chance(20)) w.emit(`throw new ${w.random.pick(ERRORS)}("${name}")`);
        w.emit(`return ${w.random.chance(70) ? number(w, 1) : 'Promise.resolve(5)'}`);
      }, '})');
    });
    if (w.random.chance(50)) w.emit(`${name}.then(v => note("${name} then", v), e => note("${name} failed", thrown(e)))${w.random.chance(40) ? '.finally(() => note("fin", 0))' : ''}`);
  }
  w.emit(`note("settled", await Promise.${w.random.pick(['allSettled', 'allSettled', 'all', 'race', 'any'])}([${names.join(', ')}, ${w.random.pick(['1', 'later(1)', 'Promise.resolve(2)'])}]).catch(thrown))`);
  if (w.random.chance(50)) w.emit(`for await (const x of [${names[0]}.catch(() => "c"), ${number(w, 1)}]) { tick(); note("fa", x) }`);
}

function chain(w) {
  if (!w.place.isAsync) return observe(w);
  const steps = [];
  for (let i = w.random.between(1, 4); i > 0; i--) {
    steps.push(w.random.pick([
      () => `.then(v => ${arrowBody(w, () => `note("c", ${number(w, 1)})`)})`,
      () => `.then(() => { throw new ${w.random.pick(ERRORS)}("c") })`,
      () => '.catch(e => note("cc", thrown(e)))',
      () => '.finally(() => note("cf", 1))',
      () => '.then(v => later(1, v))',
      () => '.then(5)',
    ])());
  }
  w.emit(`${w.random.pick(['await ', ''])}Promise.${w.random.pick(['resolve', 'reject'])}(${scalar(w, 1)})${steps.join('')}.catch(e => note("end", thrown(e)))`);
}

function regexp(w) {
  const name = w.fresh('re');
  w.emit(`const ${name} = ${w.random.pick(['/(\\w)(\\d)?/g', '/a|b/gy', '/[^,]+/g', '/(?<k>[a-z])/g', '/./g', '/(?:)/g', '/\\s*(\\S+)/y', '/([aeiou])\\w/gi'])}`);
  const text = w.fresh('s');
  w.emit(`const ${text} = fit(${string(w, 2)})`);
  w.block(`for (let m, n = 0; n < 6 && (m = ${name}.exec(${text})); n++) {`, () => {
    w.emit('tick()');
    w.emit(`note("m", [m[0], m[1], m.index, ${name}.lastIndex, { ...m.groups }])`);
    w.emit(`if (m[0] === "") ${name}.lastIndex++`);
  });
  w.emit(`note("last", [${name}.lastIndex, ${name}.test(${text}), ${text}.replace(${name}, "<$&>"), ${text}.split(${name})])`);
}

function closures(w) {
  const name = w.fresh('counter');
  w.emit(`const ${name} = (() => { let n = ${arrowBody(w, () => number(w, 1))}; return { inc: (by = 1) => n += by, get: () => n } })()`);
  w.emit(`${name}.inc(${number(w, 1)}); ${name}.inc()`);
  w.emit(`note("counter", ${name}.get())`);
}

function probe(w) { w.emit(`note("${w.fresh('x')}", attempt(() => ${arrowBody(w, () => trouble(w))}))`); }

function block(w) { w.block('{', () => body(w, w.random.between(1, 3))); }

function update(w) {
  const name = w.variable('num', true);
  if (!name) return declare(w, 'num');
  w.emit(w.random.pick([`${name}++`, `--${name}`, `note("u", [${name}++, ++${name}, ${name}--])`, `note("u", ${name} = ${name} + ${name}++)`]));
}

const STATEMENTS = [
  [10, declare], [10, assign], [8, observe], [4, mutateArray], [4, mutateObject], [3, mutateCollection],
  [4, destructure], [2, destructureAssign], [6, branch], [6, loop], [3, choose], [6, maze], [5, makeFunction],
  [4, tasks], [2, chain], [2, regexp], [1, closures], [4, probe], [1, block], [2, update],
];

const SIMPLE = [[4, declare], [4, assign], [4, observe], [2, mutateArray], [2, mutateObject], [1, mutateCollection], [2, destructure], [2, update], [2, probe]];

export function body(w, count) {
  for (let i = 0; i < count; i++) {
    if (w.budget-- <= 0) { if (i === 0) w.emit('tick()'); return; }
    const table = w.place.depth >= 4 ? SIMPLE : w.isAll && w.random.chance(25) ? richStatements : STATEMENTS;
    w.random.weighted(table)(w);
  }
}
