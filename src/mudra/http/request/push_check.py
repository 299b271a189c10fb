"""How the body of a push is checked: a port, since large bodies are checked by another process."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec import Struct

from mudra.http.request.body.body_errors import BodyTooLarge, MalformedBody
from mudra.http.request.body.request_body import PackedBody
from mudra.metrics.payload.push_limits import TooBusyForPushes
from mudra.metrics.payload.report_facts import StorableReport
from mudra.metrics.payload.validation import ReportRefused


class PushedBody(Struct, frozen=True):
    """What one AA sent."""

    aa_id: str
    packed: PackedBody
    walk: bool
    """Whether the errors of an invalid payload are looked for."""


PushVerdict: TypeAlias = StorableReport | ReportRefused | BodyTooLarge | MalformedBody
CheckPush: TypeAlias = Callable[[PushedBody], Awaitable[PushVerdict | TooBusyForPushes]]
"""Unpacks and checks a body without holding up other requests."""
