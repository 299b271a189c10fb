"""An email before it is composed: its kind and its facts."""

import enum
from collections.abc import Mapping

from msgspec import Struct

from mudra.shared.secret_text import SecretText


class NoticeKind(enum.StrEnum):
    """The emails that can be sent; the value is the name of the template."""

    INVITATION = "invitation"
    ACCOUNT_INVITATION = "account_invitation"
    PASSWORD_RESET = "password_reset"  # noqa: S105  # a template's name
    PASSWORD_CHANGED = "password_changed"  # noqa: S105  # the name of a notice
    SECRET_RESET = "secret_reset"  # noqa: S105  # the name of a notice
    SECRET_EXPIRY = "secret_expiry"  # noqa: S105  # the name of a notice
    SECRET_EXPIRED = "secret_expired"  # noqa: S105  # the name of a notice
    OLD_SECRET_IN_USE = "old_secret_in_use"  # noqa: S105  # the name of a notice
    SIGN_IN_WAITS = "sign_in_waits"
    HEALTH_ALARM = "health_alarm"
    HEALTH_ESCALATED = "health_escalated"
    HEALTH_DIGEST = "health_digest"
    ADMIN_INVITATION = "admin_invitation"
    ADMIN_INVITED = "admin_invited"
    ADMIN_HANDED_OVER = "admin_handed_over"
    ADMINS_CHANGED = "admins_changed"
    CONTACT_CHANGED = "contact_changed"
    INVITATION_DECLINED = "invitation_declined"
    MEMBER_STATUS = "member_status"
    REPORT_HELD = "report_held"
    ADDRESS_CHANGED = "address_changed"
    ADDRESS_CONFIRM = "address_confirm"
    REGISTRY_CHANGED = "registry_changed"
    SERVICE_RESTORED = "service_restored"
    SECOND_FACTOR = "second_factor"
    ADDRESSES_BOUND = "addresses_bound"
    SUBSCRIPTION_CONFIRM = "subscription_confirm"
    STATUS_INCIDENT = "status_incident"
    STATUS_ANNOUNCEMENT = "status_announcement"
    SUBSCRIPTION_FAILING = "subscription_failing"
    DISPUTE_STEP = "dispute_step"
    LEVELS_BUDGET = "levels_budget"
    LEVELS_REPORT = "levels_report"


class Notice(Struct, frozen=True):
    """An email to be composed: its recipient, its kind, and the facts that it needs."""

    to: str
    kind: NoticeKind
    facts: Mapping[str, str | SecretText]
    language: str = ""
    """The tag of its language; empty for the one that the recipient's account chose."""
    unsubscribe: SecretText | None = None
    """The address to which one click posts that no more are wanted (RFC 8058)."""
