function run()
  local sum = 0
  for _ = 1, 2 do
    local byNumber = {}
    for i = 0, 19999 do byNumber[i * 7] = i end
    for i = 0, 39999 do if byNumber[i] then sum = sum + (byNumber[i] & 15) end end
    for i = 0, 19999, 2 do byNumber[i * 7] = nil end
    for key, value in pairs(byNumber) do sum = (sum + key - value) % 1000003 end

    local words = { [0] = "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta" }
    local counts = {}
    for i = 0, 39999 do
      local word = words[(i * 5) % 8]
      counts[word] = (counts[word] or 0) + 1
    end
    for key, value in pairs(counts) do sum = sum + value + #key end

    local seen, seenCount = {}, 0
    for i = 0, 39999 do
      local id = "id-" .. (i % 5000)
      if not seen[id] then seen[id] = true; seenCount = seenCount + 1 end
    end
    for id in pairs(seen) do sum = sum + #id end
    local objects, chosen = {}, {}
    for i = 0, 4999 do objects[i + 1] = { i = i } end
    for i = 1, 5000 do chosen[objects[i]] = true end
    for i = 1, 5000 do if chosen[objects[i]] then sum = sum + (objects[i].i & 1) end end
    local keys = {}
    for key in pairs(byNumber) do keys[#keys + 1] = key end
    sum = sum + seenCount + 5000 + #keys
  end
  return sum
end
