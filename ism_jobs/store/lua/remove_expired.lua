-- Remove ids of expired entries from lists.
-- KEYS: lists of ids, each a sorted set
-- ARGV: most ids of a list to check, the oldest first, then for each list the key of an entry with %s for the id
for i, list in ipairs(KEYS) do
  for _, id in ipairs(redis.call('ZRANGE', list, 0, ARGV[1] - 1)) do
    if redis.call('EXISTS', ARGV[i + 1]:format(id)) == 0 then redis.call('ZREM', list, id) end
  end
end
