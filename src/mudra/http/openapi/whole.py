"""Additions to the document as a whole: meanings, examples, discriminators.

Made from what the structs say of their fields, and from `field_texts` for the rest.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from mudra.http.openapi.components import Document, mapping
from mudra.http.openapi.field_texts import FIELD_TEXTS
from mudra.http.openapi.field_texts.paths import PATH_TEXTS
from mudra.http.openapi.field_texts.queries import QUERY_TEXTS
from mudra.http.openapi.field_texts.sent import SENT_TEXTS

_REFERENCE: Final = "#/components/schemas/"
_BY_FORMAT: Final = {
    "date-time": "2026-01-31T09:30:00.000Z",
    "uuid": "6f1c2a4e-0d6b-4c8e-9a53-2b7d1e4f8a90",
    "date": "2026-01-31",
}
_BY_NAME: Final = {
    "agentVersion": "1.0.0",
    "jsonVersion": "1.0.0",
    "txnId": "0b6f3c1e-6f0e-4a57-9d52-3f6a7e8c9d01",
    "aaId": "SAARTHI-AA",
    "fipId": "KAVERI-FIP",
    "jti": "6f1c2a4e-0d6b-4c8e-9a53-2b7d1e4f8a90",
    "sessionId": "0f1e2d3c4b5a6978",
    "reason": "the member asked for it",
    "token": "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJGSU5TSUdIVC1GSVUifQ.c2lnbmF0dXJl",
}
"""Of fields that have the same form in many structs."""
_DEEPEST: Final = 8


def complete(document: Document) -> Document:
    """Add what is missing to a document with components; it is changed and returned."""
    schemas = mapping(mapping(document["components"])["schemas"])
    for title, schema in schemas.items():
        for name, field in _properties(schema):
            text = FIELD_TEXTS.get(f"{title}.{name}") or FIELD_TEXTS.get(name)
            if "description" not in field and text:
                field["description"] = text
            if sent := SENT_TEXTS.get(f"{title}.{name}"):
                field["description"] = f"{sent}; {field['description']}"
    for operation, parameter in _parameters(document):
        name = str(parameter["name"])
        texts = PATH_TEXTS if parameter["in"] == "path" else QUERY_TEXTS
        text = texts.get(f"{operation}.{name}") or texts.get(name)
        if "description" not in parameter and text:
            parameter["description"] = text
    for content in _request_contents(document):
        _tell_apart(mapping(content["schema"]), schemas)
        _add_example(content, schemas)
    return document


def _properties(schema: object) -> Iterator[tuple[str, Document]]:
    for name, field in mapping(mapping(schema).get("properties", {})).items():
        yield name, mapping(field)


def _parameters(document: Document) -> Iterator[tuple[object, Document]]:
    """Give the parameters of each operation, with its name."""
    for operations in mapping(document["paths"]).values():
        for operation in mapping(operations).values():
            if isinstance(operation, dict):
                for one in operation.get("parameters", []):
                    yield operation["operationId"], mapping(one)


def _request_contents(document: Document) -> Iterator[Document]:
    for operations in mapping(document["paths"]).values():
        for operation in mapping(operations).values():
            if isinstance(operation, dict) and "requestBody" in operation:
                for content in mapping(mapping(operation["requestBody"])["content"]).values():
                    yield mapping(content)


def _tell_apart(schema: Document, schemas: Document) -> None:
    """Name the field whose constant is another one in each alternative (OpenAPI 4.8.25)."""
    kinds = schema.get("anyOf")
    if not isinstance(kinds, list) or not all("$ref" in kind for kind in kinds):
        return
    constants = [_constants(schemas[_name_of(kind)]) for kind in kinds]
    for field in constants[0]:
        values = [one.get(field) for one in constants]
        if None not in values and len(set(values)) == len(values):
            schema["oneOf"] = schema.pop("anyOf")
            references = [kind["$ref"] for kind in kinds]
            mapped = dict(zip(values, references, strict=True))
            schema["discriminator"] = {"propertyName": field, "mapping": mapped}
            return


def _constants(schema: object) -> Mapping[str, str]:
    found = {}
    for name, field in _properties(schema):
        words = field.get("enum")
        if isinstance(words, list) and len(words) == 1:
            found[name] = str(words[0])
    return found


def _add_example(content: Document, schemas: Document) -> None:
    """Add a whole example of a request, of each alternative where there are several."""
    schema = mapping(content["schema"])
    discriminator = schema.get("discriminator")
    if not isinstance(discriminator, dict):
        content["example"] = _example(schema, schemas, 0)
        return
    content["examples"] = {
        word: {"value": _example({"$ref": reference}, schemas, 0)}
        for word, reference in discriminator["mapping"].items()
    }


def _example(schema: Document, schemas: Document, depth: int) -> object:
    """Return an example of a schema, from the examples of its fields."""
    if "$ref" in schema:
        return _example(mapping(schemas[_name_of(schema)]), schemas, depth)
    examples = schema.get("examples")
    if isinstance(examples, list) and examples:
        return examples[0]
    for several in ("oneOf", "anyOf"):
        if several in schema and "properties" not in schema:
            kinds = schema[several]
            assert isinstance(kinds, list)
            return _example(kinds[0], schemas, depth)
    if "properties" in schema and depth < _DEEPEST:
        return _of_object(schema, schemas, depth)
    words = schema.get("enum")
    if isinstance(words, list):
        return next((word for word in words if word), words[0])
    if schema.get("type") == "array" and "items" in schema and depth < _DEEPEST:
        return [_example(mapping(schema["items"]), schemas, depth + 1)]
    return _plain(schema)


def _of_object(schema: Document, schemas: Document, depth: int) -> Document:
    required = schema.get("required", [])
    assert isinstance(required, Sequence)
    return {
        name: _of_field(name, field, schemas, depth)
        for name, field in _properties(schema)
        if name in required or _has_example(field, schemas)
    }


def _of_field(name: str, field: Document, schemas: Document, depth: int) -> object:
    is_own = name in _BY_NAME and "examples" not in field and "enum" not in field
    return _BY_NAME[name] if is_own else _example(field, schemas, depth + 1)


def _has_example(field: Document, schemas: Document) -> bool:
    if "$ref" in field:
        return _has_example(mapping(schemas[_name_of(field)]), schemas)
    return bool(field.get("examples"))


def _plain(schema: Document) -> object:
    if "const" in schema or "default" in schema:
        return schema.get("const", schema.get("default"))
    kind = schema.get("type")
    if kind in {"integer", "number"}:
        return schema.get("minimum", 1)
    if kind == "boolean":
        return False
    if kind == "object":
        return {}
    return _BY_FORMAT.get(str(schema.get("format")), "text")


def _name_of(reference: Document) -> str:
    return str(reference["$ref"]).removeprefix(_REFERENCE)
