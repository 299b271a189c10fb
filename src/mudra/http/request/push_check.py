"""The check of a push's body: a port, since large bodies are checked by another process."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec import Struct

from mudra.metrics.payload.push_limits import TooBusyForPushes
from mudra.metrics.payload.report_facts import StorableReport
from mudra.metrics.payload.validation import ReportRefused
from mudra.server_protocol.body_errors import BodyTooLarge, MalformedBody
from mudra.server_protocol.body_reader import PackedBody


class PushedBody(Struct, frozen=True):
    """The payload of one AA."""

    aa_id: str
    packed: PackedBody
    walk: bool
    """Whether the errors of an invalid payload are looked for."""


PushVerdict: TypeAlias = StorableReport | ReportRefused | BodyTooLarge | MalformedBody
CheckPush: TypeAlias = Callable[[PushedBody], Awaitable[PushVerdict | TooBusyForPushes]]
"""Unpacks and checks a body without holding up other requests."""
