"""The registration payload as JSON Schema: what POST and PUT of an entry read (spec 2.7).

Made from the rules of an entry's fields. A sender may leave out much that responses always
hold, or send it in any of the forms that count as empty. The findings of a refused payload say
what no schema can: whether a modulus is that of an RSA key, which fields a type needs.
"""

from typing import Final, TypeAlias, get_args, get_type_hints

from msgspec import Struct

from mudra.registry.payload.entry import Entry
from mudra.registry.payload.fields.certificate import UNKEPT_MEMBERS, Certificate
from mudra.registry.payload.fields.field_rules import Field, fields_of

JsonSchema: TypeAlias = dict[str, object]

_EMPTY: Final[JsonSchema] = {
    "description": "counts as empty",
    "anyOf": [
        {"enum": ["", None]},
        {"type": "array", "items": {"enum": ["", None]}, "maxItems": 100},
    ],
}
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


def _object(struct: type[Struct], title: str = "") -> JsonSchema:
    known = fields_of(struct)
    hints = dict(zip(known, get_type_hints(struct).values(), strict=True))
    # Those that must be filled come first.
    ordered = sorted(known, key=lambda name: known[name].empty != "")
    unkept = UNKEPT_MEMBERS if struct is Certificate else ()
    return {
        "title": title or f"Submitted{struct.__name__}",
        "type": "object",
        "properties": {
            **{name: _field(known[name], hints[name]) for name in ordered},
            **{name: {"description": "accepted and not kept"} for name in unkept},
        },
        "required": [name for name in ordered if not known[name].empty],
        "additionalProperties": False,
    }


def _field(field: Field, hint: object) -> JsonSchema:
    about: JsonSchema = {"description": field.about} if field.about else {}
    if field.schema is not None:
        return {**field.schema, **about}
    parts = [one for one in (*get_args(hint), hint) if isinstance(one, type)]
    objects = [one for one in parts if issubclass(one, Struct)]
    one = _object(objects[0]) if objects else _text(field)
    if field.most:
        one = {"type": "array", "items": one, "minItems": 1, "maxItems": field.most}
        one["description"] = field.items
    if not field.empty:
        return {**one, **about}
    no_content = {"type": "object", "additionalProperties": _EMPTY}
    is_object = objects and not field.most
    return {"anyOf": [one, _EMPTY, *([no_content] if is_object else [])], **about}


def _text(field: Field) -> JsonSchema:
    if field.words:
        return {"type": "string", "enum": [*field.words]}
    pattern = field.rule.pattern
    limits = {"pattern": f"^{pattern.pattern}$"} if pattern else {}
    return {"type": "string", "minLength": 1, "maxLength": field.rule.longest, **limits}


SUBMISSION: Final[JsonSchema] = {**_object(Entry, "Submission"), "examples": [EXAMPLE]}
