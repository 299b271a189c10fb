"""Additions to the document as a whole: meanings, examples, discriminators.

Made from what the structs say of their fields, and from `field_texts` for the rest.
"""

from collections.abc import Iterator, Mapping

from mudra.http.openapi.components import Document, mapping, name_of
from mudra.http.openapi.examples import add_examples
from mudra.http.openapi.field_texts import FIELD_TEXTS
from mudra.http.openapi.field_texts.paths import PATH_TEXTS
from mudra.http.openapi.field_texts.queries import QUERY_TEXTS
from mudra.http.openapi.field_texts.sent import SENT_TEXTS
from mudra.http.openapi.field_words import FIELD_WORDS
from mudra.http.openapi.field_words.of_health import Meanings


def complete(document: Document) -> Document:
    """Add what is missing to a document with components; it is changed and returned."""
    schemas = mapping(mapping(document["components"])["schemas"])
    for title, schema in schemas.items():
        for name, field in _properties(schema):
            text = FIELD_TEXTS.get(f"{title}.{name}") or FIELD_TEXTS.get(name)
            if "description" not in field and text:
                field["description"] = text
            if meanings := FIELD_WORDS.get(f"{title}.{name}"):
                _explain(field, meanings, schemas)
            if sent := SENT_TEXTS.get(f"{title}.{name}"):
                field["description"] = f"{sent}; {field['description']}"
        _name_once(mapping(schema))
    for operation, parameter in _parameters(document):
        name = str(parameter["name"])
        texts = PATH_TEXTS if parameter["in"] == "path" else QUERY_TEXTS
        text = texts.get(f"{operation}.{name}") or texts.get(name)
        if "description" not in parameter and text:
            parameter["description"] = text
    for content in _request_contents(document):
        _tell_apart(mapping(content["schema"]), schemas)
    add_examples(document, schemas)
    return document


def _name_once(schema: Document) -> None:
    """Describe one of two fields whose names generators write alike, and name the other there."""
    fields = mapping(schema.get("properties", {}))
    first: dict[str, str] = {}
    for name in list(fields):
        known = first.setdefault(name.replace("_", "").lower(), name)
        if known != name:
            del fields[name]
            described = mapping(fields[known])
            described["description"] = f"{described['description']}; also as `{name}`"


def _explain(field: Document, meanings: Meanings, schemas: Document) -> None:
    """Name the words of a field that names none, and say what each means."""
    place = _place_of_words(field)
    named = mapping(schemas[name_of(place)]) if "$ref" in place else place
    words = named.get("enum") or named.setdefault("enum", [str(word) for word in meanings])
    assert isinstance(words, list)
    if "$ref" in place and not meanings.keys() >= set(words):
        words = [word for word in words if word in meanings]
        del place["$ref"]
        place |= {"type": "string", "enum": words}
    lines = [f"- `{word}`: {meanings[word]}" for word in words if word in meanings and word]
    field["description"] = "\n".join([f"{field['description']}:", *lines])


def _place_of_words(field: Document) -> Document:
    """Return the part of a field that is a text: of a list its element, of a choice the first."""
    kinds = field.get("anyOf")
    if isinstance(kinds, list):
        return _place_of_words(mapping(kinds[0]))
    return _place_of_words(mapping(field["items"])) if "items" in field else field


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
    constants = [_constants(schemas[name_of(kind)]) for kind in kinds]
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
