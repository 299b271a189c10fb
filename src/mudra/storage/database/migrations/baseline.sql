-- The schema of 1.0.0. What changed since is in since_1_0_0.sql.

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
-- Read by the sealer alone: the order in which rows were written (storage/audit/chain.py).
ALTER TABLE audit_event ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id();
CREATE INDEX audit_event_written ON audit_event (xid, seq);

-- Issued tokens until they are packed; numbers are of the series of audit_event.
CREATE TABLE audit_token_issue (
    seq BIGINT DEFAULT nextval('audit_event_seq_seq'::regclass) NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    entity_id TEXT NOT NULL,
    address TEXT NOT NULL,
    txn_id TEXT NOT NULL,
    credential TEXT NOT NULL,
    version INTEGER NOT NULL,
    jtis TEXT NOT NULL,
    CONSTRAINT pk_audit_token_issue PRIMARY KEY (seq)
);

CREATE TABLE audit_token_block (
    number BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    first_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_at TIMESTAMP WITH TIME ZONE NOT NULL,
    entities TEXT[] NOT NULL,
    marks INTEGER[] NOT NULL,
    data BYTEA NOT NULL,
    CONSTRAINT pk_audit_token_block PRIMARY KEY (number)
);
-- The data are compressed already, and marks cannot be.
ALTER TABLE audit_token_block ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE audit_token_block ALTER COLUMN marks SET STORAGE EXTERNAL;
CREATE INDEX ix_audit_token_block_last_seq ON audit_token_block (last_seq);
CREATE INDEX ix_audit_token_block_entities ON audit_token_block USING gin (entities) WITH (fastupdate = off);

CREATE TABLE audit_token_drop (
    until BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    mac BYTEA NOT NULL,
    CONSTRAINT pk_audit_token_drop PRIMARY KEY (until)
);

CREATE TABLE audit_archive (
    until BIGINT NOT NULL,
    epoch INTEGER NOT NULL,
    head BYTEA NOT NULL,
    sealed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_block BIGINT NOT NULL,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    mac BYTEA NOT NULL,
    CONSTRAINT pk_audit_archive PRIMARY KEY (until)
);

CREATE TABLE audit_anonymous (
    minute TIMESTAMP WITH TIME ZONE NOT NULL,
    address TEXT NOT NULL,
    event TEXT NOT NULL,
    reason TEXT NOT NULL,
    outcome TEXT NOT NULL,
    count BIGINT NOT NULL,
    first_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_at TIMESTAMP WITH TIME ZONE NOT NULL,
    txn_id TEXT NOT NULL,
    CONSTRAINT pk_audit_anonymous PRIMARY KEY (minute, address, event, reason)
);

CREATE TABLE audit_checkpoint (
    epoch INTEGER NOT NULL,
    count BIGINT NOT NULL,
    head BYTEA NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    mac BYTEA NOT NULL,
    CONSTRAINT pk_audit_checkpoint PRIMARY KEY (epoch, count)
);

CREATE TABLE audit_epoch (
    number INTEGER NOT NULL,
    cluster TEXT NOT NULL,
    found BIGINT NOT NULL,
    after BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    confirmed_by TEXT NOT NULL,
    mac BYTEA NOT NULL,
    CONSTRAINT pk_audit_epoch PRIMARY KEY (number)
);

CREATE TABLE entity (
    entity_id TEXT NOT NULL,
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    status TEXT DEFAULT 'active' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    membership TEXT DEFAULT 'active' NOT NULL,
    tokens_not_before TIMESTAMP WITH TIME ZONE,
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
    peer_id TEXT DEFAULT '' NOT NULL,
    maintenance BOOLEAN DEFAULT false NOT NULL,
    ended_by TEXT DEFAULT '' NOT NULL,
    CONSTRAINT pk_health_silence PRIMARY KEY (silence_id)
);
CREATE INDEX ix_health_silence_ends ON health_silence (ends);

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
    taken_until TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_mail_outbox PRIMARY KEY (mail_id)
);
CREATE INDEX ix_mail_outbox_created_at ON mail_outbox (created_at);
CREATE INDEX mail_unsent ON mail_outbox (next_attempt_at) WHERE sent_at IS NULL;

CREATE TABLE metrics_attribution (
    window_at TIMESTAMP WITH TIME ZONE NOT NULL,
    journal BYTEA NOT NULL,
    CONSTRAINT pk_metrics_attribution PRIMARY KEY (window_at)
);

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

