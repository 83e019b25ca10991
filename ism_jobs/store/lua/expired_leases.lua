-- Find jobs whose lease has expired.
-- KEYS: running, time of the last sweep
-- ARGV: longest normal interval between sweeps, seconds by which leases are extended after a longer one, maximum number
--       of ids, seconds of a lease
-- Returns ids. If the last sweep is longer ago, Redis or all workers were unavailable, and nobody could renew a lease.
-- Then all expired leases are extended, and the list is empty. If the clock was set
-- back, an old lease may end later than now + the time of a lease. It is shortened to that.
local time = now()
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. time + ARGV[4], '+inf')) do
  redis.call('ZADD', KEYS[1], time + ARGV[4], id)
end
local before = redis.call('GETSET', KEYS[2], string.format('%.3f', time))
local expired = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', time, 'LIMIT', 0, ARGV[3])
if not before or time - before <= tonumber(ARGV[1]) then return expired end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', time)) do
  redis.call('ZADD', KEYS[1], time + ARGV[2], id)
end
return {}
