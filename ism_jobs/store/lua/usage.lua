-- Sum what an owner uses.
-- KEYS: data sets of the owner, jobs of the owner, open jobs of the owner, running of all schema versions
-- ARGV: owner, the keys of a data set and of a job, each with %s for the id, then the keys of what a running job holds
-- Returns bytes, open jobs, running jobs. Data sets of releases that did not count bytes have the size of their file.
local bytes = 0
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local stored, size = unpack(redis.call('HMGET', ARGV[2]:format(id), 'stored', 'size'))
  bytes = bytes + tonumber(stored or size or 0)
end
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  bytes = bytes + tonumber(redis.call('HGET', ARGV[3]:format(id), 'stored') or 0)
end
local running = 0
for i = 4, #KEYS do
  for _, id in ipairs(redis.call('ZRANGE', KEYS[i], 0, -1)) do
    if (redis.call('HGET', ARGV[3]:format(id), 'owner') or '') == ARGV[1] then
      running = running + 1
      for j = 4, #ARGV do bytes = bytes + (redis.call('MEMORY', 'USAGE', ARGV[j]:format(id)) or 0) end
    end
  end
end
return {string.format('%.0f', bytes), redis.call('SCARD', KEYS[3]), running}
