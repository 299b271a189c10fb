"""The documentation at /docs: the site that `make docs` builds from docs/, served as it is."""

import base64
import hashlib
import re
from functools import lru_cache
from typing import Final

from litestar import Response, get
from litestar.params import FromPath

from mudra.console.framework.render import page
from mudra.console.framework.static_assets import DOCUMENTATION, StaticAsset
from mudra.console.framework.static_files import answer_file
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.http.server.router import Router

ROOT: Final = "/docs"
_INLINE: Final = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
_PAGES: Final = 256


@get([ROOT, f"{ROOT}/{{name:path}}"], include_in_schema=False)
async def documentation(
    request: AnyRequest, dependencies: InjectedDependencies, name: FromPath[str] = ""
) -> Response[bytes] | Response[str]:
    """Show a page of the site, or one of its files."""
    if not name.strip("/"):
        return Response("", status_code=307, headers={"Location": f"{ROOT}/index.html"})
    found = DOCUMENTATION.find(name.lstrip("/"))
    if found is None:
        return _not_there(dependencies)
    return answer_file(request, found, _headers(found))


def _not_there(dependencies: HttpDependencies) -> Response[bytes] | Response[str]:
    missing = DOCUMENTATION.find("404.html")
    if missing is None:
        facts = {
            "base": dependencies.settings.token_prefix,
            "network": dependencies.settings.network_name,
        }
        return page("documentation_missing.html", facts, status=404)
    return Response(
        missing.body, status_code=404, headers=_headers(missing), media_type="text/html"
    )


def _headers(found: StaticAsset) -> dict[str, str]:
    if found.media_type != "text/html":
        return {}
    scripts = " ".join(_hashes(found.body))
    return {
        # The site's own scripts, and those few that its pages hold, each named by its content.
        "Content-Security-Policy": (
            f"default-src 'none'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline';"
            " img-src 'self' data:; connect-src 'self'; worker-src 'self'; form-action 'self';"
            " base-uri 'none'; frame-ancestors 'none'"
        ),
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "same-origin",
    }


@lru_cache(_PAGES)
def _hashes(body: bytes) -> tuple[str, ...]:
    """Give the digests of a page's inline scripts, as a content security policy names them."""
    return tuple(
        f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"
        for script in dict.fromkeys(_INLINE.findall(body))
    )


def documentation_pages() -> Router:
    """Return the routes of the documentation."""
    return Router("/", route_handlers=[documentation])
