"""Reading the entity secret (specification 2.3, 4.2)."""

import re
from datetime import timedelta
from typing import Final

from msgspec import UNSET

from mudra.conformance.check import Basis, Check, Need, Steps, decided, specified
from mudra.conformance.expectation import (
    alike,
    equal,
    error,
    is_date_time,
    is_number,
    is_text,
    is_utc_ms,
    kind,
    moment,
    status,
    that,
    token_given,
)
from mudra.conformance.service.implementation import Implementation
from mudra.conformance.service.target import EntityCredentials
from mudra.shared.secret_text import SecretText

_PATH: Final = "/v1/entity/secret/read"
_NEEDS: Final = (Need.ENTITY, Need.USER)
_HEADER: Final = "Header Authorization (string, required): user bearer token with admin rights."
_UNRESERVED: Final = re.compile(r"[A-Za-z0-9_-]{43,}")
_NEAR: Final = timedelta(seconds=1)
_TXN_ID: Final = "0d9c4a36-1d8f-4f0b-8d43-1c1f3f0e7b11"


def _of_field(number: int, name: str, line: str) -> Check[Implementation]:
    def steps(one: Implementation) -> Steps:
        answer = one.secret_answer
        yield status(answer, 200)
        if name in {"expiresOn", "oldSecretValidity"}:
            yield is_number(answer, name)
        elif name in {"timestamp", "expirationDate"}:
            yield is_date_time(answer, name)
        else:
            yield is_text(answer, name)

    return Check(
        f"T-2.3-{number}", "2.3", f"{name} of the read response", line,
        Basis.SPECIFICATION, _NEEDS, steps,
    )  # fmt: skip


_FIELDS: Final = (
    _of_field(1, "ver", "ver | string"),
    _of_field(2, "timestamp", "timestamp | string, date-time"),
    _of_field(3, "txnId", "txnId | string"),
    _of_field(4, "entityId", "entityId | string"),
    _of_field(5, "secret", "secret | string"),
    _of_field(6, "expiresOn", "expiresOn | number"),
    _of_field(7, "expirationDate", "expirationDate | string"),
    _of_field(8, "oldSecretValidity", "oldSecretValidity | number"),
)


@specified("T-4.2-1", "a user token with admin rights reads the secret",
           "200: EntitySecretReadResponse. 400, 401: error body.", *_NEEDS)  # fmt: skip
def _given(one: Implementation) -> Steps:
    yield status(one.secret_answer, 200)
    yield equal("entityId", one.entity.entity_id, one.secret_answer.field("entityId"))


@specified("T-4.2-2", "without Authorization: refused", _HEADER, Need.ENTITY)
def _no_token(one: Implementation) -> Steps:
    yield from error(one.json(_PATH, {"entityId": one.entity.entity_id}), 400, 401)


@specified("T-4.2-3", "an entity's token has no admin right: refused", _HEADER, Need.ENTITY)
def _entity_token(one: Implementation) -> Steps:
    yield status(one.entity_answer, 200)
    answer = one.json(_PATH, {"entityId": one.entity.entity_id}, one.entity_bearer)
    yield from error(answer, 401)


@specified("T-4.2-4", "without entityId: 400", "entityId | string | yes", Need.USER)
def _no_entity(one: Implementation) -> Steps:
    yield from error(one.json(_PATH, {}, one.user_bearer), 400)


@specified("T-4.2-5", "entityId of another type: 400", "entityId | string | yes", Need.USER)
def _wrong_type(one: Implementation) -> Steps:
    yield from error(one.json(_PATH, {"entityId": 17}, one.user_bearer), 400)


@specified("T-1-1", "the secret that is read generates an entity token",
           "the entity secret (together with the entity ID) is used to generate the Entity Access "
           "Token", *_NEEDS)  # fmt: skip
def _generates(one: Implementation) -> Steps:
    yield status(one.secret_answer, 200)
    secret = SecretText(one.secret_answer.text("secret"))
    yield from token_given(one.entity_token(EntityCredentials(one.entity.entity_id, secret)))


@decided("T-D3-27", "expiresOn is milliseconds, the same instant as expirationDate",
         "expiresOn | milliseconds since the epoch, a whole number. Never seconds",
         *_NEEDS)  # fmt: skip
def _milliseconds(one: Implementation) -> Steps:
    answer = one.secret_answer
    yield status(answer, 200)
    yield is_number(answer, "expiresOn", whole=True)
    expires = moment(answer.field("expirationDate"))
    yield that(expires is not None, "expirationDate is a time", "it is none")
    if expires is not None:
        apart = abs(expires.timestamp() - float(str(answer.field("expiresOn"))) / 1000)
        came = f"expiresOn is {answer.field('expiresOn')}"
        expected = "expiresOn is expirationDate in milliseconds since 1970"
        yield that(apart < _NEAR.total_seconds(), expected, came)


