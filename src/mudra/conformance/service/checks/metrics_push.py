"""Pushes of network metrics that are right (specification 2.5, 2.6, 6)."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Final

from mudra.conformance.answer import Answer
from mudra.conformance.check import Need, Skip, Steps, decided, specified
from mudra.conformance.expectation import equal, error, is_text, kind, status, that
from mudra.conformance.service.checks.payloads import (
    FIP_ID,
    WINDOW,
    Document,
    notification_metrics,
    request_metrics,
    spoiled,
)
from mudra.conformance.service.implementation import Implementation
from mudra.shared.secret_text import SecretText

_NEEDS: Final = (Need.AA, Need.PUSH)
_SAME: Final = "Same txnId or same window with the same content: duplicate"
_ANSWER: Final = (
    "Answer 200 after the data is durable: {ver, timestamp, txnId, status, receiptId, …"
)
_CALLER: Final = "Caller: Entity Access Token of an AA whose ID is aaId; else 401"
_AGE: Final = timedelta(days=6, hours=20)
"""Windows that old are accepted, and on no page of today."""


def window(one: Implementation, number: int = 0) -> datetime:
    """Return the start of an old window; another number gives another one."""
    since = one.now() - _AGE + number * WINDOW
    return datetime.fromtimestamp(since.timestamp() // 600 * 600, UTC)


def push(one: Implementation, document: Document, token: SecretText | None = None) -> Answer:
    """Push with the AA's token, or another."""
    bearer = one.aa_bearer if token is None else token
    return one.send("POST", one.target.metrics, token=bearer, document=document)


def _calls() -> int:
    return 40 + secrets.randbelow(100_000)  # another content in each run


@specified("M-2.5-1", "request metrics are accepted",
           "tag req-fipMetrics-aa | agent to operator endpoint | every 10 minutes",
           *_NEEDS)  # fmt: skip
def _requests(one: Implementation) -> Steps:
    yield status(one.aa_answer, 200)
    yield status(push(one, request_metrics(one.aa.entity_id, window(one), _calls())), 200)


@specified("M-2.6-1", "notification metrics are accepted",
           "tag not-fipMetrics-aa | agent to operator endpoint | every 10 minutes",
           *_NEEDS)  # fmt: skip
def _notifications(one: Implementation) -> Steps:
    yield status(one.aa_answer, 200)
    yield status(push(one, notification_metrics(one.aa.entity_id, window(one), _calls())), 200)


@decided("M-D5-1", "a window without calls is accepted, with fips empty",
         "A window without any call is pushed all the same, with fips: []", *_NEEDS)  # fmt: skip
def _empty(one: Implementation) -> Steps:
    document = request_metrics(one.aa.entity_id, window(one, 1))
    answer = push(one, spoiled(document, {"fips": []}))
    yield status(answer, 200)
    yield is_text(answer, "receiptId")


@decided("M-D5-2", "the answer has status, receiptId and the request's txnId", _ANSWER, *_NEEDS)
def _answer(one: Implementation) -> Steps:
    document = request_metrics(one.aa.entity_id, window(one, 2), _calls())
    answer = push(one, document)
    yield status(answer, 200)
    for name in ("ver", "timestamp", "receiptId"):
        yield is_text(answer, name)
    yield equal("txnId", document["txnId"], answer.field("txnId"))
    words = {"accepted", "replaced"}
    yield that(answer.text("status") in words, "status accepted or replaced", answer.text("status"))


@decided("M-D5-3", "the same push again is a duplicate", _SAME, *_NEEDS)
def _again(one: Implementation) -> Steps:
    document = request_metrics(one.aa.entity_id, window(one, 3), _calls())
    first = push(one, document)
    yield status(first, 200)
    again = push(one, document)
    yield status(again, 200)
    yield equal("status", "duplicate", again.field("status"))
    yield equal("receiptId", first.field("receiptId"), again.field("receiptId"))


