"""Words of accounts, members, the registry, keys, disputes and the board, with their meanings."""

from typing import Final

from mudra.audit.event import Outcome
from mudra.audit.proof.verdict import AuditState
from mudra.disputes.dispute import About, Act, Kind, Side, State
from mudra.http.openapi.field_words.of_health import Meanings
from mudra.identity.accounts.user import UserState
from mudra.identity.memberships.member import MemberStatus, Role
from mudra.identity.operators.operator import Scope
from mudra.overview.administration import Source
from mudra.overview.board.dashboard_rows import Kind as Matter
from mudra.overview.board.dashboard_rows import Urgency
from mudra.registry.lifecycle.decision import RegistryAction
from mudra.shared.entity_type import EntityType
from mudra.shared.entry_status import EntityStatus, VersionStatus
from mudra.shared.finding import Severity
from mudra.timeline.happening import HappeningKind
from mudra.tokens.claims import TokenKind
from mudra.tokens.secrets.address_binding import AddressBinding
from mudra.tokens.signing_keys.key_lifecycle import KeyState

ACCOUNTS: Final[Meanings] = {
    UserState.INVITED: "no password is set yet",
    UserState.ACTIVE: "may sign in",
    UserState.DISABLED: "may not sign in",
}
MEMBERS: Final[Meanings] = {
    MemberStatus.ACTIVE: "gets tokens",
    MemberStatus.SUSPENDED: "gets no tokens, until it is restored",
    MemberStatus.RETIRED: "gets no tokens any more",
}
ROLES: Final[Meanings] = {
    Role.ADMIN: "may change everything of the entity",
    Role.READER: "sees the entity's pages and changes nothing",
}
SCOPES: Final[Meanings] = {
    Scope.MEMBERS: "members, their admins and emails",
    Scope.REGISTRY: "decisions about entries",
    Scope.HEALTH: "metrics, incidents, disputes and service levels",
    Scope.KEYS: "signing keys",
    Scope.AUDIT: "the audit",
}
TYPES: Final[Meanings] = {
    EntityType.FIP: "Financial Information Provider",
    EntityType.FIU: "Financial Information User",
    EntityType.AA: "Account Aggregator",
}
JUDGED_TYPES: Final[Meanings] = {one: TYPES[one] for one in (EntityType.FIP, EntityType.AA)}
"""Those whose calls are measured."""
BINDINGS: Final[Meanings] = {
    "network": "as the setting of the network says",
    AddressBinding.WATCH: "tokens for other addresses are counted, and not refused",
    AddressBinding.ENFORCE: "only addresses that the live entry lists get tokens",
}
ENTRIES: Final[Meanings] = {
    EntityStatus.UNLISTED: "submitted, and never live",
    EntityStatus.LIVE: "in the directory",
    EntityStatus.SUSPENDED: "out of the directory, until it is restored",
    EntityStatus.RETIRED: "out of the directory for good",
}
VERSIONS: Final[Meanings] = {
    VersionStatus.SUBMITTED: "waits until an operator decides",
    VersionStatus.APPROVED: "approved from a time that has not come",
    VersionStatus.LIVE: "in the directory",
    VersionStatus.SUPERSEDED: "was live, until a newer version was",
    VersionStatus.REJECTED: "an operator rejected it",
    VersionStatus.WITHDRAWN: "a newer version took its place before it was live",
}
DECISIONS: Final[Meanings] = {
    RegistryAction.APPROVE: "the version goes live",
    RegistryAction.REJECT: "the version does not go live",
    RegistryAction.SUSPEND: "the entry leaves the directory, and its tokens end",
    RegistryAction.RESTORE: "a suspended entry is live again",
    RegistryAction.RETIRE: "the entry leaves the directory for good",
    RegistryAction.ROLL_BACK: "an earlier version is live again",
}
KEYS: Final[Meanings] = {
    KeyState.PENDING: "published, and does not sign yet",
    KeyState.ACTIVE: "signs",
    KeyState.RETIRING: "signs no more; its tokens are valid",
    KeyState.RETIRED: "no longer published",
    KeyState.IMPORTED: "of the issuer before a move: published, and never signs",
}
TOKENS: Final[Meanings] = {
    TokenKind.ENTITY: "Entity Access Tokens",
    TokenKind.USER: "User Access Tokens",
}
TOKEN_STATES: Final[Meanings] = {"valid": "may be used", "revoked": "has ended"}
OUTCOMES: Final[Meanings] = {
    Outcome.SUCCESS: "it was done",
    Outcome.REFUSED: "a rule refused it; nothing changed",
    Outcome.FAILED: "something broke; nothing changed",
}
AUDIT: Final[Meanings] = {
    AuditState.INTACT: "every sealed row is as it was written",
    AuditState.BROKEN: "a row or a checkpoint is not as it was written",
    AuditState.STOPPED: "events wait too long for their seal",
    AuditState.RESTORED: "a restore took events back, and no operator has confirmed it",
}
DISPUTES: Final[Meanings] = {
    State.NOTED: "a comment",
    State.RAISED: "waits for the operator",
    State.UNDER_REVIEW: "an operator took it",
    State.INFORMATION_WANTED: "waits for an answer of the member",
    State.ACCEPTED: "accepted",
    State.PARTLY_ACCEPTED: "accepted in part",
    State.REJECTED: "rejected",
    State.WITHDRAWN: "the member withdrew it",
    State.LAPSED: "the member did not answer in time",
}
WISHES: Final[Meanings] = {
    Kind.COMMENT: "asks for nothing",
    Kind.DISPUTE: "asks for a correction",
}
SUBJECTS: Final[Meanings] = {
    About.INCIDENT: "one incident",
    About.DAY: "one day",
    About.LINE: "one API over some days, as a report has a line",
}
SIDES: Final[Meanings] = {
    Side.MEMBER: "the member",
    Side.OPERATOR: "an operator",
    Side.SERVICE: "the service itself, when a time is over",
}
STEPS: Final[Meanings] = {
    Act.RAISE: "the member raises it",
    Act.COMMENT: "the member publishes a comment",
    Act.INFORM: "the member adds to its statement, or answers a question",
    Act.ATTACH: "the member attaches a file",
    Act.WITHDRAW: "the member withdraws it",
    Act.REVIEW: "an operator takes it",
    Act.ASK: "an operator asks the member for more information",
    Act.ANSWER: "an operator writes to the member; the state stays",
    Act.ACCEPT: "an operator accepts it: a correction",
    Act.ACCEPT_PARTLY: "an operator accepts a part: a correction",
    Act.REJECT: "an operator rejects it",
    Act.REOPEN: "an operator has it decided again; its corrections end",
    Act.LAPSE: "the member did not answer in time",
    Act.OVERDUE: "the operator did not act in time: both sides are notified",
}
HAPPENINGS: Final[Meanings] = {
    HappeningKind.SECRET: "a secret was read, reset or ended",
    HappeningKind.KEY: "a signing key changed",
    HappeningKind.REGISTRATION: "the entry or the membership changed",
    HappeningKind.AGENT: "an agent has another version",
    HappeningKind.MAINTENANCE: "planned maintenance",
    HappeningKind.INCIDENT: "an incident",
    HappeningKind.DISPUTE: "a dispute or a comment",
    HappeningKind.ANNOUNCEMENT: "an announcement of the operator",
    HappeningKind.RELEASE: "another release of Mudra began to run",
}
MATTERS: Final[Meanings] = {
    Matter.SILENT_AA: "an AA does not report",
    Matter.INCIDENT: "an open incident",
    Matter.SECRET: "a secret that ends soon",
    Matter.APPROVAL: "an entry waits for approval",
    Matter.HELD_REPORT: "an implausible report waits for a decision",
    Matter.MAIL: "an email could not be delivered",
    Matter.SUBSCRIPTIONS: "public subscriptions cannot be delivered to",
    Matter.NO_ADMIN: "a member without an admin who can act",
    Matter.BUDGET: "an error budget is gone, or will be",
    Matter.DISPUTE: "a dispute waits for the operator",
    Matter.WEAK_KEY: "a registered key that anyone can factor",
    Matter.WEBHOOK: "a webhook whose last message was not taken",
}
URGENCIES: Final[Meanings] = {
    Urgency.BROKEN: "it already does harm",
    Urgency.SOON: "it will do harm within two days",
    Urgency.WAITS: "someone waits for it, or it will do harm within the week",
}
WEIGHTS: Final[Meanings] = {
    "now": "do it now",
    "soon": "do it within days",
    "good-to-know": "nothing fails without it",
}
SOURCES: Final[Meanings] = {
    Source.DEFAULT: "no one set it",
    Source.ENVIRONMENT: "a variable of the environment",
    Source.COMMAND_LINE: "an option of `mudra serve`",
}
FINDINGS: Final[Meanings] = {
    Severity.NOTE: "does not refuse the document",
    Severity.ERROR: "refuses the document",
}
MAILS: Final[Meanings] = {
    "sent": "the mail server took it",
    "given-up": "no more attempts are made",
    "waiting": "waits for the next attempt",
}
MESSAGES: Final[Meanings] = {
    "waiting": "waits for the next attempt",
    "delivered": "the webhook answered with 2xx",
    "failed": "no more attempts are made",
}
ROWS: Final[Meanings] = {
    "new": "would be, or was, onboarded",
    "unchanged": "was there already",
    "ready": "would be done",
    "done": "was done",
    "refused": "was not done; `problem` says why",
    "left": "was not begun in time: send the same again",
}
CHANGES: Final[Meanings] = {
    "put": "a new or changed entry",
    "remove": "the entry left the directory",
}
BULK: Final[Meanings] = {
    "invite": "send a link to each person who has not confirmed",
    "suspend": "suspend the member",
    "export": "write the member into a file",
}
FACTORS: Final[Meanings] = {"app": "an app with codes", "passkey": "a passkey"}
