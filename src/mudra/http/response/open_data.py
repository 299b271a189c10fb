"""Data that any site may read, and read again by its ETag (Fetch, "CORS protocol").

A handler has `opt=OPEN_DATA` and sends `OPEN_HEADERS`; http/server/methods.py answers the
browser's question before a conditional request.
"""

from typing import Final

OPEN_DATA: Final = {"open_data": True}
OPEN_HEADERS: Final = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Retry-After, X-Request-Id, x-jws-signature",
}
PREFLIGHT_HEADERS: Final = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": "If-None-Match, If-Modified-Since",
    "Access-Control-Max-Age": "86400",
}