CREATE TABLE metrics_previous (
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
    CONSTRAINT pk_metrics_previous PRIMARY KEY (window_at, aa_id, tag, fip_id, type, version)
)
 PARTITION BY RANGE (window_at);

CREATE TABLE metrics_received (
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    aa_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    windows INTEGER NOT NULL,
    CONSTRAINT pk_metrics_received PRIMARY KEY (at, aa_id, tag)
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
    eligible BIGINT NOT NULL,
    peer_id TEXT DEFAULT '' NOT NULL,
    refused BOOLEAN NOT NULL,
    detected TIMESTAMP WITH TIME ZONE NOT NULL,
    cause JSONB NOT NULL,
    timeline JSONB NOT NULL,
    recipients TEXT[] NOT NULL,
    changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    acknowledged_by TEXT,
    acknowledged_at TIMESTAMP WITH TIME ZONE,
    notified BOOLEAN DEFAULT true NOT NULL,
    escalated_at TIMESTAMP WITH TIME ZONE,
    decision TEXT,
    decided_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_metrics_incident PRIMARY KEY (incident_id),
    CONSTRAINT ck_metrics_incident_decision CHECK (decision IN ('closed', 'reopened'))
);
CREATE UNIQUE INDEX metrics_incident_once ON metrics_incident (entity_id, peer_id, began, kind, type, refused) WHERE ending <> 'withdrawn';
CREATE INDEX ix_metrics_incident_peer_id ON metrics_incident (peer_id);
CREATE INDEX metrics_incident_open ON metrics_incident (began) WHERE ended IS NULL;
CREATE INDEX metrics_incident_reopened ON metrics_incident (began) WHERE decision = 'reopened';

CREATE TABLE incident_act (
    incident_id UUID NOT NULL,
    number INTEGER NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    actor TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    owner TEXT NOT NULL,
    CONSTRAINT pk_incident_act PRIMARY KEY (incident_id, number),
    CONSTRAINT fk_incident_act_incident_id FOREIGN KEY(incident_id) REFERENCES metrics_incident (incident_id) ON DELETE CASCADE
);

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
    calls NUMERIC DEFAULT '0' NOT NULL,
    CONSTRAINT pk_metrics_receipt PRIMARY KEY (receipt_id),
    CONSTRAINT uq_metrics_receipt_aa_id UNIQUE (aa_id, tag, window_at, version)
);
CREATE INDEX ix_metrics_receipt_window ON metrics_receipt (window_at, aa_id, tag, version);

CREATE TABLE metrics_window_calls (
    window_at TIMESTAMP WITH TIME ZONE NOT NULL,
    calls BYTEA NOT NULL,
    CONSTRAINT pk_metrics_window_calls PRIMARY KEY (window_at)
);

CREATE TABLE metrics_fip_state (
    window_at TIMESTAMP WITH TIME ZONE NOT NULL,
    counts BYTEA NOT NULL,
    states BYTEA NOT NULL,
    CONSTRAINT pk_metrics_fip_state PRIMARY KEY (window_at)
);

CREATE TABLE metrics_held (
    receipt_id UUID NOT NULL,
    rows BYTEA NOT NULL,
    doubt TEXT NOT NULL,
    claimed NUMERIC NOT NULL,
    plausible NUMERIC NOT NULL,
    state TEXT NOT NULL,
    decided_by TEXT DEFAULT '' NOT NULL,
    decided_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_metrics_held PRIMARY KEY (receipt_id),
    CONSTRAINT ck_metrics_held_state CHECK (state IN ('waiting', 'admitted', 'refused')),
    CONSTRAINT fk_metrics_held_receipt_id FOREIGN KEY(receipt_id) REFERENCES metrics_receipt (receipt_id) ON DELETE CASCADE
);

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
    status TEXT NOT NULL,
    CONSTRAINT pk_registry_entity PRIMARY KEY (entity_id),
    CONSTRAINT ck_registry_entity_type CHECK (type IN ('FIP', 'FIU', 'AA')),
    CONSTRAINT ck_registry_entity_status CHECK (status IN ('unlisted', 'live', 'suspended', 'retired'))
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

