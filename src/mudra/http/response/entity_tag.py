"""Conditional requests: whether the caller has the response already (RFC 9110 13.1.2)."""

import hashlib

from mudra.http.request.request_context import AnyRequest


def entity_tag(body: bytes) -> str:
    """Return the ETag of a body: a digest, so that all nodes agree."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def has_it(request: AnyRequest, tag: str) -> bool:
    """Return whether `If-None-Match` names this ETag, or any."""
    sent = request.headers.get("if-none-match", "")
    known = [one.strip().removeprefix("W/") for one in sent.split(",")]
    return tag in known or "*" in known
