// Destructuring, defaults, spread and rest, in parameters, declarations and loops.
function distance({ x, y }, { x: x2, y: y2 } = { x: 0, y: 0 }) {
  return Math.abs(x - x2) + Math.abs(y - y2);
}

const swap = ([a, b]) => [b, a];
const total = (first, ...others) => others.reduce((sum, n) => sum + n, first);

function run() {
  let sum = 0;
  for (let i = 0; i < 60000; i++) {
    const { id, tags: [head, second = 5], extra = i & 1 } = { id: i, tags: [i & 7] };
    sum += id % 3 + head + second + extra;
    sum += distance({ x: i, y: 1 });
    sum %= 1000003;
  }
  let pair = [1, 2];
  for (let i = 0; i < 60000; i++) {
    pair = swap(pair);
    const [a, b] = pair;
    sum += a - b;
  }
  for (let i = 0; i < 10000; i++) {
    const base = { a: i, b: 2, c: 3 };
    const { a, ...rest } = { ...base, d: 4 };
    sum += rest.d + a % 2 + total(1, 2, ...[3, 4]);
  }
  const entries = Object.entries({ one: 1, two: 2, three: 3, four: 4 });
  for (let i = 0; i < 10000; i++) {
    for (const [key, value] of entries) sum += key.length * value;
  }
  return sum;
}
