"""Resets of the entity secret (specification 2.3, 3, 4.3, 8); all with `--resets` only."""

from typing import Final

from msgspec import UNSET

from mudra.conformance.answer import Answer
from mudra.conformance.check import Need, Skip, Steps, decided, specified
from mudra.conformance.expectation import (
    equal,
    error,
    has,
    is_date_time,
    is_number,
    is_text,
    kind,
    moment,
    status,
    that,
    token_given,
)
from mudra.conformance.service.implementation import Implementation

_PATH: Final = "/v1/entity/secret/reset"
_NEEDS: Final = (Need.ENTITY, Need.USER, Need.RESETS)
_ALL: Final = (*_NEEDS, Need.ALL_RESETS)
_RESPONSE: Final = (
    "Reset response (EntitySecretResetResponse): ver (string), timestamp (string, date-time), "
    "txnId (string), entityId (string), secret (string), expiresOn (number), expirationDate "
    "(string), oldSecretValidity (number)."
)
_AT_ONCE: Final = "oldSecretValidity omitted or 0 | new secret active | old secret invalid at once"
_BOTH: Final = "both old and new secret can generate an entity token for that many days"
_WHOLE: Final = "secretExpiryDays, oldSecretValidity | whole numbers 1 to 180, and 0 to 7"
_LIMITED: Final = "429, Retry-After in whole seconds, the next permitted time in errorMsg"
_DAY_S: Final = 86_400
_NEAR_S: Final = 120


def _wrong(one: Implementation, field: str, *values: object) -> Steps:
    for value in values:
        answer = one.reset_secret(**{field: value})
        yield from error(answer, 400, naming=field)


@specified("T-4.3-1", "without Authorization: refused",
           "Header Authorization (string, required): user bearer token with admin rights.",
           *_NEEDS)  # fmt: skip
def _no_token(one: Implementation) -> Steps:
    yield from error(one.json(_PATH, {"entityId": one.entity.entity_id}), 400, 401)


@specified("T-4.3-2", "without entityId: 400", "entityId | string | yes", *_NEEDS)
def _no_entity(one: Implementation) -> Steps:
    yield from error(one.json(_PATH, {}, one.user_bearer), 400)


@specified("T-8-1", "secretExpiryDays above 180: 400",
           "Secret validity (default and maximum) | 180 days", *_NEEDS)  # fmt: skip
def _too_long(one: Implementation) -> Steps:
    yield from _wrong(one, "secretExpiryDays", 181)


@specified("T-8-2", "oldSecretValidity above 7: 400", "Old secret validity, maximum | 7 days",
           *_NEEDS)  # fmt: skip
def _too_much_grace(one: Implementation) -> Steps:
    yield from _wrong(one, "oldSecretValidity", 8)


@decided("T-D3-36", "days below the range, fractions and texts: 400", _WHOLE, *_NEEDS)
def _not_days(one: Implementation) -> Steps:
    yield from _wrong(one, "secretExpiryDays", 0, 1.5, "ten")
    yield from _wrong(one, "oldSecretValidity", -1, "one")


@specified("T-4.3-3", "a reset gives a new secret",
           "200: EntitySecretResetResponse. 400, 401: error body.", *_NEEDS)  # fmt: skip
def _given(one: Implementation) -> Steps:
    made = one.reset_session.without_grace()
    yield status(made.answer, 200)
    yield that(made.new.secret != made.old.secret, "another secret", "the same secret")


@specified("T-2.3-9", "the fields of the reset response", _RESPONSE, *_NEEDS)
def _response(one: Implementation) -> Steps:
    answer = one.reset_session.without_grace().answer
    yield status(answer, 200)
    for name in ("ver", "txnId", "secret"):
        yield is_text(answer, name)
    for name in ("timestamp", "expirationDate"):
        yield is_date_time(answer, name)
    for name in ("expiresOn", "oldSecretValidity"):
        yield is_number(answer, name)
    yield equal("entityId", one.entity.entity_id, answer.field("entityId"))


@specified("T-3-1", "without grace the old secret is dead at once", _AT_ONCE, *_NEEDS)
def _old_is_dead(one: Implementation) -> Steps:
    made = one.reset_session.without_grace()
    yield status(made.answer, 200)
    yield from error(one.entity_token(made.old), 400, 401)


@specified("T-3-2", "the new secret is active", "new secret active", *_NEEDS)
def _new_works(one: Implementation) -> Steps:
    made = one.reset_session.without_grace()
    yield status(made.answer, 200)
    yield from token_given(one.entity_token(made.new))


@specified("T-8-3", "a secret is valid for 180 days by default",
           "a default applies when omitted (default and maximum are 180)", *_NEEDS)  # fmt: skip
def _default_life(one: Implementation) -> Steps:
    answer = one.reset_session.without_grace().answer
    yield status(answer, 200)
    yield from _days(answer, 180)


@specified("T-8-4", "a reset within the waiting period is refused, and changes nothing",
           "Waiting period after each reset call | 5 minutes", *_NEEDS)  # fmt: skip
def _waiting(one: Implementation) -> Steps:
    yield status(one.reset_session.without_grace().answer, 200)
    made = one.reset_session.too_soon()
    yield that(400 <= made.answer.status < 500, "a refusal", made.answer.described())  # noqa: PLR2004  # an HTTP status
    yield from token_given(one.entity_token(one.entity))


