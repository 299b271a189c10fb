"""Tables of people, members, their rights, sessions and failed sign-ins."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TIMESTAMP, UUID

from mudra.storage.tables.metadata import at, metadata

entity: Final = sa.Table(
    "entity",
    metadata,
    sa.Column("entity_id", sa.Text, primary_key=True),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False, server_default="active"),
    at("created_at"),
    # `membership` is the operator's word on the member; `status` is that, or what the
    # registry entry says where it is less: the one that everything else reads (0009).
    sa.Column("membership", sa.Text, nullable=False, server_default="active"),
    at("tokens_not_before", nullable=True),
    sa.Column("address_binding", sa.Text, nullable=False, server_default="network"),
    # An operator's exemption, which is there again when the member's own binding ends (0108).
    sa.Column("address_exempt", sa.Boolean, nullable=False, server_default=sa.false()),
    # None where a command on the service's machine did it.
    sa.Column("onboarded_by", UUID(as_uuid=False)),
    sa.CheckConstraint("type IN ('FIP', 'FIU', 'AA')", name="type"),
    sa.CheckConstraint("status IN ('active', 'suspended', 'retired')", name="status"),
    sa.CheckConstraint("membership IN ('active', 'suspended', 'retired')", name="membership"),
    sa.CheckConstraint(
        "address_binding IN ('network', 'watch', 'enforce')", name="address_binding"
    ),
)


user_account: Final = sa.Table(
    "user_account",
    metadata,
    sa.Column("user_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("email", sa.Text, nullable=False, unique=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("password_hash", sa.Text),
    at("created_at"),
    at("password_set_at", nullable=True),
    sa.Column("language", sa.Text, nullable=False, server_default=""),
    sa.Column("display_zone", sa.Text, nullable=False, server_default="browser"),
    at("signed_in_at", nullable=True),
    sa.CheckConstraint("state IN ('invited', 'active', 'disabled')", name="state"),
)


entity_admin: Final = sa.Table(
    "entity_admin",
    metadata,
    sa.Column("entity_id", sa.ForeignKey("entity.entity_id"), primary_key=True),
    sa.Column("user_id", sa.ForeignKey("user_account.user_id"), primary_key=True, index=True),
    at("since"),
)


entity_reader: Final = sa.Table(
    "entity_reader",
    metadata,
    sa.Column("entity_id", sa.ForeignKey("entity.entity_id"), primary_key=True),
    sa.Column("user_id", sa.ForeignKey("user_account.user_id"), primary_key=True, index=True),
    at("since"),
)


email_link: Final = sa.Table(
    "email_link",
    metadata,
    sa.Column("token_hash", sa.LargeBinary, primary_key=True),
    sa.Column("user_id", sa.ForeignKey("user_account.user_id"), nullable=False, index=True),
    sa.Column("purpose", sa.Text, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    at("created_at"),
    at("expires_at"),
    at("used_at", nullable=True),
    at("voided_at", nullable=True),
)


throttle: Final = sa.Table(
    "throttle",
    metadata,
    sa.Column("account_key", sa.LargeBinary, primary_key=True),
    sa.Column("failures", sa.Integer, nullable=False),
    at("last_failure_at", nullable=True),
)


address_failure: Final = sa.Table(
    "address_failure",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("address_key", sa.LargeBinary, nullable=False),
    at("at"),
    sa.Index("ix_address_failure_key_at", "address_key", "at"),
)


entity_contact: Final = sa.Table(
    "entity_contact",
    metadata,
    sa.Column("entity_id", sa.ForeignKey("entity.entity_id"), primary_key=True),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("phone", sa.Text, nullable=False, server_default=""),
    at("since"),
)

operator_scope: Final = sa.Table(
    "operator_scope",
    metadata,
    sa.Column("user_id", sa.ForeignKey("user_account.user_id"), primary_key=True),
    sa.Column("scope", sa.Text, primary_key=True),
    at("since"),
    sa.CheckConstraint("scope IN ('members', 'registry', 'health', 'keys', 'audit')", name="scope"),
)

# Rows outlive the rights: who took part in giving one is not forgotten when it ends (0189).
access_grant: Final = sa.Table(
    "access_grant",
    metadata,
    sa.Column("number", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("user_id", UUID(as_uuid=False), nullable=False),
    sa.Column("entity_id", sa.Text, nullable=False),
    sa.Column("given_by", UUID(as_uuid=False), nullable=False),
    sa.Column("at", TIMESTAMP(timezone=True), nullable=False, index=True),
)

address_change: Final = sa.Table(
    "address_change",
    metadata,
    sa.Column("user_id", sa.ForeignKey("user_account.user_id"), primary_key=True),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("requested_by", sa.Text, nullable=False),
    at("requested_at"),
    at("expires_at"),
    sa.Column("token_hash", sa.LargeBinary, nullable=False, unique=True),
)

admin_invitation: Final = sa.Table(
    "admin_invitation",
    metadata,
    sa.Column("invitation_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("entity_id", sa.ForeignKey("entity.entity_id"), nullable=False, index=True),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("invited_by", sa.Text, nullable=False),
    at("created_at"),
    at("expires_at"),
    sa.Column("token_hash", sa.LargeBinary, nullable=False, unique=True),
    sa.Column("ended_at", TIMESTAMP(timezone=True)),
    sa.Column("accepted", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("takes_over", sa.Text, nullable=False, server_default=""),
    sa.Column("role", sa.Text, nullable=False, server_default="admin"),
)

link_request: Final = sa.Table(
    "link_request",
    metadata,
    sa.Column("request_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("sealed_name", sa.LargeBinary, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("txn_id", sa.Text, nullable=False),
    sa.Column("asked_at", TIMESTAMP(timezone=True), nullable=False, index=True),
)

sign_in_success: Final = sa.Table(
    "sign_in_success",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("account_key", sa.LargeBinary, nullable=False),
    sa.Column("address_key", sa.LargeBinary, nullable=False),
    at("at"),
    sa.Index("ix_sign_in_success_account_key_at", "account_key", "at"),
)

user_token_use: Final = sa.Table(
    "user_token_use",
    metadata,
    sa.Column("jti", sa.ForeignKey("user_token.jti", ondelete="CASCADE"), primary_key=True),
    at("last_used_at"),
    sa.Column("last_address", sa.Text, nullable=False),
)

# One row for a name that exists and for one that does not: the answer to a wrong
# password takes the same time for both.
sign_in_wait: Final = sa.Table(
    "sign_in_wait",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("user_id", UUID(as_uuid=False)),
    sa.Column("failures", sa.Integer, nullable=False),
    at("last_failure_at"),
)

mail_alarm: Final = sa.Table(
    "mail_alarm",
    metadata,
    sa.Column(
        "mail_id", sa.ForeignKey("mail_outbox.mail_id", ondelete="CASCADE"), primary_key=True
    ),
    at("at"),
)

console_session: Final = sa.Table(
    "console_session",
    metadata,
    sa.Column("key", sa.LargeBinary, primary_key=True),
    sa.Column("user_id", sa.ForeignKey("user_account.user_id"), nullable=False, index=True),
    sa.Column("csrf_token", sa.Text, nullable=False),
    at("started_at"),
    at("last_used_at"),
    at("proven_at"),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("stage", sa.Text, nullable=False),
    sa.CheckConstraint("stage IN ('full', 'code', 'enroll')", name="stage"),
)

totp_factor: Final = sa.Table(
    "totp_factor",
    metadata,
    sa.Column("factor_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("user_id", sa.ForeignKey("user_account.user_id"), nullable=False),
    sa.Column("sealed_secret", sa.LargeBinary, nullable=False),
    sa.Column("last_step", sa.BigInteger, nullable=False),
    at("created_at"),
    sa.UniqueConstraint("user_id"),
)

passkey: Final = sa.Table(
    "passkey",
    metadata,
    sa.Column("passkey_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("user_id", sa.ForeignKey("user_account.user_id"), nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("credential_id", sa.LargeBinary, nullable=False, unique=True),
    sa.Column("public_key", sa.LargeBinary, nullable=False),
    sa.Column("sign_count", sa.BigInteger, nullable=False),
    at("created_at"),
    sa.Column("last_used_at", TIMESTAMP(timezone=True)),
)

passkey_challenge: Final = sa.Table(
    "passkey_challenge",
    metadata,
    sa.Column("holder", sa.LargeBinary, primary_key=True),
    sa.Column("purpose", sa.Text, primary_key=True),
    sa.Column("value", sa.LargeBinary, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("expires_at", TIMESTAMP(timezone=True), nullable=False, index=True),
    sa.CheckConstraint("purpose IN ('add', 'prove', 'sign-in')", name="purpose"),
)

sign_on_attempt: Final = sa.Table(
    "sign_on_attempt",
    metadata,
    sa.Column("holder", sa.LargeBinary, primary_key=True),
    sa.Column("state", sa.LargeBinary, nullable=False),
    sa.Column("path", sa.Text, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("expires_at", TIMESTAMP(timezone=True), nullable=False, index=True),
)

local_sign_in: Final = sa.Table(
    "local_sign_in",
    metadata,
    sa.Column("user_id", sa.ForeignKey("user_account.user_id"), primary_key=True),
    at("until"),
)

recovery_code: Final = sa.Table(
    "recovery_code",
    metadata,
    sa.Column("user_id", sa.ForeignKey("user_account.user_id"), primary_key=True),
    sa.Column("code_mac", sa.LargeBinary, primary_key=True),
)