CREATE TABLE used_assertion (
    entity_id TEXT NOT NULL,
    jti TEXT NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_used_assertion PRIMARY KEY (entity_id, jti)
);
CREATE INDEX ix_used_assertion_expires_at ON used_assertion (expires_at);

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

CREATE TABLE alarm_preference (
    user_id UUID NOT NULL,
    time_zone TEXT NOT NULL,
    quiet_from TIME WITHOUT TIME ZONE,
    quiet_until TIME WITHOUT TIME ZONE,
    breaks_quiet TEXT,
    of_members TEXT,
    of_network TEXT,
    channel TEXT DEFAULT 'email' NOT NULL,
    CONSTRAINT pk_alarm_preference PRIMARY KEY (user_id),
    CONSTRAINT ck_alarm_preference_channel CHECK (channel IN ('email', 'webhook', 'both', 'none')),
    CONSTRAINT ck_alarm_preference_breaks_quiet CHECK (breaks_quiet IN ('minor', 'major', 'critical')),
    CONSTRAINT ck_alarm_preference_of_members CHECK (of_members IN ('minor', 'major', 'critical')),
    CONSTRAINT ck_alarm_preference_of_network CHECK (of_network IN ('minor', 'major', 'critical')),
    CONSTRAINT fk_alarm_preference_user_id FOREIGN KEY(user_id) REFERENCES user_account (user_id)
);

