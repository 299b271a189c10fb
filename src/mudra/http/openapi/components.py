"""Named parts of the OpenAPI document: each schema once, and the errors that many calls share.

A client that is generated from the document gets a class for each name. Without names the
document was ten times as long, and a client had a class for each error of each call.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Final, TypeAlias

import msgspec

Document: TypeAlias = dict[str, object]


_SCHEMAS: Final = "#/components/schemas/"
OF_THE_FIELD: Final = "x-of-the-field"
"""What a schema says of the field alone that has its type; it stays at the field."""


class NamedTwice(ValueError):
    """Two schemas have one name and differ: a client could have a class for only one of them."""


def with_components(document: Document) -> Document:
    """Return the document with references (OpenAPI 3.1, 4.8.7); `document` is not changed.

    Raises NamedTwice.
    """
    schemas: Document = {}
    paths = _with_references(document["paths"], schemas)
    shared = _shared_errors(paths)
    for responses in _responses(paths):
        for status, response in responses.items():
            name = _error_name(status)
            if name and shared[name] == response:
                responses[status] = {"$ref": f"#/components/responses/{name}"}
    components = {
        **mapping(document["components"]),
        "schemas": dict(sorted(schemas.items())),
        "responses": dict(sorted(shared.items())),
    }
    return {**document, "paths": paths, "components": components}


def _with_references(node: object, schemas: Document) -> object:
    if isinstance(node, list):
        return [_with_references(part, schemas) for part in node]
    if not isinstance(node, dict):
        return node
    whole = {name: _with_references(part, schemas) for name, part in node.items()}
    here = mapping(whole.pop(OF_THE_FIELD, {}))
    title = whole.get("title")
    # A field may be called title, too: then its description is a mapping.
    if not isinstance(title, str) or not ({"properties", "enum"} & whole.keys()):
        return {**whole, **here}
    if schemas.setdefault(title, whole) != whole:
        raise NamedTwice(title)
    return {"$ref": f"{_SCHEMAS}{title}", **here}


def _shared_errors(paths: object) -> Mapping[str, object]:
    """Return the most common description of each error."""
    counted: dict[str, Counter[bytes]] = {}
    for responses in _responses(paths):
        for status, response in responses.items():
            if name := _error_name(status):
                counted.setdefault(name, Counter())[msgspec.json.encode(response)] += 1
    return {
        name: msgspec.json.decode(count.most_common(1)[0][0], type=dict[str, object])
        for name, count in counted.items()
    }


def _responses(paths: object) -> Iterator[Document]:
    for operations in mapping(paths).values():
        for operation in mapping(operations).values():
            if isinstance(operation, dict) and "responses" in operation:
                yield mapping(operation["responses"])


def _error_name(status: str) -> str:
    """Return `TooManyRequests` for 429; empty for what is no error."""
    if not status.isdigit() or int(status) < HTTPStatus.BAD_REQUEST:
        return ""
    return HTTPStatus(int(status)).phrase.replace(" ", "")


def mapping(value: object) -> Document:
    """Return a part of a document that is an object."""
    assert isinstance(value, dict)
    return value


def name_of(reference: Document) -> str:
    """Return the name of the schema that a reference points to."""
    return str(reference["$ref"]).removeprefix(_SCHEMAS)
