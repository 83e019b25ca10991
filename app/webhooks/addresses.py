"""Which hosts and addresses a webhook may call, so that nobody reaches the service's own network through it."""

import asyncio
import ipaddress
import socket
from urllib.parse import urlsplit

from ism_jobs.sentences import shown
from ism_jobs.settings import Settings


class ForbiddenAddress(Exception):
    """The host of a webhook has an address that must not be called."""


def url_refusal(url: str, settings: Settings) -> str | None:
    """Return why a URL must not be called, or None. Its addresses are checked when it is called."""
    try:
        parts = urlsplit(url)
        host, scheme, _ = (parts.hostname or "").lower(), parts.scheme, parts.port
    except ValueError:
        return f"{shown(url)} is not a URL; give one such as https://example.org/ism."
    if scheme != "https" and not settings.webhook_private:
        return f"notify.url is {shown(url)}; it must start with https://."
    allowed = {name.lower() for name in settings.webhook_hosts}
    if "*" not in allowed and host not in allowed:
        return f"Webhooks may not call {shown(host)}; ISM_WEBHOOK_HOSTS lists the hosts that they may call."
    return None


async def allowed_address(host: str, port: int, settings: Settings) -> str:
    """Resolve a host to an address that may be called. The caller must connect to this very address.

    Raises ForbiddenAddress if any address of the host is private, since a resolver may give another one each time.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not settings.webhook_private:
        for address in addresses:
            if not _is_public(address):
                raise ForbiddenAddress(f"The host has the private address {address}.")
    return addresses[0]


def _is_public(address: str) -> bool:
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address) and (inner := parsed.ipv4_mapped or parsed.sixtofour):
        parsed = inner
    return parsed.is_global and not parsed.is_multicast
