"""Payloads of a simulated busy network: a daily shape, and failures on request.

For the sandbox, benchmarks and tests; all counts follow from the dice alone.
"""

import math
import random
import statistics
from collections.abc import Sequence
from datetime import datetime
from typing import Final, TypedDict, cast

from msgspec import UNSET, Struct

from mudra.metrics.payload.catalogue import (
    COUNTS,
    TIMINGS,
    WINDOW,
    WINDOW_SECONDS,
    NotificationType,
    Position,
    RequestType,
)
from mudra.metrics.payload.report import (
    Counts,
    NotificationBlock,
    NotificationFip,
    NotificationMetrics,
    RequestBlock,
    RequestFip,
    RequestMetrics,
)

SHARES: Final = {  # calls of each type for one FI request in a typical journey
    RequestType.ACCOUNT_DISCOVERY: 0.7,
    RequestType.ACCOUNT_LINK: 0.35,
    RequestType.ACCOUNT_DELINK: 0.02,
    RequestType.ACCOUNT_LINK_VERIFY: 0.3,
    RequestType.CONSENT: 0.3,
    RequestType.CONSENT_NOTIFICATION: 0.1,
    RequestType.FI_REQUEST: 1.0,
    RequestType.FI_READY_TIME: 0.93,
    RequestType.FI_FAILED_TIME: 0.04,
    RequestType.FI_FETCH: 0.92,
    RequestType.HEARTBEAT: 0.05,
}
NOTICE_SHARES: Final = {  # the same for notifications from FIPs other than FI notifications
    NotificationType.ACCOUNT_LINK: 0.3,
    NotificationType.CONSENT: 0.04,
}
FAILING_PERCENT: Final = 0.4
"""Of calls on an ordinary day: few enough that small numbers cause no incident by chance."""
USUAL_MS: Final = (5.6, 0.7)
"""Of the logarithm: half of the responses take up to 270 ms, one in a hundred over 1.4 s."""
USUAL_NOTICE_MS: Final = (9.0, 0.5)
"""The same from an FI request to its last notification."""
SLOWER_IN_DISRUPTION: Final = 6
PACKET_BYTES: Final = (9_000, 60_000)
_BUSIEST_HOUR_UTC: Final = 7.5  # 13:00 in India
_NORMAL: Final = statistics.NormalDist()
_SMALLEST: Final = 1e-9
_VERSION: Final = "2.1.0"


class _Head(TypedDict):
    agent_version: str
    json_version: str
    txn_id: str
    from_date_time: str
    to_date_time: str
    duration: int
    aa_id: str


class Disruption(Struct, frozen=True):
    """A FIP that fails (or is slow) during some windows; type None for all its APIs."""

    fip_id: str
    type: RequestType | None
    begin: datetime
    end: datetime
    failing_percent: float = 60

    def hits(self, fip_id: str, code: RequestType, window: datetime) -> bool:
        """Returns whether this API of this FIP fails in this window."""
        return (
            self.fip_id == fip_id and self.type in {None, code} and self.begin <= window < self.end
        )


class Traffic(Struct, frozen=True):
    """The traffic from each AA; `busiest`: FI requests of one pair in the busiest window."""

    fip_ids: Sequence[str]
    busiest: int = 300
    disruptions: Sequence[Disruption] = ()

    def load(self, place: int, moment: datetime) -> float:
        """Returns the FI requests in ten minutes from one AA to the FIP at this place."""
        return self.busiest * _daily_shape(moment) / (1 + place % 7)

    def requests(
        self, aa_id: str, window: datetime, txn_id: str, dice: random.Random
    ) -> RequestMetrics:
        """Returns the request-metrics payload of one AA, spec 2.5."""
        fips = []
        for place, fip_id in enumerate(self.fip_ids):
            load = self.load(place, window)
            blocks = [
                self._block(code, fip_id, window, calls, dice)
                for code in RequestType
                if (calls := _about(load * SHARES[code], dice))
            ]
            if blocks:
                fips.append(RequestFip(fip_id, tuple(blocks)))
        return RequestMetrics(
            **_head(aa_id, window, txn_id),
            fips=tuple(fips),
        )

    def notifications(
        self, aa_id: str, window: datetime, txn_id: str, dice: random.Random
    ) -> NotificationMetrics:
        """Returns the notification-metrics payload of one AA, spec 2.6."""
        fips = []
        for place, fip_id in enumerate(self.fip_ids):
            calls = _about(self.load(place, window), dice)
            blocks = [_fi_notifications(calls, dice)] if calls else []
            blocks += [
                NotificationBlock(code.value, _fixed(_counts(number, 0, dice)))
                for code, share in NOTICE_SHARES.items()
                if (number := _about(calls * share, dice))
            ]
            if blocks:
                fips.append(NotificationFip(fip_id, tuple(blocks)))
        return NotificationMetrics(
            **_head(aa_id, window, txn_id),
            fips=tuple(fips),
        )

    def _block(
        self, code: RequestType, fip_id: str, window: datetime, calls: int, dice: random.Random
    ) -> RequestBlock:
        hits = [one for one in self.disruptions if one.hits(fip_id, code, window)]
        bad = bool(hits)
        percent = max((one.failing_percent for one in hits), default=FAILING_PERCENT)
        usual = USUAL_NOTICE_MS if code in TIMINGS else USUAL_MS
        pxx = _percentiles(calls, *usual, SLOWER_IN_DISRUPTION if bad else 1, dice)
        if code in TIMINGS:
            counts = [0] * COUNTS
            counts[Position.TOTAL] = counts[Position.OK_200] = calls
            return RequestBlock(code.value, pxx, _fixed(counts))
        counts = _counts(calls, percent, dice)
        size = str(counts[Position.OK_200] * dice.randint(*PACKET_BYTES))
        return RequestBlock(
            code.value, pxx, _fixed(counts), size if code is RequestType.FI_FETCH else UNSET
        )


