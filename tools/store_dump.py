"""The content of a Redis as a file: every key with its type and value, without its expiry.

Unlike a file of Redis itself, it is read by every version of Redis and Valkey, and nothing in it expires.
"""

import base64
import gzip
import json
from collections.abc import Callable
from typing import Any

Readers = dict[bytes, Callable[[bytes], Any]]


def dump(redis: Any) -> bytes:
    """Return all keys of a connection to Redis."""
    readers: Readers = {
        b"string": redis.get,
        b"hash": redis.hgetall,
        b"list": lambda key: redis.lrange(key, 0, -1),
        b"set": lambda key: sorted(redis.smembers(key)),
        b"zset": lambda key: [
            [member, repr(score).encode()] for member, score in redis.zrange(key, 0, -1, withscores=True)
        ],
        b"stream": lambda key: [[id, entry] for id, entry in redis.xrange(key)],
    }
    found = []
    for key in sorted(redis.scan_iter()):
        kind = redis.type(key)
        found.append([_text(key), kind.decode(), _plain(readers[kind](key))])
    return gzip.compress(json.dumps(found).encode(), mtime=0)


def load(redis: Any, dumped: bytes) -> None:
    """Write all keys of a dump into a Redis."""
    with redis.pipeline(transaction=False) as pipe:
        for name, kind, plain in json.loads(gzip.decompress(dumped)):
            key, value = _bytes(name), _value(plain)
            if kind == "string":
                pipe.set(key, value)
            elif kind == "hash":
                pipe.hset(key, mapping=value)
            elif kind == "list":
                pipe.rpush(key, *value)
            elif kind == "set":
                pipe.sadd(key, *value)
            elif kind == "zset":
                pipe.zadd(key, {member: float(score) for member, score in value})
            else:
                for id, entry in value:
                    pipe.xadd(key, entry, id=id)
        pipe.execute()


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return _text(value)
    if isinstance(value, dict):
        return {_text(name): _text(each) for name, each in sorted(value.items())}
    return [_plain(each) for each in value]


def _value(plain: Any) -> Any:
    if isinstance(plain, str):
        return _bytes(plain)
    if isinstance(plain, dict):
        return {_bytes(name): _bytes(each) for name, each in plain.items()}
    return [_value(each) for each in plain]


def _text(value: bytes) -> str:
    """Return text as it is, and other bytes in base 64 after a mark."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return "\0" + base64.b64encode(value).decode()
    return "\0" + base64.b64encode(value).decode() if text.startswith("\0") else text


def _bytes(text: str) -> bytes:
    return base64.b64decode(text[1:]) if text.startswith("\0") else text.encode()
