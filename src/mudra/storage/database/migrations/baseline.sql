-- The schema of the first release, as storage/database/schema.py describes it.

CREATE TABLE address_failure (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    address_key BYTEA NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_address_failure PRIMARY KEY (id)
);
CREATE INDEX ix_address_failure_key_at ON address_failure (address_key, at);

CREATE TABLE audit_event (
    seq BIGINT GENERATED ALWAYS AS IDENTITY,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    event TEXT NOT NULL,
    outcome TEXT NOT NULL,
    actor TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    address TEXT NOT NULL,
    txn_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    detail JSONB NOT NULL,
    CONSTRAINT pk_audit_event PRIMARY KEY (seq)
);
CREATE INDEX ix_audit_event_entity ON audit_event (entity_id, seq);
-- Read by the sealer alone: which rows are committed in order (storage/audit/chain.py).
ALTER TABLE audit_event ADD COLUMN xid xid8 DEFAULT pg_current_xact_id();

CREATE TABLE entity (
    entity_id TEXT NOT NULL,
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    status TEXT DEFAULT 'active' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    membership TEXT DEFAULT 'active' NOT NULL,
    CONSTRAINT pk_entity PRIMARY KEY (entity_id),
    CONSTRAINT ck_entity_type CHECK (type IN ('FIP', 'FIU', 'AA')),
    CONSTRAINT ck_entity_status CHECK (status IN ('active', 'suspended', 'retired')),
    CONSTRAINT ck_entity_membership CHECK (membership IN ('active', 'suspended', 'retired'))
);

CREATE TABLE health_silence (
    silence_id UUID NOT NULL,
    entity_id TEXT NOT NULL,
    type TEXT NOT NULL,
    begins TIMESTAMP WITH TIME ZONE NOT NULL,
    ends TIMESTAMP WITH TIME ZONE NOT NULL,
    reason TEXT NOT NULL,
    made_by TEXT NOT NULL,
    CONSTRAINT pk_health_silence PRIMARY KEY (silence_id)
);
CREATE INDEX ix_health_silence_ends ON health_silence (ends);

CREATE TABLE health_webhook (
    webhook_id UUID NOT NULL,
    entity_id TEXT NOT NULL,
    url TEXT NOT NULL,
    sealed_secret BYTEA NOT NULL,
    made_by TEXT NOT NULL,
    made_at TIMESTAMP WITH TIME ZONE NOT NULL,
    delivered_at TIMESTAMP WITH TIME ZONE,
    problem TEXT DEFAULT '' NOT NULL,
    CONSTRAINT pk_health_webhook PRIMARY KEY (webhook_id)
);
CREATE INDEX ix_health_webhook_entity_id ON health_webhook (entity_id);

CREATE TABLE job_run (
    name TEXT NOT NULL,
    slot TIMESTAMP WITH TIME ZONE,
    started_at TIMESTAMP WITH TIME ZONE,
    finished_at TIMESTAMP WITH TIME ZONE,
    failures INTEGER DEFAULT '0' NOT NULL,
    error TEXT DEFAULT '' NOT NULL,
    CONSTRAINT pk_job_run PRIMARY KEY (name)
);

CREATE TABLE mail_outbox (
    mail_id UUID NOT NULL,
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL,
    sealed_email BYTEA NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE,
    attempts INTEGER DEFAULT '0' NOT NULL,
    next_attempt_at TIMESTAMP WITH TIME ZONE,
    last_error TEXT,
    CONSTRAINT pk_mail_outbox PRIMARY KEY (mail_id)
);
CREATE INDEX ix_mail_outbox_created_at ON mail_outbox (created_at);
CREATE INDEX mail_unsent ON mail_outbox (next_attempt_at) WHERE sent_at IS NULL;

CREATE TABLE metrics_day (
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    aa_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    fip_id TEXT NOT NULL,
    type TEXT NOT NULL,
    blocks INTEGER NOT NULL,
    counts BIGINT[] NOT NULL,
    statuses BIGINT[] NOT NULL,
    data_bytes NUMERIC NOT NULL,
    distribution BYTEA NOT NULL,
    longest BIGINT NOT NULL,
    CONSTRAINT pk_metrics_day PRIMARY KEY (at, aa_id, tag, fip_id, type)
);
CREATE INDEX ix_metrics_day_fip_id ON metrics_day (fip_id, at, aa_id);

