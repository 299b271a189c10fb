"""The registration payload field by field, from the rules of an entry's fields (spec 2.7)."""

import json
from typing import Any, Final, get_args, get_type_hints

from msgspec import Struct

from mudra.http.registry.submission_schema import EXAMPLE
from mudra.registry.payload.entry import EntityInfo, Entry, Gateway, Identifier, Requester
from mudra.registry.payload.fields.certificate import Certificate
from mudra.registry.payload.fields.field_rules import Field, fields_of
from mudra.registry.payload.vocabulary import shipped_vocabulary

_MEANINGS: Final = {
    "ver": "version of this schema",
    "timestamp": "time of the request in UTC, ISO 8601, such as `2026-01-15T09:30:00.000Z`",
    "txnid": "unique ID of the request; the same ID and content again writes nothing",
    "type": "role of the entity; equals the type in the path",
    "requester": "the entity that submits",
    "entityinfo": "the entry itself",
    "requester.name": "its display name",
    "requester.id": "its ID in the registry",
    "entityinfo.tags": "environment, such as `Sandbox` or `Production`",
    "entityinfo.name": "name of the entity, as members see it",
    "entityinfo.id": "ID of the entity in the registry, case-sensitive",
    "entityinfo.code": "ID that the sector's regulator issued",
    "entityinfo.entityhandle": "handle after the user name of its users; unique in the registry",
    "entityinfo.Identifiers": "identifiers of customers for account discovery, at least one STRONG",
    "entityinfo.Identifiers[].category": "how strongly it identifies a customer",
    "entityinfo.Identifiers[].type": "kind of identifier",
    "entityinfo.baseurl": "address of its API with the version; several are separated by commas",
    "entityinfo.webviewurl": "page to which FIUs redirect users",
    "entityinfo.fitypes": "types of financial information that it provides",
    "entityinfo.inboundports": "ports to which others connect, such as `443` or `8000-8010`",
    "entityinfo.outboundports": "ports from which its requests come",
    "entityinfo.ips": "IPv4, IPv6 or CIDR, to which and from which its traffic goes",
    "entityinfo.certificate": "public key that verifies its signatures",
    "entityinfo.gsp": "gateway service provider; reserved, and may be `null` for a FIP too",
    "entityinfo.tokeninfo": "reserved: anything is accepted and nothing stored",
    "entityinfo.signature": "reserved: anything is accepted and nothing stored",
    "entityinfo.certificate.alg": "signature algorithm, usually RS256",
    "entityinfo.certificate.kty": "type of the key",
    "entityinfo.certificate.use": "`sig`: the key verifies signatures",
    "entityinfo.certificate.kid": "ID of the key, unique in the registry",
    "entityinfo.certificate.e": "public exponent, odd and at least 65,537",
    "entityinfo.certificate.n": "modulus, unique in the registry",
    "entityinfo.gsp.id": "ID of the gateway provider",
    "entityinfo.gsp.name": "its name",
    "entityinfo.gsp.ip": "IP address to which AAs connect",
    "entityinfo.gsp.url": "address that AAs must allow",
}
_RESERVED: Final = {"tokeninfo", "signature"}
"""Fields that a read has in the form of the example, whatever was sent."""
_HEAD: Final = "| field | type | needed | allowed | meaning |\n|---|---|---|---|---|"


def payload_fields() -> str:
    """Returns the tables of all fields; raises KeyError for a field without a meaning."""
    parts: list[tuple[str, str, type[Struct]]] = [
        ("Root", "", Entry),
        ("`requester`", "requester.", Requester),
        ("`entityinfo`", "entityinfo.", EntityInfo),
        ("`entityinfo.Identifiers[]`", "entityinfo.Identifiers[].", Identifier),
        ("`entityinfo.certificate`", "entityinfo.certificate.", Certificate),
        ("`entityinfo.gsp`", "entityinfo.gsp.", Gateway),
    ]
    tables = [
        "\n".join([f"### {title}", "", _HEAD, *_rows(prefix, struct)])
        for title, prefix, struct in parts
    ]
    return "\n\n".join([*tables, "### Types", _lists(), "### Example", _examples()])


def _rows(prefix: str, struct: type[Struct]) -> list[str]:
    hints = dict(zip(fields_of(struct), get_type_hints(struct).values(), strict=True))
    return [
        f"| `{name}` | {_type(hints[name], one)} | {_needed(name, one)} | {_allowed(one)} |"
        f" {_MEANINGS[prefix + name]}{'; a change needs approval' if one.needs_approval else ''} |"
        for name, one in fields_of(struct).items()
    ]


def _type(hint: object, field: Field) -> str:
    kinds = [one for one in (*get_args(hint), hint) if isinstance(one, type)]
    of = "object" if any(issubclass(one, Struct) for one in kinds) else "string"
    return f"array of {of}s" if field.most else of


def _needed(name: str, field: Field) -> str:
    if field.only is not None:
        return f"{field.only} only; others send `{field.empty}`"
    read = json.dumps(example("FIP")["entityinfo"][name]) if name in _RESERVED else field.empty
    return f"no, then `{read}`" if read else "yes"


def _allowed(field: Field) -> str:
    if field.words:
        return ", ".join(f"`{word}`" for word in field.words)
    allowed = [field.rule.allowed] if field.rule.allowed else []
    return "; ".join([*allowed, *([f"1 to {field.most}"] if field.most else [])])


def _lists() -> str:
    known = shipped_vocabulary()
    parts = (("fitypes", known.fi_types), ("Identifiers[].type", known.identifier_types))
    return "\n\n".join(
        f"`{name}` allows: {', '.join(f'`{word}`' for word in words.listed)}."
        for name, words in parts
    )


def _examples() -> str:
    tabs = [(kind, example(kind)) for kind in ("FIP", "FIU", "AA")]
    return "\n\n".join(
        f'=== "{kind}"\n\n'
        + _indented(f"```json\n{json.dumps(body, indent=2, ensure_ascii=False)}\n```")
        for kind, body in tabs
    )


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.splitlines())


def example(kind: str) -> dict[str, Any]:
    """Returns a payload of a type with its whole key, which the service accepts."""
    payload: dict[str, Any] = json.loads(json.dumps(EXAMPLE))
    info = payload["entityinfo"]
    if kind != "FIP":
        name = {"FIU": "Godavari Finance", "AA": "Saarthi"}[kind]
        identity = {"FIU": "GODAVARI-FIU", "AA": "SAARTHI-AA"}[kind]
        address = identity.partition("-")[0].lower()
        payload |= {"type": kind, "requester": {"name": name, "id": identity}}
        info |= {"name": name, "id": identity, "Identifiers": [], "fitypes": []}
        info["baseurl"] = f"v2:https://aa.{address}.example/v2"
    if kind == "AA":
        info |= {"entityhandle": "@saarthi", "webviewurl": "https://web.saarthi.example/consent"}
    return payload
