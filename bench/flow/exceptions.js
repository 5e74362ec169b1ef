// Exceptions: thrown and caught near and far, finally, error objects.
class NotFound extends Error {
  constructor(id) {
    super("not found: " + id);
    this.name = "NotFound";
    this.id = id;
  }
}

function find(id) {
  if (id % 4 === 0) throw new NotFound(id);
  if (id % 4 === 1) throw new TypeError("bad id");
  return id;
}

function deep(n, id) {
  return n === 0 ? find(id) : deep(n - 1, id);
}

function run() {
  let sum = 0;
  for (let i = 0; i < 30000; i++) {
    try {
      sum += deep(4, i) & 1;
    } catch (error) {
      if (error instanceof NotFound) sum += error.id & 3;
      else sum += error.message.length;
    } finally {
      sum++;
    }
  }
  for (let i = 0; i < 100000; i++) {
    try {
      if (i % 8 === 0) throw i;
      sum++;
    } catch (value) {
      sum += value & 1;
    }
  }
  return sum;
}
