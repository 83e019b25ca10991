-- Begin a sweep, unless another process has begun one not long ago.
-- KEYS: time of the last sweep
-- ARGV: seconds between two sweeps
-- Returns 1, or 0 if no sweep is due. A last sweep in the future is from before the clock was set back.
local time = now()
local last = tonumber(redis.call('GET', KEYS[1]) or 0)
if last <= time and time - last < tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], string.format('%.3f', time))
return 1
