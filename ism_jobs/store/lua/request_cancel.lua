-- Ask a running job to stop at its next step.
-- KEYS: job
-- Returns 1, or 0 if the job is not running.
proceed_when_full()
if redis.call('HGET', KEYS[1], 'state') ~= 'running' then return 0 end
redis.call('HSET', KEYS[1], 'cancel', '1')
redis.call('HINCRBY', KEYS[1], 'version', 1)
return 1
