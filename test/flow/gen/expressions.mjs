// Expressions: typed-ish random expressions, so that most of them compute something.
//
// Each function takes the writer and a depth; at depth 0 only leaves are made.  Kept out, because
// engines may differ: Math functions that round, text of functions, locale, order of an inconsistent sort.

const INTS = ['0', '1', '2', '3', '-1', '5', '7', '10', '-4', '16', '100', '255'];
const NUMBERS = ['0.5', '-0', '1.5', '0.1', '0.2', '1e3', '2147483647', '-2147483648', '4294967296', '9007199254740991', '1e21', '1e-7', 'NaN', 'Infinity', '-2.5', '123.456', '0x1f', '1_000', '3.0000000000000004'];
const STRINGS = ['""', '"a"', '"b"', '"abc"', '"hello world"', '"A1b2C3"', '"x,y,z"', '"  pad "', '"é"', '"😀"', '"a😀b"', '"\\ud83d"', '"10"', '"-5"', '"3.14"', '"0x10"', '"true"', '"null"', '"line\\nbreak"', '"quote\\"s"', '"tab\\t"', '"zebra"', '"\\u0000"', '"ÀÉ"'];
const PATTERNS = ['/[a-z]/g', '/\\d+/g', '/\\s+/', '/(\\w)(\\w)?/', '/^./', '/.$/u', '/[aeiou]/gi', '/(?<first>\\w)(\\d)?/g', '/b|c/', '/\\W/g', '/(?=[a-c])/', '/(?<=a)./g', '/x*/g', '/[^a-z]+/gi', '/(a)|(b)/g', '/\\b/g', '/./gu', '/l+/g', '/,/', '/(.)\\1/'];
export const KEYS = ['a', 'b', 'c', 'd', 'k1', '1', '2', 'x y'];
const GLOBAL_PATTERNS = PATTERNS.filter(p => /\/[a-z]*g[a-z]*$/.test(p));

// .a, ?.a, ["x y"] or ?.["x y"]
export function member(w, isPlain = false) {
  const name = w.random.pick(KEYS);
  const question = !isPlain && w.random.chance(40) ? '?.' : '';
  return /^[A-Za-z]\w*$/.test(name) ? `${question || '.'}${name}` : `${question}[${JSON.stringify(name)}]`;
}

const pickOne = (w, table) => w.random.weighted(table)();

function orLeaf(w, type, leaf) {
  const name = w.variable(type);
  return name && w.random.chance(70) ? name : leaf();
}

// A call of a declared function that gives this type, or null.
function callOf(w, type, depth) {
  const found = w.functions.filter(f => f.returns === type && f.isVisible(w) && (!f.isAsync || w.place.isAsync));
  if (!found.length) return null;
  const f = w.random.pick(found);
  const args = f.params.map(p => p.hasDefault && w.random.chance(30) ? 'undefined' : expression(w, p.type, depth - 1));
  if (f.hasRest && w.random.chance(60)) args.push(`...${array(w, depth - 1)}`);
  const call = `${f.name}(${args.join(', ')})`;
  return f.isAsync ? `(await ${call})` : call;
}

function wrapCommon(w, type, depth) {
  return pickOne(w, [
    [3, () => `(${bool(w, depth - 1)} ? ${expression(w, type, depth - 1)} : ${expression(w, type, depth - 1)})`],
    [1, () => `(${any(w, depth - 1)}, ${expression(w, type, depth - 1)})`],
    [3, () => callOf(w, type, depth) ?? expression(w, type, depth - 1)],
    [1, () => `(() => ${arrowBody(w, () => expression(w, type, depth - 1))})()`],
    [2, () => w.place.isAsync ? `(await ${w.random.chance(50) ? expression(w, type, depth - 1) : `Promise.resolve(${expression(w, type, depth - 1)})`})` : expression(w, type, depth - 1)],
    [1, () => `note("e", ${expression(w, type, depth - 1)})`],
  ]);
}

