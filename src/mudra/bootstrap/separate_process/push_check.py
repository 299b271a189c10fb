"""Checks pushed payloads: small ones between two other requests, the rest in another process.

To check 8 MiB takes up to a second, in which a worker would answer no one.
"""

from datetime import datetime
from functools import partial
from typing import Final

from mudra.bootstrap.separate_process.process_apart import NoAnswerApart, ProcessApart
from mudra.http.request.body.request_body import METRICS_LIMITS
from mudra.http.request.push_check import PushedBody, PushVerdict
from mudra.metrics.payload.push_limits import PushLimits, TooBusyForPushes
from mudra.metrics.payload.report_facts import StorableReport
from mudra.metrics.payload.validation import (
    CheckedReport,
    ReportRefused,
    check_at_once,
    check_report,
)
from mudra.server_protocol.body_reader import PackedBody, unpacked
from mudra.shared.clock import Clock
from mudra.shared.finding import Finding
from mudra.storage.metrics.stored_report import storable

SMALL_BYTES: Final = 16 * 1024
"""Packed and unpacked: checked within 2 ms."""

_NOT_WALKED: Final = ReportRefused(
    (Finding("$", "is not valid; too many invalid payloads came to have its errors named"),), 1
)


class PushChecker:
    """Implements `http/request/push_check.py` CheckPush for one worker."""

    def __init__(self, clock: Clock, limits: PushLimits) -> None:
        self._clock = clock
        self._limits = limits
        self._apart = ProcessApart()

    async def check(self, body: PushedBody) -> PushVerdict | TooBusyForPushes:
        """Return the payload ready to be stored, or why it is refused."""
        at_once = _check_small(body.packed, self._clock())
        if at_once is not None:
            return at_once
        apart = partial(check_whole, body.packed, self._clock(), walk=body.walk)
        try:
            return await self._apart.run(body.aa_id, apart)
        except NoAnswerApart:
            return self._limits.busy()


def _check_small(packed: PackedBody, now: datetime) -> StorableReport | None:
    if len(packed.content) > SMALL_BYTES:
        return None
    content = unpacked(packed, SMALL_BYTES)
    checked = check_at_once(content, now) if isinstance(content, bytes) else None
    return None if checked is None else storable(checked)


def check_whole(packed: PackedBody, now: datetime, *, walk: bool) -> PushVerdict:
    """Check a body of any size: takes up to a second, and asks nothing of the worker."""
    content = unpacked(packed, METRICS_LIMITS.max_bytes)
    if not isinstance(content, bytes):
        return content
    checked = check_report(content, now) if walk else check_at_once(content, now)
    if checked is None:
        return _NOT_WALKED
    return storable(checked) if isinstance(checked, CheckedReport) else checked
