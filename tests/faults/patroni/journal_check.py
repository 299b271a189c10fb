"""What a database has of what a load was acknowledged: a number other than 0 is a fault."""

from collections import Counter

import httpx2
import psycopg
from tests.faults.patroni.load import PUSH, REGISTRY, RESET, Journal
from tests.support.http_clients import NO_TLS
from tests.support.metrics.stored_blocks import stored_blocks

Connection = psycopg.Connection[tuple[object, ...]]


def differences(journal: Journal, connection: Connection) -> dict[str, int]:
    """Compare a database with what was acknowledged; gives what is lost or doubled, by kind."""
    return {
        RESET: wrong_resets(journal, connection),
        PUSH: wrong_pushes(journal, connection),
        REGISTRY: wrong_entries(journal, connection),
    }


def refused_secrets(issuer: str, journal: Journal) -> int:
    """Ask for a token with each secret that was acknowledged; gives how many are refused."""
    refused = 0
    for name, secret in journal.resets.items():
        answer = httpx2.post(
            f"{issuer}/v1/entity/token/generate",
            data={"id": name, "secret": secret},
            timeout=30,
            verify=NO_TLS,
        )
        refused += answer.status_code != httpx2.codes.OK
    return refused


def wrong_resets(journal: Journal, connection: Connection) -> int:
    """Each entity has one current secret, one version more if it was reset, and its audit rows."""
    wrong = 0
    rows = connection.execute(
        "SELECT entity_id, max(version), count(*) FILTER (WHERE state = 'current'),"
        " (SELECT count(*) FROM audit_event a WHERE a.entity_id = s.entity_id"
        "  AND a.event LIKE '%%secret:reset' AND a.outcome = 'success')"
        " FROM entity_secret s WHERE entity_id = ANY(%s) GROUP BY entity_id",
        [[*journal.resets, *journal.undecided_resets]],
    ).fetchall()
    for name, version, current, audited in rows:
        allowed = {2} if name in journal.resets else {1, 2}
        assert isinstance(version, int)
        wrong += version not in allowed or current != 1 or audited != version - 1
    return wrong + abs(len(rows) - len(journal.resets) - len(journal.undecided_resets))


def wrong_entries(journal: Journal, connection: Connection) -> int:
    """Each acknowledged entry has one version, and no entry has two."""
    found = Counter(
        name
        for (name,) in connection.execute(
            "SELECT entity_id FROM registry_version WHERE entity_id = ANY(%s)",
            [[*journal.registered, *journal.undecided_entries]],
        )
    )
    lost = sum(found[name] != 1 for name in journal.registered)
    return lost + sum(found[name] > 1 for name in journal.undecided_entries)


def wrong_pushes(journal: Journal, connection: Connection) -> int:
    """Each acknowledged receipt is there once, and the sums are those of what was stored once."""
    wrong = 0
    receipts = Counter(
        (str(txn_id), str(receipt_id))
        for txn_id, receipt_id in connection.execute(
            "SELECT txn_id, receipt_id FROM metrics_receipt WHERE txn_id = ANY(%s)",
            [list(journal.pushed)],
        )
    )
    stored = {txn_id for txn_id, _ in receipts}
    wrong += sum(count != 1 for count in receipts.values()) + len(receipts) - len(stored)
    wrong += sum(receipts[one] != 1 for one in journal.pushes.items())
    expected: Counter[tuple[str, str]] = Counter()
    for txn_id in stored:
        payload = journal.pushed[txn_id]
        for fip in payload.fips:
            expected[payload.aa_id, payload.from_date_time] += sum(b.counts[0] for b in fip.metrics)
    sums: Counter[tuple[str, str]] = Counter()
    for one in stored_blocks(connection, {aa for aa, _ in expected}):
        sums[one.aa_id, one.window] += one.calls
    return wrong + sum(sums[key] != expected[key] for key in sums | expected)
