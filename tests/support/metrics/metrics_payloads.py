"""Builders of metrics payloads as a busy network would send them."""

import functools
import random
from datetime import UTC, datetime, timedelta
from typing import cast

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from mudra.metrics.payload.catalogue import TIMINGS, WINDOW, NotificationType, Position, RequestType
from mudra.metrics.payload.report import (
    Counts,
    NotificationBlock,
    NotificationFip,
    NotificationMetrics,
    RequestBlock,
    RequestFip,
    RequestMetrics,
)

WINDOW_START = datetime(2026, 3, 4, 10, 20, tzinfo=UTC)
SOON_AFTER = WINDOW_START + WINDOW + timedelta(seconds=45)


def written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


@functools.cache
def request_block(code: RequestType, seed: int = 1, calls: int = 400) -> RequestBlock:
    """A block in which about 2 % fail and a few never answer."""
    dice = random.Random(f"{code}{seed}{calls}")
    p50 = dice.randint(80, 900)
    pxx = (p50, p50 * 3, p50 * 5 + dice.randint(0, 50), p50 * 9 + dice.randint(0, 900))
    if code in TIMINGS:
        return RequestBlock(code.value, pxx, cast("Counts", (calls, calls, *[0] * 13)))
    errors = [dice.randint(0, max(1, calls // 200)) for _ in range(13)]
    ok = max(0, calls - sum(errors) - dice.randint(0, 3))
    size = str(ok * dice.randint(4_000, 90_000)) if code == RequestType.FI_FETCH else UNSET
    return RequestBlock(
        code.value, pxx, cast("Counts", (max(calls, ok + sum(errors)), ok, *errors)), size
    )


@functools.cache
def notification_block(
    code: NotificationType, seed: int = 1, calls: int = 300
) -> NotificationBlock:
    dice = random.Random(f"{code}{seed}{calls}")
    errors = [dice.randint(0, 2) for _ in range(13)]
    counts = cast("Counts", (calls + sum(errors), calls, *errors))
    if code != NotificationType.FI:
        return NotificationBlock(code.value, counts)
    failed = dice.randint(0, calls // 10)
    timeout = dice.randint(0, failed)
    ready = calls - failed
    status = (
        ready,
        failed,
        ready,
        failed - timeout,
        dice.randint(0, 9),
        timeout,
        dice.randint(0, 5),
    )
    return NotificationBlock(code.value, counts, status)


def request_metrics(
    fips: int = 3,
    aa_id: str = "aa@sakshi",
    txn_id: str = "6f1d0d3e-1111-4111-8111-000000000001",
    start: datetime = WINDOW_START,
    seed: int = 1,
) -> RequestMetrics:
    return RequestMetrics(
        agent_version="2.1.0",
        json_version="1.0.0",
        txn_id=txn_id,
        from_date_time=written(start),
        to_date_time=written(start + WINDOW),
        duration=600,
        aa_id=aa_id,
        fips=tuple(
            RequestFip(
                f"BANK-{place:03}", tuple(request_block(code, seed + place) for code in RequestType)
            )
            for place in range(fips)
        ),
    )


def notification_metrics(
    fips: int = 3,
    aa_id: str = "aa@sakshi",
    txn_id: str = "6f1d0d3e-1111-4111-8111-000000000002",
    start: datetime = WINDOW_START,
    seed: int = 1,
) -> NotificationMetrics:
    return NotificationMetrics(
        agent_version="2.1.0",
        json_version="1.0.0",
        txn_id=txn_id,
        from_date_time=written(start),
        to_date_time=written(start + WINDOW),
        duration=600,
        aa_id=aa_id,
        fips=tuple(
            NotificationFip(
                f"BANK-{place:03}",
                tuple(notification_block(code, seed + place) for code in NotificationType),
            )
            for place in range(fips)
        ),
    )


def as_value(payload: msgspec.Struct) -> dict[str, object]:
    """The payload as a plain JSON value, for a test to spoil."""
    value = msgspec.json.decode(msgspec.json.encode(payload))
    assert isinstance(value, dict)
    return value


def failing(payload: RequestMetrics) -> RequestMetrics:
    """The same where no call to the first FIP succeeds."""
    first, *others = payload.fips
    blocks = []
    for block in first.metrics:
        counts = list(block.counts)
        if block.type not in {str(code) for code in TIMINGS}:
            counts[Position.INTERNAL_500] += counts[Position.OK_200]
            counts[Position.OK_200] = 0
        blocks.append(replace(block, counts=cast("Counts", tuple(counts))))
    return replace(payload, fips=(replace(first, metrics=tuple(blocks)), *others))


def of_few_calls(payload: RequestMetrics) -> RequestMetrics:
    """The same with one call a block: of many FIPs more would be held as implausible."""
    few = (1, 1, *[0] * 13)
    fips = [
        msgspec.structs.replace(
            fip, metrics=tuple(msgspec.structs.replace(one, counts=few) for one in fip.metrics)
        )
        for fip in payload.fips
    ]
    return msgspec.structs.replace(payload, fips=tuple(fips))
