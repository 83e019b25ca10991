-- Store the progress of a running job, add an event, and renew the lease.
-- KEYS: job, running, events, totals
-- ARGV: id, claim token, lease seconds, events kept, progress, kind of event or '', data of event, number of the report
-- Returns -1 if the attempt no longer holds the job; otherwise 1 if the job is to be cancelled, plus 2 if it is to be
-- finished with the best result so far.
if redis.call('HGET', KEYS[1], 'state') ~= 'running' or redis.call('HGET', KEYS[1], 'claim') ~= ARGV[2] then
  return -1
end
local time = now()
proceed_when_full()
redis.call('ZADD', KEYS[2], time + ARGV[3], ARGV[1])
local requests = redis.call('HEXISTS', KEYS[1], 'cancel') + 2 * redis.call('HEXISTS', KEYS[1], 'finish')
if redis.call('HGET', KEYS[1], 'reported') == ARGV[8] then return requests end
redis.call('HSET', KEYS[1], 'progress', ARGV[5], 'reported', ARGV[8])
redis.call('HINCRBY', KEYS[1], 'version', 1)
if ARGV[6] == 'picture' then redis.call('HSET', KEYS[1], 'best', ARGV[7]) end
if ARGV[6] == 'step' then redis.call('HINCRBY', KEYS[4], 'steps', 1) end
if ARGV[6] ~= '' then
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[4], '*', 'schema', event_schema, 'kind', ARGV[6], 'data', ARGV[7])
end
return requests
