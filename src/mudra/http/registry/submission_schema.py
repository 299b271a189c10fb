"""The registration payload as JSON Schema: what POST and PUT of an entry read (spec 2.7).

Written by hand, not made from the structs of an entry: those hold what is stored. A
sender may leave out much that responses always hold, or send it in any of the forms
that count as empty. The findings of a refused payload say what no schema can:
whether a modulus is that of an RSA key, which fields a type needs.
"""

from typing import Final, TypeAlias

from mudra.registry.payload.entry import Category
from mudra.registry.payload.fields import field_rules as rule
from mudra.registry.payload.fields.certificate import Algorithm
from mudra.shared.entity_type import EntityType

JsonSchema: TypeAlias = dict[str, object]

_EMPTY: Final[JsonSchema] = {
    "description": "counts as empty",
    "anyOf": [
        {"enum": ["", None]},
        {"type": "array", "items": {"enum": ["", None]}, "maxItems": 100},
    ],
}
_URL: Final[JsonSchema] = {"type": "string", "minLength": 1, "maxLength": 2048}


def _text(longest: int, pattern: str = "", **more: object) -> JsonSchema:
    limits = {"pattern": f"^{pattern}$"} if pattern else {}
    return {"type": "string", "minLength": 1, "maxLength": longest, **limits, **more}


def _words(words: type[EntityType | Category | Algorithm]) -> JsonSchema:
    return {"type": "string", "enum": [word.value for word in words]}


def _list(item: JsonSchema, most: int, description: str) -> JsonSchema:
    return {
        "type": "array",
        "items": item,
        "minItems": 1,
        "maxItems": most,
        "description": description,
    }


def _or_empty(schema: JsonSchema, description: str) -> JsonSchema:
    return {"anyOf": [schema, _EMPTY], "description": description}


def _object(
    title: str, needed: dict[str, JsonSchema], others: dict[str, JsonSchema] | None = None
) -> JsonSchema:
    return {
        "title": title,
        "type": "object",
        "properties": {**needed, **(others or {})},
        "required": list(needed),
        "additionalProperties": False,
    }


_ENTITY_ID: Final = _text(64, "[A-Za-z0-9@._-]{1,64}", description="case-sensitive")
_PORTS: Final = _list(
    _text(11, "[1-9][0-9]{0,4}(-[1-9][0-9]{0,4})?"),
    rule.MAX_PORTS,
    "ports 1 to 65535 or ranges, as strings",
)
_CERTIFICATE: Final = _object(
    "SubmittedCertificate",
    {
        "alg": _words(Algorithm),
        "kty": {"type": "string", "enum": ["RSA"]},
        "use": {"type": "string", "enum": ["sig"]},
        "kid": _text(256, description="unique over the registry"),
        "e": _text(16, "[A-Za-z0-9_-]+", description="Base64url, odd, at least 65537"),
        "n": _text(1373, "[A-Za-z0-9_-]+", description="Base64url, 2048 to 8192 bits, unique"),
    },
)
_IDENTIFIER: Final = _object(
    "SubmittedIdentifier", {"category": _words(Category), "type": _text(200)}
)
_GATEWAY: Final = _object(
    "SubmittedGateway",
    {
        "id": _ENTITY_ID,
        "name": _text(200),
        "ip": _text(64, description="an IP address"),
        "url": _URL,
    },
)
_INFO: Final = _object(
    "SubmittedEntityInfo",
    {
        "name": _text(200),
        "id": _ENTITY_ID,
        "code": _text(64, description="the ID that the sector's regulator issued"),
        "baseurl": {**_URL, "description": "vN:URL, several with commas, or a bare https URL"},
        "inboundports": _PORTS,
        "outboundports": _PORTS,
        "ips": _list(_text(64), rule.MAX_IPS, "IPv4, IPv6 or CIDR"),
        "certificate": _CERTIFICATE,
    },
    {
        "tags": _or_empty(_text(64), "environment, such as Sandbox"),
        "entityhandle": _or_empty(_text(64, "@[A-Za-z0-9][A-Za-z0-9._-]{0,62}"), "AA only, unique"),
        "Identifiers": _or_empty(
            _list(_IDENTIFIER, rule.MAX_IDENTIFIERS, "at least one STRONG"), "FIP only"
        ),
        "webviewurl": _or_empty(_URL, "AA only"),
        "fitypes": _or_empty(_list(_text(200), rule.MAX_FI_TYPES, "FI types"), "FIP only"),
        "gsp": {
            "anyOf": [_GATEWAY, _EMPTY, {"type": "object", "additionalProperties": _EMPTY}],
            "description": "FIP only; reserved",
        },
        "tokeninfo": {"description": "reserved: anything is accepted and nothing stored"},
        "signature": {"description": "reserved: anything is accepted and nothing stored"},
    },
)
EXAMPLE: Final[dict[str, object]] = {
    "ver": "1.0",
    "timestamp": "2026-01-15T09:30:00.000Z",
    "txnid": "6f1c2a4e-0d6b-4c8e-9a53-2b7d1e4f8a90",
    "type": "FIP",
    "requester": {"name": "Kaveri Bank", "id": "KAVERI-FIP"},
    "entityinfo": {
        "tags": "Sandbox",
        "name": "Kaveri Bank",
        "id": "KAVERI-FIP",
        "code": "BANK0042",
        "entityhandle": "",
        "Identifiers": [
            {"category": "STRONG", "type": "MOBILE"},
            {"category": "WEAK", "type": "PAN"},
        ],
        "baseurl": "v2:https://aa.kaveri.example/v2",
        "webviewurl": None,
        "fitypes": ["DEPOSIT", "TERM_DEPOSIT"],
        "inboundports": ["443"],
        "outboundports": ["443", "8000-8010"],
        "ips": ["9.20.30.40"],
        "certificate": {
            "alg": "RS256",
            "kty": "RSA",
            "use": "sig",
            "kid": "kaveri-2026",
            "e": "AQAB",
            "n": "rmvBLvYtQV0CsgmX0s7A1GUhdDvfIg_YKPKcJHfrPoHHA4fCIIIwozAjpFacus2-xgZrkoHegaDM"
            "p1GNv_m2MnZ5e7x31UORAl8l6P32s5zel4Djg_ORuBxQTdg3N5L9F6SdtSeqzrS5Y3_xqJtm6Q0-"
            "gzoKdLEq9qx62mWztul8zwTu_-UPx4GocoIZtszVP_JpQE7Dfctcz-6apx5niQT7taUC_mOAfmXb"
            "fuO_JkLDPN2MGSfhm_pkpk-gRgTCdCHb3InvgIf26FjQs0sMUC4ykJ3z_Ul39_apwHAVD8TimJo7"
            "q5kSmkxonTCQfCH6ZYb0OvTQlAWZI9MFtd7XTw",
        },
        "gsp": None,
        "tokeninfo": {"url": "", "desc": ""},
        "signature": {"signValue": ""},
    },
}
SUBMISSION: Final[JsonSchema] = {
    **_object(
        "Submission",
        {
            "ver": _text(16, "[0-9A-Za-z][0-9A-Za-z._-]{0,15}"),
            "timestamp": {
                "type": "string",
                "format": "date-time",
                "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"
                r"(\.[0-9]{1,9})?(Z|[+-]00:?00)$",
                "description": "in UTC",
            },
            "txnid": {"type": "string", "format": "uuid"},
            "type": _words(EntityType),
            "requester": _object("SubmittedRequester", {"name": _text(200), "id": _ENTITY_ID}),
            "entityinfo": _INFO,
        },
    ),
    "examples": [EXAMPLE],
}
