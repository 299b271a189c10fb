"""docs/reference/calls.md: every call of the service by group, from its OpenAPI document."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from mudra.demo.faults.handlers import handlers
from mudra.http.app import build_routes
from mudra.http.openapi.document import json_document
from mudra.http.route_settings import RouteSettings
from mudra.http.server.given import Given
from mudra.settings.settings import Settings

_INTRO: Final = """---
hide: [toc]
---
# Calls

Made by `make docs` from the OpenAPI document of a service with default settings; a running service
has its own at `/schema/openapi.json`, and a [form to try each call](api.md). Fields in **bold** are
needed. *Token*: the call needs a bearer token; whose, the form's text says. Every answer begins
with `ver`, `timestamp` and `txnId`, left out here; refusals are in [errors](errors.md). OAuth 2.0,
the keys and the list of revoked tokens are in [token service](token-service.md).
"""
_ENVELOPE: Final = {"ver", "timestamp", "txnId"}
_FORM: Final = "application/x-www-form-urlencoded"


def calls_page() -> str:
    """Return the page."""
    routes = build_routes(RouteSettings.of(Settings(sandbox=True)), Given(), of_sandbox=handlers)
    document = msgspec.json.decode(json_document(routes.litestar))
    schemas = document["components"]["schemas"]
    groups: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            (group,) = operation.get("tags", ["Others"])
            groups.setdefault(group, []).append(_row(method, path, operation, schemas))
    parts = [_INTRO]
    for group, rows in sorted(groups.items()):
        head = "| call | what | token | sent | answered |"
        parts += [f"## {group}", "", head, "|---|---|---|---|---|", *rows, ""]
    return "\n".join(parts)


def _row(method: str, path: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    sent = [*_parameters(operation), *_sent(operation, schemas)]
    token = "yes" if operation.get("security") else ""
    answered = ", ".join(_answered(operation, schemas))
    what = operation["summary"]
    return f"| `{method.upper()} {path}` | {what} | {token} | {', '.join(sent)} | {answered} |"


def _parameters(operation: Mapping[str, Any]) -> Iterator[str]:
    for one in operation.get("parameters", []):
        if one["in"] == "query":
            yield f"**`?{one['name']}`**" if one.get("required") else f"`?{one['name']}`"


def _sent(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    for media, body in operation.get("requestBody", {}).get("content", {}).items():
        if media == _FORM:
            yield "*form:*"
        fields, required = _fields(body["schema"], schemas)
        for name in fields:
            if name not in _ENVELOPE or name in required:
                yield f"**`{name}`**" if name in required else f"`{name}`"


def _answered(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            for media, body in response.get("content", {}).items():
                fields, _ = _fields(body.get("schema", {}), schemas)
                named = [f"`{name}`" for name in fields if name not in _ENVELOPE]
                yield ", ".join(named) or f"`{media}`"


def _fields(
    schema: Mapping[str, Any], schemas: Mapping[str, Any]
) -> tuple[list[str], frozenset[str]]:
    """Return the names of an object's fields, and of those that are required."""
    if "$ref" in schema:
        return _fields(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return _fields(schema[several][0], schemas)
    if schema.get("type") == "array":
        return _fields(schema["items"], schemas)
    return list(schema.get("properties", {})), frozenset(schema.get("required", ()))
