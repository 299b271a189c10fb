-- The schema of 1.0.0 becomes this one; what the rows of metrics are converted to is made first.

-- Subscriptions to the public status by webhook: their address, its proof, and their limits.
ALTER TABLE status_subscription
    ADD COLUMN url text NOT NULL DEFAULT '',
    ADD COLUMN host text NOT NULL DEFAULT '',
    ADD COLUMN opted_at timestamptz,
    DROP CONSTRAINT uq_status_subscription_email,
    ADD CONSTRAINT uq_status_subscription_email UNIQUE (email, fip_id, url);
CREATE INDEX ix_status_subscription_host ON status_subscription (host);
ALTER TABLE health_webhook
    ADD COLUMN subscription_id uuid
        CONSTRAINT fk_health_webhook_subscription_id
        REFERENCES status_subscription (subscription_id) ON DELETE CASCADE,
    ADD COLUMN failing_since timestamptz,
    ADD COLUMN gave_up_at timestamptz,
    ADD COLUMN warned_at timestamptz;
CREATE UNIQUE INDEX health_webhook_of_subscription ON health_webhook (subscription_id)
    WHERE subscription_id IS NOT NULL;
CREATE TABLE status_challenge (
    challenge_id uuid CONSTRAINT pk_status_challenge PRIMARY KEY,
    email text NOT NULL,
    host text NOT NULL,
    at timestamptz NOT NULL
);
CREATE INDEX ix_status_challenge_at ON status_challenge (at);

-- Messages of webhooks that are over, to be sent again.
CREATE TABLE webhook_event (
    message_id uuid CONSTRAINT pk_webhook_event PRIMARY KEY,
    webhook_id uuid NOT NULL
        CONSTRAINT fk_webhook_event_webhook_id
        REFERENCES health_webhook (webhook_id) ON DELETE CASCADE,
    event text NOT NULL,
    body bytea NOT NULL,
    made_at timestamptz NOT NULL,
    attempts integer NOT NULL,
    over_at timestamptz NOT NULL,
    problem text NOT NULL
);
CREATE INDEX ix_webhook_event_webhook_id ON webhook_event (webhook_id, over_at);

-- The APIs that a person wants alarms about; none are all.
ALTER TABLE alarm_preference ADD COLUMN apis text[] NOT NULL DEFAULT '{}';
ALTER TABLE alarm_preference ADD COLUMN level_reports boolean NOT NULL DEFAULT false;
ALTER TABLE alarm_mail ADD COLUMN page text NOT NULL DEFAULT '';

-- A hand-over waits for acceptance: its invitation names the admin from whom it takes over.
ALTER TABLE admin_invitation ADD COLUMN takes_over text NOT NULL DEFAULT '';

-- When a person signed in last, to the console or for a token.
ALTER TABLE user_account ADD COLUMN signed_in_at timestamptz;

-- Readers of an entity: people who see its pages and change nothing.
CREATE TABLE entity_reader (
    entity_id text NOT NULL
        CONSTRAINT fk_entity_reader_entity_id REFERENCES entity (entity_id),
    user_id uuid NOT NULL
        CONSTRAINT fk_entity_reader_user_id REFERENCES user_account (user_id),
    since timestamptz NOT NULL,
    CONSTRAINT pk_entity_reader PRIMARY KEY (entity_id, user_id)
);
CREATE INDEX ix_entity_reader_user_id ON entity_reader (user_id);
ALTER TABLE admin_invitation ADD COLUMN role text NOT NULL DEFAULT 'admin';