// Inside a plain arrow no await or yield may be written.
export function arrowBody(w, make) {
  return w.within({ isAsync: false, isGenerator: false }, make);
}

export function number(w, depth) {
  const leaf = () => w.random.pick(w.random.chance(60) ? INTS : NUMBERS);
  if (depth <= 0) return orLeaf(w, 'num', leaf);
  return pickOne(w, [
    [4, () => orLeaf(w, 'num', leaf)],
    [8, () => `(${number(w, depth - 1)} ${w.random.pick(['+', '-', '*', '/', '%'])} ${number(w, depth - 1)})`],
    [4, () => `(${number(w, depth - 1)} ${w.random.pick(['|', '&', '^', '<<', '>>', '>>>'])} ${number(w, depth - 1)})`],
    [1, () => `((${number(w, depth - 1)} & 15) ** (${number(w, depth - 1)} & 7))`],
    [2, () => `(${w.random.pick(['-', '+', '~'])}(${number(w, depth - 1)}))`],
    [3, () => `Math.${w.random.pick(['floor', 'ceil', 'round', 'trunc', 'abs', 'sign', 'fround', 'sqrt', 'clz32'])}(${number(w, depth - 1)})`],
    [2, () => `Math.${w.random.pick(['min', 'max', 'imul'])}(${number(w, depth - 1)}, ${number(w, depth - 1)})`],
    [2, () => `Math.max(...${numbers(w, depth - 1)})`],
    [2, () => `${string(w, depth - 1)}.length`],
    [2, () => `${array(w, depth - 1)}.length`],
    [2, () => `${numbers(w, depth - 1)}.reduce((p, q) => p ${w.random.pick(['+', '-', '*'])} q, ${number(w, depth - 1)})`],
    [2, () => `Number(${any(w, depth - 1)})`],
    [1, () => `parseInt(${string(w, depth - 1)}${w.random.chance(40) ? `, ${w.random.pick(['2', '8', '16', '36'])}` : ''})`],
    [1, () => `parseFloat(${string(w, depth - 1)})`],
    [1, () => `${string(w, depth - 1)}.charCodeAt(${number(w, depth - 1)})`],
    [1, () => `${string(w, depth - 1)}.${w.random.pick(['indexOf', 'lastIndexOf', 'search'])}(${w.random.pick(STRINGS.slice(0, 4))})`],
    [1, () => `${array(w, depth - 1)}.${w.random.pick(['indexOf', 'lastIndexOf'])}(${any(w, depth - 1)})`],
    [1, () => `${numbers(w, depth - 1)}.${w.random.pick(['findIndex', 'findLastIndex'])}(${predicate(w, depth)})`],
    [1, () => `${collection(w, depth - 1)}.size`],
    [1, () => `new Date(${number(w, depth - 1)}).${w.random.pick(['getTime', 'getUTCDay', 'getUTCFullYear', 'getMonth', 'getDate', 'getHours'])}()`],
    [2, () => { const v = w.variable('num', true); return v ? w.random.pick([`(${v}++)`, `(++${v})`, `(${v}--)`, `(${v} += ${number(w, depth - 1)})`, `(${v} = ${number(w, depth - 1)})`]) : leaf(); }],
    [4, () => wrapCommon(w, 'num', depth)],
  ]);
}

