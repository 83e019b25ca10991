-- Count the jobs that would start before a queued job if all jobs took equally long and no others came.
-- KEYS: owners with queued jobs, when each owner was served last
-- ARGV: id, owner, the key of the queued jobs of an owner with %s for the owner
-- Returns the number, or false if the job is not queued by its owner.
local rank = redis.call('ZRANK', ARGV[3]:format(ARGV[2]), ARGV[1])
if not rank then return false end
local before, is_behind = rank, false
for _, owner in ipairs(redis.call('ZINTER', 2, KEYS[2], KEYS[1], 'WEIGHTS', 1, 0)) do
  if owner == ARGV[2] then
    is_behind = true
  else
    before = before + math.min(redis.call('ZCARD', ARGV[3]:format(owner)), is_behind and rank or rank + 1)
  end
end
return before