-- What operators announce on the public status, and groups of its institutions.
CREATE TABLE status_announcement (
    announcement_id uuid NOT NULL,
    kind text NOT NULL,
    title text NOT NULL,
    text text NOT NULL,
    translations jsonb NOT NULL DEFAULT '[]',
    fip_ids text[] NOT NULL DEFAULT '{}',
    publish_at timestamptz NOT NULL,
    begins timestamptz,
    ends timestamptz,
    made_by text NOT NULL,
    made_at timestamptz NOT NULL,
    changed_at timestamptz,
    ended_at timestamptz,
    over_at timestamptz,
    incident_id uuid,
    updates jsonb NOT NULL DEFAULT '[]',
    after uuid,
    done boolean NOT NULL DEFAULT false,
    CONSTRAINT pk_status_announcement PRIMARY KEY (announcement_id),
    CONSTRAINT ck_status_announcement_kind
        CHECK (kind IN ('information', 'incident', 'maintenance'))
);
ALTER TABLE registry_word ADD COLUMN status_group text NOT NULL DEFAULT '';
CREATE INDEX ix_status_announcement_publish_at ON status_announcement (publish_at);

-- Finds the last change of each entry of the registry, however long the log of changes is.
CREATE INDEX registry_change_of_entity ON registry_change (entity_id, sequence);

-- Who gave a person a right, so that no one approves what their own accomplice submitted.
CREATE TABLE access_grant (
    number bigint GENERATED ALWAYS AS IDENTITY,
    user_id uuid NOT NULL,
    entity_id text NOT NULL,
    given_by uuid NOT NULL,
    at timestamptz NOT NULL,
    CONSTRAINT pk_access_grant PRIMARY KEY (number)
);
CREATE INDEX ix_access_grant_at ON access_grant (at);

-- What is read no more, and what a second database handed over.
DROP TRIGGER IF EXISTS metrics_held_aa ON metrics_held;
DROP FUNCTION IF EXISTS metrics_held_aa();
DROP TABLE handover, handover_done;
DELETE FROM service_fact WHERE name ~ '^metrics-(database|moving|restored)$';
DROP INDEX ix_registry_version_entityhandle, ix_registry_version_kid,
    ix_registry_version_modulus_hash;
DELETE FROM totp_factor WHERE NOT confirmed;
ALTER TABLE totp_factor DROP COLUMN confirmed,
    ADD CONSTRAINT uq_totp_factor_user_id UNIQUE (user_id);

-- Metrics as blocks. Blocks are compressed: PostgreSQL would try in vain, so they are stored as they are.
CREATE TABLE metrics_block (
    aa_id text NOT NULL,
    grain text NOT NULL,
    bucket smallint NOT NULL,
    at timestamptz NOT NULL,
    until timestamptz NOT NULL,
    tag text NOT NULL,
    version uuid NOT NULL,
    numbers bytea NOT NULL,
    times bytea NOT NULL,
    CONSTRAINT pk_metrics_block PRIMARY KEY (aa_id, grain, bucket, at, tag),
    CONSTRAINT ck_metrics_block_grain CHECK (grain IN ('window', 'hour', 'day'))
) PARTITION BY LIST (grain);
CREATE TABLE metrics_block_previous (
    aa_id text NOT NULL,
    grain text NOT NULL,
    bucket smallint NOT NULL,
    at timestamptz NOT NULL,
    until timestamptz NOT NULL,
    tag text NOT NULL,
    version uuid NOT NULL,
    numbers bytea NOT NULL,
    times bytea NOT NULL,
    report_version integer NOT NULL,
    CONSTRAINT pk_metrics_block_previous
        PRIMARY KEY (aa_id, grain, bucket, at, tag, report_version)
) PARTITION BY RANGE (at);
CREATE INDEX ix_metrics_block_at ON metrics_block (at, grain, aa_id);
CREATE INDEX ix_metrics_block_unsettled ON metrics_block (at)
    WHERE grain <> 'window' AND tag IN ('req', 'not')
        AND until - at <= CASE grain WHEN 'hour' THEN interval '1 hour' ELSE interval '1 day' END;
CREATE TABLE metrics_block_window PARTITION OF metrics_block
    FOR VALUES IN ('window') PARTITION BY RANGE (at);
CREATE TABLE metrics_block_hour PARTITION OF metrics_block
    FOR VALUES IN ('hour') PARTITION BY RANGE (at);
CREATE TABLE metrics_block_day PARTITION OF metrics_block
    FOR VALUES IN ('day') PARTITION BY RANGE (at);
DO $body$
DECLARE
    one TEXT;