export function string(w, depth) {
  const leaf = () => w.random.pick(STRINGS);
  if (depth <= 0) return orLeaf(w, 'str', leaf);
  return pickOne(w, [
    [4, () => orLeaf(w, 'str', leaf)],
    [5, () => `(${string(w, depth - 1)} + ${any(w, depth - 1)})`],
    [5, () => `\`${w.random.pick(['', '<', 'v='])}\${${any(w, depth - 1)}}${w.random.pick(['', '|', '>'])}\${${string(w, depth - 1)}}\``],
    [2, () => `${string(w, depth - 1)}.slice(${number(w, 0)}${w.random.chance(60) ? `, ${number(w, 0)}` : ''})`],
    [2, () => `${string(w, depth - 1)}.${w.random.pick(['toUpperCase', 'toLowerCase', 'trim', 'trimStart', 'trimEnd', 'toString', 'normalize'])}()`],
    [1, () => `${string(w, depth - 1)}.${w.random.pick(['substring', 'substr'])}(${number(w, 0)}, ${number(w, 0)})`],
    [1, () => `${string(w, depth - 1)}.repeat(${number(w, depth - 1)} & 3)`],
    [1, () => `${string(w, depth - 1)}.${w.random.pick(['padStart', 'padEnd'])}(${number(w, 0)} & 15, ${string(w, 0)})`],
    [1, () => `${string(w, depth - 1)}.charAt(${number(w, depth - 1)})`],
    [3, () => `${string(w, depth - 1)}.replace(${w.random.pick(PATTERNS)}, ${replacement(w, depth)})`],
    [1, () => `${string(w, depth - 1)}.replaceAll(${w.random.chance(50) ? w.random.pick(GLOBAL_PATTERNS) : w.random.pick(STRINGS.slice(1, 6))}, ${replacement(w, depth)})`],
    [2, () => `${string(w, depth - 1)}.split(${w.random.chance(50) ? w.random.pick(PATTERNS) : string(w, 0)}).join(${string(w, 0)})`],
    [2, () => `${array(w, depth - 1)}.join(${string(w, 0)})`],
    [2, () => `String(${any(w, depth - 1)})`],
    [1, () => `(typeof ${any(w, depth - 1)})`],
    [1, () => `JSON.stringify(${w.random.chance(60) ? object(w, depth - 1) : array(w, depth - 1)}${w.random.chance(30) ? `, null, ${w.random.pick(['1', '2', '"-"'])}` : ''})`],
    [1, () => `(${number(w, depth - 1)}).toFixed(${w.random.int(6)})`],
    [1, () => `(${number(w, depth - 1)}).toPrecision(${w.random.between(1, 20)})`],
    [1, () => `(${number(w, depth - 1)} | 0).toString(${w.random.pick(['2', '8', '16', '36'])})`],
    [1, () => `String.fromCharCode(${number(w, depth - 1)} & 255)`],
    [1, () => `encodeURIComponent(${string(w, 0)}.replace(/[\\ud800-\\udfff]/g, "?"))`],
    [1, () => `Object.prototype.toString.call(${any(w, depth - 1)})`],
    [1, () => `(${w.random.pick(PATTERNS)}.exec(${string(w, depth - 1)})?.[${w.random.int(2)}] ?? ${string(w, 0)})`],
    [3, () => wrapCommon(w, 'str', depth)],
    ...(w.isAll ? [[1, () => `tag\`p\${${any(w, depth - 1)}}q\\n\${${any(w, 0)}}\``], [1, () => `String.raw\`a\\n\${${string(w, depth - 1)}}\``], [1, () => `String(${big(w, depth - 1)})`]] : []),
  ]);
}

function replacement(w, depth) {
  return w.random.pick([
    () => w.random.pick(['"-"', '"$&$&"', '"[$1]"', '"$$"', '"$`|$\'"', '"$2$1"', '"$<first>"', '""']),
    () => `m => ${arrowBody(w, () => `m + ${string(w, 0)}`)}`,
    () => '(m, ...rest) => rest.length + m.toUpperCase()',
    () => '(m, p1, p2) => `${p1}/${p2}`',
  ])();
}

