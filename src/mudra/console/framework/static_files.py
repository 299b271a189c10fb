"""Style and scripts, from the package itself: no request leaves the host."""

from collections.abc import Mapping
from typing import Final

from litestar import Response, get
from litestar.params import FromPath

from mudra.console.framework.static_assets import ASSETS, StaticAsset
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest, new_context
from mudra.http.response.content_coding import coding_for
from mudra.http.response.entity_tag import has_it
from mudra.http.response.http_refusals import NO_SUCH_ADDRESS
from mudra.http.response.json_response import refusal
from mudra.http.server.router import Router

_FOR_A_YEAR: Final = "public, max-age=31536000, immutable"
_ASK_EACH_TIME: Final = "public, no-cache"


@get("/static/{name:path}", include_in_schema=False)
async def static_file(
    request: AnyRequest, dependencies: InjectedDependencies, name: FromPath[str]
) -> Response[bytes]:
    """One file, packed when the browser unpacks it; kept for a year under its digest's address."""
    found = ASSETS.find(name.lstrip("/"))
    if found is None:
        context = new_context(request, dependencies)
        return refusal(context.envelope, NO_SUCH_ADDRESS).response()
    named = request.query_params.get("v") == found.digest
    return answer_file(request, found, {"Cache-Control": _FOR_A_YEAR if named else _ASK_EACH_TIME})


def answer_file(
    request: AnyRequest, found: StaticAsset, more: Mapping[str, str]
) -> Response[bytes]:
    """Answer with a file, or 304 for what the browser has; `more` are headers of its own."""
    tag = f'"{found.digest}"'
    headers = {
        "ETag": f"W/{tag}",  # of the packed form as well
        "Vary": "Accept-Encoding",
        "Cache-Control": _ASK_EACH_TIME,
        "Cross-Origin-Resource-Policy": "same-origin",
        **more,
    }
    if has_it(request, tag):
        return Response(b"", status_code=304, headers=headers, media_type=found.media_type)
    body = found.body
    if found.packed is not None and coding_for(request) != "plain":
        headers["Content-Encoding"] = "gzip"
        body = found.packed
    return Response(body, headers=headers, media_type=found.media_type)


def static_files(prefix: str) -> Router:
    """Serve the package's static files under `prefix`/static."""
    return Router(prefix or "/", route_handlers=[static_file])
