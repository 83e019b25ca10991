"""Security headers: they tell browsers what a response may load, and who may embed it."""

from collections.abc import Iterable, Mapping


def content_security_policy(directives: Mapping[str, str]) -> str:
    """Return the value of the Content-Security-Policy header."""
    return "; ".join(f"{name} {sources}".rstrip() for name, sources in directives.items())


# A page loads scripts, styles, images and data from this service only. Inline scripts and frames are not allowed.
PAGE_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data: blob:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
# An SVG that is opened by itself is a document: it may use inline styles, but no script runs in it.
PICTURE_POLICY = {"default-src": "'none'", "style-src": "'unsafe-inline'", "frame-ancestors": "'none'", "sandbox": ""}

DEFAULT_HEADERS = {
    "Content-Security-Policy": content_security_policy(PAGE_POLICY),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-cache",  # browsers may cache a response, but must revalidate it before each use
}


_RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in DEFAULT_HEADERS.items()]


def with_security_headers(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the raw headers of a response with each default header that it does not set itself."""
    own = list(headers)
    names = {name.lower() for name, _ in own}
    return own + [header for header in _RAW_HEADERS if header[0] not in names]
