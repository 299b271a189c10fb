"""Meanings of fields that are sent, where their struct says only which form they have.

The form is what a refusal names ("must be a whole number from 1 to 180"); a reader of the document
wants to know as well what the number is of. See `FIELD_TEXTS`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_BEGIN: Final = "when it begins; left out, now"
_OPERATOR_REASON: Final = "why, for the audit"
_BINDING: Final = (
    "enforce: only addresses that the live entry lists get tokens, network: as the setting of the "
    "network says, watch: exempt from that setting (operators)"
)
_SEVERITY: Final = "least severity of the alarms"

SENT_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "EntitySecretResetRequest.secretExpiryDays": "days that the new secret lives",
        "EntitySecretResetRequest.oldSecretValidity": "days that the old secret still works",
        "OwnBindingRequest.binding": _BINDING,
        "BindingRequest.binding": _BINDING,
        "AdminRequest.email": "who is invited",
        "AdminRequest.name": "name of a person who has no account yet",
        "AdminRemovalRequest.email": "the admin or reader who is removed",
        "OwnHandOverRequest.email": "who takes over",
        "OwnHandOverRequest.name": "name of a person who has no account yet",
        "HandOverRequest.email": "who takes over",
        "HandOverRequest.name": "name of a person who has no account yet",
        "HandOverRequest.leaving": "the admin who leaves",
        "SendAgainRequest.email": "who was invited",
        "ContactRequest.email": "address that gets the same emails",
        "ContactRequest.phone": "left out, it stays",
        "DisputeRequest.text": "your statement",
        "DisputeRequest.incidentId": "the incident, where `about` is incident",
        "DisputeRequest.day": "the day, where `about` is day; it ended at most 62 days ago",
        "DisputeRequest.firstDay": "first day, where `about` is line",
        "DisputeRequest.lastDay": "last day; left out, the first alone",
        "MemberStepRequest.text": "what you add; a withdrawal needs none",
        "TokenRequest.jti": "ID of the token, of the list of your tokens",
        "AlarmPreferencesRequest.timeZone": "time zone of the quiet hours and of times in emails",
        "AlarmPreferencesRequest.quietFrom": "begin of the quiet hours; empty, there are none",
        "AlarmPreferencesRequest.quietUntil": "end of the quiet hours; empty, there are none",
        "AlarmPreferencesRequest.breaksQuiet": f"{_SEVERITY} that come in quiet hours",
        "AlarmPreferencesRequest.ofMembers": f"{_SEVERITY} about your entities",
        "AlarmPreferencesRequest.ofNetwork": f"{_SEVERITY} about the network, for operators",
        "AlarmPreferencesRequest.channel": "how alarms come",
        "AlarmPreferencesRequest.apis": "APIs that you hear of; none named, all",
        "PersonalWebhookRequest.format": "what the address reads: our own form, or that of a chat",
        "WebhookRequest.format": "what the address reads: our own form, or that of a chat",
        "WebhookRequest.entityId": "whose alarms are posted; left out, the whole network's",
        "OnboardRequest.adminEmail": "who is invited as its admin",
        "StatusRequest.status": "what the entity is from now on",
        "StatusRequest.reason": _OPERATOR_REASON,
        "BulkRequest.act": "what is done to each",
        "BulkRequest.reason": _OPERATOR_REASON,
        "AddressRequest.email": "the new address",
        "RevokeRequest.jti": "the token; left out, all of the person",
        "OperatorRequest.scopes": "what the operator may do",
        "DecisionRequest.reason": "why; the member and the history show it",
        "DecisionRequest.goesLiveAt": "when an approved version goes live",
        "RotationRequest.kind": "kind of token whose key is rotated; left out, both",
        "RotationRequest.kid": "in an emergency, the key to drop",
        "MaintenanceRequest.begins": (
            "when it begins; left out, or before it, with the next window of ten minutes"
        ),
        "MaintenanceRequest.ends": "when it is over, at most 24 hours after its begin",
        "MaintenanceRequest.reason": "what is done",
        "SilenceRequest.begins": _BEGIN,
        "SilenceRequest.ends": "when it is over",
        "SilenceRequest.reason": "why alarms are silenced",
        "SilenceRequest.entityId": "whose alarms are silenced; left out, the whole network's",
        "SilenceRequest.peerId": "only its calls with this entity; left out, all",
        "SilenceRequest.type": "only this API; left out, all",
        "PeriodRequest.month": "the month; left out with the period, the one that ended last",
        "ReportRequest.month": "the month; left out with the period, the one that ended last",
        "ReportRequest.entityId": "whose report it is; left out, that of the network",
        "PeriodRequest.start": "begin of the period, in place of a month",
        "PeriodRequest.end": "end of the period",
        "ReportRequest.start": "begin of the period, in place of a month",
        "ReportRequest.end": "end of the period",
        "HeldReportRequest.reason": _OPERATOR_REASON,
        "UpdateRequest.translations": "the same in other languages; left out, none",
        "AnnouncementRequest.fipIds": "whom it concerns; left out, the whole network",
        "AnnouncementRequest.translations": "the same in other languages; left out, none",
        "AnnouncementRequest.publishAt": "when it is published; left out, now",
        "AnnouncementRequest.begins": "when that of which it speaks begins; left out, not shown",
        "AnnouncementRequest.ends": (
            "when it moves to the history; left out, only when it is ended by a call"
        ),
        "AnnouncementRequest.incidentId": "its incident; a change leaves it as it is",
        "OperatorStepRequest.text": "what the member reads; a review needs none",
        "OperatorStepRequest.start": "begin of the accepted part",
        "OperatorStepRequest.end": "end of the accepted part",
        "IncidentActRequest.text": "the comment, note, reason or post-mortem",
        "IncidentActRequest.owner": "the new owner, to assign and to hand over",
        "TargetRequest.api": "of one API alone; left out, of all calls",
        "ClockRequest.advance": "by how much the clock moves",
        "FaultRequest.by": (
            "of too-many-requests and unavailable what Retry-After says (30 seconds), of slow the "
            "time before each answer (5 seconds), of clock-jump how far times are moved "
            "(10 minutes); the others have no measure"
        ),
        "FaultRequest.lasts": "when the fault ends by itself",
    }
)
