"""The shapes of OAuth's calls and of the published metadata, for the OpenAPI document.

Forms and documents have the names of their RFCs; what is read and checked is in oauth.py.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from mudra.shared.secret_text import SecretText
from mudra.tokens.authentication.client_assertion import MAX_ASSERTION_LENGTH
from mudra.tokens.authentication.token_check import MAX_TOKEN_LENGTH

_Assertion = Annotated[
    SecretText | UnsetType,
    Meta(
        description="a JWT that the registered key signed, in place of a secret (RFC 7523)",
        extra_json_schema={"maxLength": MAX_ASSERTION_LENGTH},
    ),
]
_AssertionType = Annotated[
    Literal["urn:ietf:params:oauth:client-assertion-type:jwt-bearer"] | UnsetType,
    Meta(description="goes with client_assertion"),
]
_ClientId = Annotated[
    str | UnsetType,
    Meta(description="entity ID, where it is not in Authorization", examples=["KAVERI-FIP"]),
]
_Secret = Annotated[
    SecretText | UnsetType,
    Meta(
        description="entity secret, where it is not in Authorization",
        examples=["kT2nH9bQ0sXvL4mR7wYcE1pA6dJ8uG3fZ5iO-hNqKlM"],
    ),
]


class OAuthClient(Struct, kw_only=True):
    """The authentication of a client in a form: one way only (RFC 6749 2.3)."""

    client_id: _ClientId = UNSET
    client_secret: _Secret = UNSET
    client_assertion_type: _AssertionType = UNSET
    client_assertion: _Assertion = UNSET


class OAuthTokenRequest(OAuthClient, kw_only=True):
    """Form of POST /oauth2/token (RFC 6749 4.4.2)."""

    grant_type: Annotated[
        Literal["client_credentials"], Meta(description="the only grant that there is")
    ]


class OAuthPresentedToken(OAuthClient, kw_only=True):
    """Form of POST /oauth2/introspect and /oauth2/revoke (RFC 7662 2.1, RFC 7009 2.1)."""

    token: Annotated[
        SecretText,
        Meta(
            description="the token that is asked about, or that ends",
            extra_json_schema={"maxLength": MAX_TOKEN_LENGTH},
        ),
    ]


class OAuthToken(Struct, frozen=True):
    """Successful response (RFC 6749 5.1)."""

    access_token: Annotated[str, Meta(description="the token, a signed JWT")]
    token_type: Annotated[str, Meta(description="Bearer, or DPoP for a token bound to a key")]
    expires_in: Annotated[int, Meta(description="life of the token in seconds")]
    scope: Annotated[str, Meta(description="what the token is for, always entity")]


class OAuthErrorBody(Struct, frozen=True):
    """Error response (RFC 6749 5.2)."""

    error: Annotated[
        str, Meta(description="OAuth's word, for programs", examples=["invalid_client"])
    ]
    error_description: Annotated[str, Meta(description="a sentence, for people")]


class Inactive(Struct, frozen=True):
    """Response about any token that is not active (RFC 7662 2.2)."""

    active: bool = False


class OAuthIntrospection(Struct, kw_only=True):
    """The facts of a token (RFC 7662 2.2); only `active` of one that is not valid.

    An active one has all its claims.
    """

    active: Annotated[bool, Meta(description="whether the token is valid now")]
    token_type: Annotated[str, Meta(description="Bearer or DPoP")] | UnsetType = UNSET
    sub: Annotated[str, Meta(description="entity ID")] | UnsetType = UNSET
    client_id: Annotated[str, Meta(description="entity ID")] | UnsetType = UNSET
    iss: Annotated[str, Meta(description="who issued the token")] | UnsetType = UNSET
    jti: Annotated[str, Meta(description="ID of the token")] | UnsetType = UNSET
    scope: Annotated[str, Meta(description="what the token is for")] | UnsetType = UNSET
    roles: Annotated[str, Meta(description="type of the entity: AA, FIP or FIU")] | UnsetType = (
        UNSET
    )
    iat: (
        Annotated[int, Meta(description="when it was issued, in seconds since 1970")] | UnsetType
    ) = UNSET
    nbf: Annotated[int, Meta(description="from when it is valid, the same as iat")] | UnsetType = (
        UNSET
    )
    exp: Annotated[int, Meta(description="when it ends, in seconds since 1970")] | UnsetType = UNSET
    aud: Annotated[str, Meta(description="for whom the token is")] | UnsetType = UNSET
    typ: Annotated[str, Meta(description="always Bearer")] | UnsetType = UNSET
    azp: Annotated[str, Meta(description="the same as sub")] | UnsetType = UNSET
    own_client_id: Annotated[str, Meta(description="the same as sub")] | UnsetType = field(
        name="clientId", default=UNSET
    )
    secret_expires_at: (
        Annotated[
            int,
            Meta(
                description="when the entity's secret ends, in milliseconds since 1970; of an "
                "entity's token"
            ),
        ]
        | UnsetType
    ) = field(name="secret-expiry-ts", default=UNSET)
    cnf: (
        Annotated[
            dict[str, str],
            Meta(description="thumbprint of the key, `jkt`, to which the token is bound"),
        ]
        | UnsetType
    ) = UNSET


class PublishedKey(Struct):
    """A public key by which tokens are checked (RFC 7517 4)."""

    kty: Annotated[str, Meta(description="type of the key, always RSA")]
    use: Annotated[str, Meta(description="use of the key, always sig")]
    alg: Annotated[str, Meta(description="algorithm, always RS256")]
    kid: Annotated[str, Meta(description="ID of the key, as tokens name it in their header")]
    n: Annotated[str, Meta(description="modulus, Base64url")]
    e: Annotated[str, Meta(description="public exponent, Base64url")]


class PublishedKeys(Struct):
    """The published signing keys (RFC 7517 5): those that sign, will sign, or have signed."""

    keys: Annotated[Sequence[PublishedKey], Meta(description="the keys")]


_Url = Annotated[str, Meta(extra_json_schema={"format": "uri"})]
_Words = Sequence[str]


class ServerMetadata(Struct):
    """Metadata of the authorization server (RFC 8414 2)."""

    issuer: Annotated[_Url, Meta(description="`iss` of the tokens")]
    jwks_uri: Annotated[_Url, Meta(description="address of the published keys")]
    token_endpoint: Annotated[_Url, Meta(description="address of the token endpoint")]
    introspection_endpoint: Annotated[_Url, Meta(description="address of introspection")]
    revocation_endpoint: Annotated[_Url, Meta(description="address of revocation")]
    revocations_uri: Annotated[_Url, Meta(description="address of the signed revocation list")]
    grant_types_supported: Annotated[_Words, Meta(description="grants of the token endpoint")]
    response_types_supported: Annotated[
        _Words,
        Meta(
            # RFC 8414 2 requires the member and 3.2 forbids an empty one: no response type
            # leads to a token here, which is what `none` says.
            description="none: no response type leads to a token"
        ),
    ]
    subject_types_supported: Annotated[_Words, Meta(description="kinds of `sub`")]
    scopes_supported: Annotated[_Words, Meta(description="scopes of tokens")]
    token_endpoint_auth_methods_supported: Annotated[
        _Words, Meta(description="how clients authenticate at the token endpoint")
    ]
    token_endpoint_auth_signing_alg_values_supported: Annotated[
        _Words, Meta(description="algorithms of an assertion there")
    ]
    introspection_endpoint_auth_methods_supported: Annotated[
        _Words, Meta(description="how clients authenticate for introspection")
    ]
    introspection_endpoint_auth_signing_alg_values_supported: Annotated[
        # RFC 8414 2: MUST be there as private_key_jwt is among the methods.
        _Words, Meta(description="algorithms of an assertion there")
    ]
    revocation_endpoint_auth_methods_supported: Annotated[
        _Words, Meta(description="how clients authenticate for revocation")
    ]
    revocation_endpoint_auth_signing_alg_values_supported: Annotated[
        _Words, Meta(description="algorithms of an assertion there")
    ]
    dpop_signing_alg_values_supported: Annotated[
        _Words, Meta(description="algorithms of a proof of a key (RFC 9449)")
    ]
    id_token_signing_alg_values_supported: Annotated[
        _Words, Meta(description="algorithm of the tokens, as OpenID Connect asks for it")
    ]
