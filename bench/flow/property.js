// Properties: reading and writing named fields, of one shape and of several, and by computed key.
function makeOrder(i) {
  return { id: i, customer: { name: "c" + (i % 7), level: i % 3 }, price: i * 2, count: i % 5, paid: false };
}

function totals(orders, rounds) {
  let total = 0;
  for (let r = 0; r < rounds; r++) {
    for (let i = 0; i < orders.length; i++) {
      const order = orders[i];
      total = (total + order.price * order.count + order.customer.level) % 1000003;
      order.paid = total > 1000;
      order.count = (order.count + 1) % 5;
    }
  }
  return total;
}

function shapes(rounds) {
  const items = [{ kind: 1, size: 3 }, { size: 4, kind: 2 }, { name: "x", kind: 3, size: 5 }, { size: 1, kind: 4, z: 0 }];
  let sum = 0;
  for (let i = 0; i < rounds; i++) {
    const item = items[i & 3];
    sum = (sum + item.kind * item.size) & 0xfffff;
  }
  return sum;
}

function computed(rounds) {
  const counts = { apple: 0, pear: 0, plum: 0, fig: 0 };
  const names = ["apple", "pear", "plum", "fig", "apple"];
  for (let i = 0; i < rounds; i++) {
    const name = names[i % 5];
    counts[name] = counts[name] + i % 3;
  }
  return counts.apple + counts.pear * 3 + counts.plum + counts.fig;
}

function create(rounds) {
  let last = null;
  let sum = 0;
  for (let i = 0; i < rounds; i++) {
    last = { value: i, next: i % 16 === 0 ? null : last };
    sum += last.next === null ? 1 : last.next.value & 1;
  }
  return sum;
}

function run() {
  const orders = [];
  for (let i = 0; i < 1000; i++) orders.push(makeOrder(i));
  return totals(orders, 100) + shapes(300000) + computed(200000) + create(100000);
}
