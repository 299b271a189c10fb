"""Read the members of a JSON object or form into a struct, with sentences for people.

Each field's `Meta(description=…)` says what is allowed; msgspec finds what is
wrong; the sentence names the field and never repeats a value of a secret one.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, TypeVar

import msgspec
from msgspec import inspect as shape

from mudra.http.response.http_refusals import InvalidField
from mudra.shared.secret_text import SecretText
from mudra.shared.time_text import read_time

S = TypeVar("S", bound=msgspec.Struct)

_MISSING: Final = re.compile(r"missing required field `(?P<name>[^`]+)`")
_AT: Final = re.compile(r"- at `\$\.(?P<name>[^`.\[]+)")
_SHOWN: Final = 60
_OPTIONAL: Final = "optional"
_TIME: Final = "time"
_OPTIONAL_TIME: Final = "optional time"
_TIMES: Final = frozenset({_TIME, _OPTIONAL_TIME})
MAX_SECRET: Final = 1024
"""Characters of a password, secret or link, far beyond any that is ever stored."""


def decode_struct(source: Mapping[str, object], into: type[S]) -> S | InvalidField:
    """Converts a JSON object to a struct, strictly; unknown members are ignored.

    An optional member that is null is one that is not there: so write default serializers.
    """
    try:
        return msgspec.convert(_meant(source, into), into, strict=True, dec_hook=_secret)
    except msgspec.ValidationError as error:
        return InvalidField(_sentence(str(error), source, into))


def _meant(source: Mapping[str, object], into: type[msgspec.Struct]) -> dict[str, object]:
    """Return what the members mean: nulls left out where nothing is meant by one, times read."""
    kinds = _kinds(into)
    meant: dict[str, object] = {}
    for name, value in source.items():
        kind = kinds.get(name)
        if value is None and kind in {_OPTIONAL, _OPTIONAL_TIME}:
            continue
        read = read_time(value) if kind in _TIMES and isinstance(value, str) else None
        meant[name] = value if read is None or read.offset is None else read.at
    return meant


@lru_cache(maxsize=256)
def _kinds(into: type[msgspec.Struct]) -> Mapping[str, str]:
    """Return how each field is read that is optional, or a time."""
    info = shape.type_info(into)
    assert isinstance(info, shape.StructType)
    found: dict[str, str] = {}
    for field in info.fields:
        inner = field.type.type if isinstance(field.type, shape.Metadata) else field.type
        is_time = isinstance(inner, shape.DateTimeType)
        takes_null = isinstance(inner, shape.NoneType | shape.AnyType) or (
            isinstance(inner, shape.UnionType) and inner.includes_none
        )
        if not field.required and not takes_null:
            found[field.encode_name] = _OPTIONAL_TIME if is_time else _OPTIONAL
        elif is_time:
            found[field.encode_name] = _TIME
    return found


@lru_cache(maxsize=256)
def needs_fields(into: type[msgspec.Struct]) -> bool:
    """Return whether a field must be sent; else an empty body says all."""
    return any(one.required for one in msgspec.structs.fields(into))


def _secret(wanted: type, value: object) -> object:
    if wanted is SecretText and isinstance(value, str) and 1 <= len(value) <= MAX_SECRET:
        return SecretText(value)
    raise TypeError("wrong type or length")


def _sentence(found: str, source: Mapping[str, object], into: type[msgspec.Struct]) -> str:
    missing = _MISSING.search(found)
    if missing:
        return f"{missing['name']} is missing: it must be {_allowed(_field(missing['name'], into))}"
    place = _AT.search(found)
    if place is None:
        return "the body must be a JSON object"
    field = _field(place["name"], into)
    shown = "" if _is_unshown(field) else _not_this(source.get(field.encode_name))
    return f"{field.encode_name} must be {_allowed(field)}{shown}"


def _not_this(value: object) -> str:
    if value is None:
        return ", not null"
    if isinstance(value, bool):
        return f", not {str(value).lower()}"
    if isinstance(value, int | float):
        return f", not {str(value)[:_SHOWN]}"
    if isinstance(value, str):
        shown = value[:_SHOWN].encode("unicode_escape").decode()
        return f', not "{shown}"' if value else ", not empty"
    return ", not an object" if isinstance(value, dict) else ", not an array"


def _field(name: str, into: type[msgspec.Struct]) -> shape.Field:
    info = shape.type_info(into)
    assert isinstance(info, shape.StructType)
    return next(field for field in info.fields if field.encode_name == name)


def _is_unshown(field: shape.Field) -> bool:
    """Return whether its value is a secret, or a list of which one item may be wrong."""
    inner = field.type.type if isinstance(field.type, shape.Metadata) else field.type
    return isinstance(inner, shape.ListType) or (
        isinstance(inner, shape.CustomType) and inner.cls is SecretText
    )


def _allowed(field: shape.Field) -> str:
    schema = field.type.extra_json_schema if isinstance(field.type, shape.Metadata) else None
    return str((schema or {}).get("description", "of another type"))
