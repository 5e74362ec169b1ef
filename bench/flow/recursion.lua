local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

local function ackermann(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return (ackermann(m - 1, 1)) end
  return (ackermann(m - 1, ackermann(m, n - 1)))
end

local function tree(depth)
  if depth == 0 then return {} end
  return { left = tree(depth - 1), right = tree(depth - 1) }
end

local function count(node)
  if node.left == nil then return 1 end
  return 1 + count(node.left) + count(node.right)
end

local function hanoi(n, from, to, via)
  if n == 0 then return 0 end
  return hanoi(n - 1, from, via, to) + 1 + hanoi(n - 1, via, to, from)
end

function run()
  return fib(25) + ackermann(2, 120) + count(tree(14)) + hanoi(16, "a", "b", "c")
end
