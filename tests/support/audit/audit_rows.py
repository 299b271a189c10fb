"""Audit rows for tests: a believable trail of any length."""

from datetime import UTC, datetime, timedelta

from mudra.audit.chain import GENESIS, Checkpoint, Row, SealedRow, seal
from mudra.audit.event import AuditEvent, EventName, Outcome

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def event(number=1, **changes):
    fields = {
        "event": EventName.ENTITY_TOKEN_ISSUE,
        "outcome": Outcome.SUCCESS,
        "at": NOON + timedelta(milliseconds=number),
        "actor": "entity:HDFC-FIP",
        "txn_id": f"txn-{number}",
        "entity_id": "HDFC-FIP",
        "address": "192.0.2.7",
        "reason": "",
        "detail": {"jti": f"jti-{number}", "version": number},
    }
    return AuditEvent(**{**fields, **changes})


def row(number=1, **changes):
    return Row(number, number + 100, event(number, **changes))


def sealed(rows, previous=GENESIS):
    rows = list(rows)
    return [SealedRow(r, h) for r, h in zip(rows, seal(rows, previous), strict=True)]


def trail(length):
    return sealed(row(number) for number in range(1, length + 1))


def checkpoint(chain, count):
    return Checkpoint(count, chain[count - 1].hash, NOON)
