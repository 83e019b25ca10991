-- Delete a data set unless open jobs use it. A full Redis refuses transactions, even those that only delete,
-- but it runs this script.
-- KEYS: open jobs of the data set, its description, its chunks, the owner's list of data sets
-- ARGV: id
-- Returns 0, or the number of open jobs that use the data set.
local open = redis.call('SCARD', KEYS[1])
if open > 0 then return open end
redis.call('DEL', KEYS[2], KEYS[3])
redis.call('ZREM', KEYS[4], ARGV[1])
return 0
