"""Responses of the token service (spec 2.2, 2.3)."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

from mudra.http.response.response_body import DateTime, ResponseBody
from mudra.shared.secret_text import SecretText
from mudra.tokens.issuing.issue_entity_token import BEARER


class UserTokenResponse(ResponseBody, kw_only=True):
    """A User Access Token (spec 2.2)."""

    access_token: Annotated[
        str,
        Meta(
            description="the token, a JWT that is signed by RS256",
            examples=["eyJhbGciOiJSUzI1NiIs…"],
        ),
    ] = field(name="accessToken")
    expires_in: Annotated[
        int, Meta(description="life of the token in seconds", examples=[86400])
    ] = field(name="expiresIn")
    token_type: Annotated[str, Meta(examples=["Bearer"])] = field(name="tokenType")


class TokenResponse(UserTokenResponse, kw_only=True):
    """Token response (spec 2.2); `message` only while the presented secret is in grace."""

    message: (
        Annotated[
            str,
            Meta(
                description="only while an old secret in its grace period is used: when that ends"
            ),
        ]
        | UnsetType
    ) = UNSET


def user_token_response(token: SecretText, expires_in_s: int) -> UserTokenResponse:
    """Return the response that carries a User Access Token."""
    return UserTokenResponse(
        access_token=token.reveal(), expires_in=expires_in_s, token_type=BEARER
    )


def token_response(token: SecretText, expires_in_s: int, token_type: str) -> TokenResponse:
    """Return the response that carries an Entity Access Token."""
    return TokenResponse(
        access_token=token.reveal(),
        expires_in=expires_in_s,
        token_type=token_type,
    )


class EntitySecretResetResponse(ResponseBody, kw_only=True):
    """EntitySecretResetResponse (spec 2.3)."""

    entity_id: Annotated[str, Meta(examples=["KAVERI-FIP"])] = field(name="entityId")
    secret: Annotated[str, Meta(examples=["kT2nH9bQ0sXvL4mR7wYcE1pA6dJ8uG3fZ5iO-hNqKlM"])]
    expires_on: Annotated[
        int,
        Meta(description="end of the secret, in milliseconds since 1970", examples=[1785144600000]),
    ] = field(name="expiresOn")
    expiration_date: DateTime = field(name="expirationDate")
    old_secret_validity: Annotated[
        int, Meta(ge=0, le=7, description="days that the old secret still works")
    ] = field(name="oldSecretValidity")


class EntitySecretReadResponse(EntitySecretResetResponse, kw_only=True):
    """EntitySecretReadResponse (spec 2.3)."""

    old_secret_expiration_date: DateTime | UnsetType = field(
        name="oldSecretExpirationDate", default=UNSET
    )


class EntitySecretRetireResponse(ResponseBody, kw_only=True):
    """The old secret has ended."""

    entity_id: Annotated[str, Meta(examples=["KAVERI-FIP"])] = field(name="entityId")
    old_secret_validity: Annotated[int, Meta(ge=0, le=0)] = field(name="oldSecretValidity")


class AddressUseResponse(Struct, kw_only=True):
    """Tokens issued for one secret to one address."""

    address: str
    count: int
    last_used_at: DateTime = field(name="lastUsedAt")


class SecretUseResponse(Struct, kw_only=True):
    """The use of one secret; `summary` is for people, such as "last used 26 hours ago"."""

    version: int
    count: int
    address_count: int = field(name="addressCount")
    last_used_at: DateTime | UnsetType = field(name="lastUsedAt", default=UNSET)
    ends_at: DateTime = field(name="endsAt")
    summary: str
    addresses: Annotated[
        list[AddressUseResponse], Meta(description="the latest twenty, the latest first")
    ]


class EntitySecretUseResponse(ResponseBody, kw_only=True):
    """The times and addresses of the secrets' use; `old` only during its grace period."""

    entity_id: str = field(name="entityId")
    current: SecretUseResponse
    old: SecretUseResponse | UnsetType = UNSET
