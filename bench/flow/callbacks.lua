local function map(t, f) local r = {} for i = 1, #t do r[i] = f(t[i]) end return r end
local function filter(t, f) local r = {} for i = 1, #t do if f(t[i]) then r[#r + 1] = t[i] end end return r end
local function reduce(t, f, all) for i = 1, #t do all = f(all, t[i]) end return all end
local function some(t, f) for i = 1, #t do if f(t[i]) then return true end end return false end
local function every(t, f) for i = 1, #t do if not f(t[i]) then return false end end return true end
local function find_index(t, f) for i = 1, #t do if f(t[i]) then return i - 1 end end return -1 end
local function flat_map(t, f) local r = {} for i = 1, #t do for _, v in ipairs(f(t[i])) do r[#r + 1] = v end end return r end

local long, people = {}, {}
for i = 0, 999 do long[i + 1] = i end
local short = {3, 1, 4, 1, 5}
for i = 0, 399 do people[i + 1] = {id = i, age = (i * 7919) % 97, name = "p" .. (i * 31) % 400} end

function run()
  local sum = 0
  local function add(all, n) return all + n end
  for _ = 1, 30 do
    local doubled = map(long, function(n) return n * 2 end)
    sum = sum + reduce(filter(doubled, function(n) return n % 3 == 0 end), add, 0) % 1009
    if some(long, function(n) return n > 990 end) and every(long, function(n) return n >= 0 end) then sum = sum + 1 end
    sum = sum + find_index(long, function(n) return n == 700 end)
    sum = sum + #flat_map(long, function(n) return n & 1 == 1 and {n} or {} end)
  end
  for r = 0, 3999 do
    local moved = map(short, function(n) return n + r end)
    sum = sum + reduce(filter(moved, function(n) return n & 1 == 1 end), add, 0) % 7
  end
  for r = 0, 3 do
    local sorted = table.move(people, 1, #people, 1, {})
    table.sort(sorted, function(a, b)
      if a.age ~= b.age then return a.age < b.age end
      return a.name < b.name
    end)
    local ages, count = {}, 0
    for _, p in ipairs(sorted) do
      if not ages[p.age] then
        ages[p.age] = true
        count = count + 1
      end
    end
    sum = sum + sorted[r + 1].id + count
  end
  return sum
end
