"""Authentication: API keys, and the middleware that admits or refuses a request."""

from app.auth.access import METRICS_KEY, AccessMiddleware, bearer_key, is_public
from app.auth.api_keys import ApiKeys, InvalidKeys, KeyFile, check_address

__all__ = [
    "METRICS_KEY",
    "AccessMiddleware",
    "ApiKeys",
    "InvalidKeys",
    "KeyFile",
    "bearer_key",
    "check_address",
    "is_public",
]
