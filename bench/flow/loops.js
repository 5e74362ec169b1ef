// Counting loops over small integers: a sieve, remainders, bit operations.
function sieve(limit) {
  const composite = new Array(limit + 1).fill(false);
  let count = 0;
  for (let i = 2; i <= limit; i++) {
    if (composite[i]) continue;
    count++;
    for (let j = i * i; j <= limit; j += i) composite[j] = true;
  }
  return count;
}

function collatz(limit) {
  let longest = 0;
  for (let start = 1; start < limit; start++) {
    let n = start;
    let steps = 0;
    while (n !== 1) {
      n = n % 2 === 0 ? n / 2 : 3 * n + 1;
      steps++;
    }
    if (steps > longest) longest = steps;
  }
  return longest;
}

function mix(rounds) {
  let state = 12345;
  for (let i = 0; i < rounds; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state = (state + i) | 0;
  }
  return state;
}

function run() {
  return sieve(200000) + collatz(4000) + mix(300000);
}
