"""Words of metrics, incidents, service levels and public data, with their meanings."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from mudra.comparison.funnel import Stage
from mudra.comparison.role_measures import Kind as RoleMeasure
from mudra.comparison.role_measures import Place
from mudra.levels.budgets.burn_rule import Outlook
from mudra.levels.evidence import Fate
from mudra.levels.target import Measure
from mudra.metrics.announcements.announcement import Kind as Matter
from mudra.metrics.announcements.announcement import State as Shown
from mudra.metrics.health.fip_state import Reason
from mudra.metrics.health.health import Status
from mudra.metrics.incidents.acts.act import ActKind
from mudra.metrics.incidents.incident import Effect, Ending, Symptom
from mudra.metrics.incidents.subject import SubjectKind
from mudra.metrics.notifications.preferences import Channel
from mudra.metrics.notifications.severity import Severity
from mudra.metrics.notifications.webhook_formats import Format
from mudra.metrics.payload.catalogue import TYPE_OF_API, NotificationType, RequestType, Tag
from mudra.metrics.payload.held_reports import HeldState
from mudra.metrics.payload.ingest_rule import IngestStatus
from mudra.metrics.public_status.status_history import DayState

Meanings: TypeAlias = Mapping[str, str]
"""All words of an enumeration of the code, with what each says."""

SUBJECTS: Final[Meanings] = {
    SubjectKind.FIP: "a FIP as a whole; `entityId` is the FIP",
    SubjectKind.FIP_API: "the calls in `type` of the FIP `entityId`",
    SubjectKind.AA_CALLS: "an AA as a whole, which is `entityId`: its calls to all FIPs",
    SubjectKind.AA_API: "the calls in `type` of the AA `entityId`, to all FIPs",
    SubjectKind.AA_REPORTING: "the agent of the AA `entityId` does not report",
    SubjectKind.PATH: "between the AA `entityId` and the FIP `peerId`, while both reach others",
    SubjectKind.NETWORK: "nearly all AAs and FIPs; `entityId` is empty",
}
SYMPTOMS: Final[Meanings] = {
    Symptom.FAILURES: "calls that were answered with 5xx, or not at all",
    Symptom.CLIENT_ERRORS: "calls that were answered with 4xx",
    Symptom.SLOW: "calls that take longer than usual",
    Symptom.TAIL: "the slowest calls take much longer; the others do not",
    Symptom.OUTCOMES: "FI requests that end without data",
    Symptom.MISSING: "notifications, or reports of an agent, that do not come",
}
ENDINGS: Final[Meanings] = {
    Ending.OPEN: "it goes on",
    Ending.RECOVERED: "it is over",
    Ending.NO_DATA: "ended after a day without evidence either way",
    Ending.CHANGED: "ended: few calls fail, or calls are slow, as evenly as ever; that is usual",
    Ending.MERGED: "ended: it has the cause of another incident",
    Ending.WITHDRAWN: "late or replaced reports show that there was none",
}
SEVERITIES: Final[Meanings] = {
    Severity.MINOR: "calls are slow or refused (4xx), heartbeats alone fail, an agent is silent, "
    "or few calls to a FIP fail, and fewer than one in ten",
    Severity.MAJOR: "calls fail, or FI requests end without data",
    Severity.CRITICAL: "of many calls half or more fail, and not of one AA alone for all that is "
    "known, or of very many a tenth",
}
LEAST_SEVERITIES: Final[Meanings] = {**SEVERITIES, "none": "no alarms"}
EFFECTS: Final[Meanings] = {
    Effect.DISRUPTED: "customers get no data",
    Effect.POSSIBLY_DISRUPTED: "one AA alone sees that: it may be that AA's own trouble",
    Effect.DEGRADED: "calls are slow or refused, or fewer than one in ten fails",
}
OUTLOOKS: Final[Meanings] = {
    Outlook.WITHIN: "the error budget suffices",
    Outlook.BURNING: "the error budget will be gone before the month ends",
    Outlook.GONE: "the error budget is gone",
}
MATTERS: Final[Meanings] = {
    Matter.INFORMATION: "anything else",
    Matter.INCIDENT: "a disruption",
    Matter.MAINTENANCE: "planned work, from `begins` to `ends`",
}
SHOWN: Final[Meanings] = {
    Shown.SCHEDULED: "published later",
    Shown.CURRENT: "shown on the pages that it concerns",
    Shown.OVER: "in the history",
}
ACTS: Final[Meanings] = {
    ActKind.ASSIGN: "give it an owner",
    ActKind.HAND_OVER: "give it to another owner, with a note of what is known and what is next",
    ActKind.COMMENT: "add a comment",
    ActKind.CLOSE: "close it, against what the evidence says",
    ActKind.REOPEN: "open it again",
    ActKind.POST_MORTEM: "write its post-mortem; the latest counts",
}
STATUSES: Final[Meanings] = {
    Status.GOOD: "the rule of the network is kept",
    Status.DEGRADED: "calls are slow or refused, or fewer than one in ten fails, and nothing shows "
    "that the rule is not kept",
    Status.BAD: "the rule is not kept",
    Status.UNSURE: "the calls cannot show it",
}
REASONS: Final[Meanings] = {
    Reason.FAILING: "calls are answered with 5xx, or not at all",
    Reason.SLOW: "calls take longer than usual",
    Reason.TAIL: "the slowest calls take far longer; the others do not",
    Reason.REFUSING: "calls are refused with 4xx, which the rule does not count",
    Reason.OUTCOMES: "FI requests end without data",
    Reason.MISSING: "notifications do not come",
    Reason.HEARTBEATS: "heartbeats alone fail: no customer has called, so that nothing is known",
    Reason.MAINTENANCE: "planned maintenance: nothing is judged",
}
DAYS: Final[Meanings] = {
    DayState.GOOD: "the rule of the network was kept",
    DayState.PARTLY: "with an incident, but the rule was kept over the day, or calls were too few",
    DayState.BAD: "the rule was not kept, with an incident or beyond chance",
    DayState.NO_DATA: "no reports",
    DayState.TOO_FEW: "too few calls to say more",
}
TAGS: Final[Meanings] = {
    Tag.REQUESTS: "calls from the AA to FIPs",
    Tag.NOTIFICATIONS: "calls from FIPs to the AA",
}
TYPES: Final[Meanings] = {one.value: one.label for one in (*RequestType, *NotificationType)}
APIS: Final[Meanings] = {
    **{code: one.label for code, one in TYPE_OF_API.items()},
    "cnot": f"{RequestType.CONSENT_NOTIFICATION.label}, from the AA to the FIP",
    "cnot-received": f"{NotificationType.CONSENT.label}, from the FIP to the AA",
}
ONE_OR_ALL_APIS: Final[Meanings] = {**APIS, "": "all APIs"}
PUBLIC_APIS: Final[Meanings] = {
    one.feed: one.public_label.lower() for one in RequestType if one.public_label
}
STAGES: Final[Meanings] = {
    Stage.DISCOVERY: "discovery of accounts",
    Stage.LINKING: "linking of accounts",
    Stage.CONFIRM_LINKING: "confirmation of the linking",
    Stage.CONSENT: "consent",
    Stage.FI_REQUEST: "FI request",
    Stage.DATA_READY: "the notification that data is ready",
    Stage.FI_FETCH: "FI fetch",
}
ROLE_MEASURES: Final[Meanings] = {
    RoleMeasure.DONE_SHARE: "share of calls answered with 200, from 0 to 1: more is better",
    RoleMeasure.P95_MS: "95th percentile of the time in milliseconds: less is better",
}
PLACES: Final[Meanings] = {
    Place.BEST_QUARTER: "in the best quarter of the role",
    Place.BETTER_HALF: "between the best quarter and the median",
    Place.WORSE_HALF: "between the median and the worst quarter",
    Place.WORST_QUARTER: "in the worst quarter of the role",
}
MEASURES: Final[Meanings] = {
    Measure.AVAILABILITY: "share of calls that the member's own outages did not fail",
    Measure.SUCCESS: "share of calls answered with 200; 4xx left out",
    Measure.P95: "95th percentile of the response time",
    Measure.P99: "99th percentile of the response time",
    Measure.READY: "p95 of the time from an FI request to the notification that data is ready",
    Measure.DATA: "share of ended FI requests that ended with data",
    Measure.MISSING: "share of expected reports that an AA did not send",
}
NUMBERS: Final[Meanings] = {
    "value": "the value itself",
    "part": "its numerator",
    "whole": "its denominator",
}
FATES: Final[Meanings] = {
    Fate.OWN: "an outage of the member: its failed calls are lost",
    Fate.ELSEWHERE: "a cause at another member, a path or the network: left out",
    Fate.UNSURE: "the evidence fits the member and another cause equally well: left out",
    Fate.MAINTENANCE: "maintenance that was announced early enough: left out",
    Fate.LEFT_OUT: "left out by the decision about a dispute",
    Fate.EXCUSED: "failed calls are left out by the decision about a dispute",
}
CORRECTIONS: Final[Meanings] = {
    Fate.LEFT_OUT: "nothing of it counts",
    Fate.EXCUSED: "no failure of it counts",
}
HELD: Final[Meanings] = {
    HeldState.WAITING: "no one has decided; it counts in nothing",
    HeldState.ADMITTED: "an operator admitted it: it counts",
    HeldState.REFUSED: "an operator refused it: it never counts",
}
PUSHES: Final[Meanings] = {
    IngestStatus.ACCEPTED: "stored",
    IngestStatus.REPLACED: "counts in place of an earlier one",
    IngestStatus.DUPLICATE: "was here before",
}
CHANNELS: Final[Meanings] = {
    Channel.EMAIL: "by email",
    Channel.WEBHOOK: "to the person's own webhook",
    Channel.BOTH: "by both",
    Channel.NONE: "not at all",
}
FORMATS: Final[Meanings] = {
    Format.STANDARD: "Standard Webhooks, with all facts of the incident",
    Format.SLACK: "an incoming webhook of Slack, or of a chat that takes the same",
    Format.TEAMS: "a workflow of Microsoft Teams that posts an adaptive card",
}
FORECASTS: Final[Meanings] = {
    "last_week": "each day is as a week before",
    "mean_of_weekdays": "the mean of the same weekdays",
    "grown_mean": "that mean, with the growth of the last weeks",
}
