// A workflow's own code: prices an order the way scripts do, many small objects and callbacks.
const RATES = { de: 0.19, fr: 0.2, us: 0.07 };

function price(order) {
  const { items, country, coupon } = order;
  const lines = items.map(({ sku, unit, count }) => ({ sku, amount: unit * count, label: `${count} x ${sku}` }));
  const net = lines.reduce((sum, line) => sum + line.amount, 0);
  const discount = coupon?.percent ? net * coupon.percent / 100 : 0;
  const tax = (net - discount) * (RATES[country] ?? 0);
  return { ...order, lines, net, discount, tax, total: Math.round((net - discount + tax) * 100) / 100 };
}

function group(orders) {
  const byCountry = {};
  for (const order of orders) {
    const key = order.country;
    if (!(key in byCountry)) byCountry[key] = { count: 0, total: 0, ids: [] };
    byCountry[key].count++;
    byCountry[key].total += order.total;
    byCountry[key].ids.push(order.id);
  }
  return byCountry;
}

function run() {
  const orders = [];
  for (let i = 0; i < 1500; i++) {
    orders.push({
      id: "o-" + i,
      country: ["de", "fr", "us", "xx"][i % 4],
      coupon: i % 3 === 0 ? { percent: 10 } : undefined,
      items: Array.from({ length: 3 + i % 4 }, (_, n) => ({ sku: "sku" + n, unit: n * 3 + 1, count: i % 5 + 1 })),
    });
  }
  const groups = group(orders.map(price));
  const open = orders.filter((order) => order.items.some((item) => item.count > 4)).length;
  const text = Object.entries(groups).map(([key, g]) => `${key}=${g.count}/${g.total.toFixed(2)}`).sort().join(";");
  return text.length + open + groups.de.ids.length;
}
