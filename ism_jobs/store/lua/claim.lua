-- Start a queued job.
-- KEYS: job, queued, running, events, data set, its chunks
-- ARGV: id, worker, lease seconds, events kept, claim, seconds to keep the data set
-- Returns the number of the attempt, or 0 if the job is not queued.
local state, claim = unpack(redis.call('HMGET', KEYS[1], 'state', 'claim'))
if state == 'running' and claim == ARGV[5] then return tonumber(redis.call('HGET', KEYS[1], 'attempt')) end
if state ~= 'queued' then return 0 end
local started = now()
local attempt = redis.call('HINCRBY', KEYS[1], 'attempt', 1)
redis.call('HSET', KEYS[1], 'state', 'running', 'worker', ARGV[2], 'claim', ARGV[5])
redis.call('HSETNX', KEYS[1], 'started', string.format('%.3f', started))
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[3], started + ARGV[3], ARGV[1])
redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[4], '*', 'schema', event_schema, 'kind', 'state', 'data', '')
redis.call('EXPIRE', KEYS[5], ARGV[6])
redis.call('EXPIRE', KEYS[6], ARGV[6])
return attempt
