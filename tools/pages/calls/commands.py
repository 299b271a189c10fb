"""The command of a shell that makes a call, from the call's example in the OpenAPI document.

What differs from reader to reader is a variable of the environment, as in the samples of the token
service: `$ROOT`, a token, a secret, the ID of something that an earlier answer named.
"""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from mudra.http.request.fields import LATER_BEGIN, LATER_END
from tools.pages.calls.call import Call, Json
from tools.pages.calls.written import written

_FORM: Final = "application/x-www-form-urlencoded"
_STREAM: Final = "text/event-stream"
_START: Final = "curl -sS --fail-with-body"
_ENVELOPE: Final = frozenset({"ver", "timestamp", "txnId"})
_BY_BASIC: Final = frozenset({"client_id", "client_secret"})
_MEMBER: Final = "KAVERI-FIP"
_IN_PATH: Final = re.compile(r"\{(\w+)\}")
_KNOWN: Final = {"entity_id": _MEMBER, "fip_id": _MEMBER}
_SECRETS: Final = {
    "password": "$PASSWORD",
    "secret": "$ENTITY_SECRET",
    "client_secret": "$ENTITY_SECRET",
    "token": "$ENTITY_TOKEN",
}
"""Fields of forms in whose place a reader has a variable."""
_IDS: Final = {"jti": "TOKEN_ID", "sessionId": "SESSION_ID", "incidentId": "INCIDENT_ID"}
"""Fields of JSON with an ID that an earlier answer named."""
_FILES: Final = {r"/cr/.+": "entry.json", r".+/perf/v1/push": "window.json"}
"""Files that have bodies of which other pages show an example, by the address of the call."""


def command(call: Call) -> list[str]:
    """Returns the command as a block of a page; it is accepted as it is printed."""
    start = f"{_START} -N" if _STREAM in str(call.operation["responses"]) else _START
    parts = [f'{start}{_method(call)} "$ROOT{_address(call)}"', *_headers(call), *_body(call)]
    return ["```sh", " \\\n  ".join(parts), "```", ""]


def _method(call: Call) -> str:
    implied = "POST" if any(_body(call)) else "GET"
    method = call.method.upper()
    return "" if method == implied else f" -X {method}"


def _address(call: Call) -> str:
    parameters = call.operation.get("parameters", [])
    words = {
        one["name"]: one["schema"]["enum"][0]
        for one in parameters
        if one["in"] == "path" and "enum" in one.get("schema", {})
    }
    path = _IN_PATH.sub(
        lambda found: words.get(found[1]) or _KNOWN.get(found[1]) or f"${found[1].upper()}",
        call.path,
    )
    query = [
        f"{one['name']}={quote(str(one['schema']['examples'][0]))}"
        for one in parameters
        if one["in"] == "query" and one.get("required")
    ]
    return "?".join(filter(None, (path, "&".join(query))))


def _headers(call: Call) -> Iterator[str]:
    if call.is_oauth:
        yield '-u "$ENTITY_ID:$ENTITY_SECRET"'
    elif call.needs.startswith("Entity"):
        yield '-H "Authorization: Bearer $ENTITY_TOKEN"'
    elif call.needs.startswith("User"):
        yield '-H "Authorization: Bearer $USER_TOKEN"'


def _body(call: Call) -> Iterator[str]:
    file = next((file for address, file in _FILES.items() if re.fullmatch(address, call.path)), "")
    for media, content in call.operation.get("requestBody", {}).get("content", {}).items():
        members: Json = content.get("example") or {}
        shown = {name: one for name, one in members.items() if name not in _ENVELOPE}
        if media == _FORM:
            left_out = _BY_BASIC if call.is_oauth else frozenset()
            yield from (_pair(*one) for one in shown.items() if one[0] not in left_out)
        elif file or shown:
            yield "-H 'Content-Type: application/json'"
            yield f"--data-binary @{file}" if file else f"-d '{_quoted(shown)}'"


def _pair(name: str, value: object) -> str:
    secret = _SECRETS.get(name)
    pair = f'"{name}={secret}"' if secret else f"'{name}={value}'"
    return f"--data-urlencode {pair}"


def _quoted(members: Json) -> str:
    text = written(members)
    text = text.replace("'", "'\\''").replace("\n", "\n  ")
    for name, value in ((name, str(value)) for name, value in members.items()):
        if value in {LATER_BEGIN, LATER_END}:
            text = text.replace(value, f"'\"${name.upper()}\"'")
        if name in _IDS:
            text = text.replace(value, f"'\"${_IDS[name]}\"'")
    return text
