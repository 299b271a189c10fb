"""The network's health as members and the public see it.

The names of the health feed are those of the feed that FIUs read today;
`proof` is ours. A value that is not known is null, with
the status UNSURE: never 0 and never 100 %.
"""

from collections.abc import Container, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec import Struct

from mudra.metrics.health.fip_health import APIS_SHOWN, FipHealth
from mudra.metrics.health.fip_state import ApiState, FipStates, Reason, no_states
from mudra.metrics.health.health import (
    GOOD_ABOVE_PERCENT,
    GOOD_BELOW_MS,
    Disputed,
    Status,
    Weighed,
)
from mudra.metrics.health.level_change import LevelChange
from mudra.metrics.incidents.explanation import cause_text, concerns, of_api
from mudra.metrics.incidents.incident import Fip, Incident, Subject
from mudra.metrics.incidents.subject import SubjectKind, fip_of, name_of
from mudra.metrics.payload.catalogue import WINDOW, NotificationType, RequestType
from mudra.metrics.rollup.coverage import Proof, TimeRange
from mudra.metrics.rollup.percentage import percentage
from mudra.metrics.sums.rollup import ResponseTime

MAX_SILENCE: Final = timedelta(hours=1)
"""Without any report for longer, no status is known; the feed covers as long a time."""


class FeedPlace(msgspec.Struct, frozen=True):
    """A place that a cause may be at: its kind, the FIP or AA, of a path the FIP as `peer_id`."""

    kind: SubjectKind
    entity_id: str
    peer_id: str
    type: str


class FeedCause(msgspec.Struct, frozen=True):
    """The present fault: its kind, the FIP or AA, of a path the FIP as `peer_id`, some APIs.

    `ambiguous_with` are places that fit the evidence as well; `text` names them too.
    """

    kind: SubjectKind
    entity_id: str
    peer_id: str
    type: str
    since: str
    text: str
    ambiguous_with: list[FeedPlace]


class ApiFeed(msgspec.Struct, frozen=True):
    """One API of one FIP: `p50_response_time` in milliseconds, both null without data.

    Time and success are those of `time_range`. The status is that of the latest evidence:
    `calls` by `reporters` from `evidence_from` on, of which `failed`; `since` then it is so.
    `confidence` is that of the test, from 0 to 0.9999. `causes` are of now: the FIP is BAD by
    its own; calls of AAs and paths that have a cause of their own are no evidence.

    BAD is a broken rule, or a cause at the FIP by which calls or FI requests fail. DEGRADED is
    another cause at the FIP (slow calls, refused requests) while the rule is kept. A setting gives
    UNSURE in its place. `reasons` say why it is either; and of UNSURE that a planned maintenance
    is going on, or that heartbeats alone fail.
    """

    status: Status
    reasons: list[Reason]
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
    """The three stages of a journey: BAD when one API of it is bad, else DEGRADED when one is."""

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


class FeedMaintenance(msgspec.Struct, frozen=True):
    """A planned maintenance that is going on, or begins within 24 hours."""

    begins: str
    ends: str


class FeedChange(msgspec.Struct, frozen=True):
    """More calls of a FIP fail since a time than before: no outage, but for good, as far as seen.

    `type` is the code of an API, empty for all of its calls; the shares are of failed calls.
    """

    type: str
    since: str
    failing_before_percentage: float
    failing_percentage: float


class FeedProof(msgspec.Struct, frozen=True):
    """The number of reports received and expected."""

    reporters_seen: int = msgspec.field(name="reporters_heard")
    reporters_expected: int
    windows_received: int = msgspec.field(name="windows_heard")
    windows_expected: int


