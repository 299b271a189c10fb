"""Reminders, use of secrets, backup contacts, operators, letters that fail for long."""

from alembic import op

revision = "0030"
down_revision = "0002"
branch_labels = None
depends_on = None

_TABLES = """
CREATE TABLE secret_reminder (
    entity_id text NOT NULL CONSTRAINT fk_secret_reminder_entity_id REFERENCES entity,
    version integer NOT NULL,
    mark smallint NOT NULL,
    done_at timestamptz NOT NULL,
    sent boolean NOT NULL,
    CONSTRAINT pk_secret_reminder PRIMARY KEY (entity_id, version, mark)
);
CREATE TABLE secret_use (
    entity_id text NOT NULL,
    version integer NOT NULL,
    address text NOT NULL,
    count bigint NOT NULL,
    count_in_grace bigint NOT NULL,
    last_used_at timestamptz NOT NULL,
    CONSTRAINT pk_secret_use PRIMARY KEY (entity_id, version, address)
);
CREATE TABLE entity_contact (
    entity_id text NOT NULL CONSTRAINT fk_entity_contact_entity_id REFERENCES entity,
    email text NOT NULL,
    since timestamptz NOT NULL,
    CONSTRAINT pk_entity_contact PRIMARY KEY (entity_id)
);
CREATE TABLE operator_scope (
    user_id uuid NOT NULL CONSTRAINT fk_operator_scope_user_id REFERENCES user_account,
    scope text NOT NULL CONSTRAINT ck_operator_scope_scope
        CHECK (scope IN ('members', 'registry', 'health', 'keys', 'audit')),
    since timestamptz NOT NULL,
    CONSTRAINT pk_operator_scope PRIMARY KEY (user_id, scope)
);
CREATE TABLE user_token_use (
    jti uuid NOT NULL CONSTRAINT fk_user_token_use_jti
        REFERENCES user_token ON DELETE CASCADE,
    last_used_at timestamptz NOT NULL,
    last_address text NOT NULL,
    CONSTRAINT pk_user_token_use PRIMARY KEY (jti)
);
CREATE TABLE sign_in_wait (
    id bigint GENERATED ALWAYS AS IDENTITY,
    user_id uuid,
    failures integer NOT NULL,
    last_failure_at timestamptz NOT NULL,
    CONSTRAINT pk_sign_in_wait PRIMARY KEY (id)
);
CREATE TABLE mail_alarm (
    mail_id uuid NOT NULL CONSTRAINT fk_mail_alarm_mail_id
        REFERENCES mail_outbox ON DELETE CASCADE,
    at timestamptz NOT NULL,
    CONSTRAINT pk_mail_alarm PRIMARY KEY (mail_id)
);
"""


def upgrade() -> None:
    op.execute(_TABLES)
