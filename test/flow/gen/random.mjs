// Random: the generator's own source of choices, so that a seed means the same program everywhere.

export class Random {
  #state;

  constructor(seed) {
    let mixed = (seed ^ 0x9e3779b9) >>> 0;
    mixed = Math.imul(mixed ^ mixed >>> 16, 0x85ebca6b);
    mixed = Math.imul(mixed ^ mixed >>> 13, 0xc2b2ae35);
    this.#state = (mixed ^ mixed >>> 16) >>> 0;
    for (let i = 0; i < 4; i++) this.next();
  }

  next() {
    this.#state = this.#state + 0x6d2b79f5 >>> 0;
    let value = this.#state;
    value = Math.imul(value ^ value >>> 15, value | 1);
    value ^= value + Math.imul(value ^ value >>> 7, value | 61);
    return (value ^ value >>> 14) >>> 0;
  }

  // An integer from 0 to count - 1.
  int(count) { return this.next() % count; }

  between(low, high) { return low + this.int(high - low + 1); }

  chance(percent) { return this.int(100) < percent; }

  pick(list) { return list[this.int(list.length)]; }

  // table: [weight, value] pairs.
  weighted(table) {
    let total = 0;
    for (const [weight] of table) total += weight;
    let at = this.int(total);
    for (const [weight, value] of table) {
      at -= weight;
      if (at < 0) return value;
    }
    throw new Error('an empty table of choices');
  }
}