@decided("T-D3-28", "expirationDate is UTC with milliseconds",
         "ISO 8601, UTC, milliseconds, Z", *_NEEDS)  # fmt: skip
def _utc(one: Implementation) -> Steps:
    yield status(one.secret_answer, 200)
    yield is_utc_ms(one.secret_answer, "expirationDate")


@decided("T-D3-29", "oldSecretExpirationDate is there only in a grace period",
         "The second is left out when no old secret is in grace", *_NEEDS)  # fmt: skip
def _grace_date(one: Implementation) -> Steps:
    answer = one.secret_answer
    yield status(answer, 200)
    if answer.field("oldSecretExpirationDate") is not UNSET:
        yield is_utc_ms(answer, "oldSecretExpirationDate")
        now = moment(answer.field("timestamp"))
        ends = moment(answer.field("oldSecretExpirationDate"))
        yield that(now and ends and ends > now, "a time to come", "a time that has passed")
    else:
        yield equal("oldSecretValidity", 0, answer.field("oldSecretValidity"))


@decided("T-D3-30", "a secret is 256 bits in unreserved characters",
         "secret | 256 random bits in unreserved URL characters (A-Za-z0-9-_)",
         *_NEEDS)  # fmt: skip
def _alphabet(one: Implementation) -> Steps:
    yield status(one.secret_answer, 200)
    fits = _UNRESERVED.fullmatch(one.secret_answer.text("secret")) is not None
    yield that(fits, "43 or more of A-Z a-z 0-9 - _", "other characters, or fewer")


@decided("T-D3-31", "the secret that is read is the one in use", "read still shows it", *_NEEDS)
def _same(one: Implementation) -> Steps:
    yield status(one.secret_answer, 200)
    read = SecretText(one.secret_answer.text("secret"))
    yield that(read == one.entity.secret, "the secret that this run was given", "another one")


@decided("T-D3-32", "another's or an unknown entity: the same 401",
         "a user with the admin role on that very entity. Another's or an unknown one: the "
         "same 401",
         Need.USER)  # fmt: skip
def _foreign(one: Implementation) -> Steps:
    unknown = one.json(_PATH, {"entityId": "no-such-entity"}, one.user_bearer)
    yield from error(unknown, 401)
    if one.target.aa is not None and one.target.aa != one.target.entity:
        answer = one.json(_PATH, {"entityId": one.aa.entity_id}, one.user_bearer)
        yield from error(answer, 401)
        yield from alike("an unknown entity and another's", unknown, answer)


@decided("T-D3-33", "Authorization without the word Bearer is read",
         "Authorization on read and reset | with or without the word Bearer, any case",
         *_NEEDS)  # fmt: skip
def _bare(one: Implementation) -> Steps:
    yield status(one.user_answer, 200)
    lower = SecretText("bearer " + one.user_bearer.reveal())
    for header in (one.user_bearer, lower):
        answer = one.read_secret(Authorization=header.reveal())
        yield status(answer, 200)
        yield is_text(answer, "secret")


@decided("T-D3-34", "unknown members are ignored, txnId is echoed, a timestamp read leniently",
         "unknown members in token-service bodies | ignored", *_NEEDS)  # fmt: skip
def _lenient(one: Implementation) -> Steps:
    document = {
        "ver": "1.0.0",
        "timestamp": "2026-01-15T09:30:00.000000+0000",
        "txnId": _TXN_ID,
        "entityId": one.entity.entity_id,
        "another": {"member": 1},
    }
    answer = one.json(_PATH, document, one.user_bearer)
    one.redaction.hide(SecretText(answer.text("secret")))
    yield status(answer, 200)
    yield equal("txnId", _TXN_ID, answer.field("txnId"))


@decided("T-D3-35", "a token that is none: 401", "401: anything about credentials, tokens, rights")
def _garbage(one: Implementation) -> Steps:
    answer = one.json(_PATH, {"entityId": "any"}, SecretText("garbage"))
    yield from error(answer, 401)
    yield that(kind(answer.field("errorCode")) == "a string", "errorCode is there", "it is not")


CHECKS: Final = (
    *_FIELDS,
    _given,
    _no_token,
    _entity_token,
    _no_entity,
    _wrong_type,
    _generates,
    _milliseconds,
    _utc,
    _grace_date,
    _alphabet,
    _same,
    _foreign,
    _bare,
    _lenient,
    _garbage,
)
