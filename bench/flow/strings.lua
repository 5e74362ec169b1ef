local function append(rounds)
  -- Lua has no ropes: a buffer is what its users write.
  local buffer = {}
  for i = 0, rounds - 1 do buffer[#buffer + 1] = "item " .. i .. ", " end
  return #table.concat(buffer)
end

local function template(rounds)
  local size = 0
  for i = 0, rounds - 1 do size = size + #(i .. ": order " .. i * 7 .. " of customer-" .. i % 100) end
  return size
end

local function join(rounds)
  local parts = {}
  for i = 0, rounds - 1 do parts[#parts + 1] = "part" .. i end
  return #table.concat(parts, "-")
end

local function units(text)
  local hash = 0
  for i = 1, #text do
    hash = (hash * 31 + text:byte(i)) & 0xffffffff
    if hash >= 0x80000000 then hash = hash - 0x100000000 end
  end
  local spaces = 0
  for i = 1, #text do if text:sub(i, i) == " " then spaces = spaces + 1 end end
  return hash + spaces
end

local function find(text, part)
  local at = text:find(part, 1, true)
  return at and at - 1 or -1
end

local function words(text, rounds)
  local count = 0
  for _ = 1, rounds do
    local from = 1
    while true do
      local to = text:find(" ", from, true)
      local word = text:sub(from, to and to - 1)
      if word:sub(1, 2) == "qu" then count = count + 1 end
      count = count + find(word:upper(), "O") + #word:sub(2, 3)
      if not to then break end
      from = to + 1
    end
    local trimmed = text:match("^%s*(.-)%s*$")
    local last, at = -1, find(trimmed, "dog")
    while at >= 0 do
      last = at
      local next = trimmed:find("dog", at + 2, true)
      at = next and next - 1 or -1
    end
    count = count + #text:gsub("fox", "cat") + last
  end
  return count
end

function run()
  local line = "the quick brown fox jumps over the lazy dog "
  return append(60000) + template(40000) + join(40000) + units(line:rep(3000)) + words(line:rep(20), 60)
end