CREATE TABLE alarm_mail (
    user_id UUID NOT NULL,
    incident_id UUID NOT NULL,
    entity_id TEXT NOT NULL,
    severity TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    over BOOLEAN NOT NULL,
    notified_at TIMESTAMP WITH TIME ZONE,
    in_storm BOOLEAN DEFAULT false NOT NULL,
    due_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_alarm_mail PRIMARY KEY (user_id, incident_id),
    CONSTRAINT fk_alarm_mail_user_id FOREIGN KEY(user_id) REFERENCES user_account (user_id)
);
CREATE INDEX ix_alarm_mail_notified_at ON alarm_mail (user_id, notified_at);
CREATE INDEX alarm_mail_waits ON alarm_mail (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE address_change (
    user_id UUID NOT NULL,
    email TEXT NOT NULL,
    requested_by TEXT NOT NULL,
    requested_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    token_hash BYTEA NOT NULL,
    CONSTRAINT pk_address_change PRIMARY KEY (user_id),
    CONSTRAINT fk_address_change_user_id FOREIGN KEY(user_id) REFERENCES user_account (user_id),
    CONSTRAINT uq_address_change_token_hash UNIQUE (token_hash)
);

CREATE TABLE admin_invitation (
    invitation_id UUID NOT NULL,
    entity_id TEXT NOT NULL,
    email TEXT NOT NULL,
    name TEXT NOT NULL,
    invited_by TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    token_hash BYTEA NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    accepted BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT pk_admin_invitation PRIMARY KEY (invitation_id),
    CONSTRAINT fk_admin_invitation_entity_id FOREIGN KEY(entity_id) REFERENCES entity (entity_id),
    CONSTRAINT uq_admin_invitation_token_hash UNIQUE (token_hash)
);
CREATE INDEX ix_admin_invitation_entity_id ON admin_invitation (entity_id);

CREATE TABLE link_request (
    request_id UUID NOT NULL,
    sealed_name BYTEA NOT NULL,
    address TEXT NOT NULL,
    txn_id TEXT NOT NULL,
    asked_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_link_request PRIMARY KEY (request_id)
);
CREATE INDEX ix_link_request_asked_at ON link_request (asked_at);

CREATE TABLE sign_in_success (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    account_key BYTEA NOT NULL,
    address_key BYTEA NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_sign_in_success PRIMARY KEY (id)
);
CREATE INDEX ix_sign_in_success_account_key_at ON sign_in_success (account_key, at);

CREATE TABLE audit_seal (
    number BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    epoch INTEGER NOT NULL,
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
    stage TEXT NOT NULL,
    CONSTRAINT pk_console_session PRIMARY KEY (key),
    CONSTRAINT ck_console_session_stage CHECK (stage IN ('full', 'code', 'enroll')),
    CONSTRAINT fk_console_session_user_id FOREIGN KEY(user_id) REFERENCES user_account (user_id)
);
CREATE INDEX ix_console_session_user_id ON console_session (user_id);

CREATE TABLE totp_factor (
    factor_id UUID NOT NULL,
    user_id UUID NOT NULL,
    sealed_secret BYTEA NOT NULL,
    confirmed BOOLEAN NOT NULL,
    last_step BIGINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_totp_factor PRIMARY KEY (factor_id),
    CONSTRAINT uq_totp_factor_user_id UNIQUE (user_id, confirmed),
    CONSTRAINT fk_totp_factor_user_id FOREIGN KEY(user_id) REFERENCES user_account (user_id)
);

CREATE TABLE passkey (
    passkey_id UUID NOT NULL,
    user_id UUID NOT NULL,
    name TEXT NOT NULL,
    credential_id BYTEA NOT NULL,
    public_key BYTEA NOT NULL,
    sign_count BIGINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_used_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_passkey PRIMARY KEY (passkey_id),
    CONSTRAINT uq_passkey_credential_id UNIQUE (credential_id),
    CONSTRAINT fk_passkey_user_id FOREIGN KEY(user_id) REFERENCES user_account (user_id)
);
CREATE INDEX ix_passkey_user_id ON passkey (user_id);

CREATE TABLE passkey_challenge (
    holder BYTEA NOT NULL,
    purpose TEXT NOT NULL,
    value BYTEA NOT NULL,
    address TEXT NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_passkey_challenge PRIMARY KEY (holder, purpose),
    CONSTRAINT ck_passkey_challenge_purpose CHECK (purpose IN ('add', 'prove', 'sign-in'))
);
CREATE INDEX ix_passkey_challenge_expires_at ON passkey_challenge (expires_at);

CREATE TABLE sign_on_attempt (
    holder BYTEA NOT NULL,
    state BYTEA NOT NULL,
    path TEXT NOT NULL,
    address TEXT NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_sign_on_attempt PRIMARY KEY (holder)
);
CREATE INDEX ix_sign_on_attempt_expires_at ON sign_on_attempt (expires_at);

CREATE TABLE local_sign_in (
    user_id UUID NOT NULL,
    until TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_local_sign_in PRIMARY KEY (user_id),
    CONSTRAINT fk_local_sign_in_user_id FOREIGN KEY(user_id) REFERENCES user_account (user_id)
);

CREATE TABLE recovery_code (
    user_id UUID NOT NULL,
    code_mac BYTEA NOT NULL,
    CONSTRAINT pk_recovery_code PRIMARY KEY (user_id, code_mac),
    CONSTRAINT fk_recovery_code_user_id FOREIGN KEY(user_id) REFERENCES user_account (user_id)
);

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
    phone TEXT DEFAULT '' NOT NULL,
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
    submitted_person TEXT NOT NULL,
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

CREATE TABLE health_webhook (
    webhook_id UUID NOT NULL,
    entity_id TEXT NOT NULL,
    url TEXT NOT NULL,
    sealed_secret BYTEA NOT NULL,
    made_by TEXT NOT NULL,
    made_at TIMESTAMP WITH TIME ZONE NOT NULL,
    delivered_at TIMESTAMP WITH TIME ZONE,
    problem TEXT DEFAULT '' NOT NULL,
    fips TEXT[] DEFAULT '{}' NOT NULL,
    format TEXT DEFAULT 'standard' NOT NULL,
    user_id UUID,
    sealed_previous BYTEA,
    previous_until TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_health_webhook PRIMARY KEY (webhook_id),
    CONSTRAINT ck_health_webhook_format CHECK (format IN ('standard', 'slack', 'teams')),
    CONSTRAINT ck_health_webhook_owner CHECK (user_id IS NULL OR entity_id = ''),
    CONSTRAINT fk_health_webhook_user_id FOREIGN KEY(user_id) REFERENCES user_account (user_id)
);
CREATE INDEX ix_health_webhook_entity_id ON health_webhook (entity_id);
CREATE UNIQUE INDEX health_webhook_of_person ON health_webhook (user_id) WHERE user_id IS NOT NULL;

CREATE TABLE webhook_message (
    message_id UUID NOT NULL,
    webhook_id UUID NOT NULL,
    body BYTEA NOT NULL,
    made_at TIMESTAMP WITH TIME ZONE NOT NULL,
    attempts INTEGER DEFAULT '0' NOT NULL,
    next_attempt_at TIMESTAMP WITH TIME ZONE NOT NULL,
    taken_until TIMESTAMP WITH TIME ZONE,
    event TEXT DEFAULT '' NOT NULL,
    CONSTRAINT pk_webhook_message PRIMARY KEY (message_id),
    CONSTRAINT fk_webhook_message_webhook_id FOREIGN KEY(webhook_id) REFERENCES health_webhook (webhook_id) ON DELETE CASCADE
);
CREATE INDEX ix_webhook_message_next_attempt_at ON webhook_message (next_attempt_at);
CREATE INDEX ix_webhook_message_webhook_id ON webhook_message (webhook_id);

CREATE TABLE webhook_attempt (
    message_id UUID NOT NULL,
    number INTEGER NOT NULL,
    webhook_id UUID NOT NULL,
    event TEXT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    problem TEXT NOT NULL,
    CONSTRAINT pk_webhook_attempt PRIMARY KEY (message_id, number),
    CONSTRAINT fk_webhook_attempt_webhook_id FOREIGN KEY(webhook_id) REFERENCES health_webhook (webhook_id) ON DELETE CASCADE
);
CREATE INDEX ix_webhook_attempt_webhook_id ON webhook_attempt (webhook_id, at);

CREATE TABLE user_token_use (
    jti UUID NOT NULL,
    last_used_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_address TEXT NOT NULL,
    CONSTRAINT pk_user_token_use PRIMARY KEY (jti),
    CONSTRAINT fk_user_token_use_jti FOREIGN KEY(jti) REFERENCES user_token (jti) ON DELETE CASCADE
);

-- What the service's own role cannot do by itself, since it owns no table (storage/database/schema/roles.py).
CREATE FUNCTION metrics_partition_make(parent TEXT, moment TIMESTAMP WITH TIME ZONE) RETURNS BOOLEAN
LANGUAGE plpgsql SECURITY DEFINER AS $body$
DECLARE
    unit CONSTANT TEXT := metrics_partition_unit(parent);
    begins CONSTANT TIMESTAMP := date_trunc(unit, moment AT TIME ZONE 'UTC');
    ends CONSTANT TIMESTAMP := begins + ('1 ' || unit)::INTERVAL;
    part CONSTANT TEXT := metrics_partition_name(parent, moment);
BEGIN
    IF begins NOT BETWEEN '2000-01-01' AND '2199-12-31' THEN
        RAISE EXCEPTION 'a partition of metrics is of the years 2000 to 2199';
    END IF;
    -- One at a time, and not by to_regclass: its cache may not include the latest commit.
    PERFORM pg_advisory_xact_lock(1835365490);
    IF EXISTS (SELECT FROM pg_class WHERE relname = part AND relnamespace = current_schema()::REGNAMESPACE) THEN
        RETURN false;
    END IF;
    -- Attaching does not block pushes into other partitions; CREATE … PARTITION OF would.
    EXECUTE 'CREATE TABLE ' || quote_ident(part) || ' (LIKE ' || quote_ident(parent) || ' INCLUDING DEFAULTS)';
    EXECUTE 'ALTER TABLE ' || quote_ident(parent) || ' ATTACH PARTITION ' || quote_ident(part)
        || ' FOR VALUES FROM (' || quote_literal(begins || '+00') || ') TO (' || quote_literal(ends || '+00') || ')';
    RETURN true;
END
$body$;

CREATE FUNCTION metrics_partition_drop(parent TEXT, moment TIMESTAMP WITH TIME ZONE) RETURNS BOOLEAN
LANGUAGE plpgsql SECURITY DEFINER AS $body$
DECLARE
    part CONSTANT TEXT := metrics_partition_name(parent, moment);
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = parent::REGCLASS AND c.relname = part
    ) THEN
        RETURN false;
    END IF;
    EXECUTE 'DROP TABLE ' || quote_ident(part);
    RETURN true;
