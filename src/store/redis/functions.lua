#!lua name=abide_@ID@
-- What abide asks of a Redis server, one call each. The server compares versions and moves bytes; it
-- never looks into a row. Everything that is touched is declared: KEYS holds the six keys below, then
-- those of the tables and indexes in question. ("Place" is a number in KEYS.)
--
--   rows       a hash per table: bytes of the primary key -> the row, encoded by the client
--   orders     a sorted set per index, all scores 0: bytes that sort as the index does
--
--   [functions-1] A commit is checked whole before its first write: nothing that can fail comes after it. The
--        server runs a function to its end, and writes its effects to the log as one transaction.
--   [functions-2] Whoever holds the ticket keeps other writers out while it lasts. It is a courtesy that ends by
--        itself: what protects the content is the version, which each commit must name and raises.
--   [functions-3] ARGV begins with the holder, the version that is expected ('' = any) and the layout.

local STORE, TICKET, FREED, WANTED, CHANGES, HEARTBEATS = 1, 2, 3, 4, 5, 6
local CHUNK = 1000 -- fields per command: what Lua can unpack is limited
local WANTED_MS = 3000

local function refusal(keys, args)
  local known = redis.call('HMGET', keys[STORE], 'version', 'layout')
  if not known[1] then return {'missing'} end
  if known[2] ~= args[3] then return {'layout'} end
  if args[2] ~= '' and args[2] ~= known[1] then return {'changed'} end
  return nil, known[1]
end

-- ---- the ticket ----

-- When somebody else has it: how long to wait at most. They say when they are done (FREED).
local function busy(keys, args)
  local holder = redis.call('GET', keys[TICKET])
  if not holder or holder == args[1] then return nil end
  redis.call('SET', keys[WANTED], '1', 'PX', WANTED_MS)
  return {'busy', redis.call('PTTL', keys[TICKET])}
end

local function release(keys, args)
  if redis.call('GET', keys[TICKET]) ~= args[1] then return end
  redis.call('DEL', keys[TICKET])
  if redis.call('EXISTS', keys[WANTED]) == 0 then return end
  redis.call('DEL', keys[FREED])
  redis.call('LPUSH', keys[FREED], '1')
  redis.call('PEXPIRE', keys[FREED], WANTED_MS)
end

-- ---- reading ----

-- A member of an index holds the primary key in pieces: their first and last bytes follow at `at`.
local function field_of(member, args, at, piece_count)
  local field = ''
  for i = 0, piece_count - 1 do
    field = field .. string.sub(member, tonumber(args[at + 2 * i]), tonumber(args[at + 2 * i + 1]))
  end
  return field
end

