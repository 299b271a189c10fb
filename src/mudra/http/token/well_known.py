"""Published keys and metadata: how others check our tokens (decisions 3; RFC 8414, OIDC)."""

from typing import Final

import msgspec
from litestar import Response, get
from litestar.handlers import HTTPRouteHandler

from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.request.request_context import AnyRequest, address_of
from mudra.tokens.signing_keys.key_lifecycle import JWKS_MAX_AGE

_CACHE: Final = {
    "Cache-Control": f"public, max-age={int(JWKS_MAX_AGE.total_seconds())}",
    "Access-Control-Allow-Origin": "*",
}


@get(["/protocol/openid-connect/certs", "/.well-known/jwks.json"], include_in_schema=False)
async def jwks(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """The published signing keys as a JWK Set (RFC 7517 5); who fetches them is counted."""
    keys = await service.signer.jwks()
    service.key_fetches.append(service.signer.published_kids(), address_of(request, service))
    return Response(keys, media_type="application/json", headers=_CACHE)


@get("/.well-known/openid-configuration", include_in_schema=False)
async def configuration(service: InjectedDependencies) -> Response[bytes]:
    """Metadata of the issuer at the place where most clients look."""
    return metadata(service)


def metadata(service: HttpDependencies) -> Response[bytes]:
    """Authorization server metadata (RFC 8414 2)."""
    issuer = service.settings.issuer
    document = {
        "issuer": issuer,
        "jwks_uri": f"{issuer}/protocol/openid-connect/certs",
        "token_endpoint": f"{issuer}/oauth2/token",
        "introspection_endpoint": f"{issuer}/oauth2/introspect",
        "revocation_endpoint": f"{issuer}/oauth2/revoke",
        "grant_types_supported": ["client_credentials"],
        "response_types_supported": [],
        "subject_types_supported": ["public"],
        "scopes_supported": ["entity"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        "introspection_endpoint_auth_methods_supported": [
            "client_secret_basic",
            "client_secret_post",
            "bearer",
        ],
        "revocation_endpoint_auth_methods_supported": [
            "client_secret_basic",
            "client_secret_post",
            "bearer",
        ],
        "id_token_signing_alg_values_supported": ["RS256"],
    }
    return Response(msgspec.json.encode(document), media_type="application/json", headers=_CACHE)


def authorization_server_route(prefix: str) -> HTTPRouteHandler:
    """Mount the metadata where RFC 8414 3.1 puts them: before the issuer's path."""

    @get(f"/.well-known/oauth-authorization-server{prefix}", include_in_schema=False)
    async def authorization_server(service: InjectedDependencies) -> Response[bytes]:
        """Metadata of the issuer (RFC 8414)."""
        return metadata(service)

    return authorization_server
