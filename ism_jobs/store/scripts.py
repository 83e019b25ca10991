"""Changes to a job's record that must happen at once or not at all, as Lua for Redis.

Each looks first whether the job is still in the state, and at the attempt, that the caller believes: that is the
fence which keeps a worker that was taken for dead from overwriting its successor. Time is Redis's own.

A caller that loses the answer asks again, so whatever is asked twice in the same words happens once.
"""

_NOW = "local t = redis.call('TIME') local now = t[1] + t[2] / 1000000 "
_FENCE = """
if redis.call('HGET', KEYS[1], 'state') ~= 'running' or redis.call('HGET', KEYS[1], 'claim') ~= ARGV[2] then
  return -1
end
"""
# A full Redis refuses a script that begins with a write which takes memory, but not one that has begun: so jobs that
# run can go on, end and be cancelled then.
_ALSO_WHEN_FULL = "redis.call('DEL', 'ism:nothing') "

# KEYS job, queued, running, events; ARGV id, worker, lease seconds, events kept, claim → the attempt's number, or 0
CLAIM = (
    _NOW
    + """
local state, claim = unpack(redis.call('HMGET', KEYS[1], 'state', 'claim'))
if state == 'running' and claim == ARGV[5] then return tonumber(redis.call('HGET', KEYS[1], 'attempt')) end
if state ~= 'queued' then return 0 end
local attempt = redis.call('HINCRBY', KEYS[1], 'attempt', 1)
redis.call('HSET', KEYS[1], 'state', 'running', 'worker', ARGV[2], 'claim', ARGV[5])
redis.call('HSETNX', KEYS[1], 'started', string.format('%.3f', now))
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[3], now + ARGV[3], ARGV[1])
redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[4], '*', 'kind', 'state', 'data', '')
return attempt
"""
)

# KEYS job, running, events, totals; ARGV id, claim, lease seconds, events kept, progress, kind, data, report's number
# → -1: no longer ours, 1: asked to stop, 0: go on
REPORT = (
    _FENCE
    + _NOW
    + _ALSO_WHEN_FULL
    + """
redis.call('ZADD', KEYS[2], now + ARGV[3], ARGV[1])
if redis.call('HGET', KEYS[1], 'reported') == ARGV[8] then return redis.call('HEXISTS', KEYS[1], 'cancel') end
redis.call('HSET', KEYS[1], 'progress', ARGV[5], 'reported', ARGV[8])
redis.call('HINCRBY', KEYS[1], 'version', 1)
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
    + _ALSO_WHEN_FULL
    + """
if redis.call('HGET', KEYS[1], 'state') ~= 'running' or redis.call('HGET', KEYS[1], 'worker') ~= ARGV[2] then
  return 0
end
redis.call('ZADD', KEYS[2], now + ARGV[3], ARGV[1])
return 1 + redis.call('HEXISTS', KEYS[1], 'cancel')
"""
)

# KEYS job, queued, running, events, checkpoint, the data set's jobs, totals, batch, the owner's open jobs
# ARGV id, state expected, attempt or claim expected, new state, seconds to keep it, events kept,
# then names and values to set
END = (
    _NOW
    + _ALSO_WHEN_FULL
    + """
local state, attempt, claim = unpack(redis.call('HMGET', KEYS[1], 'state', 'attempt', 'claim'))
if state == ARGV[4] and claim == ARGV[3] then return 1 end
if state ~= ARGV[2] or ((attempt or '0') ~= ARGV[3] and claim ~= ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], 'state', ARGV[4], 'finished', string.format('%.3f', now))
if #ARGV > 6 then redis.call('HSET', KEYS[1], unpack(ARGV, 7)) end
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[6], '*', 'kind', 'state', 'data', '')
redis.call('DEL', KEYS[5])
redis.call('SREM', KEYS[6], ARGV[1])
redis.call('SREM', KEYS[9], ARGV[1])
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
ASK_TO_STOP = (
    _ALSO_WHEN_FULL
    + """
if redis.call('HGET', KEYS[1], 'state') ~= 'running' then return 0 end
redis.call('HSET', KEYS[1], 'cancel', '1')
redis.call('HINCRBY', KEYS[1], 'version', 1)
return 1
"""
)

# KEYS running, the time of the last look; ARGV the longest time between looks, seconds to give then, how many at most
# → jobs whose lease has ended. When nobody looked for long, Redis or all workers were away, and who lives could not
# say so: then they get some time to.
SILENT = (
    _NOW
    + """
local before = redis.call('GETSET', KEYS[2], string.format('%.3f', now))
local silent = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[3])
if not before or now - before <= tonumber(ARGV[1]) then return silent end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)) do
  redis.call('ZADD', KEYS[1], now + ARGV[2], id)
end
return {}
"""
)

# KEYS the data set's jobs, its own keys, the owner's list of data sets; ARGV id → 0, or how many open jobs need it.
# A script, because a full Redis refuses transactions, even those that delete.
FORGET_DATASET = """
local open = redis.call('SCARD', KEYS[1])
if open > 0 then return open end
redis.call('DEL', KEYS[2], KEYS[3])
redis.call('ZREM', KEYS[4], ARGV[1])
return 0
"""

# KEYS all keys of an ended job, the last but one the set of its artifacts' keys, the last the owner's list; ARGV id
FORGET_JOB = """
local saved = redis.call('SMEMBERS', KEYS[#KEYS - 1])
for _, key in ipairs(saved) do redis.call('DEL', key) end
redis.call('DEL', unpack(KEYS, 1, #KEYS - 1))
redis.call('ZREM', KEYS[#KEYS], ARGV[1])
"""

# KEYS the owner's requests of this minute; ARGV most, how many to take
# → how many were taken, milliseconds until the minute is over. It begins with its first request.
TAKE = (
    _ALSO_WHEN_FULL
    + """
local left = ARGV[1] - (redis.call('GET', KEYS[1]) or 0)
local taken = math.max(0, math.min(left, ARGV[2]))
if taken > 0 then
  redis.call('INCRBY', KEYS[1], taken)
  if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], 60000) end
end
return {taken, redis.call('PTTL', KEYS[1])}
"""
)
