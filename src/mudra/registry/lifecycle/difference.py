"""The differences of two entries, field by field, for approvals and the history."""

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from mudra.localization.language import gettext
from mudra.registry.payload.entry import EntityInfo, Entry, canonical
from mudra.registry.payload.fields.field_rules import Risk, fields_of

Json: TypeAlias = "bool | int | str | list[Json] | dict[str, Json] | None"

_INFO: Final = fields_of(EntityInfo)
# These identify the request, not the entity: they differ in every submission.
_OF_THE_REQUEST: Final = ("$.ver", "$.timestamp", "$.txnid", "$.requester.name", "$.requester.id")


def in_one_line(risks: Iterable[Risk]) -> str:
    """Return what several changes affect as one sentence of the reader; empty for nothing."""
    texts = [gettext(risk.value) for risk in risks]
    text = "; ".join(f"{one[:1].lower()}{one[1:]}" for one in texts)
    return text[:1].upper() + text[1:]


class FieldChange(Struct, frozen=True):
    """One field that differs. A list differs as a whole; an absent side is None."""

    path: str
    before: Json
    after: Json
    needs_approval: bool = False
    risk: Risk = Risk.NONE


def difference(before: Entry, after: Entry) -> tuple[FieldChange, ...]:
    """Return every field in which two entries differ, in the order of their paths."""
    return tuple(_changes("$", _tree(before), _tree(after)))


def matters(changes: tuple[FieldChange, ...]) -> bool:
    """Return whether the entity itself changed, and not only the request that carried it."""
    return any(change.path not in _OF_THE_REQUEST for change in changes)


def needs_approval(changes: tuple[FieldChange, ...]) -> bool:
    """Return whether an operator must approve before these changes go live."""
    return any(change.needs_approval for change in changes)


def _tree(entry: Entry) -> Json:
    tree: Json = msgspec.json.decode(canonical(entry))
    return tree


def _changes(path: str, before: Json, after: Json) -> Iterator[FieldChange]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            yield from _changes(f"{path}.{name}", before.get(name), after.get(name))
    elif before != after:
        yield _classified(path, before, after)


def _classified(path: str, before: Json, after: Json) -> FieldChange:
    # The same addresses in another order have no effect.
    if isinstance(before, list) and isinstance(after, list) and _same_items(before, after):
        return FieldChange(path, before, after)
    field = _INFO.get(path.removeprefix("$.entityinfo.").split(".")[0])
    if field is None:
        return FieldChange(path, before, after)
    return FieldChange(path, before, after, field.needs_approval, field.risk)


def _same_items(before: list[Json], after: list[Json]) -> bool:
    return len(before) == len(after) and all(item in after for item in before)