-- 'range', order, rows, low, high, limit, 'up' or 'down', pieces (0: the member is the key), places
local function range(keys, args, at)
  local order, rows = keys[tonumber(args[at + 1])], keys[tonumber(args[at + 2])]
  local piece_count = tonumber(args[at + 7])
  local fields
  if args[at + 6] == 'up' then
    fields = redis.call('ZRANGE', order, args[at + 3], args[at + 4], 'BYLEX', 'LIMIT', 0, args[at + 5])
  else
    fields = redis.call('ZRANGE', order, args[at + 4], args[at + 3], 'BYLEX', 'REV', 'LIMIT', 0, args[at + 5])
  end
  if piece_count > 0 then
    for i = 1, #fields do fields[i] = field_of(fields[i], args, at + 8, piece_count) end
  end
  if #fields <= CHUNK then
    if #fields == 0 then return {}, at + 8 + 2 * piece_count end
    return redis.call('HMGET', rows, unpack(fields)), at + 8 + 2 * piece_count
  end
  local found = {}
  for first = 1, #fields, CHUNK do
    local part = redis.call('HMGET', rows, unpack(fields, first, math.min(first + CHUNK - 1, #fields)))
    for i = 1, #part do found[#found + 1] = part[i] end
  end
  return found, at + 8 + 2 * piece_count
end

-- 'get', rows, field; or a range
local function answer(keys, args, at, answers)
  while at <= #args do
    local found
    if args[at] == 'get' then
      local row = redis.call('HGET', keys[tonumber(args[at + 1])], args[at + 2])
      found, at = row and {row} or {}, at + 3
    else
      found, at = range(keys, args, at)
    end
    answers[#answers + 1] = found
  end
  return answers
end

-- [functions-3], questions
local function read(keys, args)
  local refused, version = refusal(keys, args)
  if refused then return refused end
  return answer(keys, args, 4, {'ok', version, {}})
end

-- What the versions past the one given have changed, as far as it is kept.
local function changes_since(keys, from, version)
  local first, last = tonumber(from) + 1, tonumber(version)
  local wanted = {}
  for number = first, last do wanted[#wanted + 1] = string.format('%.0f', number) end
  if #wanted == 0 then return {} end
  return redis.call('HMGET', keys[CHANGES], unpack(wanted))
end

-- [functions-3], milliseconds of the ticket, version to know the changes since ('' = none), how many at most,
-- questions
local function fetch(keys, args)
  local wait = busy(keys, args)
  if wait then return wait end
  local refused, version = refusal(keys, args)
  if refused then
    release(keys, args)
    return refused
  end
  redis.call('SET', keys[TICKET], args[1], 'PX', args[4])
  local changes = {}
  local distance = args[5] ~= '' and tonumber(version) - tonumber(args[5]) or 0
  if distance > 0 and distance <= tonumber(args[6]) then
    changes = changes_since(keys, args[5], version)
  end
  return answer(keys, args, 7, {'ok', version, changes})
end

-- ---- writing ----

-- Where the cell that begins at `at` ends: LEB128 of its size + 1, then its bytes; 0 = nothing.
local function cell_end(row, at)
  local size, scale = 0, 1
  while true do
    local byte = string.byte(row, at)
    if not byte then return nil end
    at = at + 1
    size = size + (byte % 128) * scale
    scale = scale * 128
    if byte < 128 then break end
  end
  return size > 0 and at + size - 1 or at
end

-- The cells of a row past the first `count`: columns that the writer, an older abide, knows nothing of.
local function cells_past(row, count)
  local at = 1
  for _ = 1, count do
    at = cell_end(row, at)
    if not at then return '' end
  end
  return string.sub(row, at)
end

-- Groups: what, place of the key, how many arguments, arguments.
--   insert, update   field, row …             keep     field, row, how many cells it has …
--   remove           field …                  list     '0', member …         unlist   member …
local STEP = {insert = 2, update = 2, keep = 3, remove = 1}

-- [functions-1] A key that is of another kind, or a row that is not as the writer believes, ends it here.
local function check(keys, args, first)
  local at = first
  while at <= #args do
    local what, key, count = args[at], keys[tonumber(args[at + 1])], tonumber(args[at + 2])
    local step = STEP[what]
    if step then
      local expected = what == 'insert' and 0 or 1
      for i = at + 3, at + 2 + count, step do
        if redis.call('HEXISTS', key, args[i]) ~= expected then return {'damaged', key, what} end
      end
    else
      redis.call('ZCARD', key)
    end
    at = at + 3 + count
  end
  return nil
end

local COMMAND = {insert = 'HSET', update = 'HSET', remove = 'HDEL', list = 'ZADD', unlist = 'ZREM'}

local function apply(keys, args, first)
  local at = first
  while at <= #args do
    local what, key, count = args[at], keys[tonumber(args[at + 1])], tonumber(args[at + 2])
    local from, to = at + 3, at + 2 + count
    if what == 'keep' then
      for i = from, to, 3 do
        local tail = cells_past(redis.call('HGET', key, args[i]), tonumber(args[i + 2]))
        redis.call('HSET', key, args[i], args[i + 1] .. tail)
      end
    else
      redis.call(COMMAND[what], key, unpack(args, from, to))
    end
    at = to + 1
  end
end

-- The body of a version is kept for a while; the one that is past its time goes.
local function keep_body(keys, version, body, kept)
  local number = string.format('%.0f', version)
  if body ~= '' then redis.call('HSET', keys[CHANGES], number, body)
  else redis.call('HDEL', keys[CHANGES], number) end
  redis.call('HDEL', keys[CHANGES], string.format('%.0f', version - kept))
end

-- [functions-3], channel to tell ('' = nobody), body of the version, how many bodies are kept, groups
local function commit(keys, args)
  local wait = busy(keys, args)
  if wait then return wait end
  local refused = refusal(keys, args) or check(keys, args, 7)
  if refused then
    release(keys, args)
    return refused
  end
  apply(keys, args, 7)
  local version = redis.call('HINCRBY', keys[STORE], 'version', 1)
  keep_body(keys, version, args[5], tonumber(args[6]))
  if args[4] ~= '' then redis.call('PUBLISH', args[4], args[1]) end
  release(keys, args)
  return {'ok', string.format('%.0f', version)}
end

-- [functions-3] A commit whose answer was lost has happened by now, or finds another version.
local function settle(keys, args)
  if redis.call('EXISTS', keys[STORE]) == 0 then return {'missing'} end
  local version = redis.call('HINCRBY', keys[STORE], 'version', 1)
  redis.call('HDEL', keys[CHANGES], string.format('%.0f', version))
  release(keys, args)
  return {'ok', string.format('%.0f', version)}
end

-- [functions-3]
local function give_back(keys, args)
  release(keys, args)
  return {'ok'}
end

-- ---- signs of life ----
-- A hash: node -> numbers apart by a space, of which the first says until when its lease lasts (ms). No
-- version stands over it and no ticket is asked for: a heartbeat disturbs nobody, and nobody holds it up.

-- The version, and all heartbeats as names and words in turn.
local function leases(keys)
  local version = redis.call('HGET', keys[STORE], 'version')
  if not version then return {'missing'} end
  return {'ok', version, redis.call('HGETALL', keys[HEARTBEATS])}
end

-- [functions-3], node, what it says, end of the leases that are forgotten, questions (its own row)
local function heartbeat(keys, args)
  local refused, version = refusal(keys, args)
  if refused then return refused end
  redis.call('HSET', keys[HEARTBEATS], args[4], args[5])
  local said = redis.call('HGETALL', keys[HEARTBEATS])
  for i = 1, #said, 2 do
    local until_ms = tonumber(string.match(said[i + 1], '^%d+'))
    if not until_ms or until_ms < tonumber(args[6]) then redis.call('HDEL', keys[HEARTBEATS], said[i]) end
  end
  return answer(keys, args, 7, {'ok', version, said})
end

-- ---- the store as a whole ----

local function words_of(text)
  local words = {}
  for word in string.gmatch(text, '%S+') do words[#words + 1], words[word] = word, true end
  return words
end

local function is_foreign(keys)
  for i = 1, #keys do
    if redis.call('EXISTS', keys[i]) == 1 then return true end
  end
  return false
end

-- Columns are listed in the order in which they came; those of a newer abide stand at the end.
local function columns_join(known, ours)
  local words = words_of(known)
  for _, word in ipairs(words_of(ours)) do
    if not words[word] then words[#words + 1] = word end
  end
  return table.concat(words, ' ')
end

-- Format, digest of the orders, then names of tables and their columns. Answers the layout and the
-- columns of each table as they are stored.
local function open(keys, args, is_making)
  if redis.call('EXISTS', keys[STORE]) == 0 then
    if not is_making then return {'missing'} end
    if is_foreign(keys) then return {'foreign'} end
    redis.call('HSET', keys[STORE], 'format', args[1], 'orders', args[2], 'version', '0', 'layout', '0')
  end
  if redis.call('TYPE', keys[STORE]).ok ~= 'hash' then return {'foreign'} end
  local found = redis.call('HMGET', keys[STORE], 'format', 'orders', 'layout')
  if not (found[1] and found[2] and found[3]) then return {'foreign'} end
  if tonumber(found[1]) > tonumber(args[1]) or found[2] ~= args[2] then return {'newer', found[1]} end
  local answers, is_changed = {'ok', found[3]}, false
  if is_making and tonumber(found[1]) < tonumber(args[1]) then -- older ones are refused from now on
    redis.call('HSET', keys[STORE], 'format', args[1])
    is_changed = true
  end
  for i = 3, #args, 2 do
    local known = redis.call('HGET', keys[STORE], 'columns:' .. args[i]) or ''
    local joined = columns_join(known, args[i + 1])
    if is_making and joined ~= known then
      redis.call('HSET', keys[STORE], 'columns:' .. args[i], joined)
      is_changed, known = true, joined
    end
    answers[#answers + 1] = known
  end
  if is_changed then -- those who know the old layout look again
    answers[2] = tostring(redis.call('HINCRBY', keys[STORE], 'layout', 1))
    redis.call('HINCRBY', keys[STORE], 'version', 1)
  end
  return answers
end

-- [functions-3], place of the rows, then for each order: place, count, members. Answers how many rows there are,
-- and for each order how many members, and how many of those given.
local function count(keys, args)
  local refused = refusal(keys, args)
  if refused then return refused end
  local answers = {'ok', redis.call('HLEN', keys[tonumber(args[4])])}
  local at = 5
  while at <= #args do
    local order, member_count, present = keys[tonumber(args[at])], tonumber(args[at + 1]), 0
    for i = at + 2, at + 1 + member_count do
      if redis.call('ZSCORE', order, args[i]) then present = present + 1 end
    end
    answers[#answers + 1] = redis.call('ZCARD', order)
    answers[#answers + 1] = present
    at = at + 2 + member_count
  end
  return answers
end

local function register(name, callback, flags)
  redis.register_function{function_name = 'abide_@ID@_' .. name, callback = callback, flags = flags}
end
register('read', read, {'no-writes', 'allow-oom'})
register('look', function(keys, args) return open(keys, args, false) end, {'no-writes', 'allow-oom'})
register('count', count, {'no-writes', 'allow-oom'})
register('leases', leases, {'no-writes', 'allow-oom'})
register('open', function(keys, args) return open(keys, args, true) end, {})
register('fetch', fetch, {})
register('commit', commit, {})
register('heartbeat', heartbeat, {'allow-oom'}) -- who cannot write any more is alive all the same
register('settle', settle, {'allow-oom'})
register('release', give_back, {'allow-oom'})
