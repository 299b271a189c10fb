"""The only reader of request bodies of the service: JSON and forms.

`server_protocol/body_reader.py` reads their bytes within limits.
A body that is not accepted is returned as a value of `BodyRefused`.
"""

from typing import Final

from mudra.http.request.body.strict_form import FormRefused, parse_form
from mudra.http.request.body.strict_json import JsonRefused, JsonValue, parse_document, parse_json
from mudra.server_protocol.body_errors import BodyRefused, MalformedBody
from mudra.server_protocol.body_reader import (
    BodyLimits,
    Headers,
    Receive,
    is_whole_body,
    read_typed_body,
)

FORM: Final = "application/x-www-form-urlencoded"

FORM_LIMITS: Final = BodyLimits(8 * 1024)
TOKEN_LIMITS: Final = BodyLimits(16 * 1024)
TEXT_LIMITS: Final = BodyLimits(256 * 1024)
"""For texts of 20,000 characters: in JSON as in a form one may take 12 bytes."""
REGISTRATION_LIMITS: Final = BodyLimits(64 * 1024)
MEMBER_FILE_LIMITS: Final = BodyLimits(2 * 1024 * 1024)
METRICS_LIMITS: Final = BodyLimits(8 * 1024 * 1024, encodings=("gzip", "zstd"))


async def read_json(
    receive: Receive, headers: Headers, limits: BodyLimits
) -> dict[str, JsonValue] | BodyRefused:
    """Return the fields of a body that is one strict JSON object."""
    raw = await read_typed_body(receive, headers, limits)
    if not isinstance(raw, bytes):
        return raw
    try:
        value = parse_json(raw)
    except JsonRefused as refused:
        return MalformedBody(refused.sentence(), number_of=refused.member)
    if not isinstance(value, dict):
        return MalformedBody("body must be a JSON object, in braces")
    return value


async def read_document(
    receive: Receive, headers: Headers, limits: BodyLimits
) -> object | BodyRefused:
    """Return any value of a strict JSON body, for a check that names the path of each finding."""
    raw = await read_typed_body(receive, headers, limits)
    if not isinstance(raw, bytes):
        return raw
    try:
        return parse_document(raw)
    except JsonRefused as refused:
        return MalformedBody(refused.sentence())


async def read_form(
    receive: Receive, headers: Headers, limits: BodyLimits = FORM_LIMITS
) -> dict[str, str] | BodyRefused:
    """Return the fields of a form."""
    raw = await read_typed_body(receive, headers, limits, FORM)
    if not isinstance(raw, bytes):
        return raw
    try:
        return parse_form(raw)
    except FormRefused as refused:
        return MalformedBody(refused.sentence())


def plain_form(headers: Headers, body: bytes) -> dict[str, str] | None:
    """Return the fields of a complete form without content encoding.

    None for any other body, and for one that `read_form` would refuse.
    """
    if not is_whole_body(headers, body, FORM_LIMITS, FORM):
        return None
    try:
        return parse_form(body)
    except FormRefused:
        return None
