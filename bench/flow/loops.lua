local function sieve(limit)
  local composite = {}
  for i = 0, limit do composite[i] = false end
  local count = 0
  for i = 2, limit do
    if not composite[i] then
      count = count + 1
      for j = i * i, limit, i do composite[j] = true end
    end
  end
  return count
end

local function collatz(limit)
  local longest = 0
  for start = 1, limit - 1 do
    local n, steps = start, 0
    while n ~= 1 do
      if n % 2 == 0 then n = n // 2 else n = 3 * n + 1 end
      steps = steps + 1
    end
    if steps > longest then longest = steps end
  end
  return longest
end

local function int32(x)
  x = x & 0xffffffff
  return x >= 0x80000000 and x - 0x100000000 or x
end

local function mix(rounds)
  local state = 12345
  for i = 0, rounds - 1 do
    state = int32(state ~ (state << 13))
    state = int32(state ~ ((state & 0xffffffff) >> 17))
    state = int32(state ~ (state << 5))
    state = int32(state + i)
  end
  return state
end

function run()
  return sieve(200000) + collatz(4000) + mix(300000)
end