CREATE TABLE metrics_former (
    window_at TIMESTAMP WITH TIME ZONE NOT NULL,
    aa_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    fip_id TEXT NOT NULL,
    type TEXT NOT NULL,
    version INTEGER NOT NULL,
    counts BIGINT[] NOT NULL,
    pxx BIGINT[],
    status BIGINT[],
    data_bytes NUMERIC,
    CONSTRAINT pk_metrics_former PRIMARY KEY (window_at, aa_id, tag, fip_id, type, version)
)
 PARTITION BY RANGE (window_at);

CREATE TABLE metrics_heard (
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    aa_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    windows INTEGER NOT NULL,
    CONSTRAINT pk_metrics_heard PRIMARY KEY (at, aa_id, tag)
);

CREATE TABLE metrics_hour (
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    aa_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    fip_id TEXT NOT NULL,
    type TEXT NOT NULL,
    blocks INTEGER NOT NULL,
    counts BIGINT[] NOT NULL,
    statuses BIGINT[] NOT NULL,
    data_bytes NUMERIC NOT NULL,
    distribution BYTEA NOT NULL,
    longest BIGINT NOT NULL,
    CONSTRAINT pk_metrics_hour PRIMARY KEY (at, aa_id, tag, fip_id, type)
)
 PARTITION BY RANGE (at);
CREATE INDEX ix_metrics_hour_fip_id ON metrics_hour (fip_id, at, aa_id);

CREATE TABLE metrics_incident (
    incident_id UUID NOT NULL,
    kind TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    type TEXT NOT NULL,
    began TIMESTAMP WITH TIME ZONE NOT NULL,
    last_bad TIMESTAMP WITH TIME ZONE NOT NULL,
    ended TIMESTAMP WITH TIME ZONE,
    ending TEXT NOT NULL,
    bad_windows INTEGER NOT NULL,
    succeeded BIGINT NOT NULL,
    judged BIGINT NOT NULL,
    changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    acknowledged_by TEXT,
    acknowledged_at TIMESTAMP WITH TIME ZONE,
    notified BOOLEAN DEFAULT true NOT NULL,
    CONSTRAINT pk_metrics_incident PRIMARY KEY (incident_id),
    CONSTRAINT uq_metrics_incident_entity_id UNIQUE (entity_id, began, kind, type)
);
CREATE INDEX metrics_incident_open ON metrics_incident (began) WHERE ended IS NULL;

CREATE TABLE metrics_observation (
    kind TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    type TEXT NOT NULL,
    window_at TIMESTAMP WITH TIME ZONE NOT NULL,
    mark SMALLINT NOT NULL,
    succeeded BIGINT NOT NULL,
    judged BIGINT NOT NULL,
    CONSTRAINT pk_metrics_observation PRIMARY KEY (kind, entity_id, type, window_at)
);
CREATE INDEX ix_metrics_observation_window ON metrics_observation (window_at);

CREATE TABLE metrics_pair_day (
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    type TEXT NOT NULL,
    aa_id TEXT NOT NULL,
    fip_id TEXT NOT NULL,
    total BIGINT NOT NULL,
    succeeded BIGINT NOT NULL,
    client_errors BIGINT NOT NULL,
    answered BIGINT NOT NULL,
    soon_lower BIGINT NOT NULL,
    soon_upper BIGINT NOT NULL,
    soon_estimate BIGINT NOT NULL,
    longest BIGINT NOT NULL,
    CONSTRAINT pk_metrics_pair_day PRIMARY KEY (at, type, aa_id, fip_id)
);

CREATE TABLE metrics_pair_hour (
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    type TEXT NOT NULL,
    aa_id TEXT NOT NULL,
    fip_id TEXT NOT NULL,
    total BIGINT NOT NULL,
    succeeded BIGINT NOT NULL,
    client_errors BIGINT NOT NULL,
    answered BIGINT NOT NULL,
    soon_lower BIGINT NOT NULL,
    soon_upper BIGINT NOT NULL,
    soon_estimate BIGINT NOT NULL,
    longest BIGINT NOT NULL,
    CONSTRAINT pk_metrics_pair_hour PRIMARY KEY (at, type, aa_id, fip_id)
)
 PARTITION BY RANGE (at);

CREATE TABLE metrics_raw (
    window_at TIMESTAMP WITH TIME ZONE NOT NULL,
    aa_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    fip_id TEXT NOT NULL,
    type TEXT NOT NULL,
    counts BIGINT[] NOT NULL,
    pxx BIGINT[],
    status BIGINT[],
    data_bytes NUMERIC,
    CONSTRAINT pk_metrics_raw PRIMARY KEY (window_at, aa_id, tag, fip_id, type)
)
 PARTITION BY RANGE (window_at);

