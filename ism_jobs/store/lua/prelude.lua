-- Functions for the other scripts. `ism_jobs.store.redis` puts this file before each of them.
--
-- Scripts change several keys at once or not at all. Those that change or delete a job first check its state. Those
-- that a worker calls also check that the worker or its attempt still holds the job. So a worker that was presumed
-- dead cannot overwrite the results of its successor.
--
-- A caller that loses the answer may repeat its call with the same arguments. The job is then as after one call, except
-- that its version or lease may be newer. Only reserve_requests takes effect again: it reserves more requests.

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
