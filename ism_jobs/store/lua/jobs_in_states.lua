-- Find jobs in certain states, the newest first. Ids of jobs that have expired are removed from the list.
-- KEYS: jobs of an owner, by time of creation
-- ARGV: time and id of the position after which to begin ('+inf' and '' for the beginning), the oldest time, most jobs
--       to find, most jobs to look at, the key of a job with %s for the id, then the states
-- Returns the ids, and time and id of the last job that was looked at, or nothing more if it was the last of all.
local states = {}
for i = 7, #ARGV do states[ARGV[i]] = true end
local listed = redis.call('ZREVRANGEBYSCORE', KEYS[1], ARGV[1], ARGV[3], 'WITHSCORES', 'LIMIT', 0, ARGV[5])
local found = {}
for i = 1, #listed, 2 do
  local id, time = listed[i], listed[i + 1]
  local is_behind = ARGV[2] == '' or tonumber(time) < tonumber(ARGV[1]) or id < ARGV[2]
  local state = is_behind and redis.call('HGET', ARGV[6]:format(id), 'state')
  if is_behind and not state then redis.call('ZREM', KEYS[1], id) end
  if state and states[state] then
    table.insert(found, id)
    if #found == tonumber(ARGV[4]) then return {found, time, id} end
  end
end
if #listed < 2 * ARGV[5] then return {found} end
return {found, listed[#listed], listed[#listed - 1]}