CREATE TABLE metrics_receipt (
    receipt_id UUID NOT NULL,
    aa_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    window_at TIMESTAMP WITH TIME ZONE NOT NULL,
    version INTEGER NOT NULL,
    txn_id TEXT NOT NULL,
    content_hash BYTEA NOT NULL,
    received_at TIMESTAMP WITH TIME ZONE NOT NULL,
    blocks INTEGER NOT NULL,
    findings JSONB NOT NULL,
    CONSTRAINT pk_metrics_receipt PRIMARY KEY (receipt_id),
    CONSTRAINT uq_metrics_receipt_aa_id UNIQUE (aa_id, tag, window_at, version)
);
CREATE INDEX ix_metrics_receipt_window ON metrics_receipt (window_at, aa_id, tag, version);

CREATE TABLE metrics_refused (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    aa_id TEXT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    total INTEGER NOT NULL,
    findings JSONB NOT NULL,
    CONSTRAINT pk_metrics_refused PRIMARY KEY (id)
);
CREATE INDEX ix_metrics_refused_aa_id ON metrics_refused (aa_id, at);

CREATE TABLE metrics_stale (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    grain TEXT NOT NULL,
    aa_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    noted_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_metrics_stale PRIMARY KEY (id),
    CONSTRAINT ck_metrics_stale_grain CHECK (grain IN ('window', 'hour', 'day'))
);
CREATE INDEX ix_metrics_stale_at ON metrics_stale (at);

CREATE TABLE node (
    node_id UUID NOT NULL,
    proven_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_node PRIMARY KEY (node_id)
);

CREATE TABLE registry_change (
    sequence BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    type TEXT,
    entity_id TEXT NOT NULL,
    body BYTEA,
    CONSTRAINT pk_registry_change PRIMARY KEY (sequence)
);
CREATE INDEX ix_registry_change_at ON registry_change (at);
CREATE INDEX registry_change_marker ON registry_change (sequence) WHERE type IS NULL;

CREATE TABLE registry_entity (
    entity_id TEXT NOT NULL,
    type TEXT NOT NULL,
    standing TEXT NOT NULL,
    CONSTRAINT pk_registry_entity PRIMARY KEY (entity_id),
    CONSTRAINT ck_registry_entity_type CHECK (type IN ('FIP', 'FIU', 'AA')),
    CONSTRAINT ck_registry_entity_standing CHECK (standing IN ('unlisted', 'live', 'suspended', 'retired'))
);

CREATE TABLE registry_word (
    number BIGINT GENERATED ALWAYS AS IDENTITY,
    kind TEXT NOT NULL,
    word TEXT NOT NULL,
    variants JSONB NOT NULL,
    added_by TEXT NOT NULL,
    added_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_registry_word PRIMARY KEY (number)
);

CREATE TABLE registry_write (
    number BIGINT GENERATED ALWAYS AS IDENTITY,
    requester TEXT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_registry_write PRIMARY KEY (number)
);
CREATE INDEX registry_write_of ON registry_write (requester, at);

CREATE TABLE revoked_entity_token (
    jti TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    revoked_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_revoked_entity_token PRIMARY KEY (jti)
);
CREATE INDEX ix_revoked_entity_token_expires_at ON revoked_entity_token (expires_at);

CREATE TABLE sealed_key (
    name TEXT NOT NULL,
    sealed BYTEA NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_sealed_key PRIMARY KEY (name)
);

CREATE TABLE secret_use (
    entity_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    address TEXT NOT NULL,
    count BIGINT NOT NULL,
    count_in_grace BIGINT NOT NULL,
    last_used_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_secret_use PRIMARY KEY (entity_id, version, address)
);

CREATE TABLE service_fact (
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    CONSTRAINT pk_service_fact PRIMARY KEY (name)
);

CREATE TABLE sign_in_wait (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    user_id UUID,
    failures INTEGER NOT NULL,
    last_failure_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_sign_in_wait PRIMARY KEY (id)
);

CREATE TABLE signing_key (
    kid TEXT NOT NULL,
    kind TEXT NOT NULL,
    public_jwk JSONB NOT NULL,
    sealed_private BYTEA,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    active_from TIMESTAMP WITH TIME ZONE,
    retires_at TIMESTAMP WITH TIME ZONE,
    revoked_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_signing_key PRIMARY KEY (kid)
);

CREATE TABLE throttle (
    account_key BYTEA NOT NULL,
    failures INTEGER NOT NULL,
    last_failure_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_throttle PRIMARY KEY (account_key)
);