class FeedRules(msgspec.Struct, frozen=True):
    """The rules by which a status is GOOD, in a sentence each: they differ for one API."""

    calls: str = (
        f"GOOD: above {GOOD_ABOVE_PERCENT} % of the calls succeed, and half are answered in less "
        f"than {GOOD_BELOW_MS} ms"
    )
    fi_notification: str = (
        f"GOOD: above {GOOD_ABOVE_PERCENT} % of the FI requests end in data; there is no rule on "
        "the time, which is from FI request to data ready: a FIP may take minutes to prepare data"
    )


class HealthFeed(msgspec.Struct, frozen=True):
    """The health feed for FIUs and AAs."""

    data: FeedData
    summary: dict[str, FipSummary]
    time_range: FeedTime
    proof: FeedProof
    judged_until: str | None
    """The end of the last window that the states follow from; null before the first."""
    maintenance: dict[str, FeedMaintenance]
    """Of FIPs by entity ID; of each the next one."""
    changed: dict[str, list[FeedChange]]
    """Of FIPs by entity ID, of those alone that have one."""
    rules: FeedRules = msgspec.field(default_factory=FeedRules)


class Planned(Struct, frozen=True):
    """A planned maintenance of a FIP, and whether it is going on."""

    fip_id: str
    begins: datetime
    ends: datetime
    is_on: bool


_NONE_DISPUTED: Final[Disputed] = MappingProxyType({})


class FeedFacts(Struct, frozen=True):
    """Further facts of which the feed is made."""

    disputed: Disputed = _NONE_DISPUTED
    maintenance: Sequence[Planned] = ()
    degraded: bool = True
    """False for readers that do not know DEGRADED: they get UNSURE."""
    changed: Sequence[LevelChange] = ()


