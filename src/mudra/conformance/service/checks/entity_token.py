"""Generation of Entity Access Tokens (specification 4.4, 5), and what a token holds."""

from typing import Final

from msgspec import UNSET

from mudra.conformance.check import Need, Steps, decided, specified
from mudra.conformance.expectation import (
    alike,
    equal,
    error,
    has,
    kind,
    lifetime,
    status,
    that,
    token_given,
)
from mudra.conformance.jwt_text import read_jwt
from mudra.conformance.service.implementation import Implementation
from mudra.shared.secret_text import SecretText

_PATH: Final = "/v1/entity/token/generate"
_WRONG: Final = "not-the-secret-of-any-entity-at-all-1234567"
_LIFE_S: Final = 86_400
_CLAIMS: Final = "Entity claims: iss = base_url, sub, aud, iat, nbf, exp, jti, typ Bearer, azp"


@specified("T-4.4-1", "entity ID and secret give a token",
           "200: application/json token response (2.2)", Need.ENTITY)  # fmt: skip
def _given(one: Implementation) -> Steps:
    yield from token_given(one.entity_answer)
    media = one.entity_answer.headers.get("Content-Type", "")
    yield that(media.startswith("application/json"), "Content-Type application/json", media)


@specified("T-4.4-2", "without id: 400", "id (string, entity ID, required)")
def _no_id(one: Implementation) -> Steps:
    yield from error(one.form(_PATH, {"secret": _WRONG}), 400)


@specified("T-4.4-3", "without secret: 400", "secret (string, entity secret, required)")
def _no_secret(one: Implementation) -> Steps:
    yield from error(one.form(_PATH, {"id": "no-such-entity"}), 400)


@decided("T-D3-9", "an empty or repeated field: 400",
         "400: the request itself is wrong (missing, empty or repeated field, …)")  # fmt: skip
def _repeated(one: Implementation) -> Steps:
    yield from error(one.form(_PATH, {"id": "", "secret": _WRONG}), 400, naming="id")
    yield from error(one.form(_PATH, "id=a&id=b&secret=c"), 400, naming="id")


@decided("T-D3-10", "a wrong secret: 401", "401: anything about credentials", Need.ENTITY)
def _wrong_secret(one: Implementation) -> Steps:
    answer = one.form(_PATH, {"id": one.entity.entity_id, "secret": _WRONG})
    yield from error(answer, 401)
    yield equal("errorCode", "Unauthorized", answer.field("errorCode"))
    yield that(_WRONG.encode() not in answer.body, "the secret is not repeated in the answer")


@decided("T-D3-11", "an unknown entity is answered as a wrong secret is",
         "Unauthorized covers … unknown entity, wrong secret and inactive account …")  # fmt: skip
def _unknown(one: Implementation) -> Steps:
    yield from error(one.refused_secret, 401)
    yield equal("errorCode", "Unauthorized", one.refused_secret.field("errorCode"))
    if one.target.entity is not None:
        wrong = one.form(_PATH, {"id": one.entity.entity_id, "secret": _WRONG})
        yield from alike("an unknown entity and a wrong secret", one.refused_secret, wrong)


@decided("T-D3-12", "a JSON body: 415", "415: another media type than the documented one")
def _json_body(one: Implementation) -> Steps:
    yield from error(one.json(_PATH, {"id": "no-such-entity", "secret": _WRONG}), 415)


@decided("T-D3-13", "no warning outside a grace period",
         "the member message … and the header Sunset (RFC 8594). Otherwise neither is there",
         Need.ENTITY)  # fmt: skip
def _no_warning(one: Implementation) -> Steps:
    yield from token_given(one.entity_answer)
    found = one.entity_answer.field("message")
    yield that(found is UNSET, "message is missing", f"message is {kind(found)}")
    yield that("Sunset" not in one.entity_answer.headers, "no header Sunset", "Sunset is there")


@specified("T-5-3", "an entity token is valid for 24 hours", "valid 24 hours", Need.ENTITY)
def _life(one: Implementation) -> Steps:
    yield status(one.entity_answer, 200)
    claims = one.entity_jwt.claims
    yield from lifetime(claims, _LIFE_S)


@decided("T-D3-14", "a token is a JWT, signed RS256, with kid and typ",
         "access token | JWT, RS256, 2048-bit key … header kid, typ: JWT", Need.ENTITY)  # fmt: skip
def _header(one: Implementation) -> Steps:
    yield status(one.entity_answer, 200)
    header = one.entity_jwt.header
    yield has("the header", header, ("alg", "kid", "typ"))
    yield equal("alg", "RS256", header["alg"])
    yield that(header["typ"] in {"JWT", "at+jwt"}, "typ is JWT or at+jwt", str(header["typ"]))


@decided("T-D3-15", "iss is the base URL", "iss = base_url", Need.ENTITY)
def _issuer(one: Implementation) -> Steps:
    yield status(one.entity_answer, 200)
    yield equal("iss", one.target.base_url.rstrip("/"), one.issuer)


@decided("T-D3-16", "the claims that clients read", _CLAIMS, Need.ENTITY)
def _claims(one: Implementation) -> Steps:
    yield status(one.entity_answer, 200)
    claims = one.entity_jwt.claims
    names = ("iss", "sub", "aud", "iat", "nbf", "exp", "jti", "typ", "scope", "secret-expiry-ts")
    yield has("the token", claims, names)
    yield equal("typ", "Bearer", claims["typ"])
    yield that(
        int(str(claims["nbf"])) <= int(str(claims["iat"])), "nbf is not after iat", "nbf is later"
    )


@decided("T-D3-17", "the entity is named by azp, clientId and client_id",
         "azp = clientId = client_id = entity ID", Need.ENTITY)  # fmt: skip
def _named(one: Implementation) -> Steps:
    yield status(one.entity_answer, 200)
    for name in ("azp", "clientId", "client_id"):
        yield equal(name, one.entity.entity_id, one.entity_jwt.claims.get(name, UNSET))


@decided("T-D3-18", "roles is one plain string",
         "roles = the plain string AA, FIP or FIU", Need.ENTITY)  # fmt: skip
def _roles(one: Implementation) -> Steps:
    yield status(one.entity_answer, 200)
    roles = one.entity_jwt.claims.get("roles", UNSET)
    yield that(
        isinstance(roles, str) and roles in {"AA", "FIP", "FIU"},
        'roles is "AA", "FIP" or "FIU"',
        f"roles is {roles if isinstance(roles, str) else kind(roles)}",
    )


@decided("T-D3-19", "each token has a jti of its own", _CLAIMS, Need.ENTITY)
def _own_id(one: Implementation) -> Steps:
    again = one.entity_token(one.entity)
    yield status(again, 200)
    other = read_jwt(SecretText(again.text("accessToken"))).claims.get("jti")
    yield that(other and other != one.entity_jwt.claims.get("jti"), "two tokens differ in jti")


CHECKS: Final = (
    _given,
    _no_id,
    _no_secret,
    _repeated,
    _wrong_secret,
    _unknown,
    _json_body,
    _no_warning,
    _life,
    _header,
    _issuer,
    _claims,
    _named,
    _roles,
    _own_id,
)
