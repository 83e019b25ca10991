"""Changes to a job's record that must happen at once or not at all, as Lua for Redis.

Each looks first whether the job is still in the state, and at the attempt, that the caller believes: that is the
fence which keeps a worker that was taken for dead from overwriting its successor. Time is Redis's own.
"""

_NOW = "local t = redis.call('TIME') local now = t[1] + t[2] / 1000000 "
_FENCE = """
if redis.call('HGET', KEYS[1], 'state') ~= 'running' or redis.call('HGET', KEYS[1], 'attempt') ~= ARGV[2] then
  return -1
end
"""

# KEYS job, queued, running, events; ARGV id, worker, lease seconds, events kept → the attempt's number, or 0
CLAIM = (
    _NOW
    + """
if redis.call('HGET', KEYS[1], 'state') ~= 'queued' then return 0 end
local attempt = redis.call('HINCRBY', KEYS[1], 'attempt', 1)
redis.call('HSET', KEYS[1], 'state', 'running', 'worker', ARGV[2])
redis.call('HSETNX', KEYS[1], 'started', string.format('%.3f', now))
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[3], now + ARGV[3], ARGV[1])
redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[4], '*', 'kind', 'state', 'data', '')
return attempt
"""
)

# KEYS job, running, events, totals; ARGV id, attempt, lease seconds, events kept, progress, kind, data
# → -1: no longer ours, 1: asked to stop, 0: go on
REPORT = (
    _FENCE
    + _NOW
    + """
redis.call('HSET', KEYS[1], 'progress', ARGV[5])
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('ZADD', KEYS[2], now + ARGV[3], ARGV[1])
if ARGV[6] == 'step' then redis.call('HINCRBY', KEYS[4], 'steps', 1) end
if ARGV[6] ~= '' then
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[4], '*', 'kind', ARGV[6], 'data', ARGV[7])
end
return redis.call('HEXISTS', KEYS[1], 'cancel')
"""
)

# KEYS job, running; ARGV id, worker, lease seconds → 0: not this worker's, 1: it is, 2: and has been asked to stop
RENEW = (
    _NOW
    + """
if redis.call('HGET', KEYS[1], 'state') ~= 'running' or redis.call('HGET', KEYS[1], 'worker') ~= ARGV[2] then
  return 0
end
redis.call('ZADD', KEYS[2], now + ARGV[3], ARGV[1])
return 1 + redis.call('HEXISTS', KEYS[1], 'cancel')
"""
)

# KEYS job, queued, running, events, checkpoint, the data set's jobs, totals, batch
# ARGV id, state expected, attempt expected, new state, seconds to keep it, events kept, then names and values to set
END = (
    _NOW
    + """
if redis.call('HGET', KEYS[1], 'state') ~= ARGV[2] then return 0 end
if (redis.call('HGET', KEYS[1], 'attempt') or '0') ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], 'state', ARGV[4], 'finished', string.format('%.3f', now))
if #ARGV > 6 then redis.call('HSET', KEYS[1], unpack(ARGV, 7)) end
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[6], '*', 'kind', 'state', 'data', '')
redis.call('DEL', KEYS[5])
redis.call('SREM', KEYS[6], ARGV[1])
local created, started = unpack(redis.call('HMGET', KEYS[1], 'created', 'started'))
redis.call('HINCRBY', KEYS[7], ARGV[4], 1)
if started then
  redis.call('HINCRBY', KEYS[7], 'started', 1)
  redis.call('HINCRBYFLOAT', KEYS[7], 'waiting_seconds', started - created)
  redis.call('HINCRBYFLOAT', KEYS[7], 'running_seconds', now - started)
end
redis.call('EXPIRE', KEYS[1], ARGV[5])
redis.call('EXPIRE', KEYS[4], ARGV[5])
redis.call('EXPIRE', KEYS[8], ARGV[5])
return 1
"""
)

# KEYS job → whether it runs, and has been asked to stop
ASK_TO_STOP = """
if redis.call('HGET', KEYS[1], 'state') ~= 'running' then return 0 end
redis.call('HSET', KEYS[1], 'cancel', '1')
redis.call('HINCRBY', KEYS[1], 'version', 1)
return 1
"""
