"""Headers of every answer that tell browsers what they may do with it."""

from collections.abc import Mapping

from starlette.datastructures import MutableHeaders


def policy(sources: Mapping[str, str]) -> str:
    """A content security policy."""
    return "; ".join(f"{what} {where}".rstrip() for what, where in sources.items())


# A page may load modules, styles, pictures and data from here and nothing from elsewhere, run no script that stands in
# its text, and be framed by nobody.
PAGE = {
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
# A picture that is opened by itself is a document: it may have its styles, and no script runs in it.
PICTURE = {"default-src": "'none'", "style-src": "'unsafe-inline'", "frame-ancestors": "'none'", "sandbox": ""}

ALWAYS = {
    "Content-Security-Policy": policy(PAGE),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-cache",  # kept by nobody but its reader, who asks whether it is still so
}


def secure(headers: MutableHeaders) -> None:
    """Add what the answer does not say by itself."""
    for name, value in ALWAYS.items():
        headers.setdefault(name, value)
