"""Values of fields in the examples of one operation, where others answer the same schema.

By the operation, then by `Schema.name`: what was done shows in the answer. All other values are
those of `field_examples`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_BOUND: Final = {
    "BindingResponse.binding": "enforce",
    "BindingResponse.enforced": True,
    "BindingResponse.foreign": [],
    "BindingResponse.foreignCount": 0,
}
_OPERATOR: Final = "operator:vikram@network.example"
_DECIDED: Final = {
    "HeldReportDetails.decidedBy": _OPERATOR,
    "HeldReportDetails.decidedAt": "2026-01-31T10:30:00.000Z",
}
_UPDATED: Final = {"WriteResponse.version": 2}
_NOT_DECIDED: Final[Mapping[str, object]] = {"DisputeResponse.corrections": []}
_ROTATED: Final = {"WebhookDetails.previousKeyUntil": "2026-02-01T09:30:00.000Z"}
_ADDED: Final = {"WebhookDetails.deliveredAt": None}
_OF_OPERATOR: Final = {"WebhookDetails.entityId": "", "WebhookDetails.madeBy": _OPERATOR}
_ACTIVE: Final = {"AccountResponse.state": "active"}

ACT_EXAMPLES: Final[Mapping[str, Mapping[str, object]]] = MappingProxyType(
    {
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
        "setMemberStatus": {"MemberStatusResponse.status": "suspended"},
        "disableUser": {"AccountResponse.state": "disabled", "AccountResponse.tokensEnded": 1},
        "enableUser": _ACTIVE,
        "changeUserEmail": {
            **_ACTIVE,
            "AccountResponse.pendingEmail": "ravi.iyer@finsight.example",
        },
        "confirmUserEmail": _ACTIVE,
        "resetSecondFactor": _ACTIVE,
        "updateEntry": _UPDATED,
        "updateEntryByPayload": _UPDATED,
        "retireEntry": {"WriteResponse.status": "retired", "WriteResponse.version": 0},
        "admitImplausibleReport": {"HeldReportDetails.state": "admitted", **_DECIDED},
        "refuseImplausibleReport": {
            "HeldReportDetails.state": "refused",
            "HeldReportRequest.reason": "the AA counted each call twice",
            **_DECIDED,
        },
        "announceMaintenance": {
            "SilenceDetails.type": "",
            "SilenceDetails.reason": "a new version of the core banking system",
        },
        "beginSilence": {
            "SilenceDetails.entityId": "",
            "SilenceDetails.type": "",
            "SilenceDetails.reason": "planned work of the bank until 04:00",
            "SilenceDetails.madeBy": _OPERATOR,
            "SilenceDetails.maintenance": False,
            "SilenceDetails.notice": None,
        },
        "endAnnouncement": {
            "AnnouncementDetails.state": "over",
            "AnnouncementDetails.endedAt": "2026-01-31T10:30:00.000Z",
        },
        "rotateMyWebhookKey": _ROTATED,
        "rotateEntityWebhookKey": _ROTATED,
        "rotateWebhookKey": {**_OF_OPERATOR, **_ROTATED},
        "addMyWebhook": {**_ADDED, "WebhookDetails.format": "slack"},
        "addEntityWebhook": _ADDED,
        "addWebhook": {**_OF_OPERATOR, **_ADDED, "WebhookDetails.format": "slack"},
        **dict.fromkeys(
            ("listWebhooks", "removeWebhook", "testWebhook", "resendWebhookEvent"), _OF_OPERATOR
        ),
        "addDispute": _NOT_DECIDED,
        "getOwnDispute": _NOT_DECIDED,
        "actOnOwnDispute": _NOT_DECIDED,
        "getDispute": _NOT_DECIDED,
        "actOnDispute": {
            "DisputeDetails.state": "accepted",
            "DisputeDetails.dueAt": None,
            "DisputeDetails.waitsFor": None,
        },
    }
)