export function bool(w, depth) {
  const leaf = () => w.random.pick(['true', 'false']);
  if (depth <= 0) return orLeaf(w, 'bool', leaf);
  return pickOne(w, [
    [2, () => orLeaf(w, 'bool', leaf)],
    [5, () => `(${number(w, depth - 1)} ${w.random.pick(['<', '>', '<=', '>=', '===', '!==', '=='])} ${number(w, depth - 1)})`],
    [2, () => `(${any(w, depth - 1)} ${w.random.pick(['==', '!=', '===', '!=='])} ${any(w, depth - 1)})`],
    // Not any with any: V8 takes an object at the right of a BigInt for a number (1n < ["1.5"]).
    [1, () => `(${any(w, depth - 1)} ${w.random.pick(['<', '>=', '>', '<='])} ${expression(w, w.random.pick(['num', 'str', 'bool']), depth - 1)})`],
    [1, () => `(${array(w, depth - 1)} ${w.random.pick(['<', '>=', '>', '<='])} ${any(w, depth - 1)})`],
    [2, () => `(${string(w, depth - 1)} ${w.random.pick(['<', '>', '===', '!=='])} ${string(w, depth - 1)})`],
    [3, () => `(${bool(w, depth - 1)} ${w.random.pick(['&&', '||'])} ${bool(w, depth - 1)})`],
    [2, () => `(!${bool(w, depth - 1)})`],
    [2, () => `${string(w, depth - 1)}.${w.random.pick(['includes', 'startsWith', 'endsWith'])}(${string(w, 0)})`],
    [2, () => `${array(w, depth - 1)}.includes(${any(w, depth - 1)})`],
    [2, () => `(${JSON.stringify(w.random.pick(KEYS))} in ${object(w, depth - 1)})`],
    [1, () => `${numbers(w, depth - 1)}.${w.random.pick(['some', 'every'])}(${predicate(w, depth)})`],
    [1, () => `Number.${w.random.pick(['isInteger', 'isNaN', 'isFinite', 'isSafeInteger'])}(${any(w, depth - 1)})`],
    [1, () => `${w.random.pick(PATTERNS)}.test(${string(w, depth - 1)})`],
    [1, () => `Array.isArray(${any(w, depth - 1)})`],
    [1, () => `Object.is(${any(w, depth - 1)}, ${any(w, depth - 1)})`],
    [1, () => `${collection(w, depth - 1)}.has(${any(w, depth - 1)})`],
    [1, () => `Object.hasOwn(${object(w, depth - 1)}, ${JSON.stringify(w.random.pick(KEYS))})`],
    [1, () => `(${any(w, depth - 1)} instanceof ${w.random.pick(['Array', 'Object', 'Map', 'Error', 'Date'])})`],
    [2, () => wrapCommon(w, 'bool', depth)],
  ]);
}

function predicate(w, depth) { return `n => ${arrowBody(w, () => `n ${w.random.pick(['<', '>', '===', '%'])} ${number(w, Math.min(1, depth - 1))}`)}`; }

// An array of numbers only: safe to sum and to sort by a - b.
export function numbers(w, depth) {
  const leaf = () => `[${Array.from({ length: w.random.int(5) }, () => w.random.pick(INTS)).join(', ')}]`;
  if (depth <= 0) return orLeaf(w, 'nums', leaf);
  return pickOne(w, [
    [3, () => orLeaf(w, 'nums', leaf)],
    [3, () => `[${number(w, depth - 1)}, ${number(w, depth - 1)}, ...${numbers(w, depth - 1)}]`],
    [2, () => `${numbers(w, depth - 1)}.map((n, i) => ${arrowBody(w, () => `n ${w.random.pick(['+', '*', '-'])} ${w.random.pick(['i', number(w, 0)])}`)})`],
    [2, () => `${numbers(w, depth - 1)}.filter(${predicate(w, depth)})`],
    [1, () => `${numbers(w, depth - 1)}.toSorted((p, q) => ${w.random.pick(['p - q', 'q - p', 'p < q ? -1 : p > q ? 1 : 0'])})`],
    [1, () => `Array.from({ length: ${w.random.int(5)} }, (_, i) => ${arrowBody(w, () => `i ${w.random.pick(['+', '*', '-', '**'])} ${w.random.pick(['1', '2', '3'])}`)})`],
    [1, () => `${numbers(w, depth - 1)}.${w.random.pick(['slice(1)', 'toReversed()', 'slice(-2)', 'concat([1, 2])', 'with(0, 1)'].slice(0, 4))}`],
    [1, () => `[...${string(w, depth - 1)}].map(c => c.codePointAt(0))`],
    [1, () => wrapCommon(w, 'nums', depth)],
  ]);
}

