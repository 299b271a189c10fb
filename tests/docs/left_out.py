"""Blocks that the tests of documents leave out: run by another test, or by none, and why.

A block is named by its document and first line; tests/docs/test_every_block.py compares this.
"""

from collections.abc import Iterator
from typing import Final

from tests.support.documents.blocks import Block

_RESTORE: Final = "faults/test_backup_and_restore.py::test_the_how_to_is_followed_word_by_word"
_TWO_DATABASES: Final = (
    "faults/test_metrics_apart_how_to.py::test_the_page_is_followed_word_by_word"
)
_CHARTS: Final = (
    "unit/deploy/test_helm_charts.py::test_helm_lints_and_renders_a_chart_that_kubernetes_takes"
)
_SET_UP: Final = "cli/test_setup.py::test_a_machine_is_ready_to_start"
_EXPORT: Final = (
    "faults/test_audit_export.py::"
    "test_rsyslog_gets_every_event_once_in_order_and_as_the_schema_has_it"
)
_WAY: Final = "unit/deploy/test_helm_charts.py::test_each_pod_has_the_authority_that_addresses_name"
_DUMP: Final = "security/test_audit_after_restore.py::test_a_dump_restored_to_another_cluster"
_RECOVERY: Final = "faults/test_recovery_to_a_time.py::test_a_lost_machine_and_a_chosen_moment"
_RECOVERY_ON_PATRONI: Final = (
    "faults/test_recovery_on_patroni.py::test_a_chosen_moment_comes_back_on_three_machines"
)
_FAIL_OVER: Final = "faults/test_patroni.py::test_nothing_acknowledged_is_lost_or_doubled"
_SETTINGS: Final = "docs/test_every_block.py::test_settings_of_documents_are_accepted"
_ERRORS: Final = "docs/test_samples.py::test_the_error_of_the_reference_is_what_a_service_answers"
_INSTALLED: Final = "upgrade/test_release_files.py::test_it_is_installed_and_upgraded_by_the_page"
_INSTALLED_BY_MEMBER: Final = (
    "upgrade/test_release_files.py::test_a_member_installs_by_the_page_and_adds_an_extra"
)
_LIBRARY: Final = "docs/test_samples.py::test_the_samples_of_the_client_library_work"
_FRAMEWORKS: Final = (
    "conformance/test_frameworks.py::test_a_framework_lets_members_in_and_no_one_else"
)
_EVENTS: Final = "docs/test_agent_pages.py::test_the_samples_of_the_sources_are_counted"
_PAYLOADS: Final = (
    "docs/test_agent_pages.py::test_the_examples_of_the_payloads_are_taken_without_a_note"
)
_YEAR: Final = "cli/test_metrics_export.py::test_a_year_is_one_file_that_one_line_reads"
_FUNNEL: Final = "http/comparison/test_funnel.py::test_the_commands_of_the_guide_are_answered"
_PROXIES: Final = (
    "conformance/test_proxy_logs.py::test_a_status_counts_where_the_real_proxy_proves_it"
)
_NOTICES: Final = (
    "conformance/test_proxy_logs.py::test_a_notification_that_a_real_proxy_logs_is_counted"
)
_LISTEN: Final = (
    "http/health/test_webhook_events.py::"
    "test_listen_forwards_new_events_signed_with_a_key_of_its_own"
)
_ADDED: Final = "docs/test_webhook_receivers.py::test_a_webhook_is_added_by_the_call_of_the_page"
_CLAIMS: Final = "docs/test_samples.py::test_the_claims_of_the_reference_are_those_of_a_token"
_DISPUTE: Final = (
    "cli/test_dispute_commands.py::test_a_day_is_contested_answered_and_decided_by_command"
)
_CHANGED: Final = (
    "http/account/test_timeline.py::"
    "test_what_changed_before_an_incident_is_ranked_and_hides_others_secrets"
)
_BAD_DAY: Final = "cli/test_bad_day_guide.py::test_each_command_of_the_guide_is_answered"
_LEVELS: Final = "cli/test_levels_guide.py::test_the_commands_of_the_guide_are_answered"

