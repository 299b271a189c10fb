"""Answers that everyone may read: with an ETag, packed by gzip, kept by caches for seconds."""

import asyncio
import gzip
from typing import Final

from litestar import Response

from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.http.response.entity_tag import entity_tag, has_it
from mudra.localization.language import current, use

_MAX_AGE_S: Final = 15
_LEVEL: Final = 5
_FAST: Final = 1
_LARGE: Final = 500_000
_MIN_PACKED: Final = 1_000
_NOT_MODIFIED: Final = 304


def choose_language(request: AnyRequest, dependencies: HttpDependencies) -> str:
    """Write in the reader's language; returns the tag if the address asked for it (`lang`).

    The address or the browser says which, no cookie: caches keep one answer for each language.
    """
    asked = request.query_params.get("lang", "")
    language = dependencies.languages.choose(asked, request.headers.get("accept-language", ""))
    use(language)
    return asked if dependencies.languages.find(asked) is not None else ""


def in_language(page: Response[str]) -> Response[str]:
    """Say of a page in which language it is, and that another reader may get another one."""
    page.headers["Content-Language"] = current().tag
    page.headers["Vary"] = "Accept-Encoding, Accept-Language"
    return page


async def public(
    request: AnyRequest, answer: Response[str] | Response[bytes]
) -> Response[str] | Response[bytes]:
    """Returns the answer packed where the reader can unpack it, or 304 where they have it."""
    content = answer.content
    body = content.encode() if isinstance(content, str) else content
    tag = f"W/{entity_tag(body)}"
    headers = {
        "Vary": "Accept-Encoding",
        **answer.headers,
        "ETag": tag,
        "Cache-Control": f"public, max-age={_MAX_AGE_S}",
    }
    if has_it(request, tag.removeprefix("W/")):
        return Response(b"", status_code=_NOT_MODIFIED, headers=headers)
    if len(body) >= _MIN_PACKED and "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        if len(body) < _LARGE:
            body = gzip.compress(body, _LEVEL, mtime=0)
        else:  # other readers do not wait for it
            body = await asyncio.to_thread(gzip.compress, body, _FAST, mtime=0)
    return Response(
        body, status_code=answer.status_code or 200, media_type=answer.media_type, headers=headers
    )