function callback(w, depth) {
  return w.random.pick([
    () => `x => ${arrowBody(w, () => any(w, Math.min(1, depth - 1)))}`,
    () => '(x, i) => `${i}:${String(x)}`',
    () => 'x => typeof x',
    () => '(x, i, all) => all.length - i',
    () => `(x, i) => ${arrowBody(w, () => `[i, ${any(w, 0)}]`)}`,
    () => 'x => x',
  ])();
}

export function array(w, depth) {
  const leaf = () => `[${Array.from({ length: w.random.int(4) }, () => w.random.chance(50) ? number(w, 0) : string(w, 0)).join(', ')}]`;
  if (depth <= 0) return orLeaf(w, w.random.chance(50) ? 'arr' : 'nums', leaf);
  return pickOne(w, [
    [3, () => orLeaf(w, 'arr', leaf)],
    [4, () => `[${elements(w, depth)}]`],
    [2, () => `${array(w, depth - 1)}.map(${callback(w, depth)})`],
    [1, () => `${array(w, depth - 1)}.filter(x => ${w.random.pick(['x', 'typeof x === "number"', 'x != null'])})`],
    [1, () => `${array(w, depth - 1)}.slice(${number(w, 0)}, ${number(w, 0)})`],
    [1, () => `${array(w, depth - 1)}.concat(${any(w, depth - 1)})`],
    [1, () => `${array(w, depth - 1)}.flat()`],
    [1, () => `${array(w, depth - 1)}.flatMap(x => [x, ${arrowBody(w, () => any(w, 0))}])`],
    [1, () => `${array(w, depth - 1)}.map(String).toSorted()`],
    [1, () => `${array(w, depth - 1)}.toSpliced(${number(w, 0)}, ${w.random.int(3)}, ${any(w, 0)})`],
    [1, () => `${array(w, depth - 1)}.toReversed()`],
    [2, () => `Object.${w.random.pick(['keys', 'values', 'entries'])}(${object(w, depth - 1)})`],
    [1, () => `[...${collection(w, depth - 1)}]`],
    [1, () => `[...${array(w, depth - 1)}.entries()]`],
    [1, () => `${string(w, depth - 1)}.split(${w.random.chance(50) ? w.random.pick(PATTERNS) : string(w, 0)})`],
    [1, () => `[...${string(w, depth - 1)}]`],
    [1, () => `(${string(w, depth - 1)}.match(${w.random.pick(GLOBAL_PATTERNS)}) ?? [])`],
    [1, () => `[...${string(w, depth - 1)}.matchAll(${w.random.pick(GLOBAL_PATTERNS)})].map(m => [m.index, ...m])`],
    [1, () => `Array.from(${string(w, depth - 1)}, c => c + c)`],
    [1, () => wrapCommon(w, 'arr', depth)],
    ...(w.isAll ? [[1, () => `[...take(${w.random.int(5)}, ${w.random.pick(['naturals()', array(w, depth - 1), string(w, depth - 1)])})]`]] : []),
  ]);
}

function elements(w, depth) {
  const parts = [];
  for (let i = w.random.int(4); i > 0; i--) {
    parts.push(pickOne(w, [[6, () => any(w, depth - 1)], [2, () => `...${array(w, depth - 1)}`], [1, () => ''], [1, () => number(w, depth - 1)]]));
  }
  return parts.join(', ') + (parts.at(-1) === '' ? ',' : '');
}

