local function range(from, to)
  return coroutine.wrap(function() for i = from, to - 1 do coroutine.yield(i) end end)
end

local function countdown(from)
  local at = from
  return function()
    if at > 0 then at = at - 1; return at + 1 end
  end
end

function run()
  local sum = 0
  local list = {}
  for i = 0, 999 do list[i + 1] = i end
  for _ = 1, 60 do for _, n in ipairs(list) do sum = (sum + n) % 1000003 end end
  for n in range(0, 40000) do sum = (sum + n) % 1000003 end
  for n in countdown(15000) do sum = (sum + n) % 1000003 end
  for _ = 1, 300 do for unit in ("the quick brown fox jumps over the lazy dog"):gmatch(".") do if unit == "o" then sum = sum + 1 end end end
  local record = { a = 1, b = 2, c = 3, d = 4, e = 5 }
  for _ = 1, 4000 do
    for _, value in pairs(record) do sum = sum + value end
    for key in pairs(record) do sum = sum + #key end
  end
  for _ = 1, 20 do for i, n in ipairs(list) do sum = (sum + (i - 1) * n) % 1000003 end end
  return sum
end
