// Recursion: small functions that call themselves, trees.
function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

function ackermann(m, n) {
  if (m === 0) return n + 1;
  if (n === 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

function tree(depth) {
  return depth === 0 ? { left: null, right: null } : { left: tree(depth - 1), right: tree(depth - 1) };
}

function count(node) {
  return node.left === null ? 1 : 1 + count(node.left) + count(node.right);
}

function hanoi(n, from, to, via) {
  return n === 0 ? 0 : hanoi(n - 1, from, via, to) + 1 + hanoi(n - 1, via, to, from);
}

function run() {
  return fib(25) + ackermann(2, 120) + count(tree(14)) + hanoi(16, "a", "b", "c");
}