END
$body$;

CREATE FUNCTION metrics_partition_unit(parent TEXT) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE AS $body$
BEGIN
    IF parent IN ('metrics_raw', 'metrics_previous') THEN
        RETURN 'day';
    ELSIF parent IN ('metrics_hour', 'metrics_pair_hour') THEN
        RETURN 'month';
    END IF;
    RAISE EXCEPTION 'this table has no partitions';
END
$body$;

CREATE FUNCTION metrics_partition_name(parent TEXT, moment TIMESTAMP WITH TIME ZONE) RETURNS TEXT
LANGUAGE sql STABLE AS $body$
    SELECT parent || '_' || to_char(
        moment AT TIME ZONE 'UTC',
        CASE metrics_partition_unit(parent) WHEN 'day' THEN 'YYYYMMDD' ELSE 'YYYYMM' END
    )
$body$;

-- What is younger than 30 days no one drops, whatever the settings are.
CREATE FUNCTION audit_token_blocks_drop(highest BIGINT) RETURNS BIGINT
LANGUAGE plpgsql SECURITY DEFINER AS $body$
DECLARE
    gone BIGINT;
BEGIN
    IF (SELECT max(last_at) FROM audit_token_block WHERE number <= highest)
        > (SELECT max(last_at) FROM audit_token_block) - interval '30 days' THEN
        RAISE EXCEPTION 'token blocks are kept for 30 days at least';
    END IF;
    DELETE FROM audit_token_block WHERE number <= highest;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END
