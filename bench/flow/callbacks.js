// Callbacks: chains of array methods over short and long lists, sorting by a comparator.
const long = Array.from({ length: 1000 }, (_, i) => i);
const short = [3, 1, 4, 1, 5];
const people = Array.from({ length: 400 }, (_, i) => ({ id: i, age: (i * 7919) % 97, name: "p" + (i * 31) % 400 }));

function run() {
  let sum = 0;
  for (let r = 0; r < 30; r++) {
    sum += long.map((n) => n * 2).filter((n) => n % 3 === 0).reduce((all, n) => all + n, 0) % 1009;
    if (long.some((n) => n > 990) && long.every((n) => n >= 0)) sum++;
    sum += long.findIndex((n) => n === 700) + long.flatMap((n) => (n & 1 ? [n] : [])).length;
  }
  for (let r = 0; r < 4000; r++) sum += short.map((n) => n + r).filter((n) => n & 1).reduce((all, n) => all + n, 0) % 7;
  for (let r = 0; r < 4; r++) {
    const sorted = [...people].sort((a, b) => a.age - b.age || (a.name < b.name ? -1 : 1));
    sum += sorted[r].id + Array.from(new Set(sorted.map((p) => p.age))).length;
  }
  return sum;
}
