"""The registration payload as JSON Schema: what POST and PUT of an entry read (spec 2.7).

Made from the rules of an entry's fields. A sender may leave out much that responses always
hold, or send null. What else counts as empty is read as well, and not described: a client that
is generated from the schema has one type for each field. The findings of a refused payload say
what no schema can: whether a modulus is that of an RSA key, which fields a type needs.
"""

from typing import Final, TypeAlias, get_args, get_type_hints

from msgspec import Struct

from mudra.registry.payload.entry import Entry
from mudra.registry.payload.fields.certificate import UNKEPT_MEMBERS, Certificate
from mudra.registry.payload.fields.field_rules import Field, fields_of
from mudra.registry.payload.inspection import TextRule

JsonSchema: TypeAlias = dict[str, object]

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
    words = ": ".join(filter(None, (field.about, field.items)))
    about: JsonSchema = {"description": words} if words else {}
    if field.schema is not None:
        return {**field.schema, **about}
    parts = [one for one in (*get_args(hint), hint) if isinstance(one, type)]
    objects = [one for one in parts if issubclass(one, Struct)]
    may_be_empty = field.empty != ""
    if field.most:
        item = _object(objects[0]) if objects else _text(field.rule)
        kind = {"type": ["array", "null"]} if may_be_empty else {"type": "array", "minItems": 1}
        return {**kind, "items": item, "maxItems": field.most, **about}
    if objects:
        one = _object(objects[0])
        return {**({"anyOf": [one, {"type": "null"}]} if may_be_empty else one), **about}
    if field.words:
        return {"type": "string", "enum": [*field.words], **about}
    return {**_text(field.rule, may_be_empty=may_be_empty), **about}


def _text(rule: TextRule, *, may_be_empty: bool = False) -> JsonSchema:
    kind = {"type": ["string", "null"]} if may_be_empty else {"type": "string", "minLength": 1}
    whole = {**kind, "maxLength": rule.longest}
    if rule.pattern is None:
        return whole
    form = f"({rule.pattern.pattern})?" if may_be_empty else rule.pattern.pattern
    return {**whole, "pattern": f"^{form}$"}


SUBMISSION: Final[JsonSchema] = {**_object(Entry, "Submission"), "examples": [EXAMPLE]}
