// Calls of every kind: spread, rest, defaults, call, apply and bind, accessors, tagged templates.
function sum3(a, b, c) { return a + b + c; }
function count(...items) { return items.length; }
function padded(a, b = 2, { c = 3 } = {}) { return a + b + c; }
function scaled(factor) { return this.base * factor; }
function tag(strings, ...values) { return strings.length + values.length; }

class Gauge {
  #level = 0;
  get level() { return this.#level; }
  set level(value) { this.#level = value & 1023; }
}

function run() {
  let sum = 0;
  const three = [1, 2, 3];
  for (let i = 0; i < 30000; i++) sum = (sum + sum3(...three) + count(i, i, i)) % 1000003;
  for (let i = 0; i < 40000; i++) sum = (sum + padded(i) + padded(i, 1, { c: i })) % 1000003;
  const owner = { base: 3 };
  const bound = scaled.bind(owner, 2);
  for (let i = 0; i < 20000; i++) {
    sum = (sum + scaled.call(owner, i) + scaled.apply(owner, [i]) + bound()) % 1000003;
  }
  const gauge = new Gauge();
  for (let i = 0; i < 40000; i++) {
    gauge.level = i;
    sum = (sum + gauge.level) % 1000003;
  }
  for (let i = 0; i < 20000; i++) sum += tag`a${i}b${sum}c`;
  return sum;
}