BEGIN
    FOREACH one IN ARRAY ARRAY['block', 'block_previous', 'block_window', 'block_hour', 'block_day'] LOOP
        EXECUTE 'ALTER TABLE metrics_' || one || ' ALTER COLUMN numbers SET STORAGE EXTERNAL,'
            || ' ALTER COLUMN times SET STORAGE EXTERNAL';
    END LOOP;
END
$body$;
ALTER TABLE metrics_held ADD COLUMN buckets bytea;

CREATE OR REPLACE FUNCTION metrics_partition_unit(parent TEXT) RETURNS TEXT
LANGUAGE plpgsql IMMUTABLE AS $body$
BEGIN
    IF parent IN ('metrics_block_window', 'metrics_block_previous') THEN
        RETURN 'day';
    ELSIF parent = 'metrics_block_hour' THEN
        RETURN 'month';
    ELSIF parent = 'metrics_block_day' THEN
        RETURN 'year';
    END IF;
    RAISE EXCEPTION 'this table has no partitions';
END
$body$;

CREATE OR REPLACE FUNCTION metrics_partition_name(parent TEXT, moment TIMESTAMP WITH TIME ZONE)
RETURNS TEXT LANGUAGE sql STABLE AS $body$
    SELECT parent || '_' || to_char(
        moment AT TIME ZONE 'UTC',
        CASE metrics_partition_unit(parent)
            WHEN 'day' THEN 'YYYYMMDD' WHEN 'month' THEN 'YYYYMM' ELSE 'YYYY' END
    )
$body$;

CREATE OR REPLACE FUNCTION metrics_partition_make(parent TEXT, moment TIMESTAMP WITH TIME ZONE)
RETURNS BOOLEAN LANGUAGE plpgsql SECURITY DEFINER AS $body$
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
    IF EXISTS (SELECT FROM pg_class
               WHERE relname = part AND relnamespace = current_schema()::REGNAMESPACE) THEN
        RETURN false;
    END IF;
    -- Attaching does not block pushes into other partitions; CREATE … PARTITION OF would.
    EXECUTE 'CREATE TABLE ' || quote_ident(part) || ' (LIKE ' || quote_ident(parent)
        || ' INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)';
    EXECUTE 'ALTER TABLE ' || quote_ident(parent) || ' ATTACH PARTITION ' || quote_ident(part)
        || ' FOR VALUES FROM (' || quote_literal(begins || '+00')
        || ') TO (' || quote_literal(ends || '+00') || ')';
    RETURN true;
END
$body$;

-- A function that is replaced loses its settings: see the end of baseline.sql.
DO $body$
BEGIN
    EXECUTE 'ALTER FUNCTION metrics_partition_make(TEXT, TIMESTAMP WITH TIME ZONE) SET search_path = '
        || quote_ident(current_schema()) || ', pg_temp';
END
$body$;

-- Requests by day as rows, for SQL.
CREATE TABLE metrics_daily (
    day date NOT NULL,
    fip_id text NOT NULL,
    type text NOT NULL,
    total numeric NOT NULL,
    succeeded numeric NOT NULL,
    errors_4xx numeric NOT NULL,
    errors_5xx numeric NOT NULL,
    p50 bigint,
    p95 bigint,
    p99 bigint,
    CONSTRAINT pk_metrics_daily PRIMARY KEY (day, fip_id, type)
);
CREATE INDEX ix_metrics_daily_fip_id ON metrics_daily (fip_id, day);

-- Calls that are the FIPs' own. What detection remembers has another form from here on.
CREATE TABLE metrics_own_calls (
    span text NOT NULL,
    at timestamptz NOT NULL,
    calls bytea NOT NULL,
    CONSTRAINT pk_metrics_own_calls PRIMARY KEY (span, at),
    CONSTRAINT ck_metrics_own_calls_span CHECK (span IN ('hour', 'day', 'changes'))
);
DELETE FROM metrics_fip_state;

