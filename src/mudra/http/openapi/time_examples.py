"""Times in the examples of the OpenAPI document: every answer is given at `NOW`.

What an answer reports is before `NOW` and what it plans is after it, so that an object never
speaks of a time that has not come. As in `field_examples`, a name is that of a field, or
`Schema.name` where it means several things.
"""

from collections.abc import Sequence
from typing import Final

NOW: Final = "2026-01-31T09:30:00.000Z"
AN_HOUR_AGO: Final = "2026-01-31T08:30:00.000Z"
IN_A_DAY: Final = "2026-02-01T09:30:00.000Z"
IN_180_DAYS: Final = "2026-07-30T09:30:00.000Z"
_NIGHT: Final = ("2026-01-31T20:30:00.000Z", "2026-01-31T22:30:00.000Z")
"""From 02:00 to 04:00 IST on the Sunday after."""
_WEEK: Final = ("2026-01-18T18:30:00.000Z", "2026-01-25T18:30:00.000Z")
_MONTH: Final = ("2025-11-30T18:30:00.000Z", "2025-12-31T18:30:00.000Z")
_INCIDENT: Final = ("2025-12-10T08:30:00.000Z", "2025-12-10T09:30:00.000Z")

TIMES: Final[Sequence[tuple[object, str]]] = (
    (
        NOW,
        (
            "activeFrom at madeAt changedAt decidedAt timestamp addedAt published updated "
            "deliveredAt to end end_time judged_until as_of heard_until"
        ),
    ),
    (
        AN_HOUR_AGO,
        (
            "from start start_time window evidence_from began noticed HappeningDetails.at "
            "AnnouncementDetails.madeAt publishAt ApiFeed.since FeedCause.since FeedChange.since "
            "VersionResponse.submittedAt SigningKeyResponse.createdAt WebhookDetails.madeAt"
        ),
    ),
    ("2026-01-31T08:40:00.000Z", "GapDetails.start"),
    ("2026-01-31T08:41:00.000Z", "receivedAt"),
    ("2026-01-31T08:50:00.000Z", "lastBad last_bad"),
    ("2026-01-31T09:00:00.000Z", "detected GapDetails.end DisputeDetails.end TimelineDetails.at"),
    (
        "2026-01-31T09:00:00.000Z",
        "MaintenanceDetails.begins FeedMaintenance.begins CorrectionDetails.end",
    ),
    ("2026-01-31T11:00:00.000Z", "MaintenanceDetails.ends FeedMaintenance.ends"),
    ("2026-01-31T09:10:00.000Z", "raisedAt DisputeDetails.changedAt DisputeStep.at"),
    ("2026-02-05T09:10:00.000Z", "dueAt"),
    ("2026-01-31T09:25:00.000Z", "SecretUseResponse.lastUsedAt AddressUseResponse.lastUsedAt"),
    ("2026-01-31T10:30:00.000Z", "SandboxFault.endsAt ended over"),
    (_NIGHT[0], "begins"),
    (_NIGHT[1], "ends"),
    ("2026-01-31T08:00:00.000Z", "HourDetails.start"),
    (_WEEK[0], "ComparisonResponse.from"),
    (_WEEK[1], "ComparisonResponse.to"),
    (_MONTH[0], "Listed.start Report.start"),
    (_MONTH[1], "Listed.end Report.end month"),
    (_INCIDENT[0], "Span.start TimedCalls.at"),
    (_INCIDENT[1], "Span.end TimedCalls.until"),
    ("2026-01-01T00:00:00.000Z", "network_since"),
    ("2026-01-05T09:30:00.000Z", "AdminDetails.since UserDetails.createdAt"),
    ("2026-01-31", "day"),
    ("2026-01-30", "VolumeDayDetails.day"),
    ("2026-02-01", "ExpectedDayDetails.day"),
    ("2025-10-01", "NetworkRule.since Target.since"),
    ("2026-01-12", "handledDay"),
    ("22:00", "quietFrom"),
    ("07:00", "quietUntil"),
    (1769851800, "iat nbf issuedAt"),
    (1769938200, "exp"),
    (1769851860, "RevocationList.validUntil"),
    (1769852100, "ChangesResponse.validUntil"),
    (1767225600000, "epoch"),
    (86400, "expires_in"),
    (15552000, "UserTokenResponse.expiresIn"),
    (IN_A_DAY, "AdminDetails.invitedUntil UserDetails.linkValidUntil"),
    ("2026-05-01T09:30:00.000Z", "EntitySecretResetResponse.expirationDate"),
    (1777627800000, "EntitySecretResetResponse.expiresOn"),
    (
        IN_180_DAYS,
        (
            "EntitySecretReadResponse.expirationDate TokenDetails.expiresAt "
            "MemberDetails.secretExpiresAt SecretUseResponse.endsAt ProbeCertificate.validUntil"
        ),
    ),
    (1785403800000, "EntitySecretReadResponse.expiresOn secret-expiry-ts"),
    ("", "retiresAt"),
    (
        None,
        (
            "VersionResponse.liveUntil VersionResponse.goesLiveAt PendingEntryResponse.goesLiveAt "
            " KeyPeriodResponse.until Target.until goneAt "
            "previousKeyUntil HappeningDetails.until ReceiptsResponse.next "
            "HeldReportDetails.decidedAt endedAt AnnouncementDetails.changedAt"
        ),
    ),
)
