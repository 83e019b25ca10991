-- Reserve requests of an owner. The minute begins with its first request.
-- KEYS: the owner's requests of this minute
-- ARGV: most requests in a minute, how many to reserve
-- Returns how many were reserved, and the milliseconds until the minute ends.
proceed_when_full()
if redis.call('PTTL', KEYS[1]) > 60000 then redis.call('PEXPIRE', KEYS[1], 60000) end  -- the clock was set back
local left = ARGV[1] - (redis.call('GET', KEYS[1]) or 0)
local reserved = math.max(0, math.min(left, ARGV[2]))
if reserved > 0 then
  redis.call('INCRBY', KEYS[1], reserved)
  if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], 60000) end
end
return {reserved, redis.call('PTTL', KEYS[1])}
