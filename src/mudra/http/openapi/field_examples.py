"""Values of fields in the examples of the OpenAPI document, where a struct has none itself.

By name, and by `Schema.name` where a name means several things, as in `field_texts`. Which fields
an example has, and of which type, comes from the structs and is never written here. A field
without a value fails tests/unit/http/openapi/test_whole_document.py. A secret or a token is a
placeholder.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from mudra.http.openapi.time_examples import TIMES
from mudra.http.registry.submission_schema import EXAMPLE

_Shown = Sequence[tuple[object, str]]
"""A value, and the names of the fields that show it."""
_ALGORITHMS: Final = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]
_METHODS: Final = ["client_secret_basic", "client_secret_post", "private_key_jwt"]
_ADDRESS: Final = "https://mudra.example/iam"

_IDS: Final[_Shown] = (
    (
        "6f1c2a4e-0d6b-4c8e-9a53-2b7d1e4f8a90",
        (
            "jti userId incidentId announcementId correctionId disputeId evidenceId receiptId "
            "reportId announcement_id silenceId webhookId messageId MailDetails.id SandboxMail.id "
            "targetId reference"
        ),
    ),
    ("0b6f3c1e-6f0e-4a57-9d52-3f6a7e8c9d01", "txnId txnid"),
    (EXAMPLE["txnid"], "WriteResponse.txnid"),
    ("0f1e2d3c4b5a6978", "sessionId"),
    ("20260131-6d00d5b60274", "kid"),
    ("200", "ActivityResponse.next EventsPage.next"),
    ("KAVERI-FIP", "MembersPage.next"),
    ("", "HeldReportDetails.decidedBy"),
    ("lakshmi@kaveribank.example", "UsersPage.next"),
    ("6f1c2a4e-0d6b-4c8e-9a53-2b7d1e4f8a90", "MailsPage.next"),
    ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "hash sha256 evidence"),
    (
        "4681a759df71939452875c7ee34adaea9ed83532478a86af03dc7c095ec5d51c",
        "EvidenceDetails.sha256",
    ),
    ("IghSf3-7jme2p8sCxki0ySRBj0RTqabLsbIvnhB7E90", "thumbprint"),
    ("kaveri-2026", "KeyPeriodResponse.kid"),
    (["6f1c2a4e-0d6b-4c8e-9a53-2b7d1e4f8a90"], "revoked"),
)
_PEOPLE_AND_MEMBERS: Final[_Shown] = (
    ("SAARTHI-AA", "aaId peerId peer_id FeedPlace.entity_id"),
    ("KAVERI-FIP", "fipId entityId entity_id fip_id id ref reader FeedPlace.peer_id"),
    ("KAVERI-FIP", "sub client_id azp"),
    ("TAPI-FIP", "ImportedRow.entityId"),
    ("FIP", "roles"),
    (["KAVERI-FIP"], "administers fipIds fip_ids FollowedFipsResponse.fips"),
    ("Kaveri Bank", "name DashboardRowResponse.subject"),
    ("Lakshmi Iyer", "AdminDetails.name UserDetails.name"),
    ("ravi@kaveribank.example", "AccountResponse.email"),
    ("lakshmi@kaveribank.example", "email MailDetails.to SandboxMail.to"),
    (["lakshmi@kaveribank.example"], "admins people"),
    ("noc@kaveribank.example", "contact"),
    ("ravi.iyer@kaveribank.example", "pendingEmail"),
    ("lakshmi@kaveribank.example", "takesOverFrom who"),
    ("vikram@network.example", "ActDetails.by"),
    ("", "ActDetails.owner"),
    (
        "operator:vikram@network.example",
        "acknowledgedBy decidedBy requestedBy AnnouncementDetails.madeBy",
    ),
    ("entity:KAVERI-FIP", "madeBy submittedBy"),
    ("user:6f1c2a4e-0d6b-4c8e-9a53-2b7d1e4f8a90", "actor"),
    ("+91 22 5550 0107", "phone"),
    ("203.0.113.17", "address lastAddress ip"),
    ([], "UserDetails.scopes UserDetails.secondFactors"),
    (["health"], "scopes"),
)
_TEXTS: Final[_Shown] = (
    ("1.0.0", "agentVersion jsonVersion RevocationList.ver"),
    ("1.0", "Entry.ver"),
    ("the member asked for it", "reason"),
    ("", "OwnEventResponse.reason EventDetails.reason VersionResponse.reason"),
    ("the agreement of the network", "Target.reason NetworkRule.reason"),
    ("planned work of the bank until 04:00 IST", "SilenceDetails.reason"),
    ("Your log shows it: these calls are left out.", "CorrectionDetails.reason"),
    ("Our gateway answered all these calls: see the log.", "DisputeStep.text"),
    ("New consents cannot be given from 02:00 to 04:00 IST.", "AnnouncementDetails.text"),
    ("Maintenance on Sunday", "title"),
    ("The work begins an hour later, at 03:00 IST.", "UpdateDetails.text"),
    ("FI fetch fails since 08:30.", "text"),
    ("FIP KAVERI-FIP, FI fetch", "cause"),
    ("$.fips[0].fipId", "path"),
    ("is not in the registry; the block is kept", "Finding.problem"),
    ("an entity ID of the registry", "Finding.allowed"),
    ("KAVERI-FIP", "Finding.nearest"),
    ("calls", "doubt"),
    ("9000000000000000", "claimed"),
    ("400000", "plausible"),
    ("23360094", "dataBytes"),
    ("standard", "format"),
    ("hi", "language"),
    (
        [
            {
                "language": "hi",
                "title": "रविवार को रखरखाव",
                "text": "रविवार को 02:00 से 04:00 बजे (IST) तक नई सहमति नहीं दी जा सकती।",
            }
        ],
        "AnnouncementDetails.translations",
    ),
    (
        [{"language": "hi", "text": "काम एक घंटे बाद, 03:00 बजे (IST) शुरू होगा।"}],
        "UpdateDetails.translations",
    ),
    ("Asia/Kolkata", "timeZone"),
    ("the times of tokens are moved: iat, nbf, exp and timestamp", "SandboxFault.effect"),
    ("", "problem column lastError keyProblem ambiguity risk SandboxFault.kid BulkResponse.csv"),
    ("last used 5 minutes ago from 1 address", "SecretUseResponse.summary"),
    ("secret reset", "HappeningDetails.text"),
    ("opened as FIP KAVERI-FIP, FI fetch", "TimelineDetails.text"),
    ("Kaveri Bank: the registry entry was changed", "subject"),
    ("CN=aa.kaveri.example", "ProbeCertificate.subject"),
    ("CN=Example CA", "ProbeCertificate.issuer"),
    (["aa.kaveri.example"], "names"),
    ("An update of the entry awaits approval", "DashboardRowResponse.what"),
    ("Review it", "nextAct"),
    ("Only one admin can act", "what"),
    ("When that person is away, no one can reset the secret.", "why"),
    ("Add one", "ActionItemResponse.act"),
    ("people", "page"),
    ("confirmed", "StatusResponse.status"),
    ("serviceLevels", "purpose"),
    (
        "fif",
        ("IncidentDetails.type FeedCause.type FeedPlace.type FeedChange.type PublicIncident.type"),
    ),
    ("submitted", "WriteResponse.status"),
    ("MUDRA_ENTITY_TOKEN_RATE", "SettingResponse.name"),
    ("20", "SettingResponse.value"),
    ("default", "source"),
    ("tokens a second for each entity and address", "meaning"),
    ("1 to 10000", "SettingResponse.allowed"),
    ("entity:secret:read", "event"),
    ("keys:signing:activate", "KeyChangeResponse.event"),
    ("incident.opened", "AttemptDetails.event WebhookEventDetails.event"),
    ('{"type": "incident.opened", …}', "body"),
    ('{"purpose": "serviceLevels", …}', "ProofResponse.report"),
    ("Hello Lakshmi Iyer,\n\nThe registry entry of Kaveri Bank was changed. …", "SandboxMail.text"),
    ([f"{_ADDRESS.removesuffix('/iam')}/console/entity/KAVERI-FIP"], "links"),
    ("GOOD: above 95 % of the calls succeed, …", "FeedRules.calls"),
    ("GOOD: above 95 % of the FI requests end in data; …", "fi_notification"),
    ("gateway.log", "EvidenceDetails.name"),
    ("text/plain", "mediaType"),
    ("MjAyNi0wMS0zMVQwODo0MFogMjAwIC9GSS9GZXRjaAo=", "content"),
    ("v2:https://aa.kaveri.example/v2", "FieldChangeResponse.before"),
    ("v2:https://aa2.kaveri.example/v2", "FieldChangeResponse.after"),
    ("$.entityinfo.baseurl", "FieldChangeResponse.path"),
    (["deposits"], "groups"),
)
_ENTRIES_AND_KEYS: Final[_Shown] = (
    (_ADDRESS, "iss issuer registry"),
    (f"{_ADDRESS}/oauth2/token", "token_endpoint"),
    (f"{_ADDRESS}/oauth2/introspect", "introspection_endpoint"),
    (f"{_ADDRESS}/oauth2/revoke", "revocation_endpoint"),
    (f"{_ADDRESS}/revocations", "revocations_uri"),
    (f"{_ADDRESS}/protocol/openid-connect/certs", "jwks_uri"),
    (["client_credentials"], "grant_types_supported"),
    (["none"], "response_types_supported"),
    (["entity"], "scopes_supported"),
    (["public"], "subject_types_supported"),
    (["RS256"], "id_token_signing_alg_values_supported"),
    (["ES256", "PS256", "RS256"], "dpop_signing_alg_values_supported"),
    (
        _METHODS,
        (
            "token_endpoint_auth_methods_supported introspection_endpoint_auth_methods_supported "
            "revocation_endpoint_auth_methods_supported"
        ),
    ),
    (
        _ALGORITHMS,
        (
            "token_endpoint_auth_signing_alg_values_supported "
            "introspection_endpoint_auth_signing_alg_values_supported "
            "revocation_endpoint_auth_signing_alg_values_supported"
        ),
    ),
    ("https://alarms.kaveribank.example/mudra", "url"),
    ("whsec_EXAMPLE", "secret"),
    ("eyJhbGciOiJSUzI1NiJ9.EXAMPLE.c2lnbmF0dXJl", "token access_token signature"),
    ("entity", "scope"),
    ("Bearer", "token_type typ"),
    ("account-aggregator-network", "aud"),
    ("AQAB", "e"),
    ("0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86z…", "n"),
    ("RSA", "kty"),
    ("sig", "use"),
    ("RS256", "alg"),
    (EXAMPLE["entityinfo"], "Entry.entityinfo"),
    ("OK", "responseText"),
    ("200", "responseCode"),
)
_NUMBERS: Final[_Shown] = (
    (
        0,
        (
            "archived droppedBlocks tokenBlocks equalTo downWindows leftOut uncertain left refused "
            "undecided other4xx denied oldSecretValidity tokensEnded FiOutcomes.timeout unchanged "
            "other_client_error_percentage pending ChangesResponse.since "
            "notFound404 not_found_percentage WebhookDetails.waiting BulkResponse.done"
        ),
    ),
    (
        1,
        (
            "version attempt attempts count vouched addressCount form place reportersHeard rows "
            "new line weeksAhead missed foreignCount listedCount upto "
            "sequence total "
            "server_error_percentage"
        ),
    ),
    (
        2,
        (
            "reportersExpected reporters_expected reporters_heard reporters reportersSeen "
            "Listed.version Report.version VersionResponse.version PendingEntryResponse.version "
            "GapDetails.windows ProofDetails.reportersHeard "
            "ImportedRow.line BulkResponse.ready DecisionResponse.version"
        ),
    ),
    (30, "seconds"),
    (3, "badWindows bad_windows"),
    (32, "size"),
    (97, "Change.before"),
    (97.5, "Change.after"),
    (7, "EntitySecretResetResponse.oldSecretValidity ForecastErrorDetails.days"),
    (10, "failed spent"),
    (160, "failures"),
    (720, "IncidentDetails.succeeded"),
    (1200, "IncidentDetails.judged"),
    (240, "CellDetails.succeeded"),
    (20, "allowed"),
    (6, "noAnswer"),
    (24, "noticeHours hoursAMonth windows_expected windows_heard"),
    (24, "windowsHeard windowsExpected"),
    (30, "BindingResponse.days"),
    (4464, "windows reportedWindows"),
    (17856, "received MissedReports.expected"),
    (200, "ProbeResponse.status seq issued AuditVerdictResponse.rows AuditVerdictResponse.vouched"),
    (0, "waiting"),
    (390, "done succeeded part delivered usual weekBefore median ready"),
    (400, "requests samples begun calls whole judged counted"),
    (4, "IncidentDetails.expected server5xx StepDetails.failed"),
    (50, "spentPercent leftPercent"),
    (320, "estimate p50 p50_response_time low handled"),
    (900, "p95 high"),
    (1400, "p99"),
    (5200, "p100 longest"),
    (600, "secondsBefore"),
    (0.975, "successRate FiOutcomes.success doneShare confidence score mine"),
    (None, "perDoneBefore"),
    (0.5, "dayRate weekRate"),
    (1.02, "ofWeekBefore ofFourBefore"),
    (0.04, "wape naiveWape"),
    (97.5, "success success_percentage availability value"),
    (0.95, "QuartileDetails.low"),
    (0.97, "QuartileDetails.median"),
    (0.99, "QuartileDetails.high"),
    ({"estimate": 320, "low": 310, "high": 330}, "TimeDetails.p50"),
    ({"estimate": 900, "low": 880, "high": 920}, "TimeDetails.p95"),
    ({"estimate": 1400, "low": 1380, "high": 1420}, "TimeDetails.p99"),
    (95, "target Target.value"),
    ("2026-03", "PublicLevel.month"),
    ("2026-04-01T01:10:03Z", "PublicLevel.made"),
    (1.5, "timeout_percentage"),
    (2.5, "failing_before_percentage"),
    (62.5, "failing_percentage success_this_hour"),
    ([400, 390, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0], "Calls.counts TimedCalls.counts"),
    ([569, 31, 569, 28, 7, 3, 5], "statuses"),
    ([[34, 9], [35, 391]], "times"),
    ([97.5, 98.0, None], "success_by_hour"),
)
_WHETHER: Final[_Shown] = (
    (
        True,
        (
            "active certain intact open passes met complete AttemptDetails.delivered levelReports "
            "keyProven created invited league needsApproval "
            "BulkResponse.dryRun"
        ),
    ),
    (
        False,
        (
            "exempt dryRun more withoutAdmin too_few_calls byOperator PublicMaintenance.ended late "
            "NetworkRule.published contested "
            "enforced first UserDetails.secondFactor SilenceDetails.maintenance"
        ),
    ),
)
_WORDS: Final[_Shown] = (
    ("fip-api", "IncidentDetails.kind FeedCause.kind VerdictDetails.blame"),
    ("path", "FeedPlace.kind"),
    ("major", "IncidentDetails.severity"),
    (None, "IncidentDetails.ended"),
    ("", "IncidentDetails.peerId SilenceDetails.peerId SilenceDetails.type FeedCause.peer_id"),
    ("", "AnnouncementDetails.incidentId"),
    ("BAD", "CellDetails.status FipSummary.data_flow"),
    ("active", "AdminDetails.state UserDetails.state SigningKeyResponse.state"),
    ("current", "AnnouncementDetails.state"),
    ("critical", "AlarmPreferencesResponse.breaksQuiet"),
    ("minor", "AlarmPreferencesResponse.ofMembers"),
    ("major", "AlarmPreferencesResponse.ofNetwork"),
    ("approval", "DashboardRowResponse.kind"),
    ("waits", "DashboardRowResponse.urgency"),
    (["fif"], "DisputeDetails.apis Span.apis"),
    ("fif", "TimedCalls.api"),
    (
        {
            "status": "GOOD",
            "reasons": [],
            "p50_response_time": 320,
            "success_percentage": 97.5,
            "causes": [],
            "confidence": 0.975,
            "calls": 400,
            "failed": 10,
            "reporters": 2,
            "evidence_from": "2026-01-31T08:30:00.000Z",
            "since": "2026-01-31T08:30:00.000Z",
        },
        (
            "FipFeed.discovery FipFeed.linking FipFeed.confirm_linking FipFeed.consent "
            "FipFeed.fi_request FipFeed.fi_notification"
        ),
    ),
    ("fif", "CorrectionDetails.api"),
    ([], "AlarmPreferencesResponse.apis DashboardResponse.hidden"),
    ("", "AlarmPreferencesResponse.quietFrom AlarmPreferencesResponse.quietUntil"),
    (False, "AlarmPreferencesResponse.levelReports"),
    ("GOOD", "ApiDetails.status PublicRow.status"),
    ("GOOD", "FipSummary.discovery_and_linking FipSummary.consent_and_notification"),
    ("BAD", "ApiFeed.status"),
    (60, "ApiFeed.success_percentage"),
    (160, "ApiFeed.failed"),
    ("good", "Day.state FipHistory.last_24_hours"),
    ("recovered", "PublicIncident.ending"),
    ("disrupted", "PublicIncident.effect"),
    ("within", "Burn.outlook"),
    ("success", "Burn.measure Figure.measure Target.measure Change.measure"),
    ("unsure", "Span.fate"),
    ("FIP", "Entry.type ChangeResponse.type Member.role Target.role"),
    ("intact", "AuditVerdictResponse.state"),
    ("maintenance", "PublicAnnouncement.kind AnnouncementDetails.kind"),
    ("MOBILE", "Identifier.type"),
    ("STRONG", "Identifier.category"),
    ("comment", "ActDetails.act"),
    ("accepted", "PushResponse.status"),
    ("network", "BindingResponse.binding"),
    ("note", "Finding.severity"),
    ("ready", "BulkMember.result"),
    ("watch", "BindingResponse.networkBinding"),
    ("FIP", "OAuthIntrospection.roles"),
    ("live", "DecisionResponse.status DecisionResponse.standing VersionResponse.status"),
    ("live", "RecordResponse.standing PendingEntryResponse.standing"),
    ("delivered", "WebhookEventDetails.state"),
    ("dispute", "DisputeDetails.kind"),
    ("raised", "DisputeDetails.state DisputeStep.state"),
    ("operator", "DisputeDetails.waitsFor"),
    ("better_half", "MeasureDetails.place"),
    ("fif", "ApiDetails.type"),
    (None, "ApiDetails.fiRequests"),
    ([], "WebhookDetails.fips WriteResponse.findings LintResponse.findings"),
    ("new", "ImportedRow.result"),
    ("suspend", "BulkResponse.act"),
)
_BY_NAME: Final[_Shown] = (
    ({"KAVERI-FIP": 1769851800}, "notBefore"),
    ({"approval": 1}, "DashboardResponse.counts"),
    ({"version": 1}, "detail"),
    ({"jkt": "IghSf3-7jme2p8sCxki0ySRBj0RTqabLsbIvnhB7E90"}, "cnf"),
    (
        {
            "kty": "RSA",
            "alg": "RS256",
            "use": "sig",
            "kid": "20260131-6d00d5b60274",
            "n": "0vx7ago…",
            "e": "AQAB",
        },
        "key",
    ),
)
_ALL: Final = (
    *(*TIMES, *_IDS, *_PEOPLE_AND_MEMBERS, *_TEXTS),
    *(*_ENTRIES_AND_KEYS, *_NUMBERS, *_WHETHER, *_WORDS, *_BY_NAME),
)
FIELD_EXAMPLES: Final[Mapping[str, object]] = MappingProxyType(
    {name: value for value, names in _ALL for name in names.split()}
)
