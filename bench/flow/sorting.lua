local function numbers(count, seed)
  local list, state = {}, seed
  for i = 1, count do
    state = (state * 1103515245.0 + 12345.0) % 2147483648.0
    list[i] = math.tointeger(state % 100000)
  end
  return list
end

local function quicksort(list, low, high)
  while low < high do
    local pivot = list[(low + high) >> 1]
    local i, j = low, high
    while i <= j do
      while list[i] < pivot do i = i + 1 end
      while list[j] > pivot do j = j - 1 end
      if i <= j then
        list[i], list[j] = list[j], list[i]
        i, j = i + 1, j - 1
      end
    end
    quicksort(list, low, j)
    low = i
  end
end

function run()
  local list = numbers(8000, 42)
  local up = table.move(list, 1, #list, 1, {})
  table.sort(up, function(a, b) return a < b end)
  local byField = {}
  for i = 1, #list do byField[i] = { id = i - 1, value = list[i] } end
  table.sort(byField, function(a, b) return a.value > b.value or (a.value == b.value and a.id < b.id) end)
  local texts = {}
  for i = 1, #list do texts[i] = "k" .. list[i] end
  table.sort(texts)
  local sorted = table.move(list, 1, #list, 1, {})
  table.move(numbers(8000, 7), 1, 8000, #sorted + 1, sorted)
  quicksort(sorted, 1, #sorted)
  return up[101] + byField[201].value + byField[202].id + #texts[301] + sorted[5001]
end
