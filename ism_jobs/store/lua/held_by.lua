-- Find the running job of a worker.
-- KEYS: running of all schema versions
-- ARGV: worker, the key of a job with %s for the id
-- Returns its id, or false.
for _, key in ipairs(KEYS) do
  for _, id in ipairs(redis.call('ZRANGE', key, 0, -1)) do
    if redis.call('HGET', ARGV[2]:format(id), 'worker') == ARGV[1] then return id end
  end
end
return false
