"""Meanings of the parts of an address, see `FIELD_TEXTS`."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

PATH_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "webhook_id": "`webhookId` of the list of webhooks",
        "message_id": "`messageId` of the webhook's events",
        "silence_id": "ID of the silence or maintenance, as its list has it",
        "fip_id": "entity ID of the FIP",
        "entity_id": "entity ID",
        "report_id": "ID of the version, as the list of reports has it",
        "receipt_id": "`receiptId` of the held report",
        "announcement_id": "`announcementId` of the list of announcements",
        "dispute_id": "`disputeId` of the list of disputes",
        "evidence_id": "ID of the file, as the dispute lists it",
        "incident_id": "`incidentId` of the list of incidents",
        "target_id": "`targetId` of a target that was set; a shipped one cannot be ended",
        "user_id": "`userId` of the list of users",
        "mail_id": "ID of the email, as the list of emails has it",
    }
)