BY_ANOTHER_TEST: Final = {
    "docs/how-to/service-levels.md": {
        'MONTH=$(date -d "$(date +%Y-%m-01) -1 day" +%Y-%m)': _LEVELS,
        "mudra report make KAVERI-FIP --from $FROM --to $TO": _LEVELS,
        "mudra report targets": _LEVELS,
        'mudra report set-rule --publish --since 2030-04-01 --reason "decision of the board"': _LEVELS,
        "mudra report budgets": _LEVELS,
        "mudra report own KAVERI-FIP": _LEVELS,
        "curl --output jwks.json https://tokens.network.example/iam/.well-known/jwks.json": _LEVELS,
    },
    "docs/reference/webhooks.md": {
        'curl -sS --fail-with-body "$ROOT/metrics/perf/v1/webhooks" \\': _ADDED,
    },
    "docs/how-to/monitor-the-network.md": {"mudra webhook events --entity KAVERI-FIP": _LISTEN},
    "docs/how-to/dispute-a-figure.md": {
        "DAY=$(date -u -d '2 days ago' +%Y-%m-%d)": _BAD_DAY,
        'mudra dispute raise KAVERI-FIP --day $DAY --text "Our gateway answered all calls of this day."': (
            _DISPUTE
        ),
        'curl -sS --fail-with-body "$ROOT/iam/v1/entity/disputes" -H "Authorization: Bearer $USER_TOKEN" \\': (
            _BAD_DAY
        ),
        "# Read it": _DISPUTE,
    },
    "docs/how-to/read-a-bad-day.md": dict.fromkeys(
        (
            'curl -sS --fail-with-body -G "$ROOT/metrics/perf/v1/health" -H "Authorization: Bearer $ENTITY_TOKEN" \\',
            "mudra entity health KAVERI-FIP --days 3",
            'curl -sS --fail-with-body "$ROOT/metrics/perf/v1/incidents" -H "Authorization: Bearer $ENTITY_TOKEN"',
            "mudra timeline own KAVERI-FIP --from 2026-11-26T00:00:00Z --to 2026-11-27T18:30:00Z",
            "mudra report make-own KAVERI-FIP --from 2026-11-26T18:30:00Z --to 2026-11-27T18:30:00Z",
        ),
        _BAD_DAY,
    ),
    "docs/how-to/find-what-changed.md": {
        "mudra timeline show --entity KAVERI-FIP": _DISPUTE,
        "mudra timeline before INCIDENT_ID": _CHANGED,
    },
    "docs/how-to/back-up-and-restore.md": {
        "mudra backup key backup.key": _RESTORE,
        "MUDRA_BACKUP_DIR=/var/backups/mudra": _SETTINGS,
        "mudra backup create": _RESTORE,
        "mudra backup verify mudra-20261122T023000Z.dump.age --identity backup.key": _RESTORE,
        "mudra restore mudra-20261122T023000Z.dump.age --identity backup.key --data-dir /srv/mudra": (
            _RESTORE
        ),
        "mudra audit confirm-restore": _RESTORE,
        "mudra restore mudra-20261122T023000Z.dump.age --identity backup.key --data-dir /srv/rehearsal --rehearsal": (
            "faults/test_backup_and_restore.py::test_a_rehearsal_reaches_no_one"
        ),
    },
    "docs/how-to/export-the-audit.md": {
        "mudra audit export               # where to, up to which event, and how many wait": (
            "faults/test_audit_export.py::test_it_goes_on_where_it_was_and_from_a_seq_again"
        ),
        'module(load="imtcp" StreamDriver.Name="gtls" StreamDriver.Mode="1" StreamDriver.AuthMode="anon")': (
            _EXPORT
        ),
    },
    "docs/how-to/install.md": {
        "make setup": _INSTALLED_BY_MEMBER,
        "python3.11 -m venv /opt/mudra": _INSTALLED_BY_MEMBER,
    },
    "docs/how-to/recover-to-a-time.md": {
        "pgbackrest --stanza=mudra stanza-create": _RECOVERY,
        "pgbackrest --stanza=mudra --type=full backup": _RECOVERY,
        'pgbackrest --stanza=mudra --delta --type=time --target="2026-11-23 08:00:00+00" --target-action=promote restore': (
            _RECOVERY
        ),
        "pgbackrest --stanza=mudra --delta restore": _RECOVERY,
        """psql -Atc "SELECT to_char(pg_last_xact_replay_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\\"T\\"HH24:MI:SS\\"Z\\"')" postgres""": (
            _RECOVERY
        ),
        "mudra database recovered --to 2026-11-23T08:00:00Z": _RECOVERY,
        "mudra audit confirm-restore": _RECOVERY,
        "/opt/patroni/bin/patronictl -c /etc/patroni/config.yml edit-config mudra --force --pg archive_mode=on --pg archive_timeout=60s --pg archive_command='pgbackrest --stanza=mudra archive-push %p'": (
            _RECOVERY_ON_PATRONI
        ),
        "/opt/patroni/bin/patronictl -c /etc/patroni/config.yml remove mudra": _RECOVERY_ON_PATRONI,
        "/usr/lib/postgresql/15/bin/pg_ctl -D /var/lib/postgresql/15/mudra -t 86400 -l /var/lib/postgresql/recovery.log -o '-c listen_addresses=' start": (
            _RECOVERY_ON_PATRONI
        ),
        "/opt/patroni/bin/patronictl -c /etc/patroni/config.yml reinit mudra pg2 pg3 --force": (
            _RECOVERY_ON_PATRONI
        ),
    },
    "docs/how-to/run-on-patroni.md": {
        "/opt/patroni/bin/patronictl -c /etc/patroni/config.yml switchover mudra --force": _FAIL_OVER,
        "sh deploy/patroni/certificates.sh certificates 10.0.0.1 10.0.0.2 10.0.0.3": (
            "unit/deploy/test_three_machines.py::"
            "test_a_certificate_that_ends_soon_is_made_again_by_the_same_authority"
        ),
    },
    "docs/how-to/run-on-three-machines.md": {
        "python3 deploy/three-machines/render.py --example > inventory.toml": (
            "unit/deploy/test_three_machines.py::test_the_page_is_followed"
        ),
        "python3 deploy/three-machines/render.py inventory.toml --to machines": (
            "unit/deploy/test_three_machines.py::test_the_page_is_followed"
        ),
    },
    "docs/how-to/prepare-the-database.md": {
        "ssl = on": (
            "faults/test_debian_postgres_with_tls.py::"
            "test_every_session_is_encrypted_and_the_doctor_finds_all_well"
        ),
        "MUDRA_DATABASE_URL=postgresql://mudra_service:…@db.example/mudra         # the nodes run as it": (
            _SETTINGS
        ),
        "MUDRA_DATABASE_URL=postgresql://mudra_service:…@db.example/mudra?sslmode=verify-full&sslrootcert=/etc/mudra/db-ca.pem": (
            "faults/test_debian_postgres_with_tls.py"
            "::test_every_session_is_encrypted_and_the_doctor_finds_all_well"
        ),
        "MUDRA_DATABASE_ADMIN_URL=postgresql://postgres:…@db.example/mudra mudra database prepare": (
            "security/test_database_roles.py::test_an_own_database_is_prepared_by_one_command"
        ),
    },
    "docs/how-to/rotate-the-master-key.md": {
        "mudra keys rewrap": "faults/test_with_many_members.py::test_the_key_is_rotated_under_load",
    },
    "docs/how-to/single-sign-on.md": {
        "MUDRA_SSO_ISSUER=https://id.network.example/realms/staff": _SETTINGS,
        "MUDRA_SSO_SCOPE_CLAIM=realm_access.roles": _SETTINGS,
    },
    "docs/how-to/use-the-client-library.md": {
        "from pathlib import Path": _LIBRARY,
        "import requests": "client/test_surprises.py::test_requests_sends_token_and_signature_and_again_after_a_401",
        "from fastapi import FastAPI, Request": _FRAMEWORKS,
        "from mudra.client import AsyncDirectory, AsyncEntityTokenSource": (
            "docs/test_samples.py::test_the_samples_of_the_twins_give_the_address_of_a_caller"
        ),
        "from flask import Flask, request": _FRAMEWORKS,
        "from mudra.client import DpopKey, EntityTokenAuth, EntityTokenSource": _LIBRARY,
        'EntityTokenMiddleware(app, verifier, origins=["https://fip.example.org"])': (
            "docs/test_samples.py::test_the_samples_that_accept_callers_work"
        ),
        "import math": (
            "docs/test_samples.py::test_the_sample_of_a_shared_place_takes_each_proof_once"
        ),
        "from mudra.client import KeyProof": (
            "docs/test_samples.py::test_the_sample_that_proves_a_key_passes_all_else_on"
        ),
    },
    "docs/how-to/add-a-language.md": {
        "/etc/mudra/locales/ta.po:17: 'Page %(page)s of %(pages)s' has no value %(seite)s, its translation has": (
            "unit/localization/test_catalogues.py::test_the_mistake_of_the_guide_is_reported_as_it_shows"
        ),
    },
    "docs/how-to/read-the-funnel.md": {
        "mudra health funnel                                # the network, the last seven days": _FUNNEL,
        "mudra health compare FIP --week 2026-W46": _FUNNEL,
        "mudra health volume                       # the network": _FUNNEL,
    },
    "docs/how-to/run-on-kubernetes.md": {
        'image: {repository: registry.example/mudra, digest: "sha256:…"}': _CHARTS,
        "backup:": "unit/deploy/test_helm_backup.py::test_the_backup_of_the_guide_is_a_cron_job",
        "mudra backup key backup.key": _RESTORE,
        "helm upgrade --install mudra-agent deploy/helm/mudra-agent --wait \\": _CHARTS,
        "MUDRA_DATABASE_URL=postgresql://mudra_service:…@db.example/mudra?sslmode=verify-full&sslrootcert=/etc/mudra/db/ca.pem": _WAY,
        "MUDRA_DATABASE_OWNER_URL=postgresql://mudra_owner:…@db.example/mudra?sslmode=verify-full&sslrootcert=/etc/mudra/db/ca.pem": _WAY,
    },
    "docs/operations/running.md": {
        "/opt/mudra/bin/mudra setup": _SET_UP,
        'base_url = "https://tokens.network.example/iam"': _SET_UP,
        "[mudra]": _DUMP,
        "pg_dump -Fc -f mudra.dump service=mudra": _DUMP,
        "pg_restore --no-owner --no-privileges -d service=mudra-new mudra.dump": _DUMP,
        "make assets site": _INSTALLED,
        "apt-get install --no-install-recommends python3.11-venv": _INSTALLED,
        "ln -sfn mudra-1.2.0 /opt/mudra": _INSTALLED,
        "MUDRA_TELEMETRY_HOST=10.0.0.1": _SETTINGS,
        "[Service]": "unit/deploy/test_deployment_files.py::test_systemd_takes_a_directory_of_your_own",
        "scrape_configs:": "docs/test_samples.py::test_the_scrape_of_the_page_is_one_of_prometheus",
    },
    "docs/reference/agent-sources.md": {
        "[fips]": _EVENTS,
        "curl -s http://127.0.0.1:4044/sna/v1/aa -H 'Content-Type: application/json' -d '[": _EVENTS,
        '{"message":"accepted"}': _EVENTS,
        "now=$(date +%s)": _EVENTS,
        "{}": _EVENTS,
        "from mudra.agent.sources.python_call import Reporter": _EVENTS,
        "4": _EVENTS,
        """log_format fips escape=json '{"time":"$msec","method":"$request_method","uri":"$request_uri",'""": (
            _PROXIES
        ),
        """log_format notices escape=json '{"time":"$msec","method":"$request_method","uri":"$request_uri",'""": (
            _NOTICES
        ),
        """log-format '{"time":%[date(0,ms)],"ta":%Ta,"method":"%HM","path":"%HP","host":"%[var(txn.host),json(utf8s)]","status":%ST,"bytes":%B,"termination_state":"%tsc","tr":%Tr,"server":"%b/%s"}'""": (
            _PROXIES
        ),
        'start_time: "%START_TIME%"': _PROXIES,
        "name: envoy.filters.http.header_to_metadata": _NOTICES,
        '{"time": "{client.received.start.timestamp}", "target_received": "{target.received.start.timestamp}",': (
            "docs/test_agent_pages.py::test_the_format_of_apigee_is_one_line_of_json_with_its_fields"
        ),
    },
    "docs/reference/errors.md": {"{": _ERRORS},
    "docs/reference/metrics-payloads.md": {
        '{"agentVersion": "my-agent-1.4.0", "jsonVersion": "1.0.0", "tag": "req-fipMetrics-aa",': _PAYLOADS,
        '{"agentVersion": "my-agent-1.4.0", "jsonVersion": "1.0.0", "tag": "not-fipMetrics-aa",': _PAYLOADS,
        "import datetime, json, os, time, urllib.parse, urllib.request, uuid": (
            "docs/test_agent_pages.py::test_the_sample_in_python_pushes_both_payloads"
        ),
    },
    "docs/reference/metrics-tables.md": {
        "mudra metrics export --from 2026-11-01 --to 2026-11-27 --format parquet --out exports": (
            "cli/test_metrics_export.py::test_a_file_has_the_sums_of_a_plain_recount"
        ),
        "mudra metrics export --year 2025 --out archive": _YEAR,
        '''duckdb -c "SELECT strftime(starts_at AT TIME ZONE 'UTC', '%Y-%m') AS month, fip_id, sum(total)::BIGINT AS calls, sum(ok_200)::BIGINT AS succeeded FROM 'archive/metrics-day-2025.parquet' WHERE tag = 'requests' AND type = 'fif' GROUP BY ALL ORDER BY ALL"''': _YEAR,
        "duckdb.sql(": "cli/test_metrics_export.py::test_parquet_is_read_by_the_line_of_the_reference",
        "SELECT day, sum(succeeded) / nullif(sum(total - errors_4xx), 0) AS success": (
            "cli/test_metrics_export.py::test_metrics_daily_has_what_all_aas_sent"
        ),
    },
    "docs/reference/registry.md": {
        '{"ver": "1.0.0", "timestamp": "2026-01-31T09:30:00.000Z", "txnid": "a20b045c-d69f-4fe5-8215-13001dc6bc12",': (
            "docs/test_registry_page.py::test_a_write_is_answered_as_shown"
        ),
        '{"path": "$.entityinfo.ips[0]", "problem": "must not be \\"10.0.0.300\\"",': (
            "docs/test_registry_page.py::test_a_finding_is_as_shown"
        ),
        "import hashlib": (
            "docs/test_registry_page.py::test_the_hash_of_the_page_is_that_of_the_registry"
        ),
        "{": "docs/test_call_samples.py::test_the_payload_of_the_reference_passes",
        "from pathlib import Path": (
            "docs/test_samples.py::test_the_sample_that_reads_the_registry_finds_a_peer"
        ),
    },
    "docs/reference/token-service.md": {
        '{"ver": "1.0.0", "timestamp": "2026-01-31T09:30:00.000Z", "txnId": "…",': _ERRORS,
        '{"iss": "https://iam.example.org/iam", "sub": "KAVERI-FIP", "aud": "account-aggregator-network",': _CLAIMS,
        '{"ver": "1.0.0", "issuer": "https://iam.example.org/iam", "issuedAt": 1772366400, "validUntil": 1772366460,': (
            "docs/test_samples.py::test_the_list_of_revoked_tokens_looks_as_shown"
        ),
    },
}
"""Test by block."""

