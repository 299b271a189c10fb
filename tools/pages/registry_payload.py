"""The registration payload field by field, from the rules of an entry's fields (spec 2.7)."""

import json
from typing import Any, Final, get_args, get_type_hints

from msgspec import Struct

from mudra.http.openapi.field_texts import FIELD_TEXTS
from mudra.http.registry.submission_schema import EXAMPLE
from mudra.registry.payload.entry import EntityInfo, Entry, Gateway, Identifier, Requester
from mudra.registry.payload.fields.certificate import Certificate
from mudra.registry.payload.fields.field_rules import Field, fields_of
from mudra.registry.payload.vocabulary import shipped_vocabulary

_RESERVED: Final = {"tokeninfo", "signature"}
"""Fields that a read has in the form of the example, whatever was sent."""
_HEAD: Final = "| field | type | needed | allowed | meaning |\n|---|---|---|---|---|"


def payload_fields() -> str:
    """Returns the tables of all fields; raises ValueError for a field without a meaning."""
    parts: dict[str, type[Struct]] = {
        "Root": Entry,
        "`requester`": Requester,
        "`entityinfo`": EntityInfo,
        "`entityinfo.Identifiers[]`": Identifier,
        "`entityinfo.certificate`": Certificate,
        "`entityinfo.gsp`": Gateway,
    }
    tables = [
        "\n".join([f"### {title}", "", _HEAD, *_rows(struct)]) for title, struct in parts.items()
    ]
    return "\n\n".join([*tables, "### Types", _lists(), "### Example", _examples()])


def _rows(struct: type[Struct]) -> list[str]:
    hints = dict(zip(fields_of(struct), get_type_hints(struct).values(), strict=True))
    return [
        f"| `{name}` | {_type(hints[name], one)} | {_needed(name, one)} | {_allowed(one)} |"
        f" {_meaning(struct, name)}{'; a change needs approval' if one.needs_approval else ''} |"
        for name, one in fields_of(struct).items()
    ]


def _meaning(struct: type[Struct], name: str) -> str:
    found = FIELD_TEXTS.get(f"{struct.__name__}.{name}") or FIELD_TEXTS.get(name)
    if found is None:
        raise ValueError(f"{struct.__name__}.{name} has no text in openapi/field_texts/registry.py")
    return found


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
