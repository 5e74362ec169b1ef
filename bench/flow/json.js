// JSON: what every task call and every result goes through.
function makeDocument(count) {
  const items = [];
  for (let i = 0; i < count; i++) {
    items.push({
      id: i,
      name: "Article number " + i,
      price: i * 1.25,
      tags: ["new", "tag" + (i % 10), "quoted \"text\"\n"],
      size: { width: i % 50, height: i % 70, unit: "cm" },
      isAvailable: i % 3 === 0,
      note: null,
    });
  }
  return { kind: "order", items };
}

function run() {
  const text = JSON.stringify(makeDocument(1200));
  let size = 0;
  for (let i = 0; i < 8; i++) {
    const copy = JSON.parse(text);
    copy.round = i;
    size += JSON.stringify(copy).length + copy.items.length;
  }
  size += JSON.stringify(JSON.parse(text), null, 2).length;
  return size;
}
