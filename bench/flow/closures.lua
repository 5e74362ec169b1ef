local function counter()
  local n = 0
  return {
    up = function() n = n + 1 return n end,
    add = function(by) n = n + by return n end,
    get = function() return n end,
  }
end

local function compose(f, g) return function(x) return g(f(x)) end end
local function adder(a) return function(b) return a + b end end

local function perIteration(rounds)
  local sum = 0
  for r = 0, rounds - 1 do
    local makers = {}
    for i = 0, 9 do makers[i] = function() return i * r end end
    for i = 0, 9 do sum = (sum + makers[i]()) % 1000003 end
  end
  return sum
end

function run()
  local one = counter()
  for i = 0, 99999 do
    one.up()
    one.add(i & 3)
  end
  local f = function(x) return x end
  for i = 0, 19 do f = compose(f, adder(i)) end
  local sum = 0
  for i = 0, 3999 do sum = (sum + f(i)) % 1000003 end
  for i = 0, 99999 do sum = (sum + adder(i)(1)) % 1000003 end
  return sum + one.get() + perIteration(8000)
end
