"""Requests of the token service as the wire carries them (spec 2.3, 4; decisions 3).

`description` is what an error sentence says is allowed.
"""

from typing import Annotated

from msgspec import Meta, Struct, field

from mudra.secret_text import SecretText
from mudra.tokens.secret import MAX_EXPIRY_DAYS, MAX_GRACE_DAYS

EntityId = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        pattern=r"^[A-Za-z0-9@._-]+\Z",
        description="an entity ID: 1 to 64 characters out of letters, digits, @ . _ -",
    ),
]
_ASecret = Annotated[SecretText, Meta(description="a text of 1 to 1024 characters")]


class UserTokenRequest(Struct, frozen=True):
    """Form of POST /user/token/generate (spec 4.1)."""

    username: Annotated[str, Meta(min_length=1, max_length=254, description="an e-mail address")]
    password: Annotated[SecretText, Meta(description="the user's password, not empty")]


class EntityTokenRequest(Struct, frozen=True):
    """Form of POST /entity/token/generate (spec 4.4)."""

    id: Annotated[str, Meta(min_length=1, max_length=64, description="an entity ID")]
    secret: Annotated[SecretText, Meta(description="the entity's secret, not empty")]


class EntitySecretReadRequest(Struct, frozen=True):
    """JSON of POST /entity/secret/read (spec 2.3)."""

    entity_id: EntityId = field(name="entityId")


class EntitySecretResetRequest(Struct, frozen=True):
    """JSON of POST /entity/secret/reset (spec 2.3)."""

    entity_id: EntityId = field(name="entityId")
    secret_expiry_days: Annotated[
        int,
        Meta(
            ge=1,
            le=MAX_EXPIRY_DAYS,
            description=f"a whole number from 1 to {MAX_EXPIRY_DAYS}",
        ),
    ] = field(name="secretExpiryDays", default=MAX_EXPIRY_DAYS)
    old_secret_validity: Annotated[
        int,
        Meta(ge=0, le=MAX_GRACE_DAYS, description=f"a whole number from 0 to {MAX_GRACE_DAYS}"),
    ] = field(name="oldSecretValidity", default=0)


class PasswordSetRequest(Struct, frozen=True):
    """JSON of POST /user/password/set."""

    token: Annotated[SecretText, Meta(description="the last part of the link in the mail")]
    password: Annotated[SecretText, Meta(description="a password of 15 to 256 characters")]


class PasswordForgotRequest(Struct, frozen=True):
    """JSON of POST /user/password/forgot."""

    username: Annotated[str, Meta(min_length=1, max_length=254, description="an e-mail address")]


class ClockRequest(Struct, frozen=True):
    """JSON of POST /sandbox/v1/clock."""

    advance: Annotated[
        str,
        Meta(
            pattern=r"^P(?=.)(\d{1,5}W|(\d{1,5}D)?(T(?=\d)(\d{1,7}H)?(\d{1,9}M)?(\d{1,9}S)?)?)\Z",
            description="an ISO 8601 duration of weeks, days, hours, minutes, seconds: PT6M, P7D",
        ),
    ]
