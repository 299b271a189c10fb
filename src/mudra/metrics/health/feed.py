"""The network's health as members and the public see it.

The names of the health feed are those of the feed that FIUs read today;
`proof` is ours. A value that is not known is null, with
the status UNSURE: never 0 and never 100 %.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec import Struct

from mudra.metrics.health.fip_health import APIS_SHOWN, FipHealth
from mudra.metrics.health.fip_state import ApiState, FipStates, no_states
from mudra.metrics.health.health import Health, Status
from mudra.metrics.health.weighed import Disputed, Weighed
from mudra.metrics.incidents.explanation import cause_text, concerns, of_api
from mudra.metrics.incidents.incident import Incident
from mudra.metrics.incidents.subject import SubjectKind, fip_of, name_of
from mudra.metrics.payload.catalogue import WINDOW, NotificationType, RequestType
from mudra.metrics.rollup.coverage import Proof, TimeRange
from mudra.metrics.rollup.percentage import percentage, share_of
from mudra.metrics.sums.rollup import ResponseTime
from mudra.shared.csv_export import csv_text

MAX_SILENCE: Final = timedelta(hours=1)
"""Without any report for longer, no status is known; the feed covers as long a time."""


class FeedCause(msgspec.Struct, frozen=True):
    """What is wrong now: its kind, the FIP or AA, of a path the FIP as `peer_id`, some APIs.

    `text` also names what the evidence does not separate from it.
    """

    kind: SubjectKind
    entity_id: str
    peer_id: str
    type: str
    since: str
    text: str


class ApiFeed(msgspec.Struct, frozen=True):
    """One API of one FIP: `p50_response_time` in milliseconds, both null without data.

    Time and success are those of `time_range`. The status is that of the latest evidence:
    `calls` by `reporters` from `evidence_from` on, of which `failed`; `since` then it is so.
    `confidence` is that of the test, from 0 to 0.9999. `causes` are of now: the FIP is BAD by
    its own; calls of AAs and paths that have a cause of their own are no evidence.
    """

    status: Status
    p50_response_time: int | None
    success_percentage: float | None
    causes: list[FeedCause]
    confidence: float
    calls: int
    failed: int
    reporters: int
    evidence_from: str | None
    since: str | None


class FipFeed(msgspec.Struct, frozen=True):
    """The APIs of one FIP. For `fi_notification` the time is from FI request to data ready.

    Its status is by how FI requests end, whatever that time: 5,000 ms are the rule for answers to
    calls, while a FIP may take minutes to prepare data.
    """

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

    reporters_seen: int = msgspec.field(name="reporters_heard")
    reporters_expected: int
    windows_received: int = msgspec.field(name="windows_heard")
    windows_expected: int


class HealthFeed(msgspec.Struct, frozen=True):
    """The health feed for FIUs and AAs."""

    data: FeedData
    summary: dict[str, FipSummary]
    time_range: FeedTime
    proof: FeedProof
    judged_until: str | None
    """The end of the last window that the states follow from; null before the first."""


_NONE_DISPUTED: Final[Disputed] = MappingProxyType({})


def health_feed(
    fips: Mapping[str, FipHealth],
    within: TimeRange,
    proof: Proof,
    states: FipStates,
    causes: Sequence[Incident] = (),
    disputed: Disputed = _NONE_DISPUTED,
) -> HealthFeed:
    """Returns the feed over whole windows; a FIP without states is UNSURE.

    `causes` are those of now. What is disputed has the status that most AAs see, and no time:
    that of all calls is not theirs.
    """
    judged = states
    if within.end - states.end > MAX_SILENCE:
        states = no_states()
    feeds = {
        fip_id: _fip_feed(
            fip_id,
            seen,
            _Now(states, [one for one in causes if concerns(one, None, fip_id)], disputed),
        )
        for fip_id, seen in sorted(fips.items())
    }
    return HealthFeed(
        FeedData(feeds),
        {fip_id: _summary(feed) for fip_id, feed in feeds.items()},
        feed_time(within),
        FeedProof(
            proof.reporters_seen,
            proof.reporters_expected,
            proof.windows_received,
            proof.windows_expected,
        ),
        _utc_text(judged.end) if judged.fips else None,
    )


def feed_time(within: TimeRange) -> FeedTime:
    """Returns a time as feed and public status name it, in UTC."""
    return FeedTime(_utc_text(within.start), _utc_text(within.end))


class _Now(Struct, frozen=True):
    states: FipStates
    causes: Sequence[Incident]
    disputed: Disputed


def _fip_feed(fip_id: str, seen: FipHealth, now: _Now) -> FipFeed:
    apis = {}
    for name, code in APIS_SHOWN.items():
        health = seen.of(code)
        success, p50 = health.success, _p50(health.time)
        state = now.states.of(fip_id, name)
        if weighed := now.disputed.get((fip_id, code)):
            success, p50 = weighed.success, None
            state = _unless_contradicted(state, weighed)
        causes = _of_apis(now.causes, code)
        apis[name] = _api_feed(state, now.states, p50, success, causes)
    notified = _api_feed(
        now.states.of(fip_id, "fi_notification"),
        now.states,
        _p50(seen.ready),
        seen.outcomes.success,
        _of_apis(now.causes, NotificationType.FI, RequestType.FI_READY_TIME),
    )
    return FipFeed(**apis, fi_notification=notified)


def _unless_contradicted(state: ApiState, weighed: Weighed) -> ApiState:
    """Returns the state, UNSURE where most AAs say the opposite: it follows from sums."""
    if {state.status, weighed.status} != {Status.GOOD, Status.BAD}:
        return state
    return msgspec.structs.replace(state, status=Status.UNSURE, confidence=0.0)


def _of_apis(causes: Sequence[Incident], *codes: str) -> Sequence[Incident]:
    """Returns the causes of some APIs: those at the FIP before those at an AA."""
    here = [one for one in causes if any(of_api(one, code) for code in codes)]
    return sorted(here, key=lambda one: (fip_of(one.subject) is None, one.began))


def _shown(causes: Sequence[Incident]) -> list[FeedCause]:
    return [
        FeedCause(
            name.kind,
            name.entity_id,
            name.peer_id,
            name.type,
            _utc_text(one.began),
            cause_text(one),
        )
        for one in causes
        for name in (name_of(one.subject),)
    ]


def _api_feed(
    state: ApiState,
    states: FipStates,
    p50: int | None,
    success: float | None,
    causes: Sequence[Incident],
) -> ApiFeed:
    known = state.windows > 0
    return ApiFeed(
        state.status,
        p50,
        percentage(success),
        _shown(causes),
        state.confidence,
        state.calls,
        state.failed,
        state.reporters,
        _utc_text(states.end - state.windows * WINDOW) if known else None,
        _utc_text(datetime.fromtimestamp(state.since, UTC)) if known else None,
    )


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
    return time.p50 if time else None


def _utc_text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class PublicRow(msgspec.Struct, frozen=True, gc=False):
    """One API of one FIP for everyone. Null where too little is known.

    Times are in milliseconds, and estimates: p50 and p95 usually within 3 %, p99 within 10 %.
    """

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

    min_calls: int = 100


_FLOOR: Final = PublicFloor()


def is_current(reported_until: datetime | None, now: datetime) -> bool:
    """Returns whether reports are recent enough to know the current status of an API."""
    return reported_until is not None and now - reported_until <= MAX_SILENCE


def unsure(rows: Iterable[PublicRow]) -> list[PublicRow]:
    """Returns the same counts without a status, for when no AA reports any more."""
    return [msgspec.structs.replace(row, status=Status.UNSURE) for row in rows]


def public_status(
    fips: Mapping[str, FipHealth],
    floor: PublicFloor = _FLOOR,
    disputed: Disputed = _NONE_DISPUTED,
) -> list[PublicRow]:
    """Returns the status by FIP and API, made of sums over AAs, so that it names none."""
    return [
        _disputed_row(fip_id, name, disputed[fip_id, code])
        if (fip_id, code) in disputed
        else _public_row(fip_id, name, seen.of(code), floor)
        for fip_id, seen in sorted(fips.items())
        for name, code in APIS_SHOWN.items()
    ]


def public_csv(rows: Iterable[PublicRow]) -> str:
    """Returns the same as CSV (RFC 4180) with a line of names; null is an empty field."""
    names = PublicRow.__struct_fields__
    return csv_text(names, ([getattr(row, name) for name in names] for row in rows))


def _disputed_row(fip_id: str, api: str, weighed: Weighed) -> PublicRow:
    success = percentage(weighed.success)
    return PublicRow(fip_id, api, weighed.status, weighed.total, success, *[None] * 7)


def _public_row(fip_id: str, api: str, health: Health, floor: PublicFloor) -> PublicRow:
    if health.total < floor.min_calls:
        return PublicRow(fip_id, api, Status.UNSURE, *[None] * 9)
    errors, time = health.errors, health.time
    return PublicRow(
        fip_id,
        api,
        health.status,
        health.total,
        percentage(health.success),
        percentage(share_of(errors.no_answer, health.total)),
        percentage(share_of(errors.server_5xx, health.total)),
        percentage(share_of(errors.not_found_404, health.total)),
        percentage(share_of(errors.other_4xx, health.total)),
        _p50(time),
        time.p95 if time else None,
        time.p99 if time else None,
    )