CREATE TABLE token_day (
    entity_id TEXT NOT NULL,
    day DATE NOT NULL,
    count BIGINT NOT NULL,
    CONSTRAINT pk_token_day PRIMARY KEY (entity_id, day)
);

CREATE TABLE user_account (
    user_id UUID NOT NULL,
    email TEXT NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    password_hash TEXT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    password_set_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_user_account PRIMARY KEY (user_id),
    CONSTRAINT ck_user_account_state CHECK (state IN ('invited', 'active', 'disabled')),
    CONSTRAINT uq_user_account_email UNIQUE (email)
);

CREATE TABLE audit_seal (
    number BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    CONSTRAINT pk_audit_seal PRIMARY KEY (number),
    CONSTRAINT uq_audit_seal_seq UNIQUE (seq),
    CONSTRAINT fk_audit_seal_seq FOREIGN KEY(seq) REFERENCES audit_event (seq)
);

CREATE TABLE console_session (
    key BYTEA NOT NULL,
    user_id UUID NOT NULL,
    csrf_token TEXT NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_used_at TIMESTAMP WITH TIME ZONE NOT NULL,
    proven_at TIMESTAMP WITH TIME ZONE NOT NULL,
    address TEXT NOT NULL,
    CONSTRAINT pk_console_session PRIMARY KEY (key),
    CONSTRAINT fk_console_session_user_id FOREIGN KEY(user_id) REFERENCES user_account (user_id)
);
CREATE INDEX ix_console_session_user_id ON console_session (user_id);

CREATE TABLE email_link (
    token_hash BYTEA NOT NULL,
    user_id UUID NOT NULL,
    purpose TEXT NOT NULL,
    address TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    used_at TIMESTAMP WITH TIME ZONE,
    voided_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_email_link PRIMARY KEY (token_hash),
    CONSTRAINT fk_email_link_user_id FOREIGN KEY(user_id) REFERENCES user_account (user_id)
);
CREATE INDEX ix_email_link_user_id ON email_link (user_id);

CREATE TABLE entity_admin (
    entity_id TEXT NOT NULL,
    user_id UUID NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_entity_admin PRIMARY KEY (entity_id, user_id),
    CONSTRAINT fk_entity_admin_entity_id FOREIGN KEY(entity_id) REFERENCES entity (entity_id),
    CONSTRAINT fk_entity_admin_user_id FOREIGN KEY(user_id) REFERENCES user_account (user_id)
);
CREATE INDEX ix_entity_admin_user_id ON entity_admin (user_id);

CREATE TABLE entity_contact (
    entity_id TEXT NOT NULL,
    email TEXT NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_entity_contact PRIMARY KEY (entity_id),
    CONSTRAINT fk_entity_contact_entity_id FOREIGN KEY(entity_id) REFERENCES entity (entity_id)
);

CREATE TABLE entity_secret (
    entity_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    state TEXT NOT NULL,
    mac BYTEA NOT NULL,
    sealed BYTEA,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    grace_until TIMESTAMP WITH TIME ZONE,
    grace_days SMALLINT DEFAULT '0' NOT NULL,
    CONSTRAINT pk_entity_secret PRIMARY KEY (entity_id, version),
    CONSTRAINT ck_entity_secret_state CHECK (state IN ('current', 'grace', 'ended')),
    CONSTRAINT ck_entity_secret_grace_days CHECK (grace_days BETWEEN 0 AND 7),
    CONSTRAINT ck_entity_secret_expiry CHECK (expires_at <= created_at + interval '180 days'),
    CONSTRAINT fk_entity_secret_entity_id FOREIGN KEY(entity_id) REFERENCES entity (entity_id)
);
CREATE UNIQUE INDEX one_current_secret ON entity_secret (entity_id) WHERE state = 'current';
CREATE UNIQUE INDEX one_grace_secret ON entity_secret (entity_id) WHERE state = 'grace';

CREATE TABLE key_fetch (
    kid TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    count BIGINT NOT NULL,
    first_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_key_fetch PRIMARY KEY (kid, entity_id),
    CONSTRAINT fk_key_fetch_kid FOREIGN KEY(kid) REFERENCES signing_key (kid)
);

CREATE TABLE mail_alarm (
    mail_id UUID NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_mail_alarm PRIMARY KEY (mail_id),
    CONSTRAINT fk_mail_alarm_mail_id FOREIGN KEY(mail_id) REFERENCES mail_outbox (mail_id) ON DELETE CASCADE
);