$body$;

-- Rows of the audit that are in an archive and older than 30 days, a batch of them.
CREATE FUNCTION audit_archived_drop(highest BIGINT, most INTEGER) RETURNS BIGINT
LANGUAGE plpgsql SECURITY DEFINER AS $body$
DECLARE
    gone BIGINT;
BEGIN
    IF NOT EXISTS (SELECT FROM audit_archive WHERE until >= highest)
        OR (SELECT e.at FROM audit_seal s JOIN audit_event e USING (seq) WHERE s.number = highest)
        > (SELECT at FROM audit_event ORDER BY seq DESC LIMIT 1) - interval '30 days' THEN
        RAISE EXCEPTION 'the audit is kept until it is archived, and for 30 days at least';
    END IF;
    WITH oldest AS (
        DELETE FROM audit_seal WHERE number IN
            (SELECT number FROM audit_seal WHERE number <= highest ORDER BY number LIMIT most)
        RETURNING seq
    )
    DELETE FROM audit_event USING oldest WHERE audit_event.seq = oldest.seq;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END
$body$;

-- Open transactions of all roles: the view shows a role only its own.
CREATE FUNCTION audit_open_writers() RETURNS TABLE (
    pid INTEGER, role TEXT, program TEXT, begun TIMESTAMP WITH TIME ZONE, xid BIGINT
)
LANGUAGE sql SECURITY DEFINER AS $body$
    SELECT a.pid, a.usename::TEXT, a.application_name, a.xact_start, a.backend_xid::TEXT::BIGINT
    FROM pg_stat_activity a WHERE a.datname = current_database() AND a.backend_xid IS NOT NULL
$body$;

-- A definer's function looks in its own schema only, never in a caller's temporary one.
DO $body$
DECLARE
    one TEXT;
BEGIN
    FOREACH one IN ARRAY ARRAY[
        'metrics_partition_make(TEXT, TIMESTAMP WITH TIME ZONE)',
        'metrics_partition_drop(TEXT, TIMESTAMP WITH TIME ZONE)',
        'audit_open_writers()',
        'audit_token_blocks_drop(BIGINT)',
        'audit_archived_drop(BIGINT, INTEGER)'
    ] LOOP
        EXECUTE 'ALTER FUNCTION ' || one || ' SET search_path = ' || quote_ident(current_schema()) || ', pg_temp';
        EXECUTE 'REVOKE ALL ON FUNCTION ' || one || ' FROM PUBLIC';
    END LOOP;
END
$body$;

-- The faults that a sandbox shows to the clients of one entity.
CREATE TABLE sandbox_fault (
    fault_id uuid CONSTRAINT pk_sandbox_fault PRIMARY KEY,
    entity_id text NOT NULL
        CONSTRAINT fk_sandbox_fault_entity_id REFERENCES entity (entity_id),
    kind text NOT NULL,
    seconds integer NOT NULL,
    starts_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    set_by text NOT NULL,
    by_operator boolean NOT NULL,
    kid text NOT NULL,
    public_jwk jsonb,
    sealed_private bytea
);
CREATE INDEX ix_sandbox_fault_entity_id ON sandbox_fault (entity_id);
CREATE INDEX ix_sandbox_fault_ends_at ON sandbox_fault (ends_at);

