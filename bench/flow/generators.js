// Generators: loops, delegation, values sent in, early ends, spreading.
function* range(from, to) { for (let i = from; i < to; i++) yield i; }
function* both(n) {
  yield* range(0, n);
  yield* range(n, 2 * n);
}
function* average() {
  let total = 0;
  let count = 0;
  for (let value = yield 0; value !== undefined; value = yield total / count) {
    total += value;
    count++;
  }
}
function* walk(tree) {
  if (!tree) return;
  yield* walk(tree.left);
  yield tree.value;
  yield* walk(tree.right);
}
const grow = (depth, value) => (depth === 0 ? null : { value, left: grow(depth - 1, value * 2), right: grow(depth - 1, value * 2 + 1) });

function run() {
  let sum = 0;
  for (const n of range(0, 40000)) sum = (sum + n) % 1000003;
  for (const n of both(8000)) sum = (sum + n) % 1000003;
  const mean = average();
  mean.next();
  for (let i = 0; i < 8000; i++) sum += mean.next(i).value > 100 ? 1 : 0;
  mean.return();
  for (let i = 0; i < 2000; i++) for (const n of range(0, 100)) if (n > 3) { sum += n; break; }
  for (let i = 0; i < 20; i++) sum += [...range(0, 400)].length + Math.max(...range(0, 50));
  for (const value of walk(grow(10, 1))) sum = (sum + value) % 1000003;
  return sum;
}
