// Closures: making them, calling them, variables that several share, one per loop iteration.
function counter() {
  let n = 0;
  return { up: () => ++n, add: (by) => { n += by; return n; }, get: () => n };
}

const compose = (f, g) => (x) => g(f(x));
const adder = (a) => (b) => a + b;

function perIteration(rounds) {
  let sum = 0;
  for (let r = 0; r < rounds; r++) {
    const makers = [];
    for (let i = 0; i < 10; i++) makers.push(() => i * r);
    for (let i = 0; i < 10; i++) sum = (sum + makers[i]()) % 1000003;
  }
  return sum;
}

function run() {
  const one = counter();
  for (let i = 0; i < 100000; i++) {
    one.up();
    one.add(i & 3);
  }
  let f = (x) => x;
  for (let i = 0; i < 20; i++) f = compose(f, adder(i));
  let sum = 0;
  for (let i = 0; i < 4000; i++) sum = (sum + f(i)) % 1000003;
  for (let i = 0; i < 100000; i++) sum = (sum + adder(i)(1)) % 1000003;
  return sum + one.get() + perIteration(8000);
}
