-- Ask a queued or running job to end soon, with the best result so far.
-- KEYS: job
-- Returns 1, or 0 if the job has ended.
proceed_when_full()
local state = redis.call('HGET', KEYS[1], 'state')
if state ~= 'queued' and state ~= 'running' then return 0 end
redis.call('HSET', KEYS[1], 'finish', '1')
redis.call('HINCRBY', KEYS[1], 'version', 1)
return 1
