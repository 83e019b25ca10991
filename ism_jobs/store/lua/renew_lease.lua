-- Renew the lease of a running job.
-- KEYS: job, running
-- ARGV: id, worker, lease seconds
-- Returns 1, or 0 if this worker does not hold the job.
local time = now()
proceed_when_full()
if redis.call('HGET', KEYS[1], 'state') ~= 'running' or redis.call('HGET', KEYS[1], 'worker') ~= ARGV[2] then
  return 0
end
redis.call('ZADD', KEYS[2], time + ARGV[3], ARGV[1])
return 1