@decided("T-D3-37", "in the waiting period: 429 with Retry-After, and read goes on working",
         _LIMITED, *_NEEDS)  # fmt: skip
def _waiting_answer(one: Implementation) -> Steps:
    answer = one.reset_session.too_soon().answer
    if answer.status == 200:  # noqa: PLR2004  # an HTTP status
        yield Skip("the reset was not refused: see T-8-4")
    yield from error(answer, 429)
    yield equal("errorCode", "ResetTooSoon", answer.field("errorCode"))
    wait = answer.headers.get("Retry-After", "missing")
    yield that(wait.isdigit() and 0 < int(wait) <= 300, "Retry-After up to 300", wait)  # noqa: PLR2004  # seconds
    yield status(one.read_secret(), 200)


@specified("T-3-3", "in the grace period the old secret still works", _BOTH, *_NEEDS)
def _grace_old(one: Implementation) -> Steps:
    made = one.reset_session.with_grace()
    yield status(made.answer, 200)
    yield from token_given(one.entity_token(made.old))


@specified("T-3-4", "in the grace period the new secret works", _BOTH, *_NEEDS)
def _grace_new(one: Implementation) -> Steps:
    made = one.reset_session.with_grace()
    yield status(made.answer, 200)
    yield from token_given(one.entity_token(made.new))


@decided("T-D3-38", "an old secret in grace gets a warning: message and Sunset",
         "the answer of entity token generation gets the member message … and the header Sunset",
         *_NEEDS)  # fmt: skip
def _warning(one: Implementation) -> Steps:
    made = one.reset_session.with_grace()
    yield status(made.answer, 200)
    by_old, by_new = one.entity_token(made.old), one.entity_token(made.new)
    yield status(by_old, 200)
    yield is_text(by_old, "message")
    yield that("Sunset" in by_old.headers, "the header Sunset", "it is missing")
    yield that(by_new.field("message") is UNSET, "none for the new secret", "message is there")


@specified("T-2.3-10", "read shows the grace period", "oldSecretExpirationDate | string", *_NEEDS)
def _grace_shown(one: Implementation) -> Steps:
    yield status(one.reset_session.with_grace().answer, 200)
    answer = one.read_secret()
    yield status(answer, 200)
    yield equal("oldSecretValidity", 1, answer.field("oldSecretValidity"))
    yield has("the response", answer.document, ("oldSecretExpirationDate",))
    yield from _days(answer, 1, "oldSecretExpirationDate")


@specified("T-8-5", "secretExpiryDays is the life of the new secret",
           "secretExpiryDays | integer | no | days until the new secret expires",
           *_NEEDS)  # fmt: skip
def _asked_life(one: Implementation) -> Steps:
    answer = one.reset_session.with_grace().answer
    yield status(answer, 200)
    yield from _days(answer, 10)


@specified("T-3-5", "oldSecretValidity 0 ends the former secret at once", _AT_ONCE, *_NEEDS)
def _again_dead(one: Implementation) -> Steps:
    made = one.reset_session.without_grace_again()
    yield status(made.answer, 200)
    yield from error(one.entity_token(made.old), 400, 401)


@decided("T-D3-39", "two valid secrets at most: the older one ends as well",
         "the older one ends at once: two valid secrets at most", *_NEEDS)  # fmt: skip
def _older_dead(one: Implementation) -> Steps:
    yield status(one.reset_session.without_grace_again().answer, 200)
    yield from error(one.entity_token(one.reset_session.with_grace().old), 401)


@specified("T-8-6", "the sixth reset in 24 hours is refused", "Resets per entity per day | 5",
           *_ALL)  # fmt: skip
def _limit(one: Implementation) -> Steps:
    yield status(one.reset_session.without_grace().answer, 200)
    answer = one.reset_session.beyond_the_limit().answer
    yield that(400 <= answer.status < 500, "a refusal", answer.described())  # noqa: PLR2004  # an HTTP status


@decided("T-D3-40", "beyond the limit: 429 ResetLimitReached with Retry-After", _LIMITED, *_ALL)
def _limit_answer(one: Implementation) -> Steps:
    answer = one.reset_session.beyond_the_limit().answer
    if answer.status == 200:  # noqa: PLR2004  # an HTTP status
        yield Skip("the reset was not refused: see T-8-6")
    yield from error(answer, 429)
    yield equal("errorCode", "ResetLimitReached", answer.field("errorCode"))
    yield that(answer.headers.get("Retry-After", "").isdigit(), "Retry-After", "it is missing")


def _days(answer: Answer, days: int, field: str = "expirationDate") -> Steps:
    begin, end = moment(answer.field("timestamp")), moment(answer.field(field))
    if begin is None or end is None:
        yield that(holds=False, expected=f"{field} is a time", came=kind(answer.field(field)))
        return
    apart = (end - begin).total_seconds()
    came = f"{apart / _DAY_S:.2f} days after the answer"
    yield that(abs(apart - days * _DAY_S) < _NEAR_S, f"{field} is {days} days away", came)


CHECKS: Final = (
    _no_token, _no_entity, _too_long, _too_much_grace, _not_days, _given, _response, _old_is_dead,
    _new_works, _default_life, _waiting, _waiting_answer, _grace_old, _grace_new, _warning,
    _grace_shown, _asked_life, _again_dead, _older_dead, _limit, _limit_answer,
)  # fmt: skip