-- Sums of 1.0.0 that are made of blocks now, and rows that are converted to them. No node of 1.0.0
-- that still runs may store a row in them meanwhile.
DROP TABLE metrics_window_calls, metrics_pair_hour, metrics_pair_day;
ALTER TABLE metrics_raw RENAME TO old_metrics_raw;
ALTER TABLE metrics_previous RENAME TO old_metrics_previous;
ALTER TABLE metrics_hour RENAME TO old_metrics_hour;
ALTER TABLE metrics_day RENAME TO old_metrics_day;

-- How names look, who onboarded a member (decision 0189), and refused acts, counted.
CREATE TABLE audit_refused (
    minute timestamptz NOT NULL,
    actor text NOT NULL,
    entity_id text NOT NULL,
    user_id text NOT NULL,
    event text NOT NULL,
    reason text NOT NULL,
    address text NOT NULL,
    txn_id text NOT NULL,
    count bigint NOT NULL,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    CONSTRAINT pk_audit_refused PRIMARY KEY (minute, actor, entity_id, user_id, event, reason)
);
ALTER TABLE entity ADD COLUMN onboarded_by uuid;
ALTER TABLE registry_version ADD COLUMN name_likeness text NOT NULL DEFAULT '';
ALTER TABLE registry_version ADD COLUMN code_likeness text NOT NULL DEFAULT '';
CREATE INDEX registry_version_name_held ON registry_version (name_likeness)
    WHERE status = 'live' OR status = 'approved';
CREATE INDEX registry_version_code_held ON registry_version (code_likeness)
    WHERE status = 'live' OR status = 'approved';

