"""The fields that each answer has.

The JSON Schema of a struct says of each field with a default that it may be left out, which is so
in a request. An answer leaves out what is unset, and a default only where its struct says so.
"""

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec.inspect import Field, StructType, Type

from mudra.http.openapi.components import Document

_PARTS: Final = ("type", "item_type", "value_type", "types", "item_types", "fields")


def require_always_there(schema: object, shape: object) -> None:
    """Add to `required`, of each object of an answer's schema, what each answer has."""
    names = {
        info.cls.__name__: [one.encode_name for one in info.fields if _is_always_there(one, info)]
        for info in _structs(msgspec.inspect.type_info(shape), set())
    }
    for part in _objects(schema):
        there = names.get(str(part.get("title")), [])
        required = part.get("required", [])
        assert isinstance(required, list)
        if added := [name for name in there if name not in required]:
            part["required"] = [*required, *added]


def _is_always_there(field: Field, of: StructType) -> bool:
    if field.required:
        return True
    # Of what is unset by default this library says that it has none.
    has_default = (field.default, field.default_factory) != (msgspec.NODEFAULT, msgspec.NODEFAULT)
    return has_default and not of.cls.__struct_config__.omit_defaults


def _structs(part: object, seen: set[type]) -> Iterator[StructType]:
    if isinstance(part, tuple):
        for one in part:
            yield from _structs(one, seen)
    elif isinstance(part, Type | Field):
        if isinstance(part, StructType):
            if part.cls in seen:
                return
            seen.add(part.cls)
            yield part
        for name in _PARTS:
            yield from _structs(getattr(part, name, None), seen)


def _objects(schema: object) -> Iterator[Document]:
    if isinstance(schema, list):
        for part in schema:
            yield from _objects(part)
    elif isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for part in schema.values():
            yield from _objects(part)
