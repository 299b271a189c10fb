"""The status of each kind of refusal, and its `errorCode` where a refusal has none of its own."""

from collections.abc import Mapping
from typing import Final

from mudra.shared.refusal import ErrorCode, Refusal, RefusalKind

STATUS_OF: Final[Mapping[RefusalKind, tuple[int, ErrorCode]]] = {
    RefusalKind.INVALID: (400, ErrorCode.INVALID_REQUEST),
    RefusalKind.UNAUTHORIZED: (401, ErrorCode.UNAUTHORIZED),
    RefusalKind.FORBIDDEN: (403, ErrorCode.UNAUTHORIZED),
    RefusalKind.NOT_FOUND: (404, ErrorCode.NOT_FOUND),
    RefusalKind.NOT_ALLOWED: (405, ErrorCode.INVALID_REQUEST),
    RefusalKind.TOO_SLOW: (408, ErrorCode.INVALID_REQUEST),
    RefusalKind.CONFLICT: (409, ErrorCode.CONFLICT),
    RefusalKind.TOO_LARGE: (413, ErrorCode.PAYLOAD_TOO_LARGE),
    RefusalKind.UNSUPPORTED: (415, ErrorCode.UNSUPPORTED_MEDIA_TYPE),
    RefusalKind.LIMITED: (429, ErrorCode.TOO_MANY_ATTEMPTS),
    RefusalKind.FAILED: (500, ErrorCode.INTERNAL_ERROR),
    RefusalKind.BUSY: (503, ErrorCode.SERVICE_UNAVAILABLE),
}


class HttpRefusal(Refusal, frozen=True):
    """A refusal of an HTTP edge, with headers of its own."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers next to the headers of its kind."""
        return {}