def health_feed(
    fips: Mapping[str, FipHealth],
    within: TimeRange,
    proof: Proof,
    states: FipStates,
    causes: Sequence[Incident] = (),
    facts: FeedFacts | None = None,
) -> HealthFeed:
    """Returns the feed over whole windows; a FIP without states is UNSURE.

    `causes` are those of now; its states take in those at a FIP that opened in later windows. What
    is disputed has the status that most AAs see, and no time: that of all calls is not theirs. Of a
    FIP in maintenance now nothing is known.
    """
    facts = facts or FeedFacts()
    judged, maintained = states, {one.fip_id for one in facts.maintenance if one.is_on}
    if within.end - states.end > MAX_SILENCE:
        states = no_states()
    feeds = {
        fip_id: _fip_feed(
            fip_id,
            seen,
            _Now(
                states,
                [one for one in causes if concerns(one, None, fip_id)],
                facts,
                maintained=fip_id in maintained,
            ),
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
        {
            one.fip_id: FeedMaintenance(_utc_text(one.begins), _utc_text(one.ends))
            for one in sorted(facts.maintenance, key=lambda one: one.begins, reverse=True)
        },
        _changed(facts.changed, feeds),
    )


def _changed(changed: Sequence[LevelChange], fips: Container[str]) -> dict[str, list[FeedChange]]:
    found: dict[str, list[FeedChange]] = {}
    for one in changed:
        if one.fip_id in fips:
            before, now = percentage(one.before), percentage(one.now)
            change = FeedChange(one.code, _utc_text(one.since), before, now)
            found.setdefault(one.fip_id, []).append(change)
    return found


def feed_time(within: TimeRange) -> FeedTime:
    """Returns a time as feed and public status name it, in UTC."""
    return FeedTime(_utc_text(within.start), _utc_text(within.end))


class _Now(Struct, frozen=True):
    states: FipStates
    causes: Sequence[Incident]
    facts: FeedFacts
    maintained: bool

    def with_news(self, state: ApiState, fip_id: str, *codes: str) -> ApiState:
        """Returns the state of an API with what opened at the FIP in windows after it."""
        for one in self.causes:
            is_news = bool(self.states.fips) and one.timeline[0].window >= self.states.end
            if is_news and fip_of(one.subject) == fip_id:
                state = state.with_news(one, of_api=any(of_api(one, code) for code in codes))
        return state

    def shown(self, state: ApiState) -> ApiState:
        """Returns the state as readers get it."""
        if self.maintained:
            return msgspec.structs.replace(
                state, status=Status.UNSURE, confidence=0.0, reasons=(Reason.MAINTENANCE,)
            )
        if state.status is Status.DEGRADED and not self.facts.degraded:
            return msgspec.structs.replace(state, status=Status.UNSURE)
        return state


def _fip_feed(fip_id: str, seen: FipHealth, now: _Now) -> FipFeed:
    apis = {}
    for name, code in APIS_SHOWN.items():
        health = seen.of(code)
        success, p50 = health.success, _p50(health.time)
        state = now.states.of(fip_id, name)
        if weighed := now.facts.disputed.get((fip_id, code)):
            success, p50 = weighed.success, None
            state = _unless_contradicted(state, weighed)
        state = now.with_news(state, fip_id, code)
        causes = _of_apis(now.causes, code, whole=Reason.HEARTBEATS in state.reasons)
        apis[name] = _api_feed(now.shown(state), now.states, p50, success, causes)
    of_fi = NotificationType.FI, RequestType.FI_READY_TIME
    state = now.with_news(now.states.of(fip_id, "fi_notification"), fip_id, *of_fi)
    causes = _of_apis(now.causes, *of_fi, whole=Reason.HEARTBEATS in state.reasons)
    success, p50 = seen.outcomes.success, _p50(seen.ready)
    notified = _api_feed(now.shown(state), now.states, p50, success, causes)
    return FipFeed(**apis, fi_notification=notified)


def _unless_contradicted(state: ApiState, weighed: Weighed) -> ApiState:
    """Returns the state, UNSURE where most AAs say the opposite: it follows from sums."""
    if {state.status, weighed.status} != {Status.GOOD, Status.BAD}:
        return state
    return msgspec.structs.replace(state, status=Status.UNSURE, confidence=0.0, reasons=())


def _of_apis(causes: Sequence[Incident], *codes: str, whole: bool) -> Sequence[Incident]:
    """Returns the causes of some APIs: those at the FIP before those at an AA.

    If `whole` those of a whole FIP too that heartbeats alone show: they may be of these APIs.
    """
    here = [
        one
        for one in causes
        if any(of_api(one, code) for code in codes)
        or (whole and one.by_heartbeats and isinstance(one.subject, Fip))
    ]
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
            [_place(other) for other in one.cause.ambiguous_with],
        )
        for one in causes
        for name in (name_of(one.subject),)
    ]


def _place(subject: Subject) -> FeedPlace:
    name = name_of(subject)
    return FeedPlace(name.kind, name.entity_id, name.peer_id, name.type)


def _api_feed(
    state: ApiState,
    states: FipStates,
    p50: int | None,
    success: float | None,
    causes: Sequence[Incident],
) -> ApiFeed:
    known = bool(state.windows or state.since)
    since = datetime.fromtimestamp(state.since, UTC)
    begins = since if since >= states.end else states.end - state.windows * WINDOW
    return ApiFeed(
        state.status,
        list(state.reasons),
        p50,
        percentage(success),
        _shown(causes),
        state.confidence,
        state.calls,
        state.failed,
        state.reporters,
        _utc_text(begins) if known else None,
        _utc_text(since) if known else None,
    )


def _summary(feed: FipFeed) -> FipSummary:
    return FipSummary(
        discovery_and_linking=_worst(feed.discovery, feed.linking, feed.confirm_linking),
        consent_and_notification=_worst(feed.consent, feed.fi_notification),
        data_flow=_worst(feed.fi_request, feed.fi_fetch),
    )


def _worst(*apis: ApiFeed) -> Status:
    order = (Status.BAD, Status.DEGRADED, Status.GOOD)
    return next((one for one in order if any(api.status is one for api in apis)), Status.UNSURE)


def _p50(time: ResponseTime | None) -> int | None:
    return time.p50 if time else None


def _utc_text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
