"""Published keys and metadata: how others check our tokens (RFC 8414, OIDC)."""

from typing import Final

import msgspec
from litestar import Response, get
from litestar.handlers import HTTPRouteHandler

from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest, address_of
from mudra.http.response.open_data import OPEN_DATA, OPEN_HEADERS
from mudra.http.token import revocations
from mudra.http.token.oauth_shapes import PublishedKeys, ServerMetadata
from mudra.shared.dpop_proof import ALGORITHMS as PROOF_ALGORITHMS
from mudra.tokens.authentication.client_assertion import ALGORITHMS
from mudra.tokens.signing_keys.key_lifecycle import JWKS_MAX_AGE

_CACHE: Final = {
    "Cache-Control": f"public, max-age={int(JWKS_MAX_AGE.total_seconds())}",
    **OPEN_HEADERS,
}


async def send_keys(request: AnyRequest, dependencies: InjectedDependencies) -> Response[bytes]:
    """The published signing keys as a JWK Set (RFC 7517 5); who fetches them is counted."""
    keys = await dependencies.signer.jwks()
    dependencies.key_fetches.append(
        dependencies.signer.published_kids(), address_of(request, dependencies)
    )
    return Response(keys, media_type="application/json", headers=_CACHE)


jwks: Final = get(
    "/.well-known/jwks.json",
    opt=OPEN_DATA,
    tags=["OAuth"],
    operation_class=described("List the published keys", None, PublishedKeys, traced=False),
)(send_keys)
certs: Final = get("/protocol/openid-connect/certs", include_in_schema=False, opt=OPEN_DATA)(
    send_keys
)


@get(
    "/.well-known/openid-configuration",
    opt=OPEN_DATA,
    tags=["OAuth"],
    operation_class=described("Get the metadata of the issuer", None, ServerMetadata, traced=False),
)
async def configuration(dependencies: InjectedDependencies) -> Response[bytes]:
    """Metadata of the issuer at the place where most clients look."""
    return metadata(dependencies)


def metadata(dependencies: HttpDependencies) -> Response[bytes]:
    """Authorization server metadata (RFC 8414 2)."""
    issuer = dependencies.settings.issuer
    methods = ["client_secret_basic", "client_secret_post", "private_key_jwt"]
    document = ServerMetadata(
        issuer=issuer,
        jwks_uri=f"{issuer}/protocol/openid-connect/certs",
        token_endpoint=f"{issuer}/oauth2/token",
        introspection_endpoint=f"{issuer}/oauth2/introspect",
        revocation_endpoint=f"{issuer}/oauth2/revoke",
        revocations_uri=f"{issuer}{revocations.PATH}",
        grant_types_supported=["client_credentials"],
        response_types_supported=["none"],
        subject_types_supported=["public"],
        scopes_supported=["entity"],
        token_endpoint_auth_methods_supported=methods,
        token_endpoint_auth_signing_alg_values_supported=ALGORITHMS,
        dpop_signing_alg_values_supported=PROOF_ALGORITHMS,
        introspection_endpoint_auth_methods_supported=methods,
        introspection_endpoint_auth_signing_alg_values_supported=ALGORITHMS,
        revocation_endpoint_auth_methods_supported=methods,
        revocation_endpoint_auth_signing_alg_values_supported=ALGORITHMS,
        id_token_signing_alg_values_supported=["RS256"],
    )
    return Response(msgspec.json.encode(document), media_type="application/json", headers=_CACHE)


def authorization_server_route(prefix: str) -> HTTPRouteHandler:
    """Mount the metadata before the issuer's path (RFC 8414 3.1), and below it.

    Many clients append the address to the issuer, as OpenID Connect does (RFC 8414 5).
    """
    place = "/.well-known/oauth-authorization-server"

    both = sorted({f"{place}{prefix}", f"{prefix}{place}"})

    @get(both, include_in_schema=False, opt=OPEN_DATA)
    async def authorization_server(dependencies: InjectedDependencies) -> Response[bytes]:
        """Metadata of the issuer (RFC 8414)."""
        return metadata(dependencies)

    return authorization_server