@decided("M-D5-4", "the same content with a new txnId is a duplicate", _SAME, *_NEEDS)
def _same_window(one: Implementation) -> Steps:
    start, calls = window(one, 4), _calls()
    yield status(push(one, request_metrics(one.aa.entity_id, start, calls)), 200)
    again = push(one, request_metrics(one.aa.entity_id, start, calls))
    yield status(again, 200)
    yield equal("status", "duplicate", again.field("status"))


@decided("M-D5-5", "the same txnId with other content: 409 IdempotencyError",
         "Same txnId with other content: 409 IdempotencyError", *_NEEDS)  # fmt: skip
def _conflict(one: Implementation) -> Steps:
    document = request_metrics(one.aa.entity_id, window(one, 5), _calls())
    yield status(push(one, document), 200)
    refused = push(one, spoiled(document, {"agentVersion": "1.0.1"}))
    yield from error(refused, 409)
    yield equal("errorCode", "IdempotencyError", refused.field("errorCode"))


@decided("M-D5-6", "other content of a window under a new txnId replaces it",
         "Same window, new txnId, other content: replaces", *_NEEDS)  # fmt: skip
def _replaces(one: Implementation) -> Steps:
    start, calls = window(one, 6), _calls()
    yield status(push(one, request_metrics(one.aa.entity_id, start, calls)), 200)
    later = push(one, request_metrics(one.aa.entity_id, start, calls + 1))
    yield status(later, 200)
    yield equal("status", "replaced", later.field("status"))


@decided("M-D5-7", "a FIP that the registry does not know is accepted, and named in findings",
         "A FIP unknown to the registry is accepted and flagged in findings", *_NEEDS)  # fmt: skip
def _unknown_fip(one: Implementation) -> Steps:
    answer = push(one, request_metrics(one.aa.entity_id, window(one, 7), _calls()))
    yield status(answer, 200)
    found = answer.field("findings")
    named = isinstance(found, list) and any(FIP_ID in str(one_of) for one_of in found)
    named = named or (isinstance(found, list) and any("fips[0]" in str(part) for part in found))
    yield that(named, "findings name the FIP", f"findings is {kind(found)} without it")


@decided("M-D5-8", "without a token: 401", _CALLER, *_NEEDS)
def _no_token(one: Implementation) -> Steps:
    document = request_metrics(one.aa.entity_id, window(one, 8))
    yield from error(one.send("POST", one.target.metrics, document=document), 401)


@decided("M-D5-9", "metrics of another AA: 401", _CALLER, *_NEEDS)
def _other_aa(one: Implementation) -> Steps:
    yield status(one.aa_answer, 200)
    yield from error(push(one, request_metrics("another-aa", window(one, 8))), 401)


@decided("M-D5-10", "metrics by an entity that is no AA: 401", _CALLER, *_NEEDS, Need.ENTITY)
def _no_aa(one: Implementation) -> Steps:
    yield status(one.entity_answer, 200)
    if one.type_of(one.entity_bearer) == "AA":
        yield Skip("the given entity is an AA; give --entity-id of a FIP or FIU")
    document = request_metrics(one.entity.entity_id, window(one, 8))
    yield from error(push(one, document, one.entity_bearer), 401)


@decided("M-D5-11", "a window in the future: 400", "A window in the future or more than 7 days "
         "old: 400", *_NEEDS)  # fmt: skip
def _future(one: Implementation) -> Steps:
    start = window(one) + _AGE + timedelta(hours=1)
    yield from error(push(one, request_metrics(one.aa.entity_id, start)), 400)


@decided("M-D5-12", "a window of 8 days ago: 400", "A window in the future or more than 7 days "
         "old: 400", *_NEEDS)  # fmt: skip
def _old(one: Implementation) -> Steps:
    start = window(one) - timedelta(days=2)
    yield from error(push(one, request_metrics(one.aa.entity_id, start)), 400)


CHECKS: Final = (
    _requests, _notifications, _empty, _answer, _again, _same_window, _conflict, _replaces,
    _unknown_fip, _no_token, _other_aa, _no_aa, _future, _old,
)  # fmt: skip
