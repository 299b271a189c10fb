"""Values of fields in the examples of one address or operation, where others answer the same.

What is below an address is of one caller, and what an operation did shows in its answer. By the
operation, then by the address, by `Schema.name`; all other values are those of `field_examples`.
A field that a request may leave out is shown where it has a value here.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from mudra.http.openapi.time_examples import AN_HOUR_AGO, IN_A_DAY, NOW
from mudra.http.request.fields import LATER_BEGIN, LATER_DAY, LATER_END

_Values = Mapping[str, object]
_OPERATOR: Final = "operator:vikram@network.example"
_USER: Final = "6f1c2a4e-0d6b-4c8e-9a53-2b7d1e4f8a90"
_CHAT: Final = "https://chat.kaveribank.example/hooks/EXAMPLE"
_SHOWN_CHAT: Final = "https://chat.kaveribank.example/…"
_OF_AA: Final = {
    "SilenceDetails.entityId": "SAARTHI-AA",
    "SilenceDetails.madeBy": "entity:SAARTHI-AA",
    "SilenceDetails.reason": "a new version of the consent manager",
    "SilenceDetails.maintenance": True,
    "Notice.aheadHours": 11,
    "Notice.inTime": False,
    "Notice.follows": (
        "It was announced 11 hours ahead. The network's rule asks for 24 hours. It is not left out "
        "of availability: calls that fail in it count as an outage."
    ),
    "MaintenanceRequest.reason": "a new version of the consent manager",
    "MaintenanceChangeRequest.reason": "a new version of the consent manager",
    "WebhookDetails.entityId": "SAARTHI-AA",
    "WebhookDetails.madeBy": "entity:SAARTHI-AA",
    "WebhookDetails.url": "https://alarms.saarthi-aa.example/mudra",
    "OwnWebhookRequest.url": "https://alarms.saarthi-aa.example/mudra",
    "ComparisonResponse.role": "AA",
    "StoredBurn.entityId": "SAARTHI-AA",
    "Listed.entityId": "SAARTHI-AA",
    "Listed.madeBy": "entity:SAARTHI-AA",
    "Member.entityId": "SAARTHI-AA",
    "Member.role": "AA",
    "Member.name": "Saarthi Account Aggregator",
    "Target.role": "AA",
    "Figure.reporters": 1,
    "Calls.peerId": "KAVERI-FIP",
    "TimedCalls.peerId": "KAVERI-FIP",
    "IncidentDetails.kind": "path",
    "IncidentDetails.entityId": "SAARTHI-AA",
    "IncidentDetails.peerId": "KAVERI-FIP",
    "IncidentDetails.acknowledgedBy": "the operator",
    "IncidentDetails.cause": "path SAARTHI-AA to KAVERI-FIP, FI fetch",
    "TimelineDetails.text": "opened as path SAARTHI-AA to KAVERI-FIP, FI fetch",
}
_OF_OPERATOR: Final = {
    "WebhookDetails.entityId": "",
    "WebhookDetails.madeBy": _OPERATOR,
    "WebhookDetails.url": "https://alarms.network.example/mudra",
    "WebhookRequest.url": "https://alarms.network.example/mudra",
    "SilenceDetails.madeBy": _OPERATOR,
    "SilenceDetails.notice": None,
    "Listed.madeBy": _OPERATOR,
    "MeasureDetails.mine": None,
    "MeasureDetails.place": None,
}
_OF_PERSON: Final = {"WebhookDetails.entityId": "", "WebhookDetails.madeBy": f"user:{_USER}"}
_BY_ADDRESS: Final[Mapping[str, _Values]] = MappingProxyType(
    {
        "/metrics/perf/v1/": _OF_AA,
        "/operator/v1/": _OF_OPERATOR,
        "/iam/v1/user/alarm/webhooks": _OF_PERSON,
    }
)
"""Whose things are read and written, by the begin of the address."""

_ADMIN: Final = {
    "userId": _USER,
    "email": "lakshmi@kaveribank.example",
    "name": "Lakshmi Iyer",
    "state": "active",
    "role": "admin",
    "since": "2026-01-05T09:30:00.000Z",
}
_INVITED: Final = {
    "userId": "0b6f3c1e-6f0e-4a57-9d52-3f6a7e8c9d01",
    "email": "ravi@kaveribank.example",
    "name": "Ravi Iyer",
    "state": "invited",
    "role": "admin",
    "since": NOW,
    "invitedUntil": IN_A_DAY,
}
_ADMIN_INVITED: Final = {"AdminsResponse.admins": [_ADMIN, _INVITED]}
_FOLLOWS: Final = {"email": "priya@kaveribank.example", "name": "Priya Nair"}
_ADMIN_FOLLOWS: Final = {
    "OwnHandOverRequest.email": _FOLLOWS["email"],
    "OwnHandOverRequest.name": _FOLLOWS["name"],
    "HandOverRequest.email": _FOLLOWS["email"],
    "HandOverRequest.name": _FOLLOWS["name"],
    "AdminsResponse.admins": [
        _ADMIN,
        {**_INVITED, **_FOLLOWS, "takesOverFrom": "lakshmi@kaveribank.example"},
    ],
}
_BOUND: Final = {
    "BindingResponse.binding": "enforce",
    "BindingResponse.enforced": True,
    "BindingResponse.foreign": [],
    "BindingResponse.foreignCount": 0,
}
_DECIDED: Final = {
    "HeldReportDetails.decidedBy": _OPERATOR,
    "HeldReportDetails.decidedAt": NOW,
}
_UPDATED: Final = {"WriteResponse.version": 2}
_NOT_DECIDED: Final[_Values] = {"DisputeResponse.corrections": []}
_RAISED: Final = {
    "at": "2026-01-31T09:10:00.000Z",
    "by": "member",
    "act": "raise",
    "state": "raised",
    "text": "Our gateway answered all these calls: see the log.",
}
_ACCEPTED: Final = "Your log shows it: these calls are left out."
_ROTATED: Final = {"WebhookDetails.previousKeyUntil": IN_A_DAY}
_ADDED: Final = {"WebhookDetails.deliveredAt": None, "WebhookDetails.madeAt": NOW}
_ACTIVE: Final = {"AccountResponse.state": "active"}
_ENDED_SILENCE: Final = {"SilenceDetails.begins": AN_HOUR_AGO, "SilenceDetails.ends": NOW}
_SUSPENDED: Final = [
    {
        "entityId": "FINSIGHT-FIU",
        "name": "Finsight Lending",
        "result": "ready",
        "people": ["asha@finsight.example"],
        "problem": "",
    },
    {
        "entityId": "KAVERI-FIP",
        "name": "Kaveri Bank",
        "result": "ready",
        "people": ["lakshmi@kaveribank.example"],
        "problem": "",
    },
]
_BEFORE: Final = {
    "HappeningDetails.at": "2026-01-31T08:20:00.000Z",
    "CandidateDetails.secondsBefore": 600,
}
_IN_HINDI: Final = [
    {
        "language": "hi",
        "title": "रविवार को रखरखाव",
        "text": "रविवार को 02:00 से 04:00 बजे (IST) तक नई सहमति नहीं दी जा सकती।",
    }
]
_MAINTENANCE: Final = {
    "AnnouncementRequest.kind": "maintenance",
    "AnnouncementRequest.translations": _IN_HINDI,
    "AnnouncementRequest.fipIds": ["KAVERI-FIP"],
    "AnnouncementRequest.begins": LATER_BEGIN,
    "AnnouncementRequest.ends": LATER_END,
    "AnnouncementDetails.updates": [],
}
_PREFERENCES: Final = {
    "AlarmPreferencesResponse.quietFrom": "22:00",
    "AlarmPreferencesResponse.quietUntil": "07:00",
    "AlarmPreferencesResponse.breaksQuiet": "major",
    "AlarmPreferencesResponse.ofMembers": "major",
    "AlarmPreferencesResponse.apis": ["fif", "fireq"],
    "AlarmPreferencesResponse.levelReports": True,
}

_BY_CALL: Final[Mapping[str, _Values]] = MappingProxyType(
    {
        **dict.fromkeys(("addEntityAdmin", "addAdmin", "resendInvitation"), _ADMIN_INVITED),
        **dict.fromkeys(("handOverEntityAdmin", "replaceAdmin"), _ADMIN_FOLLOWS),
        "declineInvitation": {"StatusResponse.status": "declined"},
        "setPassword": {"StatusResponse.status": "password set"},
        "requestPasswordLink": {
            "StatusResponse.status": "if the name is known, a link is on its way"
        },
        "revokeMyToken": {"StatusResponse.status": "revoked"},
        "endMySession": {"StatusResponse.status": "ended"},
        "resendUserLink": {"StatusResponse.status": "link sent"},
        "revokeUserTokens": {"StatusResponse.status": "1 revoked"},
        "retryMail": {"StatusResponse.status": "will be tried now"},
        "setAddressBinding": _BOUND,
        "setMemberAddressBinding": _BOUND,
        "onboardMember": {
            "MemberResponse.entityId": "GODAVARI-FIU",
            "MemberResponse.type": "FIU",
            "MemberResponse.name": "Godavari Finance",
        },
        "setMemberStatus": {"MemberStatusResponse.status": "suspended"},
        "actOnMembers": {"BulkResponse.members": _SUSPENDED},
        "disableUser": {"AccountResponse.state": "disabled", "AccountResponse.tokensEnded": 1},
        "enableUser": _ACTIVE,
        "changeUserEmail": {
            **_ACTIVE,
            "AccountResponse.pendingEmail": "ravi.iyer@kaveribank.example",
        },
        "confirmUserEmail": {**_ACTIVE, "AccountResponse.email": "ravi.iyer@kaveribank.example"},
        "resetSecondFactor": _ACTIVE,
        "addOperator": {
            "OperatorResponse.email": "leela@network.example",
            "OperatorResponse.scopes": ["health"],
        },
        "updateEntry": _UPDATED,
        "listVocabulary": {
            "VocabularyResponse.fitype": ["DEPOSIT", "TERM_DEPOSIT"],
            "VocabularyResponse.identifierType": ["MOBILE", "PAN"],
        },
        "updateEntryByPayload": _UPDATED,
        "retireEntry": {"WriteResponse.status": "retired", "WriteResponse.version": 0},
        "admitImplausibleReport": {"HeldReportDetails.state": "admitted", **_DECIDED},
        "refuseImplausibleReport": {
            "HeldReportDetails.state": "refused",
            "HeldReportRequest.reason": "the AA counted each call twice",
            **_DECIDED,
        },
        "beginSilence": {"SilenceRequest.entityId": "KAVERI-FIP"},
        **dict.fromkeys(("endSilence", "endMaintenance"), _ENDED_SILENCE),
        **dict.fromkeys(("getChangesBefore", "getChangesBeforeOwn"), _BEFORE),
        "publishAnnouncement": {
            **_MAINTENANCE,
            "AnnouncementDetails.madeAt": NOW,
            "AnnouncementDetails.publishAt": NOW,
        },
        "changeAnnouncement": {**_MAINTENANCE, "AnnouncementDetails.changedAt": NOW},
        "addAnnouncementUpdate": {
            "UpdateRequest.text": "The work begins an hour later, at 03:00 IST."
        },
        "endAnnouncement": {
            "AnnouncementDetails.state": "over",
            "AnnouncementDetails.endedAt": NOW,
        },
        "setAlarmPreferences": _PREFERENCES,
        "rotateMyWebhookKey": _ROTATED,
        "rotateEntityWebhookKey": _ROTATED,
        "rotateWebhookKey": _ROTATED,
        "addMyWebhook": {
            **_ADDED,
            "PersonalWebhookRequest.url": _CHAT,
            "WebhookDetails.url": _SHOWN_CHAT,
            "WebhookDetails.format": "slack",
        },
        "addEntityWebhook": _ADDED,
        "addWebhook": {**_ADDED, "WebhookRequest.format": "standard"},
        "addDispute": {
            **_NOT_DECIDED,
            "DisputeResponse.evidence": [],
            "DisputeStep.at": NOW,
            "DisputeDetails.raisedAt": NOW,
            "DisputeDetails.changedAt": NOW,
            "DisputeDetails.dueAt": "2026-02-05T09:30:00.000Z",
        },
        "getOwnDispute": _NOT_DECIDED,
        "actOnOwnDispute": {
            **_NOT_DECIDED,
            "MemberStepRequest.text": "The log of our gateway follows as a file.",
            "DisputeResponse.evidence": [],
            "DisputeResponse.steps": [
                _RAISED,
                {
                    "at": NOW,
                    "by": "member",
                    "act": "inform",
                    "state": "raised",
                    "text": "The log of our gateway follows as a file.",
                },
            ],
        },
        "getDispute": _NOT_DECIDED,
        "actOnDispute": {
            "DisputeDetails.state": "accepted",
            "DisputeDetails.changedAt": NOW,
            "DisputeDetails.dueAt": None,
            "DisputeDetails.waitsFor": None,
            "DisputeResponse.steps": [
                _RAISED,
                {
                    "at": NOW,
                    "by": "operator",
                    "act": "accept",
                    "state": "accepted",
                    "text": _ACCEPTED,
                },
            ],
        },
        "actOnIncident": {
            "IncidentActRequest.act": "assign",
            "ActDetails.act": "assign",
            "ActDetails.text": "The FIP restarts its gateway; next look at 04:00.",
            "ActDetails.owner": "night-desk@network.example",
        },
        "setTarget": {
            "TargetRequest.role": "AA",
            "TargetRequest.measure": "availability",
            "Target.role": "AA",
            "Target.measure": "availability",
            "Target.api": "",
            "Target.value": 99.5,
            "Target.since": LATER_DAY,
        },
        "endTarget": {"Target.until": "2026-02-01"},
        "setLevelRule": {"NetworkRule.since": LATER_DAY, "NetworkRule.noticeHours": 48},
    }
)
"""What an operation did, by its name in the document."""


def examples_of_call(path: str, operation: str) -> _Values:
    """Return the values that the examples of an operation have instead of the usual ones."""
    found = {
        name: value
        for begin, values in _BY_ADDRESS.items()
        if path.startswith(begin)
        for name, value in values.items()
    }
    return {**found, **_BY_CALL.get(operation, {})}


def named_in_examples() -> tuple[set[str], set[str]]:
    """Return the operations and the fields that have values here."""
    fields = {name for one in (_BY_ADDRESS, _BY_CALL) for act in one.values() for name in act}
    return set(_BY_CALL), fields
