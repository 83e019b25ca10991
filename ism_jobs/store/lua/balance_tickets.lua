-- Compare the tickets in RQ's queue with the jobs that may start, and remove tickets that are left over.
-- KEYS: queue of tickets, queued, owners with queued jobs, running of all schema versions
-- ARGV: most running jobs of an owner, most queued jobs to check, the keys of a job and of the queued jobs of an owner,
--       each with %s for the id or owner, the prefix of RQ's records of tickets
-- Returns how many tickets are missing. Those that a worker has just taken may be among them.
local most, job_key, waiting_key = tonumber(ARGV[1]), ARGV[3], ARGV[4]
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, ARGV[2] - 1)) do
  if redis.call('HGET', job_key:format(id), 'state') ~= 'queued' then redis.call('ZREM', KEYS[2], id) end
end
local running = {}
for i = 4, #KEYS do
  for _, id in ipairs(redis.call('ZRANGE', KEYS[i], 0, -1)) do
    local owner = redis.call('HGET', job_key:format(id), 'owner') or ''
    running[owner] = (running[owner] or 0) + 1
  end
end
local may_start = redis.call('ZCARD', KEYS[2])
for _, owner in ipairs(redis.call('SMEMBERS', KEYS[3])) do
  local waiting = redis.call('ZCARD', waiting_key:format(owner))
  may_start = may_start - math.max(0, waiting - math.max(0, most - (running[owner] or 0)))
end
local tickets = redis.call('LLEN', KEYS[1])
for _ = may_start + 1, tickets do
  redis.call('DEL', ARGV[5] .. redis.call('RPOP', KEYS[1]))
end
return math.max(0, may_start - tickets)
