"""The sandbox's addresses: time machine and mailbox. Mounted in the sandbox only."""

import re
from datetime import timedelta
from typing import Final

from litestar import Response, post

from mudra.http.answer import refusal, success
from mudra.http.envelope import iso_ms
from mudra.http.errors import InvalidField
from mudra.http.exchange import AnyRequest, receive_json
from mudra.http.openapi import described
from mudra.http.requests import ClockRequest
from mudra.http.responses import ClockResponse
from mudra.http.service import Injected

_PARTS: Final = re.compile(
    r"P(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)S)?)?"
)
_MOST: Final = timedelta(days=3660)


@post(
    "/sandbox/v1/clock",
    status_code=200,
    operation_class=described("Move the service's clock forward", ClockRequest, ClockResponse),
)
async def advance_clock(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Move time on all nodes; the answer comes when all have moved."""
    exchange, order = await receive_json(request, service, ClockRequest)
    if not isinstance(order, ClockRequest):
        return refusal(exchange.envelope, order).response()
    by = duration(order.advance)
    if by > _MOST:
        return refusal(
            exchange.envelope, InvalidField("advance must be at most ten years in one call")
        ).response()
    assert service.time_machine is not None
    now = await service.time_machine.advance(by)
    return success(exchange.envelope, {"now": iso_ms(now)}).response()


def duration(text: str) -> timedelta:
    """Read an ISO 8601 duration of fixed units (weeks to seconds)."""
    found = _PARTS.fullmatch(text)
    assert found is not None, "the request's pattern admits no other form"
    return timedelta(**{unit: int(n) for unit, n in found.groupdict().items() if n is not None})