-- Public keys of another issuer, whose tokens are valid too.
ALTER TABLE signing_key ADD COLUMN issuer text NOT NULL DEFAULT '';
ALTER TABLE signing_key ADD CONSTRAINT ck_signing_key_imported
    CHECK (issuer = '' OR sealed_private IS NULL);

-- Binding of credentials to listed addresses, used DPoP proofs, probes of base URLs.
ALTER TABLE entity ADD COLUMN address_binding text NOT NULL DEFAULT 'network';
ALTER TABLE entity ADD CONSTRAINT ck_entity_address_binding
    CHECK (address_binding IN ('network', 'watch', 'enforce'));
CREATE TABLE used_proof (
    proof_hash bytea CONSTRAINT pk_used_proof PRIMARY KEY,
    expires_at timestamptz NOT NULL
);
CREATE INDEX ix_used_proof_expires_at ON used_proof (expires_at);
CREATE TABLE registry_probe (
    probe_id uuid CONSTRAINT pk_registry_probe PRIMARY KEY,
    entity_id text NOT NULL
        CONSTRAINT fk_registry_probe_entity_id REFERENCES registry_entity (entity_id),
    version integer NOT NULL,
    requested_by text NOT NULL,
    requested_address text NOT NULL,
    txn_id text NOT NULL,
    requested_at timestamptz NOT NULL,
    done_at timestamptz,
    result jsonb
);
CREATE INDEX ix_registry_probe_entity_id ON registry_probe (entity_id);
CREATE INDEX ix_registry_probe_requested_at ON registry_probe (requested_at);

-- The language that a person chose for pages and emails.
ALTER TABLE user_account ADD COLUMN language text NOT NULL DEFAULT '';

-- The time zone in which a person's pages write times.
ALTER TABLE user_account ADD COLUMN display_zone text NOT NULL DEFAULT 'browser';

-- Keys of the metrics begin with `aa_id`, so that what belongs to one AA is in one place.
ALTER TABLE metrics_held ADD COLUMN aa_id text;
UPDATE metrics_held h SET aa_id = r.aa_id
FROM metrics_receipt r WHERE r.receipt_id = h.receipt_id;
ALTER TABLE metrics_held ALTER COLUMN aa_id SET NOT NULL;
ALTER TABLE metrics_held DROP CONSTRAINT fk_metrics_held_receipt_id;
ALTER TABLE metrics_push DROP CONSTRAINT fk_metrics_push_receipt_id;
ALTER TABLE metrics_raw
    DROP CONSTRAINT pk_metrics_raw,
    ADD CONSTRAINT pk_metrics_raw PRIMARY KEY (aa_id, window_at, tag, fip_id, type);
ALTER TABLE metrics_previous
    DROP CONSTRAINT pk_metrics_previous,
    ADD CONSTRAINT pk_metrics_previous PRIMARY KEY (aa_id, window_at, tag, fip_id, type, version);
ALTER TABLE metrics_hour
    DROP CONSTRAINT pk_metrics_hour,
    ADD CONSTRAINT pk_metrics_hour PRIMARY KEY (aa_id, at, tag, fip_id, type);
ALTER TABLE metrics_day
    DROP CONSTRAINT pk_metrics_day,
    ADD CONSTRAINT pk_metrics_day PRIMARY KEY (aa_id, at, tag, fip_id, type);
ALTER TABLE metrics_pair_hour
    DROP CONSTRAINT pk_metrics_pair_hour,
    ADD CONSTRAINT pk_metrics_pair_hour PRIMARY KEY (aa_id, at, type, fip_id);
ALTER TABLE metrics_pair_day
    DROP CONSTRAINT pk_metrics_pair_day,
    ADD CONSTRAINT pk_metrics_pair_day PRIMARY KEY (aa_id, at, type, fip_id);
ALTER TABLE metrics_received
    DROP CONSTRAINT pk_metrics_received,
    ADD CONSTRAINT pk_metrics_received PRIMARY KEY (aa_id, at, tag);
ALTER TABLE metrics_receipt
    DROP CONSTRAINT pk_metrics_receipt,
    ADD CONSTRAINT pk_metrics_receipt PRIMARY KEY (aa_id, receipt_id);
ALTER TABLE metrics_held
    DROP CONSTRAINT pk_metrics_held,
    ADD CONSTRAINT pk_metrics_held PRIMARY KEY (aa_id, receipt_id);
