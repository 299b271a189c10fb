"""The values of fields of messages to webhooks, with their meanings, for their reference."""

import enum
from collections.abc import Iterator
from typing import Final, TypeAlias

from mudra.levels.budgets.burn_rule import Outlook
from mudra.metrics.announcements.announcement import Kind
from mudra.metrics.incidents.incident import Effect, Ending, Symptom
from mudra.metrics.incidents.subject import SubjectKind
from mudra.metrics.notifications.severity import Severity

_Meanings: TypeAlias = dict[enum.StrEnum, str]
_KINDS: Final[_Meanings] = {
    SubjectKind.FIP: "a FIP as a whole; `entityId` is the FIP",
    SubjectKind.FIP_API: "the calls in `type` of the FIP `entityId`",
    SubjectKind.AA_CALLS: "an AA as a whole, which is `entityId`: its calls to all FIPs",
    SubjectKind.AA_API: "the calls in `type` of the AA `entityId`, to all FIPs",
    SubjectKind.AA_REPORTING: "the agent of the AA `entityId` does not report",
    SubjectKind.PATH: "between the AA `entityId` and the FIP `peerId`, while both reach others",
    SubjectKind.NETWORK: "nearly all AAs and FIPs; `entityId` is empty",
}
_SYMPTOMS: Final[_Meanings] = {
    Symptom.FAILURES: "calls that were answered with 5xx, or not at all",
    Symptom.CLIENT_ERRORS: "calls that were answered with 4xx",
    Symptom.SLOW: "calls that take longer than usual",
    Symptom.TAIL: "the slowest calls take much longer; the others do not",
    Symptom.OUTCOMES: "FI requests that end without data",
    Symptom.MISSING: "notifications, or reports of an agent, that do not come",
}
_STATES: Final[_Meanings] = {
    Ending.OPEN: "it goes on",
    Ending.RECOVERED: "it is over",
    Ending.NO_DATA: "ended after a day without evidence either way",
    Ending.CHANGED: "ended: a part of the calls fails as evenly as ever; that is usual from now on",
    Ending.MERGED: "ended: it has the cause of another incident",
    Ending.WITHDRAWN: "late or replaced reports show that there was none",
}
_SEVERITIES: Final[_Meanings] = {
    Severity.MINOR: "calls are slow or refused (4xx), heartbeats alone fail, or an agent is silent",
    Severity.MAJOR: "calls fail, or FI requests end without data",
    Severity.CRITICAL: "of many calls half or more fail, or of very many a tenth",
}
_EFFECTS: Final[_Meanings] = {
    Effect.DISRUPTED: "customers get no data",
    Effect.POSSIBLY_DISRUPTED: "one AA alone sees that: it may be that AA's own trouble",
    Effect.DEGRADED: "calls are slow or refused, or fewer than one in ten fails",
}
_OUTLOOKS: Final[_Meanings] = {
    Outlook.WITHIN: "the error budget suffices; no message has it",
    Outlook.BURNING: "the error budget will be gone before the month ends",
    Outlook.GONE: "the error budget is gone",
}
_MATTERS: Final[_Meanings] = {
    Kind.INFORMATION: "anything else",
    Kind.INCIDENT: "a disruption",
    Kind.MAINTENANCE: "planned work, from `begins` to `ends`",
}


def value_rows() -> Iterator[str]:
    """Yield a row for each value. Raises KeyError for one of the code without a meaning here."""
    for field, values, meanings in (
        ("`kind`", SubjectKind, _KINDS),
        ("`symptoms`", Symptom, _SYMPTOMS),
        ("`state`", Ending, _STATES),
        ("`severity` of `alarms`", Severity, _SEVERITIES),
        ("`outlook` of `levels.budget`", Outlook, _OUTLOOKS),
        ("`effect` of `status.…`", Effect, _EFFECTS),
        ("`kind` of `status.announcement`", Kind, _MATTERS),
    ):
        yield from (f"| {field} | `{one.value}` | {meanings[one]} |" for one in values)
    yield "| `state` | `moved` | it goes on, and does not concern this member any more |"
    yield "| `state` of `status.…` | `disrupted` | it goes on |"
    yield "| `state` of `status.…` | `operational` | it is over |"
    yield "| `atOnce` | IDs | this incident and those of FIPs that fell with it; most often empty |"
    yield "| `provider` | text | the gateway provider that all FIPs of `atOnce` have; else empty |"
