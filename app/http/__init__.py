"""HTTP details that are the same for every route: negotiation, paging, pages, security headers, exception handlers."""

from app.http.etags import TAGS, etag_matches, etag_of, not_modified
from app.http.exception_handlers import install_exception_handlers
from app.http.negotiation import (
    VARY_ACCEPT,
    file_response,
    file_responses,
    negotiate_format,
)
from app.http.pages import install_page, install_swagger
from app.http.pagination import decode_cursor, page_end
from app.http.security_headers import PICTURE_POLICY, content_security_policy, with_security_headers
from app.http.uvicorn_limits import MAX_READ_BYTES, ConnectionLimits, headers_too_large, limited_protocol

__all__ = [
    "MAX_READ_BYTES",
    "PICTURE_POLICY",
    "TAGS",
    "VARY_ACCEPT",
    "ConnectionLimits",
    "content_security_policy",
    "decode_cursor",
    "etag_matches",
    "etag_of",
    "file_response",
    "file_responses",
    "headers_too_large",
    "install_exception_handlers",
    "install_page",
    "install_swagger",
    "limited_protocol",
    "negotiate_format",
    "not_modified",
    "page_end",
    "with_security_headers",
]
