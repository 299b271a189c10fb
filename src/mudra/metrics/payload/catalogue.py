"""Tags, type codes, array positions and windows of spec 2.5 and 2.6.

The only place that knows them: code that reads `counts[6]` writes
`counts[Position.CONFLICT_409]`.
"""

import enum
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from msgspec import Struct

COUNTS: Final = 15
STATUSES: Final = 7
MAX_COUNT: Final = 2**53 - 1  # what every JSON reader keeps exactly
MAX_SIZE_DIGITS: Final = 4000
"""Of `sumOfSizeOfDataPackets` as it is counted: Python reads 4,300 at a time. A longer one, which
the specification does not forbid, is taken and counts as the largest of these."""

WINDOW: Final = timedelta(seconds=600)  # spec 2.5, 8
WINDOW_SECONDS: Final = 600
WINDOWS_PER_DAY: Final = 144


class Tag(enum.StrEnum):
    """The two payloads; the constant `tag` of spec 2.5 and 2.6."""

    REQUESTS = "req-fipMetrics-aa"
    NOTIFICATIONS = "not-fipMetrics-aa"


class RequestType(enum.StrEnum):
    """Type codes of request metrics, spec 2.5: calls from an AA to a FIP."""

    ACCOUNT_DISCOVERY = "adisc"
    ACCOUNT_LINK = "alink"
    ACCOUNT_DELINK = "adlink"
    ACCOUNT_LINK_VERIFY = "alinkv"
    CONSENT = "cns"
    CONSENT_NOTIFICATION = "cnot"
    FI_REQUEST = "fireq"
    FI_READY_TIME = "sfireqnot"
    FI_FAILED_TIME = "ffireqnot"
    FI_FETCH = "fif"
    HEARTBEAT = "hbt"


class NotificationType(enum.StrEnum):
    """Type codes of notification metrics, spec 2.6: calls from a FIP to an AA."""

    FI = "finot"
    ACCOUNT_LINK = "alnot"
    CONSENT = "cnot"


# Measures of time between two events, not calls: they cannot fail, so they have no success rate.
TIMINGS: Final = frozenset({RequestType.FI_READY_TIME, RequestType.FI_FAILED_TIME})
TIMING_CODES: Final = frozenset(str(code) for code in TIMINGS)
CALL_CODES: Final = tuple(str(code) for code in RequestType if code not in TIMINGS)
"""The types of request that have a status, as they are written."""
ALL_CALLS: Final = ""
"""In place of a type code: all calls together, the timings left out."""


class Position(enum.IntEnum):
    """Index into `counts`; the same fifteen meanings in both payloads."""

    TOTAL = 0
    OK_200 = 1
    BAD_REQUEST_400 = 2
    UNAUTHORIZED_401 = 3
    FORBIDDEN_403 = 4
    NOT_FOUND_404 = 5
    CONFLICT_409 = 6
    PRECONDITION_412 = 7
    TOO_MANY_429 = 8
    OTHER_4XX = 9
    INTERNAL_500 = 10
    BAD_GATEWAY_502 = 11
    UNAVAILABLE_503 = 12
    GATEWAY_TIMEOUT_504 = 13
    OTHER_5XX = 14


FIRST_4XX: Final = Position.BAD_REQUEST_400
FIRST_5XX: Final = Position.INTERNAL_500

REQUEST_COUNT_NAMES: Final = (  # spec 2.5
    "totalSentCnt",
    "200OKRecdCnt",
    "400BadReqRecdCnt",
    "401UnauthorizedReqRecdCnt",
    "403ForbiddenReqRecdCnt",
    "404NotFoundRecdCnt",
    "409IdempotencyErrorReqRecdCnt",
    "412Pre-ConditionFailedRecdCnt",
    "429TooManyReqsRecdCnt",
    "4xxOtherErrorsRecdCnt",
    "500InternalServerErrorRecdCnt",
    "502BadGatewayRecdCnt",
    "503ServiceUnavailableRecdCnt",
    "504GatewayTimeoutRecdCnt",
    "5xxOtherErrorsRecdCnt",
)

NOTIFICATION_COUNT_NAMES: Final = (  # spec 2.6
    "totalRecdCnt",
    "200OKSentCnt",
    "400BadReqSentCnt",
    "401UnauthorizedReqSentCnt",
    "403ForbiddenReqSentCnt",
    "404NotFoundSentCnt",
    "409IdempotencyErrorReqSentCnt",
    "412PreConditionFailedSentCnt",
    "429TooManyReqsSentCnt",
    "4xxOtherErrorsSentCnt",
    "500InternalServerErrorSentCnt",
    "502BadGatewaySentCnt",
    "503ServiceUnavailableSentCnt",
    "504GatewayTimeoutSentCnt",
    "5xxOtherErrorsSentCnt",
)