CREATE TABLE metrics_push (
    aa_id TEXT NOT NULL,
    txn_id TEXT NOT NULL,
    receipt_id UUID NOT NULL,
    CONSTRAINT pk_metrics_push PRIMARY KEY (aa_id, txn_id),
    CONSTRAINT fk_metrics_push_receipt_id FOREIGN KEY(receipt_id) REFERENCES metrics_receipt (receipt_id)
);

CREATE TABLE operator_scope (
    user_id UUID NOT NULL,
    scope TEXT NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_operator_scope PRIMARY KEY (user_id, scope),
    CONSTRAINT ck_operator_scope_scope CHECK (scope IN ('members', 'registry', 'health', 'keys', 'audit')),
    CONSTRAINT fk_operator_scope_user_id FOREIGN KEY(user_id) REFERENCES user_account (user_id)
);

CREATE TABLE registry_version (
    entity_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    body BYTEA NOT NULL,
    entityhandle TEXT NOT NULL,
    kid TEXT NOT NULL,
    thumbprint TEXT NOT NULL,
    modulus_hash TEXT NOT NULL,
    bits INTEGER NOT NULL,
    status TEXT NOT NULL,
    submitted_by TEXT NOT NULL,
    submitted_at TIMESTAMP WITH TIME ZONE NOT NULL,
    decided_by TEXT NOT NULL,
    decided_at TIMESTAMP WITH TIME ZONE,
    reason TEXT NOT NULL,
    goes_live_at TIMESTAMP WITH TIME ZONE,
    live_from TIMESTAMP WITH TIME ZONE,
    live_until TIMESTAMP WITH TIME ZONE,
    equal_to INTEGER NOT NULL,
    CONSTRAINT pk_registry_version PRIMARY KEY (entity_id, number),
    CONSTRAINT ck_registry_version_status CHECK (status IN ('submitted', 'approved', 'live', 'rejected', 'withdrawn', 'superseded')),
    CONSTRAINT fk_registry_version_entity_id FOREIGN KEY(entity_id) REFERENCES registry_entity (entity_id)
);
CREATE INDEX ix_registry_version_entityhandle ON registry_version (entityhandle);
CREATE INDEX ix_registry_version_kid ON registry_version (kid);
CREATE INDEX ix_registry_version_modulus_hash ON registry_version (modulus_hash);
CREATE UNIQUE INDEX one_live_version ON registry_version (entity_id) WHERE status = 'live';
CREATE UNIQUE INDEX one_pending_version ON registry_version (entity_id) WHERE status IN ('submitted', 'approved');
CREATE INDEX registry_version_due ON registry_version (goes_live_at) WHERE status = 'approved';

CREATE TABLE secret_reminder (
    entity_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    mark SMALLINT NOT NULL,
    done_at TIMESTAMP WITH TIME ZONE NOT NULL,
    sent BOOLEAN NOT NULL,
    CONSTRAINT pk_secret_reminder PRIMARY KEY (entity_id, version, mark),
    CONSTRAINT fk_secret_reminder_entity_id FOREIGN KEY(entity_id) REFERENCES entity (entity_id)
);

CREATE TABLE user_token (
    jti UUID NOT NULL,
    user_id UUID NOT NULL,
    issued_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    revoked_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_user_token PRIMARY KEY (jti),
    CONSTRAINT fk_user_token_user_id FOREIGN KEY(user_id) REFERENCES user_account (user_id)
);
CREATE INDEX ix_user_token_user_id ON user_token (user_id);

CREATE TABLE webhook_message (
    message_id UUID NOT NULL,
    webhook_id UUID NOT NULL,
    body BYTEA NOT NULL,
    made_at TIMESTAMP WITH TIME ZONE NOT NULL,
    attempts INTEGER DEFAULT '0' NOT NULL,
    next_attempt_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_webhook_message PRIMARY KEY (message_id),
    CONSTRAINT fk_webhook_message_webhook_id FOREIGN KEY(webhook_id) REFERENCES health_webhook (webhook_id) ON DELETE CASCADE
);
CREATE INDEX ix_webhook_message_next_attempt_at ON webhook_message (next_attempt_at);
CREATE INDEX ix_webhook_message_webhook_id ON webhook_message (webhook_id);

CREATE TABLE user_token_use (
    jti UUID NOT NULL,
    last_used_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_address TEXT NOT NULL,
    CONSTRAINT pk_user_token_use PRIMARY KEY (jti),
    CONSTRAINT fk_user_token_use_jti FOREIGN KEY(jti) REFERENCES user_token (jti) ON DELETE CASCADE
);

