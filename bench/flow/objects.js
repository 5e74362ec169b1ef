// Objects as records and as dictionaries: listing, copying, counting, grouping, deleting.
const record = { id: 7, name: "chair", price: 49.9, stock: 12, tags: null };
const words = "the quick brown fox jumps over the lazy dog and the cat".split(" ");

function run() {
  let sum = 0;
  for (let i = 0; i < 6000; i++) {
    for (const key in record) sum += key.length;
    sum += Object.keys(record).length + Object.values(record)[3];
    for (const [key, value] of Object.entries(record)) if (value === 12) sum += key.length;
  }
  for (let i = 0; i < 6000; i++) {
    const copy = Object.assign({}, record, { id: i });
    const { tags, ...rest } = copy;
    sum += { ...rest, tags, seen: true }.id & 1;
    if ("name" in copy && Object.hasOwn(copy, "price")) sum++;
  }
  for (let i = 0; i < 2000; i++) {
    const counts = {};
    for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
    sum += counts.the + Object.fromEntries(Object.entries(counts).slice(0, 3)).fox;
  }
  const table = {};
  for (let i = 0; i < 3000; i++) table["key" + i] = i;
  for (let i = 0; i < 3000; i += 2) delete table["key" + i];
  for (const key in table) sum += table[key];
  return sum;
}
