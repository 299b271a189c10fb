"""Generation of User Access Tokens (specification 4.1, 5)."""

from typing import Final

from mudra.conformance.check import Need, Steps, decided, specified
from mudra.conformance.expectation import (
    alike,
    equal,
    error,
    has,
    lifetime,
    status,
    that,
    token_given,
)
from mudra.conformance.jwt_text import read_jwt
from mudra.conformance.service.implementation import Implementation

_PATH: Final = "/v1/user/token/generate"
_WRONG: Final = "not-the-password-of-anyone"
_UNKNOWN: Final = "no-such-user@conformance.invalid"
_ERRORS: Final = "400, 401: error body (part 7)."
_LIFE_S: Final = 180 * 86_400


@specified("T-4.1-1", "user name and password give a token",
           "200: application/json token response (2.2).", Need.USER)  # fmt: skip
def _given(one: Implementation) -> Steps:
    yield from token_given(one.user_answer)
    media = one.user_answer.headers.get("Content-Type", "")
    yield that(media.startswith("application/json"), "Content-Type application/json", media)


@specified("T-4.1-2", "without username: 400", "username (string, user e-mail, required)")
def _no_name(one: Implementation) -> Steps:
    yield from error(one.form(_PATH, {"password": _WRONG}), 400)


@specified("T-4.1-3", "without password: 400", "password (string, required)")
def _no_password(one: Implementation) -> Steps:
    yield from error(one.form(_PATH, {"username": _UNKNOWN}), 400)


@decided("T-D3-5", "a wrong password: 401", "401: anything about credentials", Need.USER)
def _wrong_password(one: Implementation) -> Steps:
    yield from error(one.refused_password, 401)


@decided("T-D3-6", "an unknown name is answered as a wrong password is",
         "Unauthorized covers unknown name, wrong password, … alike")  # fmt: skip
def _unknown(one: Implementation) -> Steps:
    answer = one.form(_PATH, {"username": _UNKNOWN, "password": _WRONG})
    yield from error(answer, 401)
    yield equal("errorCode", "Unauthorized", answer.field("errorCode"))
    if one.target.user is not None:
        yield from alike("an unknown name and a wrong password", answer, one.refused_password)


@decided("T-D3-7", "a JSON body: 415", "415: another media type than the documented one")
def _json_body(one: Implementation) -> Steps:
    yield from error(one.json(_PATH, {"username": _UNKNOWN, "password": _WRONG}), 415)


@decided("T-D3-8", "claims of a user token",
         "User claims: sub = user ID, email, name, roles admin, entity_meta", Need.USER,
         Need.ENTITY)  # fmt: skip
def _claims(one: Implementation) -> Steps:
    yield status(one.user_answer, 200)
    claims = read_jwt(one.user_bearer).claims
    yield has("the token", claims, ("iss", "sub", "exp", "iat", "email", "roles", "entity_meta"))
    yield equal("roles", "admin", claims["roles"])
    entities = claims["entity_meta"]
    rights = entities.get(one.entity.entity_id) if isinstance(entities, dict) else None
    yield that(rights == ["entity-admin"], "entity_meta names the entity with entity-admin")


@specified("T-5-1", "a user token is valid for 180 days", "valid 180 days", Need.USER)
def _life(one: Implementation) -> Steps:
    yield status(one.user_answer, 200)
    claims = read_jwt(one.user_bearer).claims
    yield from lifetime(claims, _LIFE_S)


@specified("T-5-2", "tokenType states the scheme",
           "The response field tokenType states the scheme of an issued token.",
           Need.USER)  # fmt: skip
def _scheme(one: Implementation) -> Steps:
    yield status(one.user_answer, 200)
    scheme = one.user_answer.text("tokenType")
    yield that(scheme.lower() == "bearer", "tokenType is Bearer", f"tokenType is {scheme}")


CHECKS: Final = (
    _given,
    _no_name,
    _no_password,
    _wrong_password,
    _unknown,
    _json_body,
    _claims,
    _life,
    _scheme,
)
