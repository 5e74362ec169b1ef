local function makeOrder(i)
  return { id = i, customer = { name = "c" .. (i % 7), level = i % 3 }, price = i * 2, count = i % 5, paid = false }
end

local function totals(orders, rounds)
  local total = 0
  for _ = 1, rounds do
    for i = 1, #orders do
      local order = orders[i]
      total = (total + order.price * order.count + order.customer.level) % 1000003
      order.paid = total > 1000
      order.count = (order.count + 1) % 5
    end
  end
  return total
end

local function shapes(rounds)
  local items = { [0] = { kind = 1, size = 3 }, { size = 4, kind = 2 }, { name = "x", kind = 3, size = 5 }, { size = 1, kind = 4, z = 0 } }
  local sum = 0
  for i = 0, rounds - 1 do
    local item = items[i & 3]
    sum = (sum + item.kind * item.size) & 0xfffff
  end
  return sum
end

local function computed(rounds)
  local counts = { apple = 0, pear = 0, plum = 0, fig = 0 }
  local names = { [0] = "apple", "pear", "plum", "fig", "apple" }
  for i = 0, rounds - 1 do
    local name = names[i % 5]
    counts[name] = counts[name] + i % 3
  end
  return counts.apple + counts.pear * 3 + counts.plum + counts.fig
end

local function create(rounds)
  local last, sum = nil, 0
  for i = 0, rounds - 1 do
    local next = last
    if i % 16 == 0 then next = nil end
    last = { value = i, next = next }
    if next == nil then sum = sum + 1 else sum = sum + (next.value & 1) end
  end
  return sum
end

function run()
  local orders = {}
  for i = 0, 999 do orders[#orders + 1] = makeOrder(i) end
  return totals(orders, 100) + shapes(300000) + computed(200000) + create(100000)
end
