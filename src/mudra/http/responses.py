"""Answers of the token service, for the OpenAPI document (spec 2.2, 2.3, 7)."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

_DateTime = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]


class _Enveloped(Struct, kw_only=True):
    ver: str
    timestamp: _DateTime
    txn_id: str = field(name="txnId")


class TokenResponse(_Enveloped, kw_only=True):
    """Token response (spec 2.2); `message` only while the presented secret is in grace."""

    access_token: str = field(name="accessToken")
    expires_in: Annotated[int, Meta(description="seconds")] = field(name="expiresIn")
    token_type: str = field(name="tokenType")
    message: str | UnsetType = UNSET


class EntitySecretResetResponse(_Enveloped, kw_only=True):
    """EntitySecretResetResponse (spec 2.3)."""

    entity_id: str = field(name="entityId")
    secret: str
    expires_on: Annotated[int, Meta(description="milliseconds since the epoch")] = field(
        name="expiresOn"
    )
    expiration_date: _DateTime = field(name="expirationDate")
    old_secret_validity: Annotated[int, Meta(ge=0, le=7, description="days")] = field(
        name="oldSecretValidity"
    )


class EntitySecretReadResponse(EntitySecretResetResponse, kw_only=True):
    """EntitySecretReadResponse (spec 2.3)."""

    old_secret_expiration_date: _DateTime | UnsetType = field(
        name="oldSecretExpirationDate", default=UNSET
    )


class EntitySecretRetireResponse(_Enveloped, kw_only=True):
    """The old secret has ended."""

    entity_id: str = field(name="entityId")
    old_secret_validity: Annotated[int, Meta(ge=0, le=0)] = field(name="oldSecretValidity")


class PasswordResponse(_Enveloped, kw_only=True):
    """The password was set, or the request was taken."""

    status: str


class ClockResponse(_Enveloped, kw_only=True):
    """The service's time after the move."""

    now: _DateTime


class ErrorBody(_Enveloped, kw_only=True):
    """Error body (spec 7)."""

    error_code: str = field(name="errorCode")
    error_msg: str = field(name="errorMsg")
