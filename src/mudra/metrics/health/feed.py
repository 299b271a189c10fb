"""The network's health as members and the public see it.

The names of the health feed are those of the feed that FIUs read today
(network-facts, last part); `proof` is ours. A value that is not known is null, with
the status UNSURE: never 0 and never 100 %.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
from msgspec import Struct

from mudra.metrics.health.health import (
    GOOD_ABOVE_PERCENT,
    FiOutcomes,
    Proof,
    Status,
    fi_outcomes,
    health_of_calls,
)
from mudra.metrics.payload.catalogue import NotificationType, RequestType, Tag
from mudra.metrics.rollup.percentage import percentage
from mudra.metrics.rollup.percentile import ResponseTime, response_time
from mudra.metrics.rollup.rollup import EMPTY, Rollup
from mudra.shared.csv_export import csv_text

_APIS: Final = {
    "discovery": RequestType.ACCOUNT_DISCOVERY,
    "linking": RequestType.ACCOUNT_LINK,
    "confirm_linking": RequestType.ACCOUNT_LINK_VERIFY,
    "consent": RequestType.CONSENT,
    "fi_request": RequestType.FI_REQUEST,
    "fi_fetch": RequestType.FI_FETCH,
}


class ApiFeed(msgspec.Struct, frozen=True):
    """One API of one FIP: `p50_response_time` in milliseconds, both null without data."""

    status: Status
    p50_response_time: int | None
    success_percentage: float | None


class FipFeed(msgspec.Struct, frozen=True):
    """The APIs of one FIP. For `fi_notification` the time is from FI request to data ready."""

    discovery: ApiFeed
    linking: ApiFeed
    confirm_linking: ApiFeed
    consent: ApiFeed
    fi_request: ApiFeed
    fi_fetch: ApiFeed
    fi_notification: ApiFeed


class FipSummary(msgspec.Struct, frozen=True):
    """The three stages of a journey: BAD when one API of it is bad."""

    discovery_and_linking: Status
    consent_and_notification: Status
    data_flow: Status


class FeedData(msgspec.Struct, frozen=True):
    """The FIPs by entity ID."""

    fips: dict[str, FipFeed]


class FeedTime(msgspec.Struct, frozen=True):
    """The time covered; `end_time` is the end of the last closed window."""

    start_time: str
    end_time: str


class FeedProof(msgspec.Struct, frozen=True):
    """The number of reports received and expected."""

    reporters_heard: int
    reporters_expected: int
    windows_heard: int
    windows_expected: int


class HealthFeed(msgspec.Struct, frozen=True):
    """The health feed for FIUs and AAs."""

    data: FeedData
    summary: dict[str, FipSummary]
    time_range: FeedTime
    proof: FeedProof


FipRows = Mapping[tuple[Tag, str], Rollup]
"""Sums of one FIP over all AAs, by tag and type code."""


def health_feed(
    fips: Mapping[str, FipRows], start: datetime, end: datetime, proof: Proof
) -> HealthFeed:
    """Returns the feed over whole windows from `start` to `end`; a FIP without rows is UNSURE."""
    feeds = {fip_id: _fip_feed(rows) for fip_id, rows in sorted(fips.items())}
    return HealthFeed(
        FeedData(feeds),
        {fip_id: _summary(feed) for fip_id, feed in feeds.items()},
        FeedTime(_utc_text(start), _utc_text(end)),
        FeedProof(
            proof.reporters_heard,
            proof.reporters_expected,
            proof.windows_heard,
            proof.windows_expected,
        ),
    )


def _fip_feed(rows: FipRows) -> FipFeed:
    apis = {name: _api_feed(rows.get((Tag.REQUESTS, code), EMPTY)) for name, code in _APIS.items()}
    outcomes = fi_outcomes(rows.get((Tag.NOTIFICATIONS, NotificationType.FI), EMPTY))
    ready = rows.get((Tag.REQUESTS, RequestType.FI_READY_TIME), EMPTY)
    time = response_time(ready.times)
    return FipFeed(**apis, fi_notification=_notification_feed(outcomes, time))


def _api_feed(row: Rollup) -> ApiFeed:
    health = health_of_calls(row)
    return ApiFeed(health.status, _p50(health.time), percentage(health.success))


def _notification_feed(outcomes: FiOutcomes, time: ResponseTime | None) -> ApiFeed:
    ended = outcomes.succeeded + outcomes.failed
    if not ended:
        status = Status.UNSURE
    elif outcomes.succeeded * 100 > ended * GOOD_ABOVE_PERCENT:
        status = Status.GOOD  # no limit on the time: gathering data takes a FIP minutes
    else:
        status = Status.BAD
    return ApiFeed(status, _p50(time), percentage(outcomes.success))


def _summary(feed: FipFeed) -> FipSummary:
    return FipSummary(
        discovery_and_linking=_worst(feed.discovery, feed.linking, feed.confirm_linking),
        consent_and_notification=_worst(feed.consent, feed.fi_notification),
        data_flow=_worst(feed.fi_request, feed.fi_fetch),
    )


def _worst(*apis: ApiFeed) -> Status:
    seen = {api.status for api in apis}
    for status in (Status.BAD, Status.GOOD):
        if status in seen:
            return status
    return Status.UNSURE


def _p50(time: ResponseTime | None) -> int | None:
    return time.p50.estimate if time else None


def _utc_text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class PublicRow(msgspec.Struct, frozen=True):
    """One API of one FIP for everyone. Times in milliseconds; null where too little is known."""

    fip_id: str
    api: str
    status: Status
    requests: int | None
    success_percentage: float | None
    timeout_percentage: float | None
    server_error_percentage: float | None
    not_found_percentage: float | None
    other_client_error_percentage: float | None
    p50: int | None
    p95: int | None
    p99: int | None


class PublicFloor(Struct, frozen=True):
    """With fewer calls the status is UNSURE: a few calls could be traced to people."""

    fewest_calls: int = 100


_FLOOR: Final = PublicFloor()
MAX_SILENCE: Final = timedelta(hours=1)
"""Without any report for longer, no status is known; the feed covers as long a time."""


def is_heard(heard_until: datetime | None, now: datetime) -> bool:
    """Returns whether reports are recent enough to know the current status of an API."""
    return heard_until is not None and now - heard_until <= MAX_SILENCE


def unsure(rows: Iterable[PublicRow]) -> list[PublicRow]:
    """Returns the same counts without a status, for when no AA reports any more."""
    return [msgspec.structs.replace(row, status=Status.UNSURE) for row in rows]


def public_status(fips: Mapping[str, FipRows], floor: PublicFloor = _FLOOR) -> list[PublicRow]:
    """Returns the status by FIP and API, made of sums over all AAs, so that it names none."""
    return [
        _public_row(fip_id, name, rows.get((Tag.REQUESTS, code), EMPTY), floor)
        for fip_id, rows in sorted(fips.items())
        for name, code in _APIS.items()
    ]


def public_csv(rows: Iterable[PublicRow]) -> str:
    """Returns the same as CSV (RFC 4180) with a line of names; null is an empty field."""
    names = PublicRow.__struct_fields__
    return csv_text(names, ([getattr(row, name) for name in names] for row in rows))


def _public_row(fip_id: str, api: str, row: Rollup, floor: PublicFloor) -> PublicRow:
    health = health_of_calls(row)
    if health.total < floor.fewest_calls:
        return PublicRow(fip_id, api, Status.UNSURE, *[None] * 9)
    errors, time = health.errors, health.time
    return PublicRow(
        fip_id,
        api,
        health.status,
        health.total,
        percentage(health.success),
        percentage(errors.no_answer / health.total),
        percentage(errors.server_5xx / health.total),
        percentage(errors.not_found_404 / health.total),
        percentage(errors.other_4xx / health.total),
        _p50(time),
        time.p95.estimate if time else None,
        time.p99.estimate if time else None,
    )
