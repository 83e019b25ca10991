-- Move a ticket right behind another one, or to the front of the queue if the other one has left it.
-- KEYS: queue
-- ARGV: the other ticket, the ticket to move
redis.call('LREM', KEYS[1], 1, ARGV[2])
if redis.call('LINSERT', KEYS[1], 'AFTER', ARGV[1], ARGV[2]) < 1 then redis.call('LPUSH', KEYS[1], ARGV[2]) end
