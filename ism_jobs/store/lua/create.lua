-- Create and queue jobs: all of them, or none.
-- KEYS: open jobs of the owner, data sets of the jobs, jobs that must not exist yet
-- ARGV: most open jobs of an owner, number of new jobs, number of data sets; then, for each command that writes the
--       jobs, the number of its words and the words
-- Returns 'created'; 'exists' if one of the jobs exists; 'too many' if the owner would have too many open jobs; or the
-- number of the first data set that is not there, counted from 0.
local last_dataset = 1 + tonumber(ARGV[3])
for i = last_dataset + 1, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then return 'exists' end
end
for i = 2, last_dataset do
  if redis.call('EXISTS', KEYS[i]) == 0 then return i - 2 end
end
if redis.call('SCARD', KEYS[1]) + ARGV[2] > tonumber(ARGV[1]) then return 'too many' end
local place = 4
while place <= #ARGV do
  local words = tonumber(ARGV[place])
  redis.call(unpack(ARGV, place + 1, place + words))
  place = place + words + 1
end
return 'created'
