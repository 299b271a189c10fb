"""What commands read of the service's responses; `--json` shows a response as it came.

Those that `http/response` has are read by its structs. The service may be a newer one: fields
that are not named here are ignored.
"""

from msgspec import Struct

from mudra.shared.finding import Finding


class Status(Struct):
    """What was done."""

    status: str


class IssuedToken(Struct, rename="camel"):
    """A new access token, and a warning about the secret that it was issued for."""

    access_token: str
    message: str = ""


class Clock(Struct):
    """The time of the sandbox."""

    now: str


class FaultInForce(Struct, rename="camel"):
    """A fault of the sandbox."""

    entity_id: str
    kind: str
    seconds: int
    ends_at: str


class Faults(Struct):
    """Faults of the sandbox."""

    faults: list[FaultInForce]


class ActionItem(Struct):
    """One thing that needs attention."""

    weight: str
    what: str
    why: str


class Attention(Struct):
    """What needs attention now, the worst first."""

    lines: list[ActionItem]


class TokensOfDay(Struct):
    """Entity Access Tokens issued and refused on a day of UTC."""

    day: str
    issued: int
    refused: int


class Event(Struct):
    """An event of the entity's audit."""

    at: str
    event: str
    outcome: str
    who: str
    address: str
    reason: str


class Activity(Struct):
    """Tokens by day and a page of the entity's audit."""

    days: list[TokensOfDay]
    events: list[Event]


class Gap(Struct):
    """Windows that were not reported."""

    start: str
    end: str
    windows: int
    tag: str


class RefusedReport(Struct):
    """A report that was refused, with its first findings."""

    at: str
    total: int
    findings: list[Finding]


class EndOfTime(Struct):
    """The end of the time that a response is about."""

    to: str


class Reports(Struct):
    """An AA's own gaps and refused reports."""

    gaps: list[Gap]
    refused: list[RefusedReport]


class FollowedFips(Struct):
    """The FIPs that a FIU follows."""

    fips: list[str]


class Session(Struct, rename="camel"):
    """An open session of the console."""

    session_id: str
    began_at: str
    last_used_at: str
    address: str


class Sessions(Struct):
    """Open sessions, newest first."""

    sessions: list[Session]


class AlarmPreferences(Struct, rename="camel"):
    """Which alarms about incidents the caller gets, how and when."""

    time_zone: str
    quiet_from: str
    quiet_until: str
    breaks_quiet: str
    of_members: str
    of_network: str
    channel: str
    apis: list[str] = []


class OwnWebhook(Struct, rename="camel"):
    """The caller's own webhook."""

    webhook_id: str
    url: str
    format: str
    waiting: int
    delivered_at: str | None
    problem: str
    previous_key_until: str | None


class OwnWebhooks(Struct):
    """The caller's own webhook, if there is one."""

    webhooks: list[OwnWebhook]


class OneOwnWebhook(Struct):
    """The caller's own webhook, with its key where that is new."""

    webhook: OwnWebhook
    secret: str = ""


class WebhookAttempt(Struct, rename="camel"):
    """One attempt to deliver a message."""

    at: str
    message_id: str
    event: str
    attempt: int
    delivered: bool
    problem: str


class WebhookAttempts(Struct):
    """The latest attempts, the newest first."""

    attempts: list[WebhookAttempt]


class AddressUse(Struct):
    """An address from which a secret was used."""

    address: str


class SecretUse(Struct):
    """How a secret was used, in a sentence."""

    summary: str
    addresses: list[AddressUse]


class SecretUses(Struct):
    """The use of the current secret, and of the old one during its grace period."""

    current: SecretUse
    old: SecretUse | None = None


class Secret(Struct, rename="camel"):
    """A secret as it was read or reset."""

    entity_id: str
    secret: str
    expiration_date: str
    old_secret_validity: int = 0
    old_secret_expiration_date: str = ""