_TOOLS: Final = "is how this is developed: it runs the tests, or all that they need"
_MACHINE: Final = "changes the machine as root: accounts, packages, systemd"
_CONTAINER: Final = "needs Podman; tests/unit/deploy/test_deployment_files.py reads the files"
_DRAWING: Final = "is nothing to run"

NOT_RUN: Final = {
    "README.md": {
        "make run": "installs into the clone and serves on one fixed port until it is stopped",
        "make            list the commands": "is a list; tests/docs/test_commands.py reads its mudra commands",
    },
    "CONTRIBUTING.md": {"make setup      # .venv with everything, from uv.lock": _TOOLS},
    "ARCHITECTURE.md": {
        "http   console   cli   jobs     edges: parse, call one use case, render": _DRAWING
    },
    "docs/explanation/whose-fault.md": {
        "ratio = bad × t − events × ln(1 + rate × (e^t − 1))": "is a formula"  # noqa: RUF001
    },
    "docs/tutorials/verify-a-token.md": {
        "# application.yml": "needs Spring Boot",
        "@RestController": "needs Spring Boot",
    },
    "docs/how-to/move-from-keycloak.md": {
        "kc.sh export --realm aa --file realm-export.json --users skip": "needs a Keycloak"
    },
    "docs/how-to/rotate-the-master-key.md": {
        "1:(the old key),2:(the new key)": "is the form of a setting"
    },
    "docs/how-to/run-an-agent.md": {
        "useradd --system --home-dir /var/lib/mudra-agent mudra-agent": _MACHINE,
        "podman build --format docker -f deploy/agent.Containerfile -t mudra-agent \\": _CONTAINER,
        "systemctl daemon-reload && systemctl enable --now mudra-agent": _MACHINE,
        "podman run -d --restart always -v ./agent.toml:/etc/mudra/agent.toml:ro \\": _CONTAINER,
    },
    "docs/how-to/run-on-cloudnativepg.md": dict.fromkeys(
        (
            "apiVersion: postgresql.cnpg.io/v1",
            "MUDRA_DATABASE_URL=postgresql://mudra_service:…@mudra-db-rw/mudra?sslmode=verify-full&sslrootcert=/etc/mudra/db/ca.pem",
            "databaseCa: {secret: mudra-db-ca, key: ca.crt}",
        ),
        "needs a cluster with CloudNativePG",
    ),
    "docs/how-to/run-on-kubernetes.md": dict.fromkeys(
        (
            "make assets site",
            '{ echo "MUDRA_MASTER_KEY=1:$(head -c 32 /dev/urandom | base64)"; cat; } |',
            "kubectl create secret generic mudra-owner --from-env-file=/dev/stdin",
            "kubectl create secret generic mudra-database-ca --from-file=ca.crt=db-ca.pem",
            """kubectl get secret mudra -o go-template='{{.data.MUDRA_MASTER_KEY | base64decode}}{{"\\n"}}'""",
            "kubectl create secret generic mudra-agent --from-env-file=/dev/stdin",
            "helm upgrade --install mudra deploy/helm/mudra -f values.yaml --wait",
            "kubectl exec -it mudra-0 -- mudra operator create chief@network.example",
            """kubectl patch pvc data-mudra-0 -p '{"spec": {"resources": {"requests": {"storage": "4Gi"}}}}'""",
            "kubectl create job --from=cronjob/mudra-backup first-backup",
            "helm upgrade mudra deploy/helm/mudra -f values.yaml --set backup.pod=true --wait",
            "helm upgrade mudra deploy/helm/mudra -f values.yaml --set replicas=0 --set backup.pod=true --wait",
        ),
        "needs a cluster, or Podman; tests/unit/deploy/test_helm_charts.py renders the charts",
    ),
    "docs/how-to/run-on-patroni.md": {
        "apt-get install --no-install-recommends etcd-server postgresql-15 python3-venv": (
            f"{_MACHINE}, on three machines; tests/faults/patroni starts the same files"
        ),
        "psql -h 10.0.0.1 -U postgres -c 'CREATE DATABASE mudra'": (
            "needs the three machines; tests/faults/patroni/network.py does the same"
        ),
    },
    "docs/how-to/run-on-three-machines.md": {
        "rsync -a machines/10.0.0.1/ root@10.0.0.1:mudra-machine/": (
            f"{_MACHINE}, on three machines; tests/unit/deploy/test_three_machines.py reads the files"
        ),
        "systemctl start mudra-backup": _MACHINE,
    },
    "docs/operations/running.md": {
        "systemctl stop mudra.socket mudra.service": _MACHINE,
    },
    "docs/security/threat-model.md": {
        "people's browsers      members' programs        AA's systems": _DRAWING
    },
}


def is_left_out(block: Block) -> bool:
    """Whether another test, or none, runs a block."""
    return any(block.first in one.get(block.document, {}) for one in (BY_ANOTHER_TEST, NOT_RUN))


def rows() -> Iterator[tuple[str, str]]:
    """Document and first line of each block that is left out."""
    for table in (BY_ANOTHER_TEST, NOT_RUN):
        for document, blocks in table.items():
            yield from ((document, first) for first in blocks)
