SET check_function_bodies = false;
CREATE FUNCTION public.audit_archived_drop(highest bigint, most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
$$;
CREATE FUNCTION public.audit_open_writers() RETURNS TABLE(pid integer, role text, program text, begun timestamp with time zone, xid bigint)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT a.pid, a.usename::TEXT, a.application_name, a.xact_start, a.backend_xid::TEXT::BIGINT
    FROM pg_stat_activity a WHERE a.datname = current_database() AND a.backend_xid IS NOT NULL
$$;
CREATE FUNCTION public.audit_token_blocks_drop(highest bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
$$;
CREATE FUNCTION public.metrics_held_aa() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            IF NEW.aa_id IS NULL THEN
                NEW.aa_id := (SELECT aa_id FROM metrics_receipt WHERE receipt_id = NEW.receipt_id);
            END IF;
            RETURN NEW;
        END
        $$;
CREATE FUNCTION public.metrics_partition_drop(parent text, moment timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
$$;
CREATE FUNCTION public.metrics_partition_make(parent text, moment timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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
$$;
CREATE FUNCTION public.metrics_partition_name(parent text, moment timestamp with time zone) RETURNS text
    LANGUAGE sql STABLE
    AS $$
    SELECT parent || '_' || to_char(
        moment AT TIME ZONE 'UTC',
        CASE metrics_partition_unit(parent) WHEN 'day' THEN 'YYYYMMDD' ELSE 'YYYYMM' END
    )
$$;
CREATE FUNCTION public.metrics_partition_unit(parent text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
BEGIN
    IF parent IN ('metrics_raw', 'metrics_previous') THEN
        RETURN 'day';
    ELSIF parent IN ('metrics_hour', 'metrics_pair_hour') THEN
        RETURN 'month';
    END IF;
    RAISE EXCEPTION 'this table has no partitions';
END
$$;
CREATE TABLE public.address_change (
    user_id uuid NOT NULL,
    email text NOT NULL,
    requested_by text NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    token_hash bytea NOT NULL
);
CREATE TABLE public.address_failure (
    id bigint NOT NULL,
    address_key bytea NOT NULL,
    at timestamp with time zone NOT NULL
);
ALTER TABLE public.address_failure ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.address_failure_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.admin_invitation (
    invitation_id uuid NOT NULL,
    entity_id text NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    invited_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    token_hash bytea NOT NULL,
    ended_at timestamp with time zone,
    accepted boolean DEFAULT false NOT NULL
);
CREATE TABLE public.alarm_mail (
    user_id uuid NOT NULL,
    incident_id uuid NOT NULL,
    entity_id text NOT NULL,
    severity text NOT NULL,
    title text NOT NULL,
    text text NOT NULL,
    over boolean NOT NULL,
    notified_at timestamp with time zone,
    in_storm boolean DEFAULT false NOT NULL,
    due_at timestamp with time zone
);
CREATE TABLE public.alarm_preference (
    user_id uuid NOT NULL,
    time_zone text NOT NULL,
    quiet_from time without time zone,
    quiet_until time without time zone,
    breaks_quiet text,
    of_members text,
    of_network text,
    channel text DEFAULT 'email'::text NOT NULL,
    CONSTRAINT ck_alarm_preference_breaks_quiet CHECK ((breaks_quiet = ANY (ARRAY['minor'::text, 'major'::text, 'critical'::text]))),
    CONSTRAINT ck_alarm_preference_channel CHECK ((channel = ANY (ARRAY['email'::text, 'webhook'::text, 'both'::text, 'none'::text]))),
    CONSTRAINT ck_alarm_preference_of_members CHECK ((of_members = ANY (ARRAY['minor'::text, 'major'::text, 'critical'::text]))),
    CONSTRAINT ck_alarm_preference_of_network CHECK ((of_network = ANY (ARRAY['minor'::text, 'major'::text, 'critical'::text])))
);
CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.audit_anonymous (
    minute timestamp with time zone NOT NULL,
    address text NOT NULL,
    event text NOT NULL,
    reason text NOT NULL,
    outcome text NOT NULL,
    count bigint NOT NULL,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    txn_id text NOT NULL
);
CREATE TABLE public.audit_archive (
    until bigint NOT NULL,
    epoch integer NOT NULL,
    head bytea NOT NULL,
    sealed_at timestamp with time zone NOT NULL,
    last_block bigint NOT NULL,
    name text NOT NULL,
    sha256 text NOT NULL,
    at timestamp with time zone NOT NULL,
    mac bytea NOT NULL
);
CREATE TABLE public.audit_checkpoint (
    epoch integer NOT NULL,
    count bigint NOT NULL,
    head bytea NOT NULL,
    at timestamp with time zone NOT NULL,
    mac bytea NOT NULL
);
CREATE TABLE public.audit_epoch (
    number integer NOT NULL,
    cluster text NOT NULL,
    found bigint NOT NULL,
    after bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    confirmed_by text NOT NULL,
    mac bytea NOT NULL
);
CREATE TABLE public.audit_event (
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    event text NOT NULL,
    outcome text NOT NULL,
    actor text NOT NULL,
    entity_id text NOT NULL,
    address text NOT NULL,
    txn_id text NOT NULL,
    reason text NOT NULL,
    detail jsonb NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL
);
ALTER TABLE public.audit_event ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_event_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.audit_seal (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    epoch integer NOT NULL,
    hash bytea NOT NULL
);
CREATE TABLE public.audit_token_block (
    number bigint NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    entities text[] NOT NULL,
    marks integer[] NOT NULL,
    data bytea NOT NULL
);
ALTER TABLE ONLY public.audit_token_block ALTER COLUMN marks SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.audit_token_block ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE TABLE public.audit_token_drop (
    until bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    mac bytea NOT NULL
);
CREATE TABLE public.audit_token_issue (
    seq bigint DEFAULT nextval('public.audit_event_seq_seq'::regclass) NOT NULL,
    at timestamp with time zone NOT NULL,
    entity_id text NOT NULL,
    address text NOT NULL,
    txn_id text NOT NULL,
    credential text NOT NULL,
    version integer NOT NULL,
    jtis text NOT NULL
);
CREATE TABLE public.console_session (
    key bytea NOT NULL,
    user_id uuid NOT NULL,
    csrf_token text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone NOT NULL,
    proven_at timestamp with time zone NOT NULL,
    address text NOT NULL,
    stage text NOT NULL,
    CONSTRAINT ck_console_session_stage CHECK ((stage = ANY (ARRAY['full'::text, 'code'::text, 'enroll'::text])))
);
CREATE TABLE public.email_link (
    token_hash bytea NOT NULL,
    user_id uuid NOT NULL,
    purpose text NOT NULL,
    address text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    voided_at timestamp with time zone
);
CREATE TABLE public.entity (
    entity_id text NOT NULL,
    type text NOT NULL,
    name text NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    membership text DEFAULT 'active'::text NOT NULL,
    tokens_not_before timestamp with time zone,
    address_binding text DEFAULT 'network'::text NOT NULL,
    address_exempt boolean DEFAULT false NOT NULL,
    CONSTRAINT ck_entity_address_binding CHECK ((address_binding = ANY (ARRAY['network'::text, 'watch'::text, 'enforce'::text]))),
    CONSTRAINT ck_entity_membership CHECK ((membership = ANY (ARRAY['active'::text, 'suspended'::text, 'retired'::text]))),
    CONSTRAINT ck_entity_status CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text, 'retired'::text]))),
    CONSTRAINT ck_entity_type CHECK ((type = ANY (ARRAY['FIP'::text, 'FIU'::text, 'AA'::text])))
);
CREATE TABLE public.entity_admin (
    entity_id text NOT NULL,
    user_id uuid NOT NULL,
    since timestamp with time zone NOT NULL
);
CREATE TABLE public.entity_contact (
    entity_id text NOT NULL,
    email text NOT NULL,
    phone text DEFAULT ''::text NOT NULL,
    since timestamp with time zone NOT NULL
);
CREATE TABLE public.entity_secret (
    entity_id text NOT NULL,
    version integer NOT NULL,
    state text NOT NULL,
    mac bytea NOT NULL,
    sealed bytea,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    grace_until timestamp with time zone,
    grace_days smallint DEFAULT '0'::smallint NOT NULL,
    CONSTRAINT ck_entity_secret_expiry CHECK ((expires_at <= (created_at + '180 days'::interval))),
    CONSTRAINT ck_entity_secret_grace_days CHECK (((grace_days >= 0) AND (grace_days <= 7))),
    CONSTRAINT ck_entity_secret_state CHECK ((state = ANY (ARRAY['current'::text, 'grace'::text, 'ended'::text])))
);
CREATE TABLE public.followed_fip (
    entity_id text NOT NULL,
    fip_id text NOT NULL
);
CREATE TABLE public.handover (
    aa_id text NOT NULL,
    handover_id uuid NOT NULL,
    noted_at timestamp with time zone NOT NULL,
    body bytea NOT NULL
);
CREATE TABLE public.handover_done (
    handover_id uuid NOT NULL,
    done_at timestamp with time zone NOT NULL
);
CREATE TABLE public.health_silence (
    silence_id uuid NOT NULL,
    entity_id text NOT NULL,
    type text NOT NULL,
    begins timestamp with time zone NOT NULL,
    ends timestamp with time zone NOT NULL,
    reason text NOT NULL,
    made_by text NOT NULL,
    peer_id text DEFAULT ''::text NOT NULL,
    maintenance boolean DEFAULT false NOT NULL,
    ended_by text DEFAULT ''::text NOT NULL
);
CREATE TABLE public.health_webhook (
    webhook_id uuid NOT NULL,
    entity_id text NOT NULL,
    url text NOT NULL,
    sealed_secret bytea NOT NULL,
    made_by text NOT NULL,
    made_at timestamp with time zone NOT NULL,
    delivered_at timestamp with time zone,
    problem text DEFAULT ''::text NOT NULL,
    fips text[] DEFAULT '{}'::text[] NOT NULL,
    format text DEFAULT 'standard'::text NOT NULL,
    user_id uuid,
    sealed_previous bytea,
    previous_until timestamp with time zone,
    CONSTRAINT ck_health_webhook_format CHECK ((format = ANY (ARRAY['standard'::text, 'slack'::text, 'teams'::text]))),
    CONSTRAINT ck_health_webhook_owner CHECK (((user_id IS NULL) OR (entity_id = ''::text)))
);
CREATE TABLE public.incident_act (
    incident_id uuid NOT NULL,
    number integer NOT NULL,
    at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    kind text NOT NULL,
    text text NOT NULL,
    owner text NOT NULL
);
CREATE TABLE public.job_run (
    name text NOT NULL,
    slot timestamp with time zone,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    error text DEFAULT ''::text NOT NULL
);
CREATE TABLE public.key_fetch (
    kid text NOT NULL,
    entity_id text NOT NULL,
    count bigint NOT NULL,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL
);
CREATE TABLE public.link_request (
    request_id uuid NOT NULL,
    sealed_name bytea NOT NULL,
    address text NOT NULL,
    txn_id text NOT NULL,
    asked_at timestamp with time zone NOT NULL
);
CREATE TABLE public.local_sign_in (
    user_id uuid NOT NULL,
    until timestamp with time zone NOT NULL
);
CREATE TABLE public.mail_alarm (
    mail_id uuid NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.mail_outbox (
    mail_id uuid NOT NULL,
    recipient text NOT NULL,
    subject text NOT NULL,
    sealed_email bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    sent_at timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone,
    last_error text,
    taken_until timestamp with time zone
);
CREATE TABLE public.metrics_attribution (
    window_at timestamp with time zone NOT NULL,
    journal bytea NOT NULL
);
CREATE TABLE public.metrics_day (
    at timestamp with time zone NOT NULL,
    aa_id text NOT NULL,
    tag text NOT NULL,
    fip_id text NOT NULL,
    type text NOT NULL,
    blocks integer NOT NULL,
    counts bigint[] NOT NULL,
    statuses bigint[] NOT NULL,
    data_bytes numeric NOT NULL,
    distribution bytea NOT NULL,
    longest bigint NOT NULL
);
CREATE TABLE public.metrics_fip_state (
    window_at timestamp with time zone NOT NULL,
    counts bytea NOT NULL,
    states bytea NOT NULL
);
CREATE TABLE public.metrics_held (
    receipt_id uuid NOT NULL,
    rows bytea NOT NULL,
    doubt text NOT NULL,
    claimed numeric NOT NULL,
    plausible numeric NOT NULL,
    state text NOT NULL,
    decided_by text DEFAULT ''::text NOT NULL,
    decided_at timestamp with time zone,
    aa_id text NOT NULL,
    CONSTRAINT ck_metrics_held_state CHECK ((state = ANY (ARRAY['waiting'::text, 'admitted'::text, 'refused'::text])))
);
CREATE TABLE public.metrics_hour (
    at timestamp with time zone NOT NULL,
    aa_id text NOT NULL,
    tag text NOT NULL,
    fip_id text NOT NULL,
    type text NOT NULL,
    blocks integer NOT NULL,
    counts bigint[] NOT NULL,
    statuses bigint[] NOT NULL,
    data_bytes numeric NOT NULL,
    distribution bytea NOT NULL,
    longest bigint NOT NULL
)
PARTITION BY RANGE (at);
CREATE TABLE public.metrics_incident (
    incident_id uuid NOT NULL,
    kind text NOT NULL,
    entity_id text NOT NULL,
    type text NOT NULL,
    began timestamp with time zone NOT NULL,
    last_bad timestamp with time zone NOT NULL,
    ended timestamp with time zone,
    ending text NOT NULL,
    bad_windows integer NOT NULL,
    succeeded bigint NOT NULL,
    eligible bigint NOT NULL,
    peer_id text DEFAULT ''::text NOT NULL,
    refused boolean NOT NULL,
    detected timestamp with time zone NOT NULL,
    cause jsonb NOT NULL,
    timeline jsonb NOT NULL,
    recipients text[] NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    acknowledged_by text,
    acknowledged_at timestamp with time zone,
    notified boolean DEFAULT true NOT NULL,
    escalated_at timestamp with time zone,
    decision text,
    decided_at timestamp with time zone,
    CONSTRAINT ck_metrics_incident_decision CHECK ((decision = ANY (ARRAY['closed'::text, 'reopened'::text])))
);
CREATE TABLE public.metrics_pair_day (
    at timestamp with time zone NOT NULL,
    type text NOT NULL,
    aa_id text NOT NULL,
    fip_id text NOT NULL,
    total bigint NOT NULL,
    succeeded bigint NOT NULL,
    client_errors bigint NOT NULL,
    answered bigint NOT NULL,
    soon_lower bigint NOT NULL,
    soon_upper bigint NOT NULL,
    soon_estimate bigint NOT NULL,
    longest bigint NOT NULL
);
CREATE TABLE public.metrics_pair_hour (
    at timestamp with time zone NOT NULL,
    type text NOT NULL,
    aa_id text NOT NULL,
    fip_id text NOT NULL,
    total bigint NOT NULL,
    succeeded bigint NOT NULL,
    client_errors bigint NOT NULL,
    answered bigint NOT NULL,
    soon_lower bigint NOT NULL,
    soon_upper bigint NOT NULL,
    soon_estimate bigint NOT NULL,
    longest bigint NOT NULL
)
PARTITION BY RANGE (at);
CREATE TABLE public.metrics_previous (
    window_at timestamp with time zone NOT NULL,
    aa_id text NOT NULL,
    tag text NOT NULL,
    fip_id text NOT NULL,
    type text NOT NULL,
    version integer NOT NULL,
    counts bigint[] NOT NULL,
    pxx bigint[],
    status bigint[],
    data_bytes numeric
)
PARTITION BY RANGE (window_at);
CREATE TABLE public.metrics_push (
    aa_id text NOT NULL,
    txn_id text NOT NULL,
    receipt_id uuid NOT NULL
);
CREATE TABLE public.metrics_raw (
    window_at timestamp with time zone NOT NULL,
    aa_id text NOT NULL,
    tag text NOT NULL,
    fip_id text NOT NULL,
    type text NOT NULL,
    counts bigint[] NOT NULL,
    pxx bigint[],
    status bigint[],
    data_bytes numeric
)
PARTITION BY RANGE (window_at);
CREATE TABLE public.metrics_receipt (
    receipt_id uuid NOT NULL,
    aa_id text NOT NULL,
    tag text NOT NULL,
    window_at timestamp with time zone NOT NULL,
    version integer NOT NULL,
    txn_id text NOT NULL,
    content_hash bytea NOT NULL,
    received_at timestamp with time zone NOT NULL,
    blocks integer NOT NULL,
    findings jsonb NOT NULL,
    calls numeric DEFAULT '0'::numeric NOT NULL
);
CREATE TABLE public.metrics_received (
    at timestamp with time zone NOT NULL,
    aa_id text NOT NULL,
    tag text NOT NULL,
    windows integer NOT NULL
);
CREATE TABLE public.metrics_refused (
    id bigint NOT NULL,
    aa_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    total integer NOT NULL,
    findings jsonb NOT NULL
);
ALTER TABLE public.metrics_refused ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.metrics_refused_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.metrics_stale (
    id bigint NOT NULL,
    grain text NOT NULL,
    aa_id text NOT NULL,
    tag text NOT NULL,
    at timestamp with time zone NOT NULL,
    noted_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ck_metrics_stale_grain CHECK ((grain = ANY (ARRAY['window'::text, 'hour'::text, 'day'::text])))
);
ALTER TABLE public.metrics_stale ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.metrics_stale_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.metrics_window_calls (
    window_at timestamp with time zone NOT NULL,
    calls bytea NOT NULL
);
CREATE TABLE public.node (
    node_id uuid NOT NULL,
    proven_at timestamp with time zone NOT NULL
);
CREATE TABLE public.operator_scope (
    user_id uuid NOT NULL,
    scope text NOT NULL,
    since timestamp with time zone NOT NULL,
    CONSTRAINT ck_operator_scope_scope CHECK ((scope = ANY (ARRAY['members'::text, 'registry'::text, 'health'::text, 'keys'::text, 'audit'::text])))
);
CREATE TABLE public.passkey (
    passkey_id uuid NOT NULL,
    user_id uuid NOT NULL,
    name text NOT NULL,
    credential_id bytea NOT NULL,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone
);
CREATE TABLE public.passkey_challenge (
    holder bytea NOT NULL,
    purpose text NOT NULL,
    value bytea NOT NULL,
    address text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_passkey_challenge_purpose CHECK ((purpose = ANY (ARRAY['add'::text, 'prove'::text, 'sign-in'::text])))
);
CREATE TABLE public.recovery_code (
    user_id uuid NOT NULL,
    code_mac bytea NOT NULL
);
CREATE TABLE public.registry_change (
    sequence bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    type text,
    entity_id text NOT NULL,
    body bytea
);
CREATE TABLE public.registry_entity (
    entity_id text NOT NULL,
    type text NOT NULL,
    status text NOT NULL,
    CONSTRAINT ck_registry_entity_status CHECK ((status = ANY (ARRAY['unlisted'::text, 'live'::text, 'suspended'::text, 'retired'::text]))),
    CONSTRAINT ck_registry_entity_type CHECK ((type = ANY (ARRAY['FIP'::text, 'FIU'::text, 'AA'::text])))
);
CREATE TABLE public.registry_probe (
    probe_id uuid NOT NULL,
    entity_id text NOT NULL,
    version integer NOT NULL,
    requested_by text NOT NULL,
    requested_address text NOT NULL,
    txn_id text NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    done_at timestamp with time zone,
    result jsonb
);
CREATE TABLE public.registry_version (
    entity_id text NOT NULL,
    number integer NOT NULL,
    body bytea NOT NULL,
    entityhandle text NOT NULL,
    kid text NOT NULL,
    thumbprint text NOT NULL,
    modulus_hash text NOT NULL,
    bits integer NOT NULL,
    status text NOT NULL,
    submitted_by text NOT NULL,
    submitted_at timestamp with time zone NOT NULL,
    submitted_person text NOT NULL,
    decided_by text NOT NULL,
    decided_at timestamp with time zone,
    reason text NOT NULL,
    goes_live_at timestamp with time zone,
    live_from timestamp with time zone,
    live_until timestamp with time zone,
    equal_to integer NOT NULL,
    CONSTRAINT ck_registry_version_status CHECK ((status = ANY (ARRAY['submitted'::text, 'approved'::text, 'live'::text, 'rejected'::text, 'withdrawn'::text, 'superseded'::text])))
);
CREATE TABLE public.registry_word (
    number bigint NOT NULL,
    kind text NOT NULL,
    word text NOT NULL,
    variants jsonb NOT NULL,
    added_by text NOT NULL,
    added_at timestamp with time zone NOT NULL
);
ALTER TABLE public.registry_word ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.registry_word_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.registry_write (
    number bigint NOT NULL,
    requester text NOT NULL,
    at timestamp with time zone NOT NULL
);
ALTER TABLE public.registry_write ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.registry_write_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.revoked_entity_token (
    jti text NOT NULL,
    entity_id text NOT NULL,
    revoked_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.sandbox_fault (
    fault_id uuid NOT NULL,
    entity_id text NOT NULL,
    kind text NOT NULL,
    seconds integer NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    set_by text NOT NULL,
    by_operator boolean NOT NULL,
    kid text NOT NULL,
    public_jwk jsonb,
    sealed_private bytea
);
CREATE TABLE public.sealed_key (
    name text NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.secret_reminder (
    entity_id text NOT NULL,
    version integer NOT NULL,
    mark smallint NOT NULL,
    done_at timestamp with time zone NOT NULL,
    sent boolean NOT NULL
);
CREATE TABLE public.secret_use (
    entity_id text NOT NULL,
    version integer NOT NULL,
    address text NOT NULL,
    count bigint NOT NULL,
    count_in_grace bigint NOT NULL,
    last_used_at timestamp with time zone NOT NULL
);
CREATE TABLE public.service_fact (
    name text NOT NULL,
    value text NOT NULL
);
CREATE TABLE public.sign_in_success (
    id bigint NOT NULL,
    account_key bytea NOT NULL,
    address_key bytea NOT NULL,
    at timestamp with time zone NOT NULL
);
ALTER TABLE public.sign_in_success ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.sign_in_success_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.sign_in_wait (
    id bigint NOT NULL,
    user_id uuid,
    failures integer NOT NULL,
    last_failure_at timestamp with time zone NOT NULL
);
ALTER TABLE public.sign_in_wait ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.sign_in_wait_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.sign_on_attempt (
    holder bytea NOT NULL,
    state bytea NOT NULL,
    path text NOT NULL,
    address text NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.signing_key (
    kid text NOT NULL,
    kind text NOT NULL,
    public_jwk jsonb NOT NULL,
    sealed_private bytea,
    created_at timestamp with time zone NOT NULL,
    active_from timestamp with time zone,
    retires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    issuer text DEFAULT ''::text NOT NULL,
    CONSTRAINT ck_signing_key_imported CHECK (((issuer = ''::text) OR (sealed_private IS NULL)))
);
CREATE TABLE public.status_news (
    incident_id uuid NOT NULL,
    fip_id text NOT NULL,
    codes text NOT NULL,
    state text NOT NULL,
    began timestamp with time zone NOT NULL,
    ended timestamp with time zone,
    at timestamp with time zone NOT NULL,
    after uuid,
    done boolean NOT NULL,
    CONSTRAINT ck_status_news_state CHECK ((state = ANY (ARRAY['open'::text, 'over'::text])))
);
CREATE TABLE public.status_subscription (
    subscription_id uuid NOT NULL,
    email text NOT NULL,
    fip_id text NOT NULL,
    language text NOT NULL,
    token_hash bytea NOT NULL,
    sealed_token bytea NOT NULL,
    waits boolean NOT NULL,
    confirmations integer DEFAULT 0 NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    mailed_at timestamp with time zone,
    confirmed_at timestamp with time zone
);
CREATE TABLE public.throttle (
    account_key bytea NOT NULL,
    failures integer NOT NULL,
    last_failure_at timestamp with time zone
);
CREATE TABLE public.token_day (
    entity_id text NOT NULL,
    day date NOT NULL,
    count bigint NOT NULL
);
CREATE TABLE public.totp_factor (
    factor_id uuid NOT NULL,
    user_id uuid NOT NULL,
    sealed_secret bytea NOT NULL,
    confirmed boolean NOT NULL,
    last_step bigint NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.used_assertion (
    entity_id text NOT NULL,
    jti text NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.used_proof (
    proof_hash bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.user_account (
    user_id uuid NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    state text NOT NULL,
    password_hash text,
    created_at timestamp with time zone NOT NULL,
    password_set_at timestamp with time zone,
    language text DEFAULT ''::text NOT NULL,
    display_zone text DEFAULT 'browser'::text NOT NULL,
    CONSTRAINT ck_user_account_state CHECK ((state = ANY (ARRAY['invited'::text, 'active'::text, 'disabled'::text])))
);
CREATE TABLE public.user_token (
    jti uuid NOT NULL,
    user_id uuid NOT NULL,
    issued_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone
);
CREATE TABLE public.user_token_use (
    jti uuid NOT NULL,
    last_used_at timestamp with time zone NOT NULL,
    last_address text NOT NULL
);
CREATE TABLE public.webhook_attempt (
    message_id uuid NOT NULL,
    number integer NOT NULL,
    webhook_id uuid NOT NULL,
    event text NOT NULL,
    at timestamp with time zone NOT NULL,
    problem text NOT NULL
);
CREATE TABLE public.webhook_message (
    message_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    body bytea NOT NULL,
    made_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone NOT NULL,
    taken_until timestamp with time zone,
    event text DEFAULT ''::text NOT NULL
);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.address_change
    ADD CONSTRAINT pk_address_change PRIMARY KEY (user_id);
ALTER TABLE ONLY public.address_failure
    ADD CONSTRAINT pk_address_failure PRIMARY KEY (id);
ALTER TABLE ONLY public.admin_invitation
    ADD CONSTRAINT pk_admin_invitation PRIMARY KEY (invitation_id);
ALTER TABLE ONLY public.alarm_mail
    ADD CONSTRAINT pk_alarm_mail PRIMARY KEY (user_id, incident_id);
ALTER TABLE ONLY public.alarm_preference
    ADD CONSTRAINT pk_alarm_preference PRIMARY KEY (user_id);
ALTER TABLE ONLY public.audit_anonymous
    ADD CONSTRAINT pk_audit_anonymous PRIMARY KEY (minute, address, event, reason);
ALTER TABLE ONLY public.audit_archive
    ADD CONSTRAINT pk_audit_archive PRIMARY KEY (until);
ALTER TABLE ONLY public.audit_checkpoint
    ADD CONSTRAINT pk_audit_checkpoint PRIMARY KEY (epoch, count);
ALTER TABLE ONLY public.audit_epoch
    ADD CONSTRAINT pk_audit_epoch PRIMARY KEY (number);
ALTER TABLE ONLY public.audit_event
    ADD CONSTRAINT pk_audit_event PRIMARY KEY (seq);
ALTER TABLE ONLY public.audit_seal
    ADD CONSTRAINT pk_audit_seal PRIMARY KEY (number);
ALTER TABLE ONLY public.audit_token_block
    ADD CONSTRAINT pk_audit_token_block PRIMARY KEY (number);
ALTER TABLE ONLY public.audit_token_drop
    ADD CONSTRAINT pk_audit_token_drop PRIMARY KEY (until);
ALTER TABLE ONLY public.audit_token_issue
    ADD CONSTRAINT pk_audit_token_issue PRIMARY KEY (seq);
ALTER TABLE ONLY public.console_session
    ADD CONSTRAINT pk_console_session PRIMARY KEY (key);
ALTER TABLE ONLY public.email_link
    ADD CONSTRAINT pk_email_link PRIMARY KEY (token_hash);
ALTER TABLE ONLY public.entity
    ADD CONSTRAINT pk_entity PRIMARY KEY (entity_id);
ALTER TABLE ONLY public.entity_admin
    ADD CONSTRAINT pk_entity_admin PRIMARY KEY (entity_id, user_id);
ALTER TABLE ONLY public.entity_contact
    ADD CONSTRAINT pk_entity_contact PRIMARY KEY (entity_id);
ALTER TABLE ONLY public.entity_secret
    ADD CONSTRAINT pk_entity_secret PRIMARY KEY (entity_id, version);
ALTER TABLE ONLY public.followed_fip
    ADD CONSTRAINT pk_followed_fip PRIMARY KEY (entity_id, fip_id);
ALTER TABLE ONLY public.handover
    ADD CONSTRAINT pk_handover PRIMARY KEY (aa_id, handover_id);
ALTER TABLE ONLY public.handover_done
    ADD CONSTRAINT pk_handover_done PRIMARY KEY (handover_id);
ALTER TABLE ONLY public.health_silence
    ADD CONSTRAINT pk_health_silence PRIMARY KEY (silence_id);
ALTER TABLE ONLY public.health_webhook
    ADD CONSTRAINT pk_health_webhook PRIMARY KEY (webhook_id);
ALTER TABLE ONLY public.incident_act
    ADD CONSTRAINT pk_incident_act PRIMARY KEY (incident_id, number);
ALTER TABLE ONLY public.job_run
    ADD CONSTRAINT pk_job_run PRIMARY KEY (name);
ALTER TABLE ONLY public.key_fetch
    ADD CONSTRAINT pk_key_fetch PRIMARY KEY (kid, entity_id);
ALTER TABLE ONLY public.link_request
    ADD CONSTRAINT pk_link_request PRIMARY KEY (request_id);
ALTER TABLE ONLY public.local_sign_in
    ADD CONSTRAINT pk_local_sign_in PRIMARY KEY (user_id);
ALTER TABLE ONLY public.mail_alarm
    ADD CONSTRAINT pk_mail_alarm PRIMARY KEY (mail_id);
ALTER TABLE ONLY public.mail_outbox
    ADD CONSTRAINT pk_mail_outbox PRIMARY KEY (mail_id);
ALTER TABLE ONLY public.metrics_attribution
    ADD CONSTRAINT pk_metrics_attribution PRIMARY KEY (window_at);
ALTER TABLE ONLY public.metrics_day
    ADD CONSTRAINT pk_metrics_day PRIMARY KEY (aa_id, at, tag, fip_id, type);
ALTER TABLE ONLY public.metrics_fip_state
    ADD CONSTRAINT pk_metrics_fip_state PRIMARY KEY (window_at);
ALTER TABLE ONLY public.metrics_held
    ADD CONSTRAINT pk_metrics_held PRIMARY KEY (aa_id, receipt_id);
ALTER TABLE ONLY public.metrics_hour
    ADD CONSTRAINT pk_metrics_hour PRIMARY KEY (aa_id, at, tag, fip_id, type);
ALTER TABLE ONLY public.metrics_incident
    ADD CONSTRAINT pk_metrics_incident PRIMARY KEY (incident_id);
ALTER TABLE ONLY public.metrics_pair_day
    ADD CONSTRAINT pk_metrics_pair_day PRIMARY KEY (aa_id, at, type, fip_id);
ALTER TABLE ONLY public.metrics_pair_hour
    ADD CONSTRAINT pk_metrics_pair_hour PRIMARY KEY (aa_id, at, type, fip_id);
ALTER TABLE ONLY public.metrics_previous
    ADD CONSTRAINT pk_metrics_previous PRIMARY KEY (aa_id, window_at, tag, fip_id, type, version);
ALTER TABLE ONLY public.metrics_push
    ADD CONSTRAINT pk_metrics_push PRIMARY KEY (aa_id, txn_id);
ALTER TABLE ONLY public.metrics_raw
    ADD CONSTRAINT pk_metrics_raw PRIMARY KEY (aa_id, window_at, tag, fip_id, type);
ALTER TABLE ONLY public.metrics_receipt
    ADD CONSTRAINT pk_metrics_receipt PRIMARY KEY (aa_id, receipt_id);
ALTER TABLE ONLY public.metrics_received
    ADD CONSTRAINT pk_metrics_received PRIMARY KEY (aa_id, at, tag);
ALTER TABLE ONLY public.metrics_refused
    ADD CONSTRAINT pk_metrics_refused PRIMARY KEY (aa_id, id);
ALTER TABLE ONLY public.metrics_stale
    ADD CONSTRAINT pk_metrics_stale PRIMARY KEY (aa_id, id);
ALTER TABLE ONLY public.metrics_window_calls
    ADD CONSTRAINT pk_metrics_window_calls PRIMARY KEY (window_at);
ALTER TABLE ONLY public.node
    ADD CONSTRAINT pk_node PRIMARY KEY (node_id);
ALTER TABLE ONLY public.operator_scope
    ADD CONSTRAINT pk_operator_scope PRIMARY KEY (user_id, scope);
ALTER TABLE ONLY public.passkey
    ADD CONSTRAINT pk_passkey PRIMARY KEY (passkey_id);
ALTER TABLE ONLY public.passkey_challenge
    ADD CONSTRAINT pk_passkey_challenge PRIMARY KEY (holder, purpose);
ALTER TABLE ONLY public.recovery_code
    ADD CONSTRAINT pk_recovery_code PRIMARY KEY (user_id, code_mac);
ALTER TABLE ONLY public.registry_change
    ADD CONSTRAINT pk_registry_change PRIMARY KEY (sequence);
ALTER TABLE ONLY public.registry_entity
    ADD CONSTRAINT pk_registry_entity PRIMARY KEY (entity_id);
ALTER TABLE ONLY public.registry_probe
    ADD CONSTRAINT pk_registry_probe PRIMARY KEY (probe_id);
ALTER TABLE ONLY public.registry_version
    ADD CONSTRAINT pk_registry_version PRIMARY KEY (entity_id, number);
ALTER TABLE ONLY public.registry_word
    ADD CONSTRAINT pk_registry_word PRIMARY KEY (number);
ALTER TABLE ONLY public.registry_write
    ADD CONSTRAINT pk_registry_write PRIMARY KEY (number);
ALTER TABLE ONLY public.revoked_entity_token
    ADD CONSTRAINT pk_revoked_entity_token PRIMARY KEY (jti);
ALTER TABLE ONLY public.sandbox_fault
    ADD CONSTRAINT pk_sandbox_fault PRIMARY KEY (fault_id);
ALTER TABLE ONLY public.sealed_key
    ADD CONSTRAINT pk_sealed_key PRIMARY KEY (name);
ALTER TABLE ONLY public.secret_reminder
    ADD CONSTRAINT pk_secret_reminder PRIMARY KEY (entity_id, version, mark);
ALTER TABLE ONLY public.secret_use
    ADD CONSTRAINT pk_secret_use PRIMARY KEY (entity_id, version, address);
ALTER TABLE ONLY public.service_fact
    ADD CONSTRAINT pk_service_fact PRIMARY KEY (name);
ALTER TABLE ONLY public.sign_in_success
    ADD CONSTRAINT pk_sign_in_success PRIMARY KEY (id);
ALTER TABLE ONLY public.sign_in_wait
    ADD CONSTRAINT pk_sign_in_wait PRIMARY KEY (id);
ALTER TABLE ONLY public.sign_on_attempt
    ADD CONSTRAINT pk_sign_on_attempt PRIMARY KEY (holder);
ALTER TABLE ONLY public.signing_key
    ADD CONSTRAINT pk_signing_key PRIMARY KEY (kid);
ALTER TABLE ONLY public.status_news
    ADD CONSTRAINT pk_status_news PRIMARY KEY (incident_id);
ALTER TABLE ONLY public.status_subscription
    ADD CONSTRAINT pk_status_subscription PRIMARY KEY (subscription_id);
ALTER TABLE ONLY public.throttle
    ADD CONSTRAINT pk_throttle PRIMARY KEY (account_key);
ALTER TABLE ONLY public.token_day
    ADD CONSTRAINT pk_token_day PRIMARY KEY (entity_id, day);
ALTER TABLE ONLY public.totp_factor
    ADD CONSTRAINT pk_totp_factor PRIMARY KEY (factor_id);
ALTER TABLE ONLY public.used_assertion
    ADD CONSTRAINT pk_used_assertion PRIMARY KEY (entity_id, jti);
ALTER TABLE ONLY public.used_proof
    ADD CONSTRAINT pk_used_proof PRIMARY KEY (proof_hash);
ALTER TABLE ONLY public.user_account
    ADD CONSTRAINT pk_user_account PRIMARY KEY (user_id);
ALTER TABLE ONLY public.user_token
    ADD CONSTRAINT pk_user_token PRIMARY KEY (jti);
ALTER TABLE ONLY public.user_token_use
    ADD CONSTRAINT pk_user_token_use PRIMARY KEY (jti);
ALTER TABLE ONLY public.webhook_attempt
    ADD CONSTRAINT pk_webhook_attempt PRIMARY KEY (message_id, number);
ALTER TABLE ONLY public.webhook_message
    ADD CONSTRAINT pk_webhook_message PRIMARY KEY (message_id);
ALTER TABLE ONLY public.address_change
    ADD CONSTRAINT uq_address_change_token_hash UNIQUE (token_hash);
ALTER TABLE ONLY public.admin_invitation
    ADD CONSTRAINT uq_admin_invitation_token_hash UNIQUE (token_hash);
ALTER TABLE ONLY public.audit_seal
    ADD CONSTRAINT uq_audit_seal_seq UNIQUE (seq);
ALTER TABLE ONLY public.metrics_receipt
    ADD CONSTRAINT uq_metrics_receipt_aa_id UNIQUE (aa_id, tag, window_at, version);
ALTER TABLE ONLY public.passkey
    ADD CONSTRAINT uq_passkey_credential_id UNIQUE (credential_id);
ALTER TABLE ONLY public.status_subscription
    ADD CONSTRAINT uq_status_subscription_email UNIQUE (email, fip_id);
ALTER TABLE ONLY public.status_subscription
    ADD CONSTRAINT uq_status_subscription_token_hash UNIQUE (token_hash);
ALTER TABLE ONLY public.totp_factor
    ADD CONSTRAINT uq_totp_factor_user_id UNIQUE (user_id, confirmed);
ALTER TABLE ONLY public.user_account
    ADD CONSTRAINT uq_user_account_email UNIQUE (email);
CREATE INDEX alarm_mail_waits ON public.alarm_mail USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX audit_event_written ON public.audit_event USING btree (xid, seq);
CREATE UNIQUE INDEX health_webhook_of_person ON public.health_webhook USING btree (user_id) WHERE (user_id IS NOT NULL);
CREATE INDEX ix_address_failure_key_at ON public.address_failure USING btree (address_key, at);
CREATE INDEX ix_admin_invitation_entity_id ON public.admin_invitation USING btree (entity_id);
CREATE INDEX ix_alarm_mail_notified_at ON public.alarm_mail USING btree (user_id, notified_at);
CREATE INDEX ix_audit_event_entity ON public.audit_event USING btree (entity_id, seq);
CREATE INDEX ix_audit_token_block_entities ON public.audit_token_block USING gin (entities) WITH (fastupdate=off);
CREATE INDEX ix_audit_token_block_last_seq ON public.audit_token_block USING btree (last_seq);
CREATE INDEX ix_console_session_user_id ON public.console_session USING btree (user_id);
CREATE INDEX ix_email_link_user_id ON public.email_link USING btree (user_id);
CREATE INDEX ix_entity_admin_user_id ON public.entity_admin USING btree (user_id);
CREATE INDEX ix_followed_fip_fip_id ON public.followed_fip USING btree (fip_id);
CREATE INDEX ix_handover_done_done_at ON public.handover_done USING btree (done_at);
CREATE INDEX ix_handover_noted_at ON public.handover USING btree (noted_at);
CREATE INDEX ix_health_silence_ends ON public.health_silence USING btree (ends);
CREATE INDEX ix_health_webhook_entity_id ON public.health_webhook USING btree (entity_id);
CREATE INDEX ix_link_request_asked_at ON public.link_request USING btree (asked_at);
CREATE INDEX ix_mail_outbox_created_at ON public.mail_outbox USING btree (created_at);
CREATE INDEX ix_metrics_day_at ON public.metrics_day USING btree (at);
CREATE INDEX ix_metrics_day_fip_id ON public.metrics_day USING btree (fip_id, at, aa_id);
CREATE INDEX ix_metrics_hour_at ON ONLY public.metrics_hour USING btree (at);
CREATE INDEX ix_metrics_hour_fip_id ON ONLY public.metrics_hour USING btree (fip_id, at, aa_id);
CREATE INDEX ix_metrics_incident_peer_id ON public.metrics_incident USING btree (peer_id);
CREATE INDEX ix_metrics_pair_day_at ON public.metrics_pair_day USING btree (at, type);
CREATE INDEX ix_metrics_pair_hour_at ON ONLY public.metrics_pair_hour USING btree (at, type);
CREATE INDEX ix_metrics_push_receipt_id ON public.metrics_push USING btree (aa_id, receipt_id);
CREATE INDEX ix_metrics_raw_window_at ON ONLY public.metrics_raw USING btree (window_at);
CREATE INDEX ix_metrics_receipt_receipt_id ON public.metrics_receipt USING btree (receipt_id);
CREATE INDEX ix_metrics_receipt_window ON public.metrics_receipt USING btree (window_at, aa_id, tag, version);
CREATE INDEX ix_metrics_received_at ON public.metrics_received USING btree (at);
CREATE INDEX ix_metrics_refused_aa_id ON public.metrics_refused USING btree (aa_id, at);
CREATE INDEX ix_metrics_stale_at ON public.metrics_stale USING btree (at);
CREATE INDEX ix_metrics_stale_id ON public.metrics_stale USING btree (id);
CREATE INDEX ix_passkey_challenge_expires_at ON public.passkey_challenge USING btree (expires_at);
CREATE INDEX ix_passkey_user_id ON public.passkey USING btree (user_id);
CREATE INDEX ix_registry_change_at ON public.registry_change USING btree (at);
CREATE INDEX ix_registry_probe_entity_id ON public.registry_probe USING btree (entity_id);
CREATE INDEX ix_registry_probe_requested_at ON public.registry_probe USING btree (requested_at);
CREATE INDEX ix_registry_version_entityhandle ON public.registry_version USING btree (entityhandle);
CREATE INDEX ix_registry_version_kid ON public.registry_version USING btree (kid);
CREATE INDEX ix_registry_version_modulus_hash ON public.registry_version USING btree (modulus_hash);
CREATE INDEX ix_revoked_entity_token_expires_at ON public.revoked_entity_token USING btree (expires_at);
CREATE INDEX ix_sandbox_fault_ends_at ON public.sandbox_fault USING btree (ends_at);
CREATE INDEX ix_sandbox_fault_entity_id ON public.sandbox_fault USING btree (entity_id);
CREATE INDEX ix_sign_in_success_account_key_at ON public.sign_in_success USING btree (account_key, at);
CREATE INDEX ix_sign_on_attempt_expires_at ON public.sign_on_attempt USING btree (expires_at);
CREATE INDEX ix_status_subscription_asked ON public.status_subscription USING btree (asked_at);
CREATE INDEX ix_status_subscription_fip ON public.status_subscription USING btree (fip_id, subscription_id);
CREATE INDEX ix_used_assertion_expires_at ON public.used_assertion USING btree (expires_at);
CREATE INDEX ix_used_proof_expires_at ON public.used_proof USING btree (expires_at);
CREATE INDEX ix_user_token_user_id ON public.user_token USING btree (user_id);
CREATE INDEX ix_webhook_attempt_webhook_id ON public.webhook_attempt USING btree (webhook_id, at);
CREATE INDEX ix_webhook_message_next_attempt_at ON public.webhook_message USING btree (next_attempt_at);
CREATE INDEX ix_webhook_message_webhook_id ON public.webhook_message USING btree (webhook_id);
CREATE INDEX mail_unsent ON public.mail_outbox USING btree (next_attempt_at) WHERE (sent_at IS NULL);
CREATE UNIQUE INDEX metrics_incident_once ON public.metrics_incident USING btree (entity_id, peer_id, began, kind, type, refused) WHERE (ending <> 'withdrawn'::text);
CREATE INDEX metrics_incident_open ON public.metrics_incident USING btree (began) WHERE (ended IS NULL);
CREATE INDEX metrics_incident_reopened ON public.metrics_incident USING btree (began) WHERE (decision = 'reopened'::text);
CREATE UNIQUE INDEX one_current_secret ON public.entity_secret USING btree (entity_id) WHERE (state = 'current'::text);
CREATE UNIQUE INDEX one_grace_secret ON public.entity_secret USING btree (entity_id) WHERE (state = 'grace'::text);
CREATE UNIQUE INDEX one_live_version ON public.registry_version USING btree (entity_id) WHERE (status = 'live'::text);
CREATE UNIQUE INDEX one_pending_version ON public.registry_version USING btree (entity_id) WHERE (status = ANY (ARRAY['submitted'::text, 'approved'::text]));
CREATE INDEX registry_change_marker ON public.registry_change USING btree (sequence) WHERE (type IS NULL);
CREATE INDEX registry_version_due ON public.registry_version USING btree (goes_live_at) WHERE (status = 'approved'::text);
CREATE INDEX registry_write_of ON public.registry_write USING btree (requester, at);
CREATE TRIGGER metrics_held_aa BEFORE INSERT ON public.metrics_held FOR EACH ROW EXECUTE FUNCTION public.metrics_held_aa();
ALTER TABLE ONLY public.address_change
    ADD CONSTRAINT fk_address_change_user_id FOREIGN KEY (user_id) REFERENCES public.user_account(user_id);
ALTER TABLE ONLY public.admin_invitation
    ADD CONSTRAINT fk_admin_invitation_entity_id FOREIGN KEY (entity_id) REFERENCES public.entity(entity_id);
ALTER TABLE ONLY public.alarm_mail
    ADD CONSTRAINT fk_alarm_mail_user_id FOREIGN KEY (user_id) REFERENCES public.user_account(user_id);
ALTER TABLE ONLY public.alarm_preference
    ADD CONSTRAINT fk_alarm_preference_user_id FOREIGN KEY (user_id) REFERENCES public.user_account(user_id);
ALTER TABLE ONLY public.audit_seal
    ADD CONSTRAINT fk_audit_seal_seq FOREIGN KEY (seq) REFERENCES public.audit_event(seq);
ALTER TABLE ONLY public.console_session
    ADD CONSTRAINT fk_console_session_user_id FOREIGN KEY (user_id) REFERENCES public.user_account(user_id);
ALTER TABLE ONLY public.email_link
    ADD CONSTRAINT fk_email_link_user_id FOREIGN KEY (user_id) REFERENCES public.user_account(user_id);
ALTER TABLE ONLY public.entity_admin
    ADD CONSTRAINT fk_entity_admin_entity_id FOREIGN KEY (entity_id) REFERENCES public.entity(entity_id);
ALTER TABLE ONLY public.entity_admin
    ADD CONSTRAINT fk_entity_admin_user_id FOREIGN KEY (user_id) REFERENCES public.user_account(user_id);
ALTER TABLE ONLY public.entity_contact
    ADD CONSTRAINT fk_entity_contact_entity_id FOREIGN KEY (entity_id) REFERENCES public.entity(entity_id);
ALTER TABLE ONLY public.entity_secret
    ADD CONSTRAINT fk_entity_secret_entity_id FOREIGN KEY (entity_id) REFERENCES public.entity(entity_id);
ALTER TABLE ONLY public.followed_fip
    ADD CONSTRAINT fk_followed_fip_entity_id FOREIGN KEY (entity_id) REFERENCES public.entity(entity_id);
ALTER TABLE ONLY public.health_webhook
    ADD CONSTRAINT fk_health_webhook_user_id FOREIGN KEY (user_id) REFERENCES public.user_account(user_id);
ALTER TABLE ONLY public.incident_act
    ADD CONSTRAINT fk_incident_act_incident_id FOREIGN KEY (incident_id) REFERENCES public.metrics_incident(incident_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.key_fetch
    ADD CONSTRAINT fk_key_fetch_kid FOREIGN KEY (kid) REFERENCES public.signing_key(kid);
ALTER TABLE ONLY public.local_sign_in
    ADD CONSTRAINT fk_local_sign_in_user_id FOREIGN KEY (user_id) REFERENCES public.user_account(user_id);
ALTER TABLE ONLY public.mail_alarm
    ADD CONSTRAINT fk_mail_alarm_mail_id FOREIGN KEY (mail_id) REFERENCES public.mail_outbox(mail_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.metrics_held
    ADD CONSTRAINT fk_metrics_held_aa_id FOREIGN KEY (aa_id, receipt_id) REFERENCES public.metrics_receipt(aa_id, receipt_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.metrics_push
    ADD CONSTRAINT fk_metrics_push_aa_id FOREIGN KEY (aa_id, receipt_id) REFERENCES public.metrics_receipt(aa_id, receipt_id);
ALTER TABLE ONLY public.operator_scope
    ADD CONSTRAINT fk_operator_scope_user_id FOREIGN KEY (user_id) REFERENCES public.user_account(user_id);
ALTER TABLE ONLY public.passkey
    ADD CONSTRAINT fk_passkey_user_id FOREIGN KEY (user_id) REFERENCES public.user_account(user_id);
ALTER TABLE ONLY public.recovery_code
    ADD CONSTRAINT fk_recovery_code_user_id FOREIGN KEY (user_id) REFERENCES public.user_account(user_id);
ALTER TABLE ONLY public.registry_probe
    ADD CONSTRAINT fk_registry_probe_entity_id FOREIGN KEY (entity_id) REFERENCES public.registry_entity(entity_id);
ALTER TABLE ONLY public.registry_version
    ADD CONSTRAINT fk_registry_version_entity_id FOREIGN KEY (entity_id) REFERENCES public.registry_entity(entity_id);
ALTER TABLE ONLY public.sandbox_fault
    ADD CONSTRAINT fk_sandbox_fault_entity_id FOREIGN KEY (entity_id) REFERENCES public.entity(entity_id);
ALTER TABLE ONLY public.secret_reminder
    ADD CONSTRAINT fk_secret_reminder_entity_id FOREIGN KEY (entity_id) REFERENCES public.entity(entity_id);
ALTER TABLE ONLY public.totp_factor
    ADD CONSTRAINT fk_totp_factor_user_id FOREIGN KEY (user_id) REFERENCES public.user_account(user_id);
ALTER TABLE ONLY public.user_token_use
    ADD CONSTRAINT fk_user_token_use_jti FOREIGN KEY (jti) REFERENCES public.user_token(jti) ON DELETE CASCADE;
ALTER TABLE ONLY public.user_token
    ADD CONSTRAINT fk_user_token_user_id FOREIGN KEY (user_id) REFERENCES public.user_account(user_id);
ALTER TABLE ONLY public.webhook_attempt
    ADD CONSTRAINT fk_webhook_attempt_webhook_id FOREIGN KEY (webhook_id) REFERENCES public.health_webhook(webhook_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.webhook_message
    ADD CONSTRAINT fk_webhook_message_webhook_id FOREIGN KEY (webhook_id) REFERENCES public.health_webhook(webhook_id) ON DELETE CASCADE;
SET check_function_bodies = false;
INSERT INTO public.alembic_version VALUES ('0011');