ALTER TABLE metrics_refused
    DROP CONSTRAINT pk_metrics_refused,
    ADD CONSTRAINT pk_metrics_refused PRIMARY KEY (aa_id, id);
ALTER TABLE metrics_stale
    DROP CONSTRAINT pk_metrics_stale,
    ADD CONSTRAINT pk_metrics_stale PRIMARY KEY (aa_id, id);
CREATE INDEX ix_metrics_raw_window_at ON metrics_raw (window_at);
CREATE INDEX ix_metrics_hour_at ON metrics_hour (at);
CREATE INDEX ix_metrics_day_at ON metrics_day (at);
CREATE INDEX ix_metrics_pair_hour_at ON metrics_pair_hour (at, type);
CREATE INDEX ix_metrics_pair_day_at ON metrics_pair_day (at, type);
CREATE INDEX ix_metrics_received_at ON metrics_received (at);
CREATE INDEX ix_metrics_receipt_receipt_id ON metrics_receipt (receipt_id);
CREATE INDEX ix_metrics_push_receipt_id ON metrics_push (aa_id, receipt_id);
CREATE INDEX ix_metrics_stale_id ON metrics_stale (id);
ALTER TABLE metrics_held ADD CONSTRAINT fk_metrics_held_aa_id
    FOREIGN KEY (aa_id, receipt_id)
    REFERENCES metrics_receipt (aa_id, receipt_id) ON DELETE CASCADE;
ALTER TABLE metrics_push ADD CONSTRAINT fk_metrics_push_aa_id
    FOREIGN KEY (aa_id, receipt_id)
    REFERENCES metrics_receipt (aa_id, receipt_id);

-- An operator's exemption from the network's binding stays while the member binds itself.
ALTER TABLE entity ADD COLUMN address_exempt boolean NOT NULL DEFAULT false;
UPDATE entity SET address_exempt = true WHERE address_binding = 'watch';

-- Subscriptions to the public status by email, and what was announced to them.
CREATE TABLE status_subscription (
    subscription_id uuid CONSTRAINT pk_status_subscription PRIMARY KEY,
    email text NOT NULL,
    fip_id text NOT NULL,
    language text NOT NULL,
    token_hash bytea NOT NULL CONSTRAINT uq_status_subscription_token_hash UNIQUE,
    sealed_token bytea NOT NULL,
    waits boolean NOT NULL,
    confirmations integer NOT NULL DEFAULT 0,
    asked_at timestamptz NOT NULL,
    mailed_at timestamptz,
    confirmed_at timestamptz,
    CONSTRAINT uq_status_subscription_email UNIQUE (email, fip_id)
);
CREATE INDEX ix_status_subscription_asked ON status_subscription (asked_at);
CREATE INDEX ix_status_subscription_fip ON status_subscription (fip_id, subscription_id);
CREATE TABLE status_news (
    incident_id uuid CONSTRAINT pk_status_news PRIMARY KEY,
    fip_id text NOT NULL,
    codes text NOT NULL,
    state text NOT NULL CONSTRAINT ck_status_news_state CHECK (state IN ('open', 'over')),
    began timestamptz NOT NULL,
    ended timestamptz,
    at timestamptz NOT NULL,
    after uuid,
    done boolean NOT NULL
);

-- What is handed over from a second database, which has the metrics, to the first one.
CREATE TABLE handover (
    aa_id text NOT NULL,
    handover_id uuid NOT NULL,
    noted_at timestamptz NOT NULL,
    body bytea NOT NULL,
    CONSTRAINT pk_handover PRIMARY KEY (aa_id, handover_id)
);
CREATE INDEX ix_handover_noted_at ON handover (noted_at);
CREATE TABLE handover_done (
    handover_id uuid CONSTRAINT pk_handover_done PRIMARY KEY,
    done_at timestamptz NOT NULL
);
CREATE INDEX ix_handover_done_done_at ON handover_done (done_at);

-- The FIPs that a FIU follows: its health page and its alarms are about them.
CREATE TABLE followed_fip (
    entity_id text NOT NULL
        CONSTRAINT fk_followed_fip_entity_id REFERENCES entity (entity_id),
    fip_id text NOT NULL,
    CONSTRAINT pk_followed_fip PRIMARY KEY (entity_id, fip_id)
);
CREATE INDEX ix_followed_fip_fip_id ON followed_fip (fip_id);
