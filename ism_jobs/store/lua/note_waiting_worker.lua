-- Note that a worker waits until Redis is not full any more.
-- KEYS: waiting workers
-- ARGV: name of the worker, seconds after which it is forgotten
local time = now()
proceed_when_full()
redis.call('ZADD', KEYS[1], time, ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
