-- Delete an ended job and its artifacts.
-- KEYS: all keys of the job, then the set of its artifacts' keys, then the owner's list of jobs
-- ARGV: id
local saved = redis.call('SMEMBERS', KEYS[#KEYS - 1])
for _, key in ipairs(saved) do redis.call('DEL', key) end
redis.call('DEL', unpack(KEYS, 1, #KEYS - 1))
redis.call('ZREM', KEYS[#KEYS], ARGV[1])