class StatusPosition(enum.IntEnum):
    """Index into `status` of `finot`, spec 2.6."""

    SUCCEEDED = 0
    FAILED = 1
    READY = 2
    DENIED = 3
    DELIVERED = 4
    TIMEOUT = 5
    PENDING = 6


STATUS_NAMES: Final = (  # spec 2.6
    "succRecdCnt",
    "failRecdCnt",
    "readyRecdCnt",
    "deniedRecdCnt",
    "deliveredRecdCnt",
    "timeoutRecdCnt",
    "intermediateRecdCnt",
)


PERCENTILE_NAMES: Final = ("p50", "p95", "p99", "p100")
PERCENTS: Final = (50, 95, 99, 100)


class Call(Struct, frozen=True):
    """An HTTP call that a type counts; the route is appended to a member's base address."""

    method: str
    route: str


REQUEST_CALLS: Final = {  # spec 2.5; the two timings count no call
    RequestType.ACCOUNT_DISCOVERY: Call("POST", "/Accounts/discover"),
    RequestType.ACCOUNT_LINK: Call("POST", "/Accounts/link"),
    RequestType.ACCOUNT_DELINK: Call("POST", "/Accounts/delink"),
    RequestType.ACCOUNT_LINK_VERIFY: Call("POST", "/Accounts/link/verify"),
    RequestType.CONSENT: Call("POST", "/Consent"),
    RequestType.CONSENT_NOTIFICATION: Call("POST", "/Consent/Notification"),
    RequestType.FI_REQUEST: Call("POST", "/FI/request"),
    RequestType.FI_FETCH: Call("POST", "/FI/Fetch"),
    RequestType.HEARTBEAT: Call("GET", "/Heartbeat"),
}

NOTIFICATION_CALLS: Final = {  # spec 2.6
    NotificationType.FI: Call("POST", "/FI/Notification"),
    NotificationType.ACCOUNT_LINK: Call("POST", "/Account/link/Notification"),
    NotificationType.CONSENT: Call("POST", "/Consent/Notification"),
}


def request_type_of(method: str, path: str) -> RequestType | None:
    """Returns the type that counts a call made by an AA, or None; paths vary in letter case."""
    return _by_route(_REQUEST_ROUTES, method, path)


def notification_type_of(method: str, path: str) -> NotificationType | None:
    """Returns the type that counts a call received by an AA, or None."""
    return _by_route(_NOTIFICATION_ROUTES, method, path)


def position_of_status(http_status: int) -> Position | None:
    """Returns the position that counts this status, or None where spec 2.5 has none.

    Such a response (302, 204) is counted in the total only.
    """
    named = _STATUS_POSITIONS.get(http_status)
    if named is not None:
        return named
    if 400 <= http_status <= 499:  # noqa: PLR2004 - the bounds of a class of HTTP statuses
        return Position.OTHER_4XX
    if 500 <= http_status <= 599:  # noqa: PLR2004 - the bounds of a class of HTTP statuses
        return Position.OTHER_5XX
    return None


def window_start(at: datetime) -> datetime:
    """Returns the start, in UTC, of the ten-minute window that contains this moment."""
    utc = at.astimezone(UTC)
    return utc.replace(minute=utc.minute // 10 * 10, second=0, microsecond=0)


def window_number(at: datetime) -> int:
    """Returns the number of the window that contains this moment: windows since 1970."""
    return int(at.timestamp()) // WINDOW_SECONDS


def window_at(number: int) -> datetime:
    """Returns the start of the window of this number, in UTC."""
    return datetime.fromtimestamp(number * WINDOW_SECONDS, UTC)


def hour_start(at: datetime) -> datetime:
    """Returns the start of the hour, in UTC, that contains this moment."""
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def day_start(at: datetime) -> datetime:
    """Returns the start of the day, in UTC, that contains this moment."""
    return at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


_T = TypeVar("_T")


def _by_route(routes: dict[tuple[str, str], _T], method: str, path: str) -> _T | None:
    """Looks up the longest matching end of the path: a base such as `/v2` may precede it."""
    # The rest in one piece: a path of a million segments would take hundreds of bytes for each.
    segments = path.partition("?")[0].strip("/").lower().rsplit("/", 3)
    for length in (3, 2, 1):
        if length <= len(segments):
            found = routes.get((method.upper(), "/".join(segments[-length:])))
            if found is not None:
                return found
    return None


def _routes(calls: dict[_T, Call]) -> dict[tuple[str, str], _T]:
    return {(call.method, call.route.strip("/").lower()): code for code, call in calls.items()}


_REQUEST_ROUTES: Final = _routes(REQUEST_CALLS)
_NOTIFICATION_ROUTES: Final = _routes(NOTIFICATION_CALLS)

_STATUS_POSITIONS: Final = {
    int(place.name.rpartition("_")[2]): place
    for place in Position
    if place.name.rpartition("_")[2].isdigit()
}
