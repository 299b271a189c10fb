"""The ends that days bring: grace periods, secrets, tokens; where the clock can be moved."""

from typing import Final

from mudra.conformance.check import Need, Skip, Steps, decided, specified
from mudra.conformance.expectation import equal, error, is_text, status, token_given
from mudra.conformance.jwt_text import read_jwt
from mudra.conformance.service.implementation import Implementation

_NEEDS: Final = (Need.ENTITY, Need.USER, Need.RESETS, Need.CLOCK)
_TO_ONE: Final = "SecretExpired and SecretGraceEnded … only to one who presented that very secret"


@specified("T-3-6", "an old secret whose grace period has ended gives no token",
           "grace period ended | no token | request fails", *_NEEDS)  # fmt: skip
def _grace_ended(one: Implementation) -> Steps:
    made = one.reset_session.grace_over()
    yield status(made.answer, 200)
    yield from error(one.entity_token(made.old), 400, 401)
    yield from token_given(one.entity_token(made.new))


@decided("T-D3-41", "the end of a grace period: 401 SecretGraceEnded", _TO_ONE, *_NEEDS)
def _grace_word(one: Implementation) -> Steps:
    made = one.reset_session.grace_over()
    yield status(made.answer, 200)
    answer = one.entity_token(made.old)
    yield from error(answer, 401)
    yield equal("errorCode", "SecretGraceEnded", answer.field("errorCode"))


@specified("T-3-7", "an expired secret gives no token",
           "secretExpiryDays (default and max 180) elapsed | secret expired", *_NEEDS)  # fmt: skip
def _expired(one: Implementation) -> Steps:
    made = one.reset_session.expired()
    yield status(made.answer, 200)
    yield from error(one.entity_token(made.new), 400, 401)


@decided("T-D3-42", "an expired secret: 401 SecretExpired, read still shows it",
         "expired secret | entity token generation 401; read still shows it; reset works",
         *_NEEDS)  # fmt: skip
def _expired_word(one: Implementation) -> Steps:
    made = one.reset_session.expired()
    yield status(made.answer, 200)
    answer = one.entity_token(made.new)
    yield from error(answer, 401)
    yield equal("errorCode", "SecretExpired", answer.field("errorCode"))
    read = one.read_secret()
    yield status(read, 200)
    yield is_text(read, "secret")


@specified("T-5-4", "an entity token is refused after its 24 hours", "valid 24 hours", *_NEEDS)
def _token_ended(one: Implementation) -> Steps:
    yield from token_given(one.entity_answer)
    yield status(one.reset_session.expired().answer, 200)
    url = f"{one.target.registry}/entityInfo/AA"
    yield from error(one.send("GET", url, token=one.entity_bearer), 401)


@specified("T-5-5", "an entity token that has expired is refused", "valid 24 hours",
           Need.EXPIRED_TOKEN)  # fmt: skip
def _expired_token(one: Implementation) -> Steps:
    assert one.target.expired is not None
    end = read_jwt(one.target.expired).claims.get("exp")
    if not isinstance(end, int) or end > one.now().timestamp():
        yield Skip("the token of --expired-token-file has not expired")
        return
    url = f"{one.target.registry}/entityInfo/AA"
    yield from error(one.send("GET", url, token=one.target.expired), 401)


@decided("T-D3-43", "a reset renews an expired secret",
         "expired secret | entity token generation 401; read still shows it; reset works",
         *_NEEDS)  # fmt: skip
def _renewed(one: Implementation) -> Steps:
    yield status(one.reset_session.expired().answer, 200)
    yield status(one.reset_session.renewed().answer, 200)
    yield from token_given(one.entity_token(one.entity))


CHECKS: Final = (
    _grace_ended, _grace_word, _expired, _expired_word, _token_ended, _expired_token, _renewed,
)  # fmt: skip
