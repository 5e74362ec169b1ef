// Map and Set: adding, asking, deleting, iterating.
function run() {
  let sum = 0;
  for (let r = 0; r < 2; r++) {
    const byNumber = new Map();
    for (let i = 0; i < 20000; i++) byNumber.set(i * 7, i);
    for (let i = 0; i < 40000; i++) if (byNumber.has(i)) sum += byNumber.get(i) & 15;
    for (let i = 0; i < 20000; i += 2) byNumber.delete(i * 7);
    for (const [key, value] of byNumber) sum = (sum + key - value) % 1000003;

    const words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];
    const counts = new Map();
    for (let i = 0; i < 40000; i++) {
      const word = words[(i * 5) % 8];
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    counts.forEach((value, key) => { sum += value + key.length; });

    const seen = new Set();
    for (let i = 0; i < 40000; i++) seen.add("id-" + (i % 5000));
    for (const id of seen) sum += id.length;
    const objects = Array.from({ length: 5000 }, (_, i) => ({ i }));
    const chosen = new Set(objects);
    for (const one of objects) if (chosen.has(one)) sum += one.i & 1;
    sum += seen.size + chosen.size + [...byNumber.keys()].length;
  }
  return sum;
}
