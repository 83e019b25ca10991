-- Functions for the other scripts. `ism_jobs.store.redis` puts this file before each of them.
--
-- Scripts change several keys at once or not at all. Those that change a job's record first check that the job is
-- still in the state, and held by the attempt, that the caller expects. So a worker that was presumed dead cannot
-- overwrite the results of its successor. A caller that loses the answer repeats its call, so every script that is
-- called twice with the same arguments takes effect once.

-- Redis's own clock, in seconds.
local function now()
  local time = redis.call('TIME')
  return time[1] + time[2] / 1000000
end

-- Redis at its memory limit refuses a script whose first write needs memory. It does not refuse a script that has
-- written already. After this call running jobs can report, end and be cancelled although Redis is full.
local function proceed_when_full()
  redis.call('DEL', 'ism:nothing')
end
