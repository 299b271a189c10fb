"""The signed revocation list, for those who verify tokens offline."""

from litestar import Response, get

from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest
from mudra.http.response.entity_tag import entity_tag, has_it
from mudra.http.response.open_data import OPEN_DATA, OPEN_HEADERS
from mudra.tokens.revocation.revocation_list import RevocationList

PATH = "/revocations"
_MEDIA = "application/json"


@get(
    PATH,
    opt=OPEN_DATA,
    tags=["OAuth"],
    operation_class=described(
        "Get the revocation list",
        None,
        RevocationList,
        traced=False,
        headers={
            "ETag": "Strong; sent back in If-None-Match it gives 304.",
            "x-jws-signature": "Detached JWS over the bytes of the body (RFC 7797).",
        },
    ),
)
async def revocations(request: AnyRequest, dependencies: InjectedDependencies) -> Response[bytes]:
    """Return the list with a detached JWS over its bytes, by a published key (RFC 7797)."""
    signed = await dependencies.revocation_lists.current()
    tag = entity_tag(signed.body)
    headers = {
        "ETag": tag,
        "Cache-Control": "public, no-cache",
        **OPEN_HEADERS,
        "x-jws-signature": signed.signature,
    }
    if has_it(request, tag):
        return Response(b"", status_code=304, headers=headers, media_type=_MEDIA)
    return Response(signed.body, headers=headers, media_type=_MEDIA)