export function object(w, depth) {
  const leaf = () => `({ ${w.random.pick(KEYS.slice(0, 4))}: ${number(w, 0)} })`;
  if (depth <= 0) return orLeaf(w, 'obj', leaf);
  return pickOne(w, [
    [4, () => orLeaf(w, 'obj', leaf)],
    [6, () => objectLiteral(w, depth)],
    [1, () => `Object.assign({}, ${object(w, depth - 1)}, ${object(w, depth - 1)})`],
    [1, () => `Object.fromEntries(Object.entries(${object(w, depth - 1)}).map(([k, v]) => [k + ${string(w, 0)}.length, v]))`],
    [1, () => `JSON.parse(JSON.stringify(${object(w, depth - 1)}))`],
    [1, () => wrapCommon(w, 'obj', depth)],
  ]);
}

function objectLiteral(w, depth) {
  const parts = [];
  for (let i = w.random.int(4); i > 0; i--) {
    const name = w.random.pick(KEYS);
    const quoted = /^[A-Za-z]\w*$/.test(name) ? name : JSON.stringify(name);
    parts.push(pickOne(w, [
      [6, () => `${quoted}: ${any(w, depth - 1)}`],
      [2, () => { const v = w.variable(w.random.pick(['num', 'str', 'bool'])); return v ?? `${quoted}: ${any(w, depth - 1)}`; }],
      [2, () => `[${string(w, depth - 1)}]: ${any(w, depth - 1)}`],
      [2, () => `...${object(w, depth - 1)}`],
      // V8 moves an accessor to the front when the literal begins with a spread.
      [parts[0]?.startsWith('...') ? 0 : 1, () => `get ${quoted}() { return ${arrowBody(w, () => any(w, Math.min(1, depth - 1)))} }`],
      [1, () => `${quoted}: ${number(w, depth - 1)}`],
    ]));
  }
  return `({ ${parts.join(', ')} })`;
}

export function collection(w, depth) {
  return pickOne(w, [
    [3, () => w.variable('map') ?? `new Map([[${any(w, 0)}, ${any(w, 0)}]])`],
    [3, () => w.variable('set') ?? `new Set(${array(w, 0)})`],
    [1, () => `new Set(${array(w, depth - 1)})`],
    [1, () => `new Map(Object.entries(${object(w, depth - 1)}))`],
  ]);
}

export function big(w, depth) {
  const leaf = () => w.random.pick(['0n', '1n', '-1n', '7n', '255n', '-12n', '1234567890123456789n', '0xffffffffffffffffn', '(10n ** 20n)']);
  if (depth <= 0) return orLeaf(w, 'big', leaf);
  return pickOne(w, [
    [2, () => orLeaf(w, 'big', leaf)],
    [6, () => `(${big(w, depth - 1)} ${w.random.pick(['+', '-', '*', '&', '|', '^'])} ${big(w, depth - 1)})`],
    [2, () => `(${big(w, depth - 1)} ${w.random.pick(['/', '%'])} (${big(w, depth - 1)} || 3n))`],
    [1, () => `(${big(w, depth - 1)} ${w.random.pick(['<<', '>>'])} ${w.random.pick(['1n', '5n', '33n', '64n'])})`],
    [1, () => `(${w.random.pick(['-', '~'])}(${big(w, depth - 1)}))`],
    [1, () => `BigInt.${w.random.pick(['asIntN', 'asUintN'])}(${w.random.pick(['8', '32', '64'])}, ${big(w, depth - 1)})`],
    [1, () => `BigInt(${number(w, depth - 1)} | 0)`],
    [1, () => `(${bool(w, depth - 1)} ? ${big(w, depth - 1)} : ${big(w, depth - 1)})`],
  ]);
}

export function functionValue(w, depth) {
  const param = w.fresh('p');
  return orLeaf(w, 'fun', () => `(${param}${w.random.chance(40) ? ` = ${number(w, 0)}` : ''}) => ${arrowBody(w, () => {
    w.scopes.push([{ name: param, type: 'num', isMutable: true }]);
    const body = number(w, Math.max(0, depth - 1));
    w.scopes.pop();
    return body;
  })}`);
}

