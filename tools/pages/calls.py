"""docs/reference/calls.md: every call with its fields, from the OpenAPI document of a service."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from mudra.demo.faults.handlers import handlers
from mudra.http.app import build_routes
from mudra.http.openapi.document import json_document
from mudra.http.route_settings import RouteSettings
from mudra.http.server.given import Given
from mudra.settings.settings import Settings

_INTRO: Final = """# Calls

Made by `make docs` from the OpenAPI document of a service with default settings; a running service
has its own at `/schema/openapi.json`, and a [form to try each call](api.md). Every answer begins
with `ver`, `timestamp` and `txnId`, left out here; refusals are in [errors](errors.md). OAuth 2.0,
the keys and the list of revoked tokens are in [token service](token-service.md). A type in
*italics* is an object of [the list at the end](#objects).

| you want | area |
|---|---|
| push, health, webhooks, service levels, for members | [Network metrics](#network-metrics) |
| the same, disputes | [Network metrics for operators](#network-metrics-for-operators) |
| OAuth 2.0, keys, revoked tokens | [OAuth](#oauth) |
| members, users, email, audit, keys, approvals | [Operators](#operators) |
| admins, disputes, tokens and alarms of one's own | [People](#people) |
| the public status | [Public status](#public-status) |
| entries and their changes | [Registry](#registry) |
| clock, email and faults of a sandbox | [Sandbox](#sandbox) |
| tokens and secrets | [Tokens](#tokens) |

**How to read it.** *sent* `path` is a part of the address, `query` follows `?`, `form` is
`application/x-www-form-urlencoded`, `JSON` is a member of one JSON object (`application/json`). An
Entity Access Token goes as `Authorization: Bearer TOKEN`, or `DPoP TOKEN` with a proof, a User
Access Token as `Bearer`. A refusal has a status, and a body whose `errorCode` a program decides by.
"""
_ENVELOPE: Final = {"ver", "timestamp", "txnId"}
_FORM: Final = "application/x-www-form-urlencoded"
_MOST_WORDS: Final = 24
"""Allowed words that a cell lists; of longer lists it says how many there are."""
Json = Mapping[str, Any]


def calls_page() -> str:
    """Returns the page."""
    routes = build_routes(RouteSettings.of(Settings(sandbox=True)), Given(), of_sandbox=handlers)
    document = msgspec.json.decode(json_document(routes.litestar))
    return "\n".join([_INTRO, *_Page(document["components"]["schemas"]).parts(document["paths"])])


class _Page:
    """The sections of the calls, and of the objects that they name."""

    def __init__(self, schemas: Json) -> None:
        self._schemas = schemas
        self._named: dict[str, None] = {}

    def parts(self, paths: Json) -> Iterator[str]:
        groups: dict[str, list[str]] = {}
        for path, operations in paths.items():
            for method, operation in operations.items():
                (group,) = operation.get("tags", ["Others"])
                groups.setdefault(group, []).append(self._call(method, path, operation))
        for group, calls in sorted(groups.items()):
            yield f"## {group}\n"
            yield from calls
        yield "## Objects\n"
        done: set[str] = set()
        while left := sorted(self._named.keys() - done):
            for name in left:
                done.add(name)
                yield from self._object(name)

    def _call(self, method: str, path: str, operation: Json) -> str:
        needs = "" if operation.get("security") else " No token."
        about = operation.get("description") or operation["summary"]
        sent = [*self._parameters(operation), *self._sent(operation)]
        answered = list(self._answered(operation))
        lines = [f"### {method.upper()} {path}", "", f"{about}{needs}", ""]
        if sent:
            lines += ["| sent | in | type | needed | meaning |", "|---|---|---|---|---|", *sent, ""]
        if answered:
            lines += ["| answered | type | meaning |", "|---|---|---|", *answered, ""]
        return "\n".join(lines)

    def _object(self, name: str) -> Iterator[str]:
        schema = self._schemas[name]
        rows = list(self._rows(schema))
        yield f"### {name}\n"
        if about := schema.get("description", ""):
            yield f"{_cell(about)}\n"
        if rows:
            yield "\n".join(["| field | type | meaning |", "|---|---|---|", *rows, ""])
        elif kind := self._type({**schema, "title": ""}):
            yield f"{kind}\n"

    def _rows(self, schema: Json, *, without: frozenset[str] = frozenset()) -> Iterator[str]:
        for name, one in schema.get("properties", {}).items():
            if name not in without:
                yield f"| `{name}` | {self._type(one)} | {_meaning(one)} |"

    def _parameters(self, operation: Json) -> Iterator[str]:
        for one in operation.get("parameters", []):
            if one["in"] in {"query", "path"}:
                schema = one.get("schema", {})
                about = one.get("description") or _meaning(schema)
                yield (
                    f"| `{one['name']}` | {one['in']} | {self._type(schema)} |"
                    f" {'yes' if one.get('required') else ''} | {_cell(about)} |"
                )

    def _sent(self, operation: Json) -> Iterator[str]:
        for media, body in operation.get("requestBody", {}).get("content", {}).items():
            place = "form" if media == _FORM else "JSON"
            several = [self._resolved(one) for one in body["schema"].get("oneOf", ())]
            schema = several[0] if several else self._resolved(body["schema"])
            required = schema.get("required", ())
            for name, one in schema.get("properties", {}).items():
                if name not in _ENVELOPE or name in required:
                    kinds = [self._type(other["properties"][name]) for other in several]
                    kind = " or ".join(dict.fromkeys(kinds)) or self._type(one)
                    yield (
                        f"| `{name}` | {place} | {kind} |"
                        f" {'yes' if name in required else ''} | {_meaning(one)} |"
                    )

    def _answered(self, operation: Json) -> Iterator[str]:
        for status, response in operation["responses"].items():
            if status.startswith("2"):
                for media, body in response.get("content", {}).items():
                    schema = self._resolved(body.get("schema", {}))
                    rows = list(self._rows(schema, without=frozenset(_ENVELOPE)))
                    yield from rows or [f"| a body of `{media}` | | |"]

    def _resolved(self, schema: Json) -> Json:
        """Returns the object that a schema is, or that its array or choice begins with."""
        if "$ref" in schema:
            return self._resolved(self._schemas[schema["$ref"].rpartition("/")[2]])
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return self._resolved(schema[several][0])
        return self._resolved(schema["items"]) if schema.get("type") == "array" else schema

    def _type(self, schema: Json) -> str:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            self._named[name] = None
            return f"*{name}*"
        for several in ("anyOf", "oneOf"):
            if several in schema:
                kinds = dict.fromkeys(filter(None, map(self._type, schema[several])))
                return " or ".join(kinds)
        if "const" in schema:
            return f"`{schema['const']}`"
        if "enum" in schema:
            words = [word for word in schema["enum"] if word != ""]
            shown = ", ".join(f"`{word}`" for word in words[:_MOST_WORDS])
            return f"{shown}, of {len(words)} words" if len(words) > _MOST_WORDS else shown
        kind = schema.get("type", "")
        if isinstance(kind, list):
            return " or ".join(kind)
        if kind == "array":
            items = schema.get("items") or {}
            items = items or {"anyOf": schema.get("prefixItems", [])[:1]}
            return f"array of {self._type(items) or 'any'}"
        return ", ".join(filter(None, (str(kind), schema.get("format", ""))))


def _meaning(schema: Json) -> str:
    """Returns the description, with the bounds and the default that it does not name."""
    parts = [schema.get("description", "")]
    low, high, longest = (schema.get(name) for name in ("minimum", "maximum", "maxLength"))
    if low is not None and high is not None and str(high) not in parts[0]:
        parts.append(f"{low:,} to {high:,}")
    if longest is not None and str(longest) not in parts[0]:
        parts.append(f"at most {longest:,} characters")
    default = schema.get("default")
    if default is not None and not isinstance(default, list) and default != "":
        parts.append(f"default `{default}`")
    return _cell("; ".join(filter(None, parts)))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
