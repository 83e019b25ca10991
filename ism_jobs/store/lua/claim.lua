-- Start a queued job: the next one in the fair order, or a certain one.
-- KEYS: owners with queued jobs, when each owner was served last, queued, running, running of other schema versions
-- ARGV: id on the ticket, worker, lease seconds, events kept, claim token, seconds to keep the data set, most running
--       jobs of an owner, 'next' or 'exact', then the keys of a job, its events, a data set, its chunks, and the queued
--       jobs of an owner, each with %s for the id or owner
-- Returns id and number of the attempt, or false if no job may start.
local job_key, events_key, dataset_key, chunks_key, waiting_key = unpack(ARGV, 9)

local running = {}  -- for each owner, the number of running jobs
for i = 4, #KEYS do
  for _, id in ipairs(redis.call('ZRANGE', KEYS[i], 0, -1)) do
    local owner, claim, attempt = unpack(redis.call('HMGET', job_key:format(id), 'owner', 'claim', 'attempt'))
    if claim == ARGV[5] then return {id, tonumber(attempt)} end
    if claim then running[owner or ''] = (running[owner or ''] or 0) + 1 end
  end
end

-- Returns a job and its owner. The job on the ticket starts if it has no place in the queue of its owner: an earlier release has queued it.
local function choose()
  local state, owner = unpack(redis.call('HMGET', job_key:format(ARGV[1]), 'state', 'owner'))
  local has_place = redis.call('ZSCORE', waiting_key:format(owner or ''), ARGV[1])
  if ARGV[8] == 'exact' or (state == 'queued' and not has_place) then return ARGV[1], owner or '' end
  local best, its_owner, fewest
  for _, each in ipairs(redis.call('ZINTER', 2, KEYS[2], KEYS[1], 'WEIGHTS', 1, 0)) do
    local first, count = redis.call('ZRANGE', waiting_key:format(each), 0, 0)[1], running[each] or 0
    if not first then
      redis.call('SREM', KEYS[1], each)
    elseif count < tonumber(ARGV[7]) and (not fewest or count < fewest) then
      best, its_owner, fewest = first, each, count
    end
    if fewest == 0 then break end
  end
  return best, its_owner
end

while true do
  local id, owner = choose()
  if not id then return false end
  local job = job_key:format(id)
  local state, spec = unpack(redis.call('HMGET', job, 'state', 'spec'))
  redis.call('ZREM', waiting_key:format(owner), id)
  if state == 'queued' then
    local started, dataset = now(), cjson.decode(spec)['dataset']
    local attempt = redis.call('HINCRBY', job, 'attempt', 1)
    redis.call('HSET', job, 'state', 'running', 'worker', ARGV[2], 'claim', ARGV[5])
    redis.call('HSETNX', job, 'started', string.format('%.3f', started))
    redis.call('HINCRBY', job, 'version', 1)
    redis.call('ZREM', KEYS[3], id)
    redis.call('ZADD', KEYS[4], started + ARGV[3], id)
    local latest = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2] or 0
    redis.call('ZADD', KEYS[2], latest + 1, owner)
    redis.call('XADD', events_key:format(id), 'MAXLEN', '~', ARGV[4], '*',
      'schema', event_schema, 'kind', 'state', 'data', '')
    redis.call('EXPIRE', dataset_key:format(dataset), ARGV[6])
    redis.call('EXPIRE', chunks_key:format(dataset), ARGV[6])
    return {id, attempt}
  end
  if ARGV[8] == 'exact' then return false end
  redis.call('ZREM', KEYS[3], id)  -- it was deleted, or an earlier release has cancelled it
end
