"""The parts of a span that the agent reads, in either encoding, and how much of one body."""

from dataclasses import dataclass, field
from typing import Final

FIP: Final = "aa.fip.id"
SESSION: Final = "aa.session.id"
STATUSES: Final = "aa.fi.statuses"
PACKETS: Final = "aa.packet.bytes"
METHODS: Final = ("http.request.method", "http.method")
PATHS: Final = ("url.path", "http.target", "http.route", "url.full", "http.url")
STATUS: Final = ("http.response.status_code", "http.status_code")
HOSTS: Final = ("server.address", "net.peer.name", "http.host")
PORTS: Final = ("server.port", "net.peer.port")
SIZES: Final = (PACKETS, "http.response.body.size", "http.response_content_length")
WANTED: Final = frozenset(
    {*METHODS, *PATHS, *STATUS, *HOSTS, *PORTS, *SIZES, FIP, SESSION, STATUSES}
)
"""The attributes that are read."""

SERVER: Final = 2
CLIENT: Final = 3
MAX_SPANS: Final = 50_000
"""Of one body: more than 8 MiB of spans of HTTP calls are."""
MAX_ATTRIBUTES: Final = 500_000
MAX_ELEMENTS: Final = 10_000
"""Of one array: as many accounts as one notification may have."""

AttributeValue = str | int | float


@dataclass(slots=True)
class Span:
    """One span: a number is as its sender wrote it, in whatever form."""

    kind: int = 0
    start: object = 0
    """Nanoseconds since 1970."""
    end: object = 0
    trace_id: bytes = b""
    span_id: bytes = b""
    attributes: dict[str, AttributeValue] = field(default_factory=dict)
