// Async: chains of awaits, promises in parallel, then handlers, async iteration.
async function leaf(n) {
  await null;
  return n & 3;
}

async function chain(depth) {
  if (depth === 0) return leaf(1);
  return (await chain(depth - 1)) + 1;
}

async function* numbers(count) {
  for (let i = 0; i < count; i++) yield i;
}

async function run() {
  let sum = 0;
  for (let i = 0; i < 24000; i++) sum += await leaf(i);
  for (let i = 0; i < 300; i++) sum += await chain(20);
  for (let i = 0; i < 100; i++) {
    const all = await Promise.all(Array.from({ length: 50 }, (_, n) => leaf(n)));
    sum += all.length + all[7];
  }
  let link = Promise.resolve(0);
  for (let i = 0; i < 8000; i++) link = link.then((n) => n + 1);
  sum += await link;
  for await (const n of numbers(6000)) sum += n & 1;
  for (let i = 0; i < 3000; i++) {
    try {
      await Promise.reject(i);
    } catch (reason) {
      sum += reason & 1;
    }
  }
  return sum;
}
