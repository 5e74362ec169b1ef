local function map(list, f)
  local out = {}
  for i = 1, #list do out[i] = f(list[i]) end
  return out
end
local function filter(list, f)
  local out, n = {}, 0
  for i = 1, #list do
    if f(list[i]) then n = n + 1; out[n] = list[i] end
  end
  return out
end
local function reduce(list, f, value)
  for i = 1, #list do value = f(value, list[i]) end
  return value
end
local function find(list, f)
  for i = 1, #list do if f(list[i]) then return list[i], i - 1 end end
end

local function pipeline(numbers, rounds)
  local total = 0
  for r = 0, rounds - 1 do
    local doubled = map(numbers, function(n) return n * 2 + r end)
    local kept = filter(doubled, function(n) return n % 3 ~= 0 end)
    total = total + reduce(kept, function(sum, n) return (sum + n) % 1000003 end, 0)
    for i = 1, #numbers do (function(n) total = (total + n) % 1000003 end)(numbers[i]) end
    if find(numbers, function(n) return n < 0 end) or find(numbers, function(n) return not (n >= 0) end) then total = total + 1 end
    local _, at = find(numbers, function(n) return n == 950 end)
    total = total + find(numbers, function(n) return n > 900 end) + at
  end
  return total
end

local function stack(rounds)
  local items, sum = {}, 0
  local insert, remove = table.insert, table.remove
  for i = 0, rounds - 1 do
    insert(items, i)
    if i % 3 == 2 then sum = (sum + remove(items)) % 1000003 end
  end
  while #items > 10 do sum = (sum + remove(items)) % 1000003 end
  return sum
end

local function matrix(size)
  local function make(seed)
    local rows = {}
    for i = 0, size - 1 do
      rows[i] = {}
      for j = 0, size - 1 do rows[i][j] = (i * seed + j) % 10 end
    end
    return rows
  end
  local a, b, trace = make(3), make(7), 0
  for i = 0, size - 1 do
    for j = 0, size - 1 do
      local cell = 0
      for k = 0, size - 1 do cell = cell + a[i][k] * b[k][j] end
      if i == j then trace = trace + cell end
    end
  end
  return trace
end

local function index(list, value)
  for i = 1, #list do if list[i] == value then return i - 1 end end
  return -1
end

local function copies(numbers, rounds)
  local sum = 0
  for _ = 1, rounds do
    local both = table.move(numbers, 1, #numbers, 1, {})
    table.move(numbers, 1, 100, #both + 1, both)
    local joined = table.move(both, 1, #both, 1, {})
    table.move(numbers, 1, #numbers, #joined + 1, joined)
    sum = sum + index(both, 999) + #joined
    for i = 1, #both // 2 do both[i], both[#both + 1 - i] = both[#both + 1 - i], both[i] end
    sum = sum + both[1] + (index(both, -1) >= 0 and 1 or 0)
  end
  return sum
end

function run()
  local numbers = {}
  for i = 0, 999 do numbers[i + 1] = i end
  return pipeline(numbers, 40) + stack(150000) + matrix(60) + copies(numbers, 200)
end
