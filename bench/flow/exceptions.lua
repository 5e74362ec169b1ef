local NotFound = {}
NotFound.__index = NotFound

local function find(id)
  if id % 4 == 0 then error(setmetatable({ message = "not found: " .. id, id = id }, NotFound)) end
  if id % 4 == 1 then error({ message = "bad id" }) end
  return id
end

local function deep(n, id)
  if n == 0 then return (find(id)) end
  return (deep(n - 1, id))
end

function run()
  local sum = 0
  for i = 0, 29999 do
    local ok, value = pcall(function() return deep(4, i) & 1 end)
    if ok then sum = sum + value
    elseif getmetatable(value) == NotFound then sum = sum + (value.id & 3)
    else sum = sum + #value.message end
    sum = sum + 1
  end
  for i = 0, 99999 do
    local ok, value = pcall(function()
      if i % 8 == 0 then error(i, 0) end
      sum = sum + 1
    end)
    if not ok then sum = sum + (value & 1) end
  end
  return sum
end
