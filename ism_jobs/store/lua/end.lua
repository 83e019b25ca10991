-- End a job: it has succeeded, failed or been cancelled.
-- KEYS: job, queued, running, events, checkpoint, open jobs of the data set, totals, batch, open jobs of the owner,
--       notices of webhooks, queued jobs of the owner, picture, set of the artifacts' keys
-- ARGV: id, expected state, expected attempt or claim token, new state, seconds to keep the job, events kept,
--       then names and values of fields to set
-- Returns 1, or 0 if the job is in another state, has ended, or is held by another attempt.
local time = now()
proceed_when_full()
local state, attempt, claim = unpack(redis.call('HMGET', KEYS[1], 'state', 'attempt', 'claim'))
if state == ARGV[4] and claim == ARGV[3] then return 1 end
if state ~= 'queued' and state ~= 'running' then return 0 end
if state ~= ARGV[2] or ((attempt or '0') ~= ARGV[3] and claim ~= ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], 'state', ARGV[4], 'finished', string.format('%.3f', time))
if #ARGV > 6 then redis.call('HSET', KEYS[1], unpack(ARGV, 7)) end
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('ZREM', KEYS[11], ARGV[1])
redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[6], '*', 'schema', event_schema, 'kind', 'state', 'data', '')
redis.call('DEL', KEYS[5])
redis.call('SREM', KEYS[6], ARGV[1])
redis.call('SREM', KEYS[9], ARGV[1])
if redis.call('HEXISTS', KEYS[1], 'notify') == 1 or redis.call('HEXISTS', KEYS[8], 'notify') == 1 then
  redis.call('RPUSH', KEYS[10], ARGV[1])
end
local created, started = unpack(redis.call('HMGET', KEYS[1], 'created', 'started'))
redis.call('HINCRBY', KEYS[7], ARGV[4], 1)
if started then
  redis.call('HINCRBY', KEYS[7], 'started', 1)
  redis.call('HINCRBYFLOAT', KEYS[7], 'waiting_seconds', started - created)
  redis.call('HINCRBYFLOAT', KEYS[7], 'running_seconds', time - started)
end
local held = 0  -- bytes that the job holds until it expires
for _, key in ipairs({KEYS[1], KEYS[4], KEYS[12], unpack(redis.call('SMEMBERS', KEYS[13]))}) do
  held = held + (redis.call('MEMORY', 'USAGE', key) or 0)
end
redis.call('HSET', KEYS[1], 'stored', held)
redis.call('EXPIRE', KEYS[1], ARGV[5])
redis.call('EXPIRE', KEYS[4], ARGV[5])
redis.call('EXPIRE', KEYS[8], ARGV[5])
return 1
