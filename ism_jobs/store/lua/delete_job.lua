-- Delete an ended job and its artifacts.
-- KEYS: all keys of the job, then the set of its artifacts' keys, then the owner's list of jobs
-- ARGV: id
-- Returns 1, or 0 if the job is queued or running: it may have been deleted and created again with the same id.
local state = redis.call('HGET', KEYS[1], 'state')
if state == 'queued' or state == 'running' then return 0 end
local artifacts = redis.call('SMEMBERS', KEYS[#KEYS - 1])
for _, key in ipairs(artifacts) do redis.call('DEL', key) end
redis.call('DEL', unpack(KEYS, 1, #KEYS - 1))
redis.call('ZREM', KEYS[#KEYS], ARGV[1])
return 1
