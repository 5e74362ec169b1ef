// Iteration: for-of over arrays, strings and generators, for-in, own iterators, entries.
function* range(from, to) {
  for (let i = from; i < to; i++) yield i;
}

class Countdown {
  constructor(from) { this.from = from; }
  [Symbol.iterator]() {
    let at = this.from;
    return { next: () => (at > 0 ? { value: at--, done: false } : { value: undefined, done: true }) };
  }
}

function run() {
  let sum = 0;
  const list = Array.from({ length: 1000 }, (_, i) => i);
  for (let r = 0; r < 60; r++) for (const n of list) sum = (sum + n) % 1000003;
  for (const n of range(0, 40000)) sum = (sum + n) % 1000003;
  for (const n of new Countdown(15000)) sum = (sum + n) % 1000003;
  for (let r = 0; r < 300; r++) for (const unit of "the quick brown fox jumps over the lazy dog") if (unit === "o") sum++;
  const record = { a: 1, b: 2, c: 3, d: 4, e: 5 };
  for (let r = 0; r < 4000; r++) {
    for (const key in record) sum += record[key];
    for (const key of Object.keys(record)) sum += key.length;
  }
  for (let r = 0; r < 20; r++) for (const [i, n] of list.entries()) sum = (sum + i * n) % 1000003;
  return sum;
}
