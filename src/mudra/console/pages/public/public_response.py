"""Answers that everyone may read: with an ETag, packed by gzip, kept by caches for seconds."""

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Final

from litestar import MediaType, Response
from litestar.response import Stream
from msgspec import Struct

from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.http.response.content_coding import coding_for
from mudra.http.response.entity_tag import entity_tag, has_it
from mudra.localization.language import current, use

_MAX_AGE_S: Final = 15
_LEVEL: Final = 5
_FAST: Final = 1
"""For files of megabytes: a tenth larger, in a third of the time."""
_MIN_PACKED: Final = 1_000
_PIECE: Final = 262_144
"""Bytes of a large file that are unpacked for a reader at a time."""
_PACKED_PIECE: Final = 16_384
_OF_GZIP: Final = 16 + zlib.MAX_WBITS
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


class PackedFile(Struct, frozen=True):
    """A file as it is kept for its readers: packed alone, since it may be many megabytes."""

    packed: bytes
    size: int
    """Bytes of the file as it is."""
    tag: str


def pack(body: bytes) -> PackedFile:
    """Returns a large file packed, with its tag."""
    return PackedFile(gzip.compress(body, _FAST, mtime=0), len(body), entity_tag(body))


class PublicAnswer(Struct, frozen=True):
    """An answer as it is kept for its readers, plain and packed."""

    body: bytes
    packed: bytes
    tag: str
    status: int
    media_type: MediaType | str | None
    headers: Mapping[str, str]

    def to(self, request: AnyRequest) -> Response[bytes]:
        """Returns it packed where the reader can unpack it, or 304 where they have it."""
        if has_it(request, self.tag):
            return Response(b"", status_code=_NOT_MODIFIED, headers=self.headers)
        coding = coding_for(request)
        is_packed = coding == "only gzip" or (coding == "gzip" and len(self.body) >= _MIN_PACKED)
        return Response(
            self.packed if is_packed else self.body,
            status_code=self.status,
            media_type=self.media_type,
            headers={**self.headers, "Content-Encoding": "gzip"} if is_packed else self.headers,
        )


def for_all(answer: Response[str] | Response[bytes]) -> PublicAnswer:
    """Returns an answer with its ETag, packed once."""
    content = answer.content
    body = content.encode() if isinstance(content, str) else content
    tag = entity_tag(body)
    return PublicAnswer(
        body,
        gzip.compress(body, _LEVEL, mtime=0),
        tag,
        answer.status_code or 200,
        answer.media_type,
        _headers(answer, tag),
    )


def public_file(
    request: AnyRequest, answer: Response[bytes], file: PackedFile
) -> Response[bytes] | Stream:
    """Returns a file with the headers of an answer without a body, or 304 where they have it.

    Who cannot unpack it gets it in pieces, each made when the one before is taken.
    """
    headers = _headers(answer, file.tag)
    if has_it(request, file.tag):
        return Response(b"", status_code=_NOT_MODIFIED, headers=headers)
    if coding_for(request) != "plain":
        headers["Content-Encoding"] = "gzip"
        return Response(file.packed, media_type=answer.media_type, headers=headers)
    headers["Content-Length"] = str(file.size)
    return Stream(_unpacked(file.packed), media_type=answer.media_type, headers=headers)


async def _unpacked(packed: bytes) -> AsyncIterator[bytes]:
    pieces = _pieces(packed)
    while piece := await asyncio.to_thread(next, pieces, b""):
        yield piece


def _pieces(packed: bytes) -> Iterator[bytes]:
    """Yields the file in pieces, none empty; what is left of it is not copied for a reader."""
    unpacking = zlib.decompressobj(_OF_GZIP)
    for start in range(0, len(packed), _PACKED_PIECE):
        rest = packed[start : start + _PACKED_PIECE]
        while rest:
            if piece := unpacking.decompress(rest, _PIECE):
                yield piece
            rest = unpacking.unconsumed_tail
    if piece := unpacking.flush():
        yield piece


def _headers(answer: Response[str] | Response[bytes], tag: str) -> dict[str, str]:
    return {
        "Vary": "Accept-Encoding",
        **answer.headers,
        "ETag": f"W/{tag}",
        "Cache-Control": f"public, max-age={_MAX_AGE_S}",
    }
