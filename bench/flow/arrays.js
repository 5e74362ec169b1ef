// Arrays: methods with callbacks, push and pop, slices, spread, searching.
function pipeline(numbers, rounds) {
  let total = 0;
  for (let r = 0; r < rounds; r++) {
    total += numbers
      .map((n) => n * 2 + r)
      .filter((n) => n % 3 !== 0)
      .reduce((sum, n) => (sum + n) % 1000003, 0);
    numbers.forEach((n) => { total = (total + n) % 1000003; });
    if (numbers.some((n) => n < 0) || !numbers.every((n) => n >= 0)) total++;
    total += numbers.find((n) => n > 900) + numbers.findIndex((n) => n === 950);
  }
  return total;
}

function stack(rounds) {
  const items = [];
  let sum = 0;
  for (let i = 0; i < rounds; i++) {
    items.push(i);
    if (i % 3 === 2) sum = (sum + items.pop()) % 1000003;
  }
  while (items.length > 10) sum = (sum + items.pop()) % 1000003;
  return sum;
}

function matrix(size) {
  const make = (seed) => Array.from({ length: size }, (_, i) => Array.from({ length: size }, (__, j) => (i * seed + j) % 10));
  const a = make(3);
  const b = make(7);
  let trace = 0;
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++) {
      let cell = 0;
      for (let k = 0; k < size; k++) cell += a[i][k] * b[k][j];
      if (i === j) trace += cell;
    }
  }
  return trace;
}

function copies(numbers, rounds) {
  let sum = 0;
  for (let r = 0; r < rounds; r++) {
    const both = [...numbers, ...numbers.slice(0, 100)];
    sum += both.indexOf(999) + both.concat(numbers).length + both.reverse()[0] + (both.includes(-1) ? 1 : 0);
  }
  return sum;
}

function run() {
  const numbers = Array.from({ length: 1000 }, (_, i) => i);
  return pipeline(numbers, 40) + stack(150000) + matrix(60) + copies(numbers, 200);
}
