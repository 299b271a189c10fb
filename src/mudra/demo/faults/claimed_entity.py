"""Whose request it is: read ahead of the application, without taking anything from it."""

import asyncio
import re
from base64 import urlsafe_b64decode
from collections import deque
from typing import Final
from urllib.parse import parse_qsl

import msgspec
from litestar.types import HTTPScope, Receive, ReceiveMessage
from msgspec import Struct

from mudra.http.auth.bearer import authorization_of, presented_token
from mudra.http.dependencies import HttpDependencies
from mudra.http.request.body.request_body import FORM, FORM_LIMITS
from mudra.http.request.request_context import AnyRequest
from mudra.http.response.http_refusals import NoAuthorization
from mudra.http.token.oauth import basic_credentials
from mudra.shared.secret_text import SecretText
from mudra.shared.undecodable import UNDECODABLE
from mudra.tokens.authentication.token_check import VerifiedToken
from mudra.tokens.claims import TokenKind

_READ_S: Final = 3.0
_FORMS: Final = re.compile(r"(/v1/entity/token/generate|/oauth2/\w+|/openid-connect/token)$")
_BY_FORM: Final = "/v1/entity/token/generate"
_NAMES: Final = ("id", "client_id")


class _Claims(Struct):
    sub: str = ""


async def claimed_entity(
    scope: HTTPScope, receive: Receive, dependencies: HttpDependencies
) -> tuple[str, Receive]:
    """Return the entity that a request names, empty for none, and how to read the request then.

    A bearer token must be valid. A form only says who asks: one who names an entity here sees its
    faults, and nothing else of it.
    """
    request = AnyRequest(scope, receive)
    is_form = scope["method"] == "POST" and bool(_FORMS.search(scope["path"]))
    # Its form alone says who asks there, whatever else a request holds.
    if not scope["path"].endswith(_BY_FORM):
        token = presented_token(request, dependencies)
        if not isinstance(token, NoAuthorization):
            return await _subject_of_token(token.text, dependencies), receive
        header = authorization_of(request)
        if header:
            return (basic_credentials(header)[0] if is_form else ""), receive
    if not is_form:
        return "", receive
    body, again = await _read_ahead(receive)
    return _named_in(request.headers.get("content-type", ""), body), again


async def _subject_of_token(token: SecretText, dependencies: HttpDependencies) -> str:
    found = await dependencies.bearer.verify(token)
    if isinstance(found, VerifiedToken) and found.kind is TokenKind.ENTITY:
        return found.subject
    return ""


async def _read_ahead(receive: Receive) -> tuple[bytes, Receive]:
    """Read a small body and give it back; what is late or long is left to the application."""
    read: deque[ReceiveMessage] = deque()
    body = b""
    try:
        async with asyncio.timeout(_READ_S):
            while len(body) <= FORM_LIMITS.max_bytes:
                message = await receive()
                read.append(message)
                if message["type"] != "http.request":
                    break
                body += message["body"]
                if not message["more_body"]:
                    break
    except TimeoutError:
        body = b""

    async def again() -> ReceiveMessage:
        return read.popleft() if read else await receive()

    return body, again


def _named_in(content_type: str, body: bytes) -> str:
    if content_type.partition(";")[0].strip().lower() != FORM:
        return ""
    try:
        fields = dict(parse_qsl(body.decode(), max_num_fields=32))
    except ValueError:
        return ""
    named = next((fields[name] for name in _NAMES if fields.get(name)), "")
    return named or _subject_of(fields.get("client_assertion", ""))


def _subject_of(assertion: str) -> str:
    """Return the `sub` of an assertion that no one has checked yet."""
    parts = assertion.split(".")
    if len(parts) != 3:  # noqa: PLR2004  # header, claims, signature
        return ""
    try:
        return msgspec.json.decode(_unpadded(parts[1]), type=_Claims).sub
    except (*UNDECODABLE, ValueError):
        return ""


def _unpadded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
