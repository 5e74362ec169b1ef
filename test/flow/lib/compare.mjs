// Compare: decides whether two answers to the same program mean the same.
//
// Results and everyday messages must be equal to the character.  Load errors must be load errors on
// both sides; their wording is our own.  The table below is the whole list of messages that are
// compared by error name only, each with the reason.

export const NAME_ONLY = [
  { name: 'SyntaxError', message: /^Invalid regular expression/, why: 'the explanation comes from the regular expression engine' },
  { name: 'SyntaxError', message: /is not valid JSON$|JSON at position|end of JSON input/, why: 'the excerpt of the text is V8\'s own layout' },
  { name: 'RangeError', message: /^Maximum call stack size exceeded/, why: 'call depth is a budget, with its own wording' },
  { name: 'RangeError', message: /^Invalid string length/, why: 'string length is a budget, with its own wording' },
  { name: 'TypeError', message: /^Converting circular structure to JSON/, why: 'the drawing of the cycle is V8\'s own layout' },
  { name: 'DataCloneError', message: /./, why: 'a host error, worded by each host' },
];

// Words of V8 that are plainly a slip; both sides are read without them.
const SLIPS = / \(cannot read property undefined\)/g;

// Where a register was loaded before (`let a = v; [...v]`) V8 loses the place of a spread and names
// the value instead of the expression; read by what both say.
const UNNAMED = /\b(?:number|string|boolean|object|symbol|bigint|function) [^"]*? is not iterable \(cannot read property Symbol\(Symbol\.iterator\)\)|\bundefined is not iterable \(cannot read property Symbol\(Symbol\.iterator\)\)/;

function sameButUnnamed(expected, actual) {
  const parts = expected.split(UNNAMED);
  let at = 0;
  return parts.length > 1 && actual.startsWith(parts[0]) && actual.endsWith(parts.at(-1)) && parts.every((part, i) => {
    const next = actual.indexOf(part, at);
    const between = actual.slice(at, next);
    at = next + part.length;
    return next >= 0 && (i === 0 || (between.endsWith(' is not iterable') && !between.includes('"')));
  });
}

// Everything the prelude shows of a thrown value: "throws Name: message".
const THROWN = /^throws (\w+): ([^]*)$/;

function isNameOnly(name, message) {
  return NAME_ONLY.some(row => row.name === name && row.message.test(message));
}

function sameText(expected, actual) {
  if (expected === actual) return true;
  if (typeof expected !== 'string' || typeof actual !== 'string') return false;
  if (expected.replace(SLIPS, '') === actual.replace(SLIPS, '')) return true;
  if (sameButUnnamed(expected, actual)) return true;
  const left = THROWN.exec(expected);
  const right = THROWN.exec(actual);
  return Boolean(left && right && left[1] === right[1] && isNameOnly(left[1], left[2]));
}

// "same" | "differs" | "refused" (not loaded by us, though Node runs it) | "crash" | "hang"
export function verdict(expected, actual) {
  if (actual.phase === 'crash' || actual.phase === 'hang') return actual.phase;
  if (!expected.ok && expected.phase === 'load') return !actual.ok && actual.phase === 'load' ? 'same' : 'differs';
  if (!actual.ok && actual.phase === 'load') return 'refused';
  if (expected.ok !== actual.ok) return 'differs';
  if (expected.ok) {
    const isSame = sameText(expected.result, actual.result)
      || JSON.stringify(expected.result) === JSON.stringify(actual.result);
    return isSame ? 'same' : 'differs';
  }
  if (expected.error.name !== actual.error.name) return 'differs';
  if (expected.error.message === actual.error.message) return 'same';
  return isNameOnly(expected.error.name, expected.error.message) ? 'same' : 'differs';
}

export function describe(answer) {
  if (answer.ok) return typeof answer.result === 'string' ? answer.result : JSON.stringify(answer.result);
  return `${answer.phase} error ${answer.error?.name}: ${answer.error?.message}`;
}
