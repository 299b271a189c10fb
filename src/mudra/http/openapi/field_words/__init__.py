"""The words that a field may have, from the enumerations of the code, with their meanings.

By `Schema.name`; a field whose struct names its words has its meanings here alone. A word of the
code without a meaning fails tests/unit/http/openapi/test_whole_document.py. Never decides anything.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from mudra.http.openapi.field_words import of_health as health
from mudra.http.openapi.field_words import of_people as people
from mudra.http.openapi.field_words.of_health import Meanings

_OF: Final[Sequence[tuple[Meanings, str]]] = (
    (
        health.SUBJECTS,
        (
            "IncidentDetails.kind FeedCause.kind FeedPlace.kind VerdictDetails.blame "
            "PublicIncident.ambiguous_with"
        ),
    ),
    (health.SYMPTOMS, "IncidentDetails.symptoms PublicIncident.symptoms"),
    (health.ENDINGS, "IncidentDetails.state PublicIncident.ending"),
    (
        health.LEAST_SEVERITIES,
        (
            "AlarmPreferencesResponse.breaksQuiet AlarmPreferencesResponse.ofMembers "
            "AlarmPreferencesResponse.ofNetwork AlarmPreferencesRequest.breaksQuiet "
            "AlarmPreferencesRequest.ofMembers AlarmPreferencesRequest.ofNetwork"
        ),
    ),
    (health.SEVERITIES, "IncidentDetails.severity"),
    (health.EFFECTS, "PublicIncident.effect"),
    (health.OUTLOOKS, "Burn.outlook"),
    (health.MATTERS, "AnnouncementRequest.kind AnnouncementDetails.kind PublicAnnouncement.kind"),
    (health.SHOWN, "AnnouncementDetails.state"),
    (health.ACTS, "IncidentActRequest.act ActDetails.act"),
    (
        health.STATUSES,
        (
            "ApiDetails.status ApiFeed.status CellDetails.status PublicRow.status "
            "FipSummary.discovery_and_linking FipSummary.consent_and_notification "
            "FipSummary.data_flow"
        ),
    ),
    (health.REASONS, "ApiFeed.reasons"),
    (health.DAYS, "Day.state FipHistory.last_24_hours"),
    (
        health.TAGS,
        "ApiDetails.tag GapDetails.tag HeldReportDetails.tag ReceiptDetails.tag",
    ),
    (health.TYPES, "ApiDetails.type"),
    (
        health.APIS,
        (
            "AlarmPreferencesRequest.apis AlarmPreferencesResponse.apis Calls.api "
            "TimedCalls.api Span.apis DisputeDetails.apis OperatorStepRequest.apis "
            "CorrectionDetails.api"
        ),
    ),
    (health.ONE_OR_ALL_APIS, "Change.api Figure.api Target.api DisputeRequest.api"),
    (health.PUBLIC_APIS, "PublicRow.api"),
    (health.STAGES, "MeasureDetails.step StepDetails.step FunnelDetails.leak"),
    (health.ROLE_MEASURES, "MeasureDetails.measure"),
    (health.PLACES, "MeasureDetails.place"),
    (
        health.MEASURES,
        "Burn.measure Change.measure Figure.measure Target.measure TargetRequest.measure",
    ),
    (health.FATES, "Span.fate"),
    (health.NUMBERS, "Change.number"),
    (health.CORRECTIONS, "CorrectionDetails.effect OperatorStepRequest.effect"),
    (health.HELD, "HeldReportDetails.state"),
    (health.PUSHES, "PushResponse.status"),
    (health.CHANNELS, "AlarmPreferencesRequest.channel AlarmPreferencesResponse.channel"),
    (health.FORMATS, "WebhookDetails.format WebhookRequest.format"),
    (health.FORECASTS, "ForecastDetails.method"),
    (people.ACCOUNTS, "AccountResponse.state AdminDetails.state UserDetails.state"),
    (
        people.MEMBERS,
        (
            "MemberDetails.status MemberResponse.status MemberStatusResponse.status "
            "StatusRequest.status"
        ),
    ),
    (people.ROLES, "AdminDetails.role AdminRequest.role"),
    (people.SCOPES, "OperatorRequest.scopes OperatorResponse.scopes UserDetails.scopes"),
    (
        people.TYPES,
        (
            "ChangeResponse.type Entry.type MemberDetails.type MemberResponse.type "
            "OnboardRequest.type "
            "PendingEntryResponse.type RecordResponse.type Submission.type "
            "OAuthIntrospection.roles"
        ),
    ),
    (people.JUDGED_TYPES, "ComparisonResponse.role Member.role Target.role TargetRequest.role"),
    (
        people.BINDINGS,
        (
            "BindingRequest.binding BindingResponse.binding OwnBindingRequest.binding "
            "BindingResponse.networkBinding"
        ),
    ),
    (
        people.ENTRIES,
        "DecisionResponse.standing PendingEntryResponse.standing RecordResponse.standing",
    ),
    (people.VERSIONS, "DecisionResponse.status PendingEntryResponse.status VersionResponse.status"),
    (people.DECISIONS, "DecisionRequest.act DecisionResponse.act"),
    (people.KEYS, "SigningKeyResponse.state"),
    (people.TOKENS, "SigningKeyResponse.kind KeyChangeResponse.kind RotationRequest.kind"),
    (people.TOKEN_STATES, "TokenDetails.state"),
    (people.OUTCOMES, "EventDetails.outcome OwnEventResponse.outcome"),
    (people.AUDIT, "AuditVerdictResponse.state"),
    (people.DISPUTES, "DisputeDetails.state DisputeStep.state"),
    (people.WISHES, "DisputeDetails.kind DisputeRequest.kind"),
    (people.SUBJECTS, "DisputeDetails.about DisputeRequest.about"),
    (people.SIDES, "DisputeDetails.waitsFor DisputeStep.by"),
    (people.STEPS, "DisputeStep.act MemberStepRequest.act OperatorStepRequest.act"),
    (people.HAPPENINGS, "HappeningDetails.kind"),
    (people.MATTERS, "DashboardRowResponse.kind DashboardResponse.hidden"),
    (people.URGENCIES, "DashboardRowResponse.urgency"),
    (people.WEIGHTS, "ActionItemResponse.weight"),
    (people.SOURCES, "SettingResponse.source"),
    (people.FINDINGS, "Finding.severity"),
    (people.MAILS, "MailDetails.state"),
    (people.MESSAGES, "WebhookEventDetails.state"),
    (people.ROWS, "BulkMember.result ImportedRow.result"),
    (people.CHANGES, "ChangeResponse.op"),
    (people.BULK, "BulkRequest.act BulkResponse.act"),
    (people.FACTORS, "UserDetails.secondFactors"),
)
FIELD_WORDS: Final[Mapping[str, Meanings]] = MappingProxyType(
    {name: meanings for meanings, names in _OF for name in names.split()}
)