-- Disputes: what a member contests, each step, its evidence, and the corrections (decision 0228).
CREATE TABLE dispute (
    dispute_id uuid CONSTRAINT pk_dispute PRIMARY KEY,
    entity_id text NOT NULL
        CONSTRAINT fk_dispute_entity_id REFERENCES entity (entity_id),
    kind text NOT NULL,
    about text NOT NULL,
    incident_id uuid,
    apis text[] NOT NULL DEFAULT '{}',
    begins timestamptz NOT NULL,
    ends timestamptz NOT NULL,
    state text NOT NULL,
    raised_by text NOT NULL,
    raised_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    due_at timestamptz,
    CONSTRAINT ck_dispute_kind CHECK (kind IN ('comment', 'dispute')),
    CONSTRAINT ck_dispute_about CHECK (about IN ('incident', 'day', 'line'))
);
CREATE INDEX ix_dispute_entity_id ON dispute (entity_id, raised_at);
CREATE INDEX ix_dispute_incident_id ON dispute (incident_id);
CREATE INDEX ix_dispute_due_at ON dispute (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE dispute_step (
    dispute_id uuid NOT NULL
        CONSTRAINT fk_dispute_step_dispute_id REFERENCES dispute (dispute_id),
    number integer NOT NULL,
    at timestamptz NOT NULL,
    actor text NOT NULL,
    act text NOT NULL,
    state text NOT NULL,
    text text NOT NULL,
    CONSTRAINT pk_dispute_step PRIMARY KEY (dispute_id, number)
);
CREATE TABLE dispute_evidence (
    evidence_id uuid CONSTRAINT pk_dispute_evidence PRIMARY KEY,
    dispute_id uuid NOT NULL
        CONSTRAINT fk_dispute_evidence_dispute_id REFERENCES dispute (dispute_id),
    name text NOT NULL,
    media_type text NOT NULL,
    size integer NOT NULL,
    sha256 bytea NOT NULL,
    sealed_content bytea NOT NULL,
    added_by text NOT NULL,
    added_at timestamptz NOT NULL
);
CREATE INDEX ix_dispute_evidence_dispute_id ON dispute_evidence (dispute_id);
CREATE TABLE dispute_correction (
    correction_id uuid CONSTRAINT pk_dispute_correction PRIMARY KEY,
    dispute_id uuid NOT NULL
        CONSTRAINT fk_dispute_correction_dispute_id REFERENCES dispute (dispute_id),
    entity_id text NOT NULL
        CONSTRAINT fk_dispute_correction_entity_id REFERENCES entity (entity_id),
    api text,
    begins timestamptz NOT NULL,
    ends timestamptz NOT NULL,
    effect text NOT NULL,
    reason text NOT NULL,
    decided_by text NOT NULL,
    decided_at timestamptz NOT NULL,
    void_at timestamptz,
    CONSTRAINT ck_dispute_correction_effect CHECK (effect IN ('left_out', 'not_against_member'))
);
CREATE INDEX ix_dispute_correction_entity_id ON dispute_correction (entity_id, begins);
CREATE INDEX ix_dispute_correction_dispute_id ON dispute_correction (dispute_id);
-- When a silence was announced, and service levels: targets, and all versions of all reports.
ALTER TABLE health_silence ADD COLUMN announced_at timestamptz;
CREATE TABLE level_target (
    target_id uuid NOT NULL,
    role text NOT NULL,
    measure text NOT NULL,
    api text NOT NULL,
    value double precision NOT NULL,
    since date NOT NULL,
    until date,
    reason text NOT NULL,
    made_by text NOT NULL,
    made_at timestamptz NOT NULL,
    CONSTRAINT pk_level_target PRIMARY KEY (target_id),
    CONSTRAINT uq_level_target_role UNIQUE (role, measure, api, since)
);
CREATE TABLE level_report (
    report_id uuid NOT NULL,
    entity_id text NOT NULL,
    starts timestamptz NOT NULL,
    ends timestamptz NOT NULL,
    version integer NOT NULL,
    made_at timestamptz NOT NULL,
    made_by text NOT NULL,
    report bytea NOT NULL,
    signature text NOT NULL,
    key jsonb NOT NULL,
    evidence bytea NOT NULL,
    CONSTRAINT pk_level_report PRIMARY KEY (report_id),
    CONSTRAINT uq_level_report_entity_id UNIQUE (entity_id, starts, ends, version)
);
CREATE INDEX ix_level_report_starts ON level_report (starts, ends);
CREATE TABLE level_burn (
    entity_id text NOT NULL,
    starts timestamptz NOT NULL,
    measure text NOT NULL,
    worked_out_at timestamptz NOT NULL,
    target double precision NOT NULL,
    allowed bigint NOT NULL,
    spent bigint NOT NULL,
    counted bigint NOT NULL,
    left_percent double precision NOT NULL,
    day_rate double precision NOT NULL,
    week_rate double precision NOT NULL,
    gone_at timestamptz,
    outlook text NOT NULL,
    announced text NOT NULL,
    CONSTRAINT pk_level_burn PRIMARY KEY (entity_id, starts, measure),
    CONSTRAINT ck_level_burn_outlook CHECK (outlook IN ('within', 'burning', 'gone')),
    CONSTRAINT ck_level_burn_announced CHECK (announced IN ('within', 'burning', 'gone')),
    CONSTRAINT fk_level_burn_entity_id FOREIGN KEY(entity_id) REFERENCES entity (entity_id)
);
CREATE TABLE level_rule (
    since date NOT NULL,
    notice_hours integer NOT NULL,
    hours_a_month integer NOT NULL,
    league boolean NOT NULL,
    published boolean NOT NULL,
    reason text NOT NULL,
    made_by text NOT NULL,
    made_at timestamptz NOT NULL,
    CONSTRAINT pk_level_rule PRIMARY KEY (since)
);
CREATE TABLE capacity_notice (
    entity_id text NOT NULL,
    noticed_at timestamptz NOT NULL,
    day date NOT NULL,
    calls bigint NOT NULL,
    at_most bigint NOT NULL,
    handled_day date NOT NULL,
    handled bigint NOT NULL,
    CONSTRAINT pk_capacity_notice PRIMARY KEY (entity_id)
);
CREATE TABLE registry_key_search (
    modulus_hash text NOT NULL,
    steps integer NOT NULL,
    last_step bigint NOT NULL,
    weakness text DEFAULT '' NOT NULL,
    found_at timestamptz,
    CONSTRAINT pk_registry_key_search PRIMARY KEY (modulus_hash),
    CONSTRAINT ck_registry_key_search_weakness CHECK (weakness IN ('', 'small-factor', 'shared-prime'))
);