def _head(aa_id: str, window: datetime, txn_id: str) -> _Head:
    return {
        "agent_version": _VERSION,
        "json_version": "1.0.0",
        "txn_id": txn_id,
        "from_date_time": _utc_text(window),
        "to_date_time": _utc_text(window + WINDOW),
        "duration": WINDOW_SECONDS,
        "aa_id": aa_id,
    }


def _counts(calls: int, failing_percent: float, dice: random.Random) -> list[int]:
    counts = [0] * COUNTS
    counts[Position.TOTAL] = calls
    failed = min(calls, _about(calls * failing_percent / 100, dice))
    client = _about((calls - failed) * 0.02, dice)
    counts[Position.UNAVAILABLE_503] = failed // 2
    counts[Position.GATEWAY_TIMEOUT_504] = failed // 3
    counts[Position.NOT_FOUND_404] = min(client, calls - failed)
    unanswered = failed - failed // 2 - failed // 3
    counts[Position.OK_200] = calls - sum(counts[1:]) - unanswered
    return counts


def _percentiles(
    calls: int, location: float, scale: float, slower: float, dice: random.Random
) -> tuple[int, int, int, int]:
    """Returns p50, p95, p99 and the maximum of so many lognormal times, by nearest rank.

    The k-th smallest of n uniform numbers has a beta distribution: the four are drawn from
    the highest down, each below the one before.
    """
    share, rank, times = 1.0, calls + 1, []
    for percent in (100, 99, 95, 50):
        wanted = max(1, math.ceil(calls * percent / 100))
        if wanted < rank:
            share *= dice.betavariate(wanted, rank - wanted)
            rank = wanted
        quantile = _NORMAL.inv_cdf(min(max(share, _SMALLEST), 1 - _SMALLEST))
        times.append(max(1, int(slower * math.exp(location + scale * quantile))))
    p100, p99, p95, p50 = times
    return p50, p95, p99, p100


def _fi_notifications(calls: int, dice: random.Random) -> NotificationBlock:
    counts = [0] * COUNTS
    counts[Position.TOTAL] = counts[Position.OK_200] = calls
    failed = _about(calls * 0.04, dice)
    failed = min(failed, calls)
    denied = failed // 2
    status = (calls - failed, failed, calls - failed, denied, 0, failed - denied, 0)
    return NotificationBlock(NotificationType.FI.value, _fixed(counts), status)


def _fixed(counts: list[int]) -> Counts:
    return cast("Counts", tuple(counts))


def _daily_shape(window: datetime) -> float:
    """Returns the share of the busiest window, 0.08 to 1: less at night and on weekends."""
    hour = window.hour + window.minute / 60
    wave = (1 + math.cos((hour - _BUSIEST_HOUR_UTC) * math.pi / 12)) / 2
    awake = math.pow(wave, 1.5)
    weekend = window.weekday() > 4  # noqa: PLR2004  # Saturday and Sunday
    return (0.08 + 0.92 * awake) * (0.7 if weekend else 1)


def _about(mean: float, dice: random.Random) -> int:
    return max(0, round(dice.gauss(mean, math.sqrt(max(mean, 0.01)))))


def _utc_text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