// Values that may be stored inside of others: no cycle can arise from them.
export function scalar(w, depth) {
  return pickOne(w, [[4, () => number(w, depth)], [4, () => `fit(${string(w, depth)})`], [1, () => bool(w, depth)], [1, () => w.random.pick(['null', 'undefined'])]]);
}

export function any(w, depth) {
  const leaf = () => w.random.pick(['null', 'undefined', 'true', 'false', 'NaN', '""', '0', '1', '"1"', '[]', '({})']);
  if (depth <= 0) return pickOne(w, [[2, leaf], [3, () => number(w, 0)], [3, () => string(w, 0)], [1, () => bool(w, 0)]]);
  return pickOne(w, [
    [1, leaf],
    [4, () => number(w, depth - 1)],
    [4, () => string(w, depth - 1)],
    [2, () => bool(w, depth - 1)],
    [2, () => array(w, depth - 1)],
    [2, () => object(w, depth - 1)],
    [2, () => `${array(w, depth - 1)}${w.random.pick([`[${number(w, 0)}]`, `.at(${number(w, 0)})`, `?.[${w.random.int(3)}]`])}`],
    [3, () => `${object(w, depth - 1)}${member(w)}`],
    [2, () => `(${any(w, depth - 1)} ${w.random.pick(['&&', '||', '??'])} ${any(w, depth - 1)})`],
    [1, () => `(${any(w, depth - 1)} + ${any(w, depth - 1)})`],
    [1, () => `(${any(w, depth - 1)} ${w.random.pick(['-', '*', '|'])} ${any(w, depth - 1)})`],
    [1, () => { const f = w.variable('fun'); return f ? `${f}(${number(w, depth - 1)})` : leaf(); }],
    [1, () => { const m = w.variable('map'); return m ? `${m}.get(${any(w, 0)})` : leaf(); }],
    [1, () => `(void ${number(w, depth - 1)})`],
    [1, () => `attempt(() => ${arrowBody(w, () => trouble(w))})`],
    [1, () => wrapCommon(w, 'any', depth)],
    ...(w.isAll ? [[1, () => big(w, depth - 1)], [1, () => instanceUse(w, depth) ?? leaf()]] : []),
  ]);
}

// Expressions that always or often throw, with a message everybody knows.
export function trouble(w) {
  const v = w.variable('num') ?? 'fuel';
  return w.random.pick([
    'null.x', 'undefined.y', 'missing', `${v}()`, `${v}.nope()`, `${v}.a.b`, `[...${v}]`, 'new Array(-1)', '"x".repeat(-1)',
    `(${v}).toFixed(101)`, '[].reduce((p, q) => p)', 'Object.keys(null)', '"a" in "b"', `new ${v}()`, '"k" in 5',
    'decodeURIComponent("%")', `(() => { throw new RangeError("r" + ${v}) })()`, `({}).f.g`, `[1, 2].map(${v})`, 'new Date(NaN).toISOString()',
    `(() => { const c = 1; c = 2 })()`, `(() => { return late; let late })()`, `Object.freeze([1]).push(2)`, `(({ q }) => q)(null)`, `(() => { const [z] = null })()`,
  ]);
}

function instanceUse(w, depth) {
  const found = w.variables(v => v.type === 'inst');
  if (!found.length) return null;
  const name = w.random.pick(found).name;
  return w.random.pick([`${name}.value`, `${name}.twice(${number(w, depth - 1)})`, `${name}.total`, `${name} instanceof Base`, `String(${name})`, `${name}.constructor.name`]);
}

export function expression(w, type, depth) {
  switch (type) {
    case 'num': return number(w, depth);
    case 'str': return string(w, depth);
    case 'bool': return bool(w, depth);
    case 'arr': return array(w, depth);
    case 'nums': return numbers(w, depth);
    case 'obj': return object(w, depth);
    case 'fun': return functionValue(w, depth);
    case 'map': return `new Map(Object.entries(${object(w, depth - 1)}))`;
    case 'set': return `new Set(${array(w, depth - 1)})`;
    case 'big': return big(w, depth);
    default: return any(w, depth);
  }
}
