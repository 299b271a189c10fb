"""The token response of both generate endpoints (specification 2.2)."""

from collections.abc import Iterator
from typing import Final, TypeAlias

from mudra.conformance.answer import Answer
from mudra.conformance.check import Basis, Check, Need, Steps, decided
from mudra.conformance.expectation import equal, is_date_time, is_number, is_text, is_utc_ms, status
from mudra.conformance.service.implementation import Implementation

_ServiceCheck: TypeAlias = Check[Implementation]
_TXN_ID: Final = "3f0a5b0e-6f0c-4c57-9a0e-9d3f4c1b2a10"
DAY_S: Final = 86_400


def _entity(one: Implementation) -> Answer:
    return one.entity_answer


def _user(one: Implementation) -> Answer:
    return one.user_answer


def _of_field(number: int, name: str, line: str, need: Need) -> _ServiceCheck:
    asked = _entity if need is Need.ENTITY else _user
    word = "entity" if need is Need.ENTITY else "user"

    def steps(one: Implementation) -> Steps:
        answer = asked(one)
        yield status(answer, 200)
        if name == "timestamp":
            yield is_date_time(answer, name)
        elif name == "expiresIn":
            yield is_number(answer, name, whole=True)
        else:
            yield is_text(answer, name)

    title = f"{name} of the {word} token response"
    return Check(f"T-2.2-{number}", "2.2", title, line, Basis.SPECIFICATION, (need,), steps)


def _field_checks() -> Iterator[_ServiceCheck]:
    lines = {
        "ver": "ver | string",
        "timestamp": "timestamp | string, date-time",
        "txnId": "txnId | string",
        "accessToken": "accessToken | string | the issued token",
        "expiresIn": "expiresIn | integer",
        "tokenType": "tokenType | string",
    }
    number = 0
    for need in (Need.ENTITY, Need.USER):
        for name, line in lines.items():
            number += 1
            yield _of_field(number, name, line, need)


@decided("T-D3-1", "expiresIn of an entity token is 24 hours in seconds",
         "expiresIn | seconds: 86400 entity, 15552000 user", Need.ENTITY)  # fmt: skip
def _entity_seconds(one: Implementation) -> Steps:
    yield status(one.entity_answer, 200)
    yield equal("expiresIn", DAY_S, one.entity_answer.field("expiresIn"))


@decided("T-D3-2", "expiresIn of a user token is 180 days in seconds",
         "expiresIn | seconds: 86400 entity, 15552000 user", Need.USER)  # fmt: skip
def _user_seconds(one: Implementation) -> Steps:
    yield status(one.user_answer, 200)
    yield equal("expiresIn", 180 * DAY_S, one.user_answer.field("expiresIn"))


@decided("T-D3-3", "ver and timestamp are written as the network does",
         "ver, timestamp, txnId | always in answers: 1.0.0, the server's time (ms, Z)",
         Need.ENTITY)  # fmt: skip
def _envelope(one: Implementation) -> Steps:
    yield status(one.entity_answer, 200)
    yield equal("ver", "1.0.0", one.entity_answer.field("ver"))
    yield is_utc_ms(one.entity_answer, "timestamp")


@decided("T-D3-4", "txnId is the request's where it was sent, also in a refusal",
         "the request's txnId when sent, else a new UUID", Need.ENTITY)  # fmt: skip
def _txn_id(one: Implementation) -> Steps:
    fields = {"id": one.entity.entity_id, "txnId": _TXN_ID}
    refused = one.form("/v1/entity/token/generate", fields)
    yield status(refused, 400)
    yield equal("txnId", _TXN_ID, refused.field("txnId"))


CHECKS: Final = (*_field_checks(), _entity_seconds, _user_seconds, _envelope, _txn_id)
