"""Standard clients: client credentials, introspection, revocation (RFC 6749, 7662, 7009)."""

import base64
from typing import Final

from mudra.conformance.answer import Answer
from mudra.conformance.check import Need, Steps, decided
from mudra.conformance.expectation import equal, kind, status, that
from mudra.conformance.service.implementation import Implementation
from mudra.shared.secret_text import SecretText

_TOKEN: Final = "/oauth2/token"  # noqa: S105  # an address
_GRANT: Final = {"grant_type": "client_credentials"}
_LINE: Final = (
    "POST {base_url}/oauth2/token, grant_type=client_credentials, client_secret_basic or "
    "client_secret_post, OAuth's own answer and error words there only"
)
_ONLINE: Final = "Online: RFC 7662. Revocation: RFC 7009"
_DAY_S: Final = 86_400


def _basic(one: Implementation) -> str:
    both = one.entity.entity_id + ":" + one.entity.secret.reveal()
    encoded = one.redaction.hide(SecretText(base64.b64encode(both.encode()).decode()))
    return "Basic " + encoded.reveal()


def _issued(one: Implementation, answer: Answer) -> Steps:
    one.redaction.hide(SecretText(answer.text("access_token")))
    yield status(answer, 200)
    token = answer.field("access_token")
    yield that(isinstance(token, str) and token, "access_token is a string", kind(token))
    yield equal("token_type", "Bearer", answer.field("token_type"))
    yield equal("expires_in", _DAY_S, answer.field("expires_in"))


def _refused(answer: Answer, code: int, word: str) -> Steps:
    yield status(answer, code)
    yield equal("error", word, answer.field("error"))


@decided("O-D3-1", "client_secret_basic gives a token", _LINE, Need.ENTITY)
def _by_basic(one: Implementation) -> Steps:
    yield from _issued(one, one.form(_TOKEN, _GRANT, Authorization=_basic(one)))


@decided("O-D3-2", "client_secret_post gives a token", _LINE, Need.ENTITY)
def _by_post(one: Implementation) -> Steps:
    fields = {
        "client_id": one.entity.entity_id,
        "client_secret": one.entity.secret.reveal(),
    }
    yield from _issued(one, one.form(_TOKEN, _GRANT | fields))


@decided("O-D3-3", "a wrong secret: 401 invalid_client with a challenge", _LINE)
def _wrong_secret(one: Implementation) -> Steps:
    fields = {"client_id": "no-such-entity", "client_secret": "no-such-secret"}
    answer = one.form(_TOKEN, _GRANT | fields)
    yield from _refused(answer, 401, "invalid_client")
    yield that("WWW-Authenticate" in answer.headers, "the header WWW-Authenticate", "it is missing")


@decided("O-D3-4", "another grant type: unsupported_grant_type", _LINE)
def _other_grant(one: Implementation) -> Steps:
    yield from _refused(one.form(_TOKEN, {"grant_type": "password"}), 400, "unsupported_grant_type")


@decided("O-D3-5", "no grant type: invalid_request", _LINE)
def _no_grant(one: Implementation) -> Steps:
    yield from _refused(one.form(_TOKEN, {"scope": "entity"}), 400, "invalid_request")


@decided("O-D3-6", "introspection of a valid token", _ONLINE, Need.ENTITY)
def _active(one: Implementation) -> Steps:
    yield status(one.entity_answer, 200)
    answer = _introspect(one, one.entity_bearer)
    yield status(answer, 200)
    yield equal("active", True, answer.field("active"))  # noqa: FBT003  # the expected value
    yield equal("client_id", one.entity.entity_id, answer.field("client_id"))


@decided("O-D3-7", "introspection of garbage: active false, and nothing else", _ONLINE, Need.ENTITY)
def _inactive(one: Implementation) -> Steps:
    answer = _introspect(one, SecretText("garbage"))
    yield status(answer, 200)
    yield that(answer.document == {"active": False}, '{"active": false}', kind(answer.document))


@decided("O-D3-8", "introspection without credentials: 401", _ONLINE)
def _no_client(one: Implementation) -> Steps:
    yield status(one.form("/oauth2/introspect", {"token": "garbage"}), 401)


@decided("O-D3-9", "a revoked token is inactive", _ONLINE, Need.ENTITY)
def _revoked(one: Implementation) -> Steps:
    answer = one.entity_token(one.entity)
    yield status(answer, 200)
    token = SecretText(answer.text("accessToken"))
    revoked = one.form("/oauth2/revoke", {"token": token.reveal()}, Authorization=_basic(one))
    yield status(revoked, 200)
    after = _introspect(one, token)
    yield status(after, 200)
    yield equal("active", False, after.field("active"))  # noqa: FBT003  # the expected value


@decided("O-D3-10", "revocation of an unknown token: 200", _ONLINE, Need.ENTITY)
def _revoke_unknown(one: Implementation) -> Steps:
    answer = one.form("/oauth2/revoke", {"token": "garbage"}, Authorization=_basic(one))
    yield status(answer, 200)


def _introspect(one: Implementation, token: SecretText) -> Answer:
    fields = {"token": token.reveal()}
    return one.form("/oauth2/introspect", fields, Authorization=_basic(one))


CHECKS: Final = (
    _by_basic, _by_post, _wrong_secret, _other_grant, _no_grant, _active, _inactive, _no_client,
    _revoked, _revoke_unknown,
)  # fmt: skip
