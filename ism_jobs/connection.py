"""The type of a connection to Redis.

redis-py types an answer by every setting that a connection may have (bytes or text, one server or a cluster), which
no caller can use; ours always answers with bytes.
"""

from typing import Any, TypeAlias

Connection: TypeAlias = Any  # redis.Redis, or a pipeline of one
AsyncConnection: TypeAlias = Any  # redis.asyncio.Redis
