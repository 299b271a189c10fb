"""Tags, types, array positions and windows of spec 2.5 and 2.6.

The only place that knows them, and one row for each type: code that reads `counts[6]` writes
`counts[Position.CONFLICT_409]`.
"""

import enum
from datetime import UTC, datetime, timedelta
from typing import Final, Self, TypeVar

from msgspec import Struct

from mudra.localization.language import translatable

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
    """The kind of a metrics payload: the constant `tag` of spec 2.5 and 2.6."""

    REQUESTS = "req-fipMetrics-aa"
    NOTIFICATIONS = "not-fipMetrics-aa"


class Call(Struct, frozen=True):
    """An HTTP call that a type counts; the route is appended to a member's base address."""

    method: str
    route: str


class _Type(enum.StrEnum):
    """One row for each type: place, code, label, call, and its names in feed and public status."""

    place: int
    """Its number in stored sums, which never changes: a new type takes the next free one."""
    label: str
    """Its name in sentences, to be translated."""
    call: Call | None
    """None for a measure of time between two events, which cannot fail: it has no success rate."""
    feed: str
    """Its name in the health feed; empty for a type that the feed leaves out."""
    public_label: str
    """Its name on the public status, to be translated; empty for a type that it leaves out."""
    api: str
    """Its code in incidents and alarms, where those of both payloads differ from each other."""

    def __new__(
        cls,
        place: int,
        code: str,
        label: str,
        call: Call | None = None,
        feed: str = "",
        public_label: str = "",
        api: str = "",
    ) -> Self:
        row = str.__new__(cls, code)
        row._value_, row.place = code, place
        row.label, row.call, row.feed = label, call, feed
        row.public_label, row.api = public_label, api or code
        return row


class RequestType(_Type):
    """Type codes of request metrics, spec 2.5: calls from an AA to a FIP."""

    # fmt: off
    ACCOUNT_DISCOVERY = (
        1, "adisc", translatable("account discovery"), Call("POST", "/Accounts/discover"),
        "discovery", translatable("Discovery"))
    ACCOUNT_LINK = (
        2, "alink", translatable("account linking"), Call("POST", "/Accounts/link"),
        "linking", translatable("Linking"))
    ACCOUNT_DELINK = (
        3, "adlink", translatable("account delinking"), Call("POST", "/Accounts/delink"))
    ACCOUNT_LINK_VERIFY = (
        4, "alinkv", translatable("confirmation of linking"), Call("POST", "/Accounts/link/verify"),
        "confirm_linking", translatable("Confirm linking"))
    CONSENT = (
        5, "cns", translatable("consent"), Call("POST", "/Consent"),
        "consent", translatable("Consent"))
    CONSENT_NOTIFICATION = (
        6, "cnot", translatable("consent notification"), Call("POST", "/Consent/Notification"))
    FI_REQUEST = (
        7, "fireq", translatable("FI request"), Call("POST", "/FI/request"),
        "fi_request", translatable("FI request"))
    FI_READY_TIME = 8, "sfireqnot", translatable("time to data ready")
    FI_FAILED_TIME = 9, "ffireqnot", translatable("time to a failed request")
    FI_FETCH = (
        10, "fif", translatable("FI fetch"), Call("POST", "/FI/Fetch"),
        "fi_fetch", translatable("FI fetch"))
    HEARTBEAT = 11, "hbt", translatable("heartbeat"), Call("GET", "/Heartbeat")
    # fmt: on


class NotificationType(_Type):
    """Type codes of notification metrics, spec 2.6: calls from a FIP to an AA."""

    # fmt: off
    FI = (
        12, "finot", translatable("FI notification"), Call("POST", "/FI/Notification"),
        "fi_notification")
    ACCOUNT_LINK = (
        13, "alnot", translatable("account linking notification"),
        Call("POST", "/Account/link/Notification"))
    CONSENT = (
        14, "cnot", translatable("consent notification"), Call("POST", "/Consent/Notification"),
        "", "", "cnot-received")
    # fmt: on


CODES: Final = {
    Tag.REQUESTS: tuple(one.value for one in RequestType),
    Tag.NOTIFICATIONS: tuple(one.value for one in NotificationType),
}
"""The type codes of each payload, as they are written."""
TIMINGS: Final = frozenset(code for code in RequestType if code.call is None)
TIMING_CODES: Final = frozenset(code.value for code in TIMINGS)
CALL_CODES: Final = tuple(code.value for code in RequestType if code not in TIMINGS)
"""The types of request that have a status, as they are written."""
CUSTOMER_CODES: Final = tuple(code for code in CALL_CODES if code != RequestType.HEARTBEAT)
"""The types of request by which customers are served: a heartbeat serves none."""
ALL_CALLS: Final = ""
"""In place of a type code: all calls for customers together."""
TYPE_OF_API: Final[dict[str, RequestType | NotificationType]] = {
    **{one.api: one for one in RequestType},
    **{one.api: one for one in NotificationType},
}
"""All types, by their codes in incidents and alarms."""
FEED_APIS: Final = {one.feed: one for one in TYPE_OF_API.values() if one.feed}
"""The types that the health feed shows, by name."""


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


REQUEST_CALLS: Final = {one: one.call for one in RequestType if one.call}
NOTIFICATION_CALLS: Final = {one: one.call for one in NotificationType if one.call}


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
